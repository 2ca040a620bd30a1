//! Which browser and which driver the tests use.
//!
//! `CHROME` and `CHROMEDRIVER` decide where they are set. Otherwise the usual
//! names and places are tried, and among several browsers the one that is of
//! the driver's own major version is taken: others refuse to work together.

use std::{env, path::PathBuf, process::Command};

use crate::tools;

const BROWSERS: [&str; 5] = ["chromium", "google-chrome-stable", "google-chrome", "chromium-browser", "chrome"];

const BROWSER_PLACES: [&str; 3] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/usr/lib/chromium/chromium",
];

const DRIVER_PLACES: [&str; 3] =
    ["/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver", "/usr/lib/chromium-browser/chromedriver"];

/// Arguments for a browser that is to run unseen, also as root in a container,
/// and that is to send no request of its own.
pub const HEADLESS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
];

/// A browser and the driver that steers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    /// Chromium or Chrome.
    pub chrome: PathBuf,
    /// Its WebDriver server.
    pub driver: PathBuf,
}

impl Browser {
    /// The pair on this machine, if both are there.
    pub fn find() -> Option<Self> {
        let driver = driver()?;
        let wanted = major_version(&driver);
        let mut candidates = chromes();
        let fitting = candidates.iter().position(|chrome| major_version(chrome) == wanted).unwrap_or(0);
        if candidates.is_empty() {
            return None;
        }
        Some(Self { chrome: candidates.swap_remove(fitting), driver })
    }

    /// Capabilities for `wasm-bindgen-test-runner`: headless, and this browser.
    pub fn webdriver_json(&self) -> String {
        let arguments = HEADLESS.map(quoted).join(",");
        let binary = quoted(&self.chrome.to_string_lossy());
        format!("{{\"goog:chromeOptions\":{{\"binary\":{binary},\"args\":[{arguments}]}}}}\n")
    }
}

/// Text as a JSON string; paths and arguments need no more than this.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn driver() -> Option<PathBuf> {
    if let Some(path) = env::var_os("CHROMEDRIVER") {
        return Some(path.into());
    }
    // Hosted CI machines name a folder in this variable.
    let folder = env::var_os("CHROMEWEBDRIVER").map(PathBuf::from);
    folder
        .map(|folder| folder.join(format!("chromedriver{}", env::consts::EXE_SUFFIX)))
        .into_iter()
        .chain(tools::find("chromedriver"))
        .chain(DRIVER_PLACES.map(PathBuf::from))
        .find(|path| path.is_file())
}

fn chromes() -> Vec<PathBuf> {
    if let Some(path) = env::var_os("CHROME") {
        return vec![path.into()];
    }
    let named = BROWSERS.iter().filter_map(|name| tools::find(name));
    let placed = BROWSER_PLACES.map(PathBuf::from);
    named.chain(placed.into_iter().filter(|path| path.is_file())).collect()
}

/// "ChromeDriver 140.0.7339.80 (…)" and "Chromium 140.0.7339.80" give 140.
fn major_version(program: &PathBuf) -> Option<u32> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_name_the_browser_and_escape_its_path() {
        let browser = Browser { chrome: r"C:\Chrome\chrome.exe".into(), driver: "chromedriver".into() };
        let json = browser.webdriver_json();
        assert!(json.contains(r#""binary":"C:\\Chrome\\chrome.exe""#), "{json}");
        assert!(json.contains(r#""--headless=new","#), "{json}");
    }
}
