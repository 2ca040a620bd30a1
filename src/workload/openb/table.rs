//! Text to rows: separators, quotes, line numbers, and a header that is checked by name.
//!
//! Each line is read on its own (no field of this format spans lines), so that an unclosed quotation mark spoils one
//! row and not the rest of the file, and a row's number is the line that an editor shows.

use super::finding::{Findings, Kind};
use crate::text::{steers, visible};

/// A column that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) required: bool,
}

/// One line's fields.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: usize,
    fields: Vec<String>,
}

/// A file's header and, unless they are read one by one, its rows.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) header_line: usize,
    pub(super) header: Vec<String>,
    separator: u8,
    /// Rows with as many fields as the header and without control characters; the others are findings.
    pub(super) rows: Vec<Row>,
    /// All rows, with those that are findings.
    pub(super) rows_in_file: usize,
}

/// Where each wanted column is, by position in the list that was asked for.
#[derive(Debug)]
pub(super) struct Places(Vec<Option<usize>>);

impl Places {
    /// Where wanted column `column` is, if the file has it.
    pub(super) fn of(&self, column: usize) -> Option<usize> {
        self.0[column]
    }
}

impl Row {
    /// The field of wanted column `column`; `None` if the file does not have that column.
    pub(super) fn get(&self, places: &Places, column: usize) -> Option<&str> {
        self.fields.get(places.0[column]?).map(String::as_str)
    }
}

impl Table {
    /// Reads all lines. `None` if there is no header.
    pub(super) fn read(text: &str, findings: &mut Findings<'_>) -> Option<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = lines(text).filter(|(_, line)| !line.trim().is_empty());
        let Some((header_line, header_text)) = lines.next() else {
            findings.add(1, "", "", Kind::EmptyFile, "there is nothing in this file");
            return None;
        };
        let mut table = Self::of_header(header_line, header_text, findings);
        for (line, text) in lines {
            let row = table.row(line, text, findings);
            table.rows.extend(row);
        }
        Some(table)
    }

    /// A table of which only the header is known.
    pub(super) fn of_header(line: usize, text: &str, findings: &mut Findings<'_>) -> Self {
        let separator = separator_of(text);
        if separator != b',' {
            let name = if separator == b'\t' { "tabs" } else { "semicolons" };
            let reason = format!("fields are separated by {name}; read as such");
            findings.add(line, "", "", Kind::Separator, reason);
        }
        // Names of columns are repeated in findings; one that steers is none of this format.
        let names = split(text, separator).into_iter();
        let header = names.map(|name| visible(&name.to_ascii_lowercase(), &[])).collect();
        Self { header_line: line, header, separator, rows: Vec::new(), rows_in_file: 0 }
    }

    /// The next line as a row, unless it is none; counts it.
    pub(super) fn row(&mut self, line: usize, text: &str, findings: &mut Findings<'_>) -> Option<Row> {
        self.rows_in_file += 1;
        if text.bytes().filter(|&byte| byte == b'"').count() % 2 == 1 {
            findings.add(line, "", text, Kind::OpenQuote, "close the quotation mark in the same line, or remove it");
            return None;
        }
        let fields = split(text, self.separator);
        if fields.len() != self.header.len() {
            let reason = format!("{} fields, but the header has {}", fields.len(), self.header.len());
            findings.add(line, "", text, Kind::FieldCount, reason);
            return None;
        }
        let steering = |field: &String| field.chars().any(steers);
        if !fields.iter().any(steering) {
            return Some(Row { line, fields });
        }
        for (name, field) in self.header.iter().zip(&fields).filter(|(_, field)| steering(field)) {
            let reason = "nobody sees this character, and no field of this format has one; remove it";
            findings.add(line, name, field, Kind::ControlCharacter, reason);
        }
        None
    }

    /// How many of `columns` the header has.
    pub(super) fn matches(&self, columns: &[Column]) -> usize {
        columns.iter().filter(|column| self.header.iter().any(|name| name == column.name)).count()
    }

    /// Finds the wanted columns by name and reports what is missing, repeated or not known.
    pub(super) fn places(&self, columns: &[Column], findings: &mut Findings<'_>) -> Places {
        let unknown: Vec<&str> = self
            .header
            .iter()
            .map(String::as_str)
            .filter(|name| !columns.iter().any(|column| column.name == *name))
            .collect();
        let mut meant = Vec::new();
        let places = columns
            .iter()
            .map(|column| {
                let mut found = (0..self.header.len()).filter(|&place| self.header[place] == column.name);
                let place = found.next();
                if found.next().is_some() {
                    let reason = "two columns have this name; keep one of them";
                    findings.add(self.header_line, column.name, column.name, Kind::RepeatedColumn, reason);
                }
                if place.is_none() {
                    let near = nearest(column.name, unknown.iter().copied());
                    meant.extend(near);
                    let value = near.unwrap_or_default();
                    if column.required {
                        findings.add(
                            self.header_line,
                            column.name,
                            value,
                            Kind::MissingColumn,
                            self.advice(column, near),
                        );
                    } else if let Some(near) = near {
                        // An optional column with a slip of the pen must not pass for absent.
                        let reason = format!("did you mean {} by \"{near}\"? Rename it, or remove it", column.name);
                        findings.add(self.header_line, column.name, value, Kind::MissingColumn, reason);
                    }
                }
                place
            })
            .collect();
        for name in unknown.into_iter().filter(|name| !meant.contains(name)) {
            findings.add(
                self.header_line,
                name,
                name,
                Kind::UnusedColumn,
                "not a column of this format; it is not read",
            );
        }
        Places(places)
    }

    fn advice(&self, column: &Column, near: Option<&str>) -> String {
        if let Some(near) = near {
            return format!("did you mean {} by \"{near}\"? Rename it", column.name);
        }
        if self.header.len() == 1 && self.header[0].contains(['|', ' ', ':']) {
            return format!(
                "the header is one field, \"{}\": save the file with commas between fields",
                self.header[0]
            );
        }
        if self.header.iter().any(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())) {
            return format!(
                "the first line has no column {}; it looks like data: is the header missing?",
                column.name
            );
        }
        format!("the header has no column {}; it has: {}", column.name, self.header.join(", "))
    }
}

/// The nearest of `names` to `wanted`, if it is near enough for a slip of the pen.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Up to a third of the letters, at most 3: `cpu_mili`, `memory-mib`, `V100M61`; not `name` for `sn`.
    let tolerance = (wanted.chars().count() / 3).min(3);
    names
        .map(|name| (strsim::damerau_levenshtein(&wanted.to_ascii_lowercase(), &name.to_ascii_lowercase()), name))
        .filter(|(distance, name)| *distance <= tolerance && !name.is_empty())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Lines with their numbers from 1, ended by CRLF, LF or a lone CR.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\r', '\n']) else {
            rest = None;
            return Some(text);
        };
        let ending = if text[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = Some(&text[end + ending..]);
        Some(&text[..end])
    })
    .enumerate()
    .map(|(index, line)| (index + 1, line))
}

/// Comma, semicolon or tab: whichever the header has most of.
fn separator_of(header: &str) -> u8 {
    let count = |separator: u8| header.bytes().filter(|&byte| byte == separator).count();
    // The last of equals wins: a header of a single column is read as comma-separated.
    [b'\t', b';', b','].into_iter().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

/// Fields of one line, without surrounding blanks.
fn split(line: &str, separator: u8) -> Vec<String> {
    if !line.contains('"') {
        // A reader a line is slow, and without quotes there is nothing for it to do.
        return line.split(char::from(separator)).map(|field| field.trim().to_owned()).collect();
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(separator)
        .buffer_capacity(line.len())
        .from_reader(line.as_bytes());
    match reader.records().next() {
        Some(Ok(record)) => record.iter().map(str::to_owned).collect(),
        // Text is UTF-8 and rows may have any length, so the reader has nothing to object to; a line it makes
        // nothing of has no fields, which the field count reports.
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column { name: "name", required: true },
        Column { name: "cpu_milli", required: true },
        Column { name: "gpu_spec", required: false },
    ];

    fn read(text: &str) -> (Option<Table>, Vec<(usize, Kind)>) {
        let mut findings = Findings::new("f.csv");
        let table = Table::read(text, &mut findings);
        if let Some(table) = &table {
            table.places(COLUMNS, &mut findings);
        }
        (table, findings.list.into_iter().map(|finding| (finding.row, finding.kind)).collect())
    }

    #[test]
    fn rows_carry_the_line_an_editor_shows() {
        for ending in ["\n", "\r\n", "\r"] {
            let text = ["\u{feff}", "name,cpu_milli", "", "a,1", "", "b,2"].join(ending);
            let (table, found) = read(&text);
            assert_eq!(found, [], "{ending:?}");
            let table = table.unwrap();
            assert_eq!(table.header_line, 2);
            assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [4, 6], "{ending:?}");
        }
    }

    #[test]
    fn an_open_quote_spoils_one_line_only() {
        let (table, found) = read("name,cpu_milli\n\"a,1\nb,2\n\"c,d\",3\n");
        assert_eq!(found, [(2, Kind::OpenQuote)]);
        let table = table.unwrap();
        assert_eq!(table.rows_in_file, 3);
        assert_eq!(table.rows[1].fields, ["c,d", "3"]);
    }

    #[test]
    fn a_control_character_spoils_its_row_and_is_shown() {
        let text = "name,cpu_milli\n\u{1b}[2Ja,1\nb,2\u{7}\nc,\u{202e}3\nd,4\n e\t,5\n";
        let mut findings = Findings::new("f.csv");
        let table = Table::read(text, &mut findings).unwrap();
        let found: Vec<_> =
            findings.list.iter().map(|f| (f.row, f.column.as_str(), f.value.as_str(), f.kind)).collect();
        let kind = Kind::ControlCharacter;
        assert_eq!(
            found,
            [
                (2, "name", "\\u{1b}[2Ja", kind),
                (3, "cpu_milli", "2\\u{7}", kind),
                (4, "cpu_milli", "\\u{202e}3", kind)
            ]
        );
        // Blanks around a field are no part of it.
        assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(table.rows_in_file, 5);
    }

    #[test]
    fn a_column_that_steers_is_not_the_one_it_looks_like() {
        let mut findings = Findings::new("f.csv");
        let table = Table::read("name,cpu_milli\u{8}\n", &mut findings).unwrap();
        table.places(COLUMNS, &mut findings);
        assert_eq!(findings.list[0].kind, Kind::MissingColumn);
        let reason = &findings.list[0].reason;
        assert!(reason.ends_with("it has: name, cpu_milli\\u{8}"), "{reason}");
    }

    #[test]
    fn other_separators_are_read_and_said() {
        for text in ["name;cpu_milli\na;1\n", "name\tcpu_milli\na\t1\n"] {
            let (table, found) = read(text);
            assert_eq!(found, [(1, Kind::Separator)]);
            assert_eq!(table.unwrap().rows[0].fields, ["a", "1"]);
        }
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_and_case() {
        let mut findings = Findings::new("f.csv");
        let table = Table::read("CPU_milli, Name \n5,a\n", &mut findings).unwrap();
        let places = table.places(COLUMNS, &mut findings);
        assert_eq!(findings.list, []);
        let row = &table.rows[0];
        assert_eq!((row.get(&places, 0), row.get(&places, 1), row.get(&places, 2)), (Some("a"), Some("5"), None));
    }

    #[test]
    fn slips_of_the_pen_are_recognised_in_required_and_optional_columns() {
        let mut findings = Findings::new("f.csv");
        let table = Table::read("name,cpu_mili,gpuspec,owner\n", &mut findings).unwrap();
        table.places(COLUMNS, &mut findings);
        let said: Vec<String> = findings.list.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "f.csv, row 1, column cpu_milli, value \"cpu_mili\": missing column: did you mean cpu_milli by \"cpu_mili\"? Rename it",
                "f.csv, row 1, column gpu_spec, value \"gpuspec\": missing column: did you mean gpu_spec by \"gpuspec\"? Rename it, or remove it",
                "f.csv, row 1, column owner, value \"owner\": column not used: not a column of this format; it is not read",
            ]
        );
    }

    #[test]
    fn empty_files_and_data_without_a_header_are_said() {
        assert_eq!(read("").1, [(1, Kind::EmptyFile)]);
        assert_eq!(read("\u{feff}\r\n \n").1, [(1, Kind::EmptyFile)]);
        let mut findings = Findings::new("f.csv");
        let table = Table::read("a,1\n", &mut findings).unwrap();
        table.places(COLUMNS, &mut findings);
        assert!(findings.list[0].reason.ends_with("is the header missing?"), "{}", findings.list[0].reason);
    }

    #[test]
    fn a_repeated_column_is_refused() {
        assert_eq!(read("name,cpu_milli,name\n").1, [(1, Kind::RepeatedColumn)]);
    }
}
