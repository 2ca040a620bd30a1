//! Lines of a text one by one, so that a file of any length takes the memory of its longest line.

use std::io::{self, BufRead};

/// No row of this format is a thousandth as long; a file without line ends must not fill the memory.
const MOST_BYTES: usize = 1 << 20;

/// A text that is read line by line. Lines end by CRLF, LF or a lone CR; blank ones count and are left out.
pub(super) struct Lines {
    reader: Box<dyn BufRead + Send + Sync>,
    number: usize,
    line: Vec<u8>,
    /// Whether a line feed that comes next belongs to the line before.
    is_after_return: bool,
}

impl Lines {
    pub(super) fn new(reader: Box<dyn BufRead + Send + Sync>) -> Self {
        Self { reader, number: 0, line: Vec::new(), is_after_return: false }
    }

    /// The next line that is not blank, with its number as an editor shows it.
    ///
    /// # Errors
    /// Why the text cannot be read on, with the place.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &str)>, String> {
        loop {
            if !self.fill().map_err(|error| format!("it cannot be read after row {}: {error}", self.number))? {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() > MOST_BYTES {
                return Err(format!(
                    "row {} is longer than {MOST_BYTES} bytes; choose a file with a pod a row",
                    self.number
                ));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let number = self.number;
        let bytes = self.line.as_slice();
        let bytes = if number == 1 { bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes) } else { bytes };
        match core::str::from_utf8(bytes) {
            Ok(line) if !line.contains('\0') => Ok(Some((number, line))),
            _ => Err(format!("row {number} is not UTF-8 text; save the file as such")),
        }
    }

    /// Reads one line, without its end, as far as it is not too long; `false` at the end of the text.
    fn fill(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut has_any = false;
        while self.line.len() <= MOST_BYTES {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                return Ok(has_any);
            }
            if core::mem::take(&mut self.is_after_return) && buffer[0] == b'\n' {
                self.reader.consume(1);
                continue;
            }
            has_any = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            self.line.extend_from_slice(&buffer[..end.unwrap_or(buffer.len())]);
            let Some(end) = end else {
                let length = buffer.len();
                self.reader.consume(length);
                continue;
            };
            self.is_after_return = buffer[end] == b'\r';
            self.reader.consume(end + 1);
            return Ok(true);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read};

    use super::*;

    /// Through a buffer of so many bytes, so that ends of lines fall on its ends.
    fn read(bytes: &[u8], buffer: usize) -> Result<Vec<(usize, String)>, String> {
        let mut lines = Lines::new(Box::new(BufReader::with_capacity(buffer, Cursor::new(bytes.to_vec()))));
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next()? {
            all.push((number, line.to_owned()));
        }
        Ok(all)
    }

    #[test]
    fn lines_are_those_an_editor_shows_whatever_ends_them() {
        for ending in ["\n", "\r\n", "\r"] {
            for buffer in [1, 2, 3, 64] {
                let text = ["\u{feff}a,1", "", "  ", "é", "z"].join(ending);
                let expected = [(1, "a,1"), (4, "é"), (5, "z")].map(|(number, line)| (number, line.to_owned()));
                assert_eq!(read(text.as_bytes(), buffer).as_deref(), Ok(&expected[..]), "{ending:?}, {buffer}");
                assert_eq!(read((text + ending).as_bytes(), buffer).as_deref(), Ok(&expected[..]));
            }
        }
        assert_eq!(read(b"", 8), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_text_and_what_has_no_end_is_refused_by_row() {
        assert_eq!(read(b"a\n\xff\n", 8), Err("row 2 is not UTF-8 text; save the file as such".to_owned()));
        assert!(read(b"a\nb\0\n", 8).is_err());
        let endless = BufReader::new(io::repeat(b'x').take(1 << 40));
        let error = Lines::new(Box::new(endless)).next().expect_err("a terabyte without an end");
        assert!(error.starts_with("row 1 is longer than 1048576 bytes"), "{error}");
    }
}
