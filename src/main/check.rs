//! `residua check`: every problem of every file.

use std::path::Path;

use residua::scenario::{Issue, Issues, Scenario};

use crate::options::CheckOptions;
use crate::output::{Failure, indented, problems};

/// Checks each file; fails if there is any problem.
pub fn check(options: &CheckOptions) -> Result<String, Failure> {
    let mut text = String::new();
    let mut count = 0;
    for file in &options.files {
        let outcome = read(file).map_err(Issues::from).and_then(|text| Scenario::parse(&text, &[]));
        match outcome {
            Ok(scenario) => text.push_str(&format!("{}: right – {}\n", file.display(), scenario.title)),
            Err(issues) => {
                count += issues.0.len();
                let found = problems(issues.0.len());
                text.push_str(&format!("{}: {found}\n{}", file.display(), indented(&issues.0)));
            }
        }
    }
    if count == 0 { Ok(text) } else { Err(Failure::Input(text)) }
}

/// The text of a file.
pub fn read(file: &Path) -> Result<String, Issue> {
    std::fs::read(file)
        .map_err(|error| error.to_string())
        .and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|error| format!("not UTF-8 after byte {}", error.utf8_error().valid_up_to()))
        })
        .map_err(|error| Issue {
            path: file.display().to_string(),
            value: String::new(),
            allowed: "a readable text file".to_owned(),
            remedy: format!("It cannot be read: {error}"),
        })
}
