//! Writing to the terminal, and failing politely.

use std::io::{self, Write};
use std::process::ExitCode;

use residua::error::Error;
use residua::scenario::{Issue, Issues};
use residua::text::visible;

/// Why a command did not do what it was asked.
pub enum Failure {
    /// The input is wrong; everything that is wrong with it.
    Input(String),
    /// A run failed.
    Run(String),
}

impl Failure {
    /// Both at once; the first decides the exit code.
    pub fn and(self, other: Self) -> Self {
        let (Self::Input(text) | Self::Run(text)) = other;
        match self {
            Self::Input(first) => Self::Input(format!("{}\n{text}", first.trim_end())),
            Self::Run(first) => Self::Run(format!("{}\n{text}", first.trim_end())),
        }
    }

    /// Says so and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::Input(text) => (text, 2),
            Self::Run(text) => (text, 1),
        };
        tell(text.trim_end());
        ExitCode::from(code)
    }
}

impl From<Issues> for Failure {
    fn from(issues: Issues) -> Self {
        let count = issues.0.len();
        Self::Input(format!("{} found:\n{}", problems(count), indented(&issues.0)))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Run(error.to_string())
    }
}

/// A line on stderr. If even this cannot be written, the exit code still tells.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
}

/// The text with what would steer a terminal made visible: names and values come from files of anybody's making.
fn harmless(text: &str) -> String {
    visible(text, &['\n'])
}

/// `1 problem`, `2 problems`.
pub fn problems(count: usize) -> String {
    if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") }
}

/// One issue a line.
pub fn indented(issues: &[Issue]) -> String {
    issues.iter().map(|issue| format!("  {issue}\n")).collect()
}

/// Writes the result. A reader that left early (`| head`) is no failure.
pub fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Failure::Run(format!("cannot write the result: {error}")).report()
        }
        _ => ExitCode::SUCCESS,
    }
}
