//! A small static file server that behaves as GitHub Pages does.
//!
//! A page that works here works there: it lives under a sub-path, an unknown
//! path answers with `404.html` and status 404 (from which the page's router
//! restores a deep link), and WASM has its proper type. Files are never cached,
//! so a reload shows what was built last.
//!
//! It listens on this machine only, reads requests of the plainest kind and
//! closes each connection after its answer. It is no server for the open net.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// A request's head may be this long; what is longer is not a page's request.
const LONGEST_HEAD: u64 = 64 * 1024;

/// A connection on which nothing arrives for so long is given up: browsers open
/// some that they never use.
const PATIENCE: Duration = Duration::from_secs(30);

/// A public path as it is used everywhere here: one slash at either end.
///
/// ```
/// use xtask::serve::public_path;
/// assert_eq!(public_path("residua"), "/residua/");
/// assert_eq!(public_path("/a/b"), "/a/b/");
/// assert_eq!(public_path(""), "/");
/// ```
pub fn public_path(path: &str) -> String {
    match path.trim_matches('/') {
        "" => "/".to_owned(),
        inner => format!("/{inner}/"),
    }
}

/// A folder of files and the path under which they appear.
#[derive(Debug, Clone)]
pub struct Site {
    folder: PathBuf,
    base: String,
}

/// What is sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The type of the body, as in `Content-Type`.
    pub mime: &'static str,
    /// Where to go instead, for a redirect.
    pub location: Option<String>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

impl Site {
    /// Shows the files of `folder` under the public path `base`.
    pub fn new(folder: impl Into<PathBuf>, base: &str) -> Self {
        Self { folder: folder.into(), base: public_path(base) }
    }

    /// The path under which the files appear, with a slash at either end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Answers a request for `target`: a path, perhaps with a query.
    pub fn answer(&self, target: &str) -> Answer {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let Some(inside) = path.strip_prefix(&self.base) else {
            // "/" and "/residua" are what one types: lead to the page.
            if path == "/" || format!("{path}/") == self.base {
                return Answer::redirect(self.base.clone());
            }
            return self.not_found();
        };
        let Some(file) = self.file(inside) else {
            return self.not_found();
        };
        if file.is_dir() {
            if !path.ends_with('/') {
                return Answer::redirect(format!("{path}/"));
            }
            return self.read(&file.join("index.html"), 200);
        }
        self.read(&file, 200)
    }

    /// The file that a path inside the site means; `None` where it would lead
    /// out of the folder.
    fn file(&self, inside: &str) -> Option<PathBuf> {
        let decoded = percent_decoded(inside)?;
        let relative = Path::new(&decoded);
        let inner = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        relative.components().all(inner).then(|| self.folder.join(relative))
    }

    fn read(&self, file: &Path, status: u16) -> Answer {
        match fs::read(file) {
            Ok(body) => Answer { status, mime: mime(file), location: None, body },
            Err(_) if status == 404 => Answer {
                status,
                mime: "text/plain; charset=utf-8",
                location: None,
                body: b"404: no such file\n".to_vec(),
            },
            Err(_) => self.not_found(),
        }
    }

    fn not_found(&self) -> Answer {
        self.read(&self.folder.join("404.html"), 404)
    }
}

impl Answer {
    fn redirect(location: String) -> Self {
        Self { status: 301, mime: "text/plain; charset=utf-8", location: Some(location), body: Vec::new() }
    }

    fn write(&self, stream: &mut impl Write, with_body: bool) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            301 => "Moved Permanently",
            404 => "Not Found",
            405 => "Method Not Allowed",
            _ => "Bad Request",
        };
        let mut head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\
             Cache-Control: no-cache\r\nConnection: close\r\n",
            self.status,
            self.mime,
            self.body.len(),
        );
        if let Some(location) = &self.location {
            head += &format!("Location: {location}\r\n");
        }
        stream.write_all(head.as_bytes())?;
        stream.write_all(b"\r\n")?;
        if with_body {
            stream.write_all(&self.body)?;
        }
        stream.flush()
    }
}

/// A listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Site,
    asked: Option<Asked>,
}

/// Paths, each with its query, in the order in which they were asked for.
pub type Asked = Arc<Mutex<Vec<String>>>;

impl Server {
    /// Listens on this machine; port 0 takes any free one.
    pub fn bind(site: Site, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        Ok(Self { listener, site, asked: None })
    }

    /// Notes what is asked for from now on, for a test; it is never forgotten.
    pub fn noting(self, asked: &Asked) -> Self {
        Self { asked: Some(asked.clone()), ..self }
    }

    /// The address that is listened on.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The page's address, e.g. `http://127.0.0.1:8080/residua/`.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}{}", self.address()?, self.site.base))
    }

    /// Answers requests until the process ends, each connection on its own thread.
    pub fn run(&self) {
        for stream in self.listener.incoming().flatten() {
            let (site, asked) = (self.site.clone(), self.asked.clone());
            // A browser that goes away in the middle of an answer is no fault.
            thread::spawn(move || drop(converse(&site, asked.as_ref(), stream)));
        }
    }

    /// Answers requests in the background until the process ends.
    pub fn spawn(self) {
        thread::spawn(move || self.run());
    }
}

fn converse(site: &Site, asked: Option<&Asked>, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.try_clone()?.take(LONGEST_HEAD));
    let mut request = String::new();
    lines.read_line(&mut request)?;
    let mut header = String::new();
    // The headers say nothing that is needed, but must be taken off the line.
    while lines.read_line(&mut header)? > 2 {
        header.clear();
    }
    let mut words = request.split_whitespace();
    let (method, target) = (words.next(), words.next());
    if let (Some(asked), Some(target)) = (asked, target) {
        asked.lock().expect("nobody panics while noting").push(target.to_owned());
    }
    match (method, target) {
        (Some("GET"), Some(target)) => site.answer(target).write(&mut stream, true),
        (Some("HEAD"), Some(target)) => site.answer(target).write(&mut stream, false),
        (None, _) => Ok(()),
        _ => Answer {
            status: 405,
            mime: "text/plain; charset=utf-8",
            location: None,
            body: b"405: only GET and HEAD\n".to_vec(),
        }
        .write(&mut stream, true),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

fn mime(file: &Path) -> &'static str {
    match file.extension().and_then(|text| text.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt" | "toml" | "md") => "text/plain; charset=utf-8",
        Some("csv") => "text/csv; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    fn site(name: &str) -> Site {
        let folder = env::temp_dir().join(format!("residua-serve-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        for (file, text) in
            [("index.html", "home"), ("404.html", "lost"), ("app one.wasm", "\0asm"), ("inner/index.html", "inner")]
        {
            fs::write(folder.join(file), text).unwrap();
        }
        Site::new(folder, "/residua/")
    }

    fn shown(answer: &Answer) -> (u16, &str) {
        (answer.status, std::str::from_utf8(&answer.body).unwrap())
    }

    #[test]
    fn files_appear_under_the_public_path() {
        let site = site("files");
        assert_eq!(shown(&site.answer("/residua/")), (200, "home"));
        assert_eq!(shown(&site.answer("/residua/?a=/b")), (200, "home"));
        assert_eq!(shown(&site.answer("/residua/inner/")), (200, "inner"));
        assert_eq!(shown(&site.answer("/residua/app%20one.wasm")), (200, "\0asm"));
        let answer = site.answer("/residua/app%20one.wasm");
        assert_eq!(answer.mime, "application/wasm");
    }

    #[test]
    fn an_unknown_path_answers_with_the_404_page_and_status() {
        let site = site("lost");
        assert_eq!(shown(&site.answer("/residua/en/lab")), (404, "lost"));
        assert_eq!(shown(&site.answer("/elsewhere/index.html")), (404, "lost"));
        assert_eq!(shown(&site.answer("/residua/inner/none.js")), (404, "lost"));
    }

    #[test]
    fn what_one_types_leads_to_the_page() {
        let site = site("redirect");
        for path in ["/", "/residua"] {
            let answer = site.answer(path);
            assert_eq!(answer.status, 301, "{path}");
            assert_eq!(answer.location.as_deref(), Some("/residua/"), "{path}");
        }
        let inner = site.answer("/residua/inner");
        assert_eq!(inner.location.as_deref(), Some("/residua/inner/"));
    }

    #[test]
    fn nothing_outside_the_folder_is_shown() {
        let site = site("outside");
        for path in
            ["/residua/../secret", "/residua/%2e%2e/secret", "/residua//etc/passwd", "/residua/%2", "/residua/%ff"]
        {
            assert_eq!(site.answer(path).status, 404, "{path}");
        }
    }

    #[test]
    fn speaks_enough_http_over_a_socket() {
        let asked = Asked::default();
        let server = Server::bind(site("socket"), 0).unwrap().noting(&asked);
        let address = server.address().unwrap();
        assert_eq!(server.url().unwrap(), format!("http://{address}/residua/"));
        server.spawn();

        let ask = |request: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let page = ask("GET /residua/ HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
        assert!(page.contains("Cache-Control: no-cache\r\n"), "{page}");
        assert!(page.ends_with("\r\n\r\nhome"), "{page}");
        let head = ask("HEAD /residua/ HTTP/1.1\r\n\r\n");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
        let post = ask("POST /residua/ HTTP/1.1\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
        assert_eq!(*asked.lock().unwrap(), ["/residua/"; 3]);
    }
}
