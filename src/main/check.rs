//! `residua check`: every problem of every file.

use std::path::Path;

use residua::scenario::{Issue, Issues, Scenario};

use crate::options::CheckOptions;
use crate::output::{Failure, indented, print, problems};

/// A scenario with every key and a page of comment for each is a tenth of this.
pub const MOST_SCENARIO_BYTES: u64 = 1 << 20;

/// Checks each file with each of its presets; fails if there is any problem. What is right is said on stdout in any
/// case.
pub fn check(options: &CheckOptions) -> Result<String, Failure> {
    let (mut right, mut wrong) = (String::new(), String::new());
    for file in &options.files {
        let name = file.display();
        match read(file, MOST_SCENARIO_BYTES).map_err(Issues::from).and_then(|text| whole(&text)) {
            Ok(scenario) => right.push_str(&format!("{name}: right – {}\n", scenario.title)),
            Err(issues) => {
                let found = problems(issues.0.len());
                wrong.push_str(&format!("{name}: {found}\n{}", indented(&issues.0)));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(right);
    }
    print(&right);
    Err(Failure::Input(wrong))
}

/// The scenario as its file is, if it is right so and with every preset.
fn whole(text: &str) -> Result<Scenario, Issues> {
    let scenario = Scenario::parse(text, &[])?;
    let mut issues = Vec::new();
    for (preset, _) in &scenario.presets {
        // In quotes, so that whatever it is called is taken as it is.
        let name = toml::Value::from(preset.as_str()).to_string();
        if let Err(found) = Scenario::parse(text, &[("preset".to_owned(), name)]) {
            let path = |issue: &Issue| format!("presets.{preset}.{}", issue.path);
            issues.extend(found.0.into_iter().map(|issue| Issue { path: path(&issue), ..issue }));
        }
    }
    if issues.is_empty() { Ok(scenario) } else { Err(Issues(issues)) }
}

/// How many bytes it has; says so if it is no file, or larger than so many.
pub fn inspect(file: &Path, most: u64) -> Result<u64, Issue> {
    let about = std::fs::metadata(file).map_err(|error| unreadable(file, &error.to_string()))?;
    // A device or a pipe may never end; a pipe would not even open before somebody writes.
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "a device or pipe" };
        return Err(unreadable(file, &format!("it is {what}; save what it holds in a file")));
    }
    if about.len() > most {
        let size = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        return Err(Issue {
            path: file.display().to_string(),
            value: size(about.len()),
            allowed: format!("at most {}", size(most)),
            remedy: "Choose another file".to_owned(),
        });
    }
    Ok(about.len())
}

fn unreadable(file: &Path, error: &str) -> Issue {
    Issue {
        path: file.display().to_string(),
        value: String::new(),
        allowed: "a readable text file".to_owned(),
        remedy: format!("It cannot be read: {error}"),
    }
}

/// The text of a file of at most so many bytes.
pub fn read(file: &Path, most: u64) -> Result<String, Issue> {
    inspect(file, most)?;
    let unreadable = |error: &str| unreadable(file, error);
    let bytes = std::fs::read(file).map_err(|error| unreadable(&error.to_string()))?;
    let is_wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_wide || bytes.contains(&0) {
        return Err(unreadable("it holds zero bytes, as UTF-16 and binary files do; save it as UTF-8 text"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        unreadable(&format!("not UTF-8 after byte {place}; save it as UTF-8 text"))
    })
}
