//! What is wrong with a scenario: every problem at once, each with where, what, what is allowed and what to do.

use core::fmt;

use serde::{Deserialize, Serialize};

/// One problem of a scenario or of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Dotted path of the key, e.g. `classes.train.share`; or the place in the file, `line 3, column 7`.
    pub path: String,
    /// The value found there, as written; empty where there is none.
    pub value: String,
    /// What is allowed there.
    pub allowed: String,
    /// What to do about it.
    pub remedy: String,
}

impl Issue {
    /// A problem at `path`.
    pub(crate) fn new(
        path: impl Into<String>,
        value: impl Into<String>,
        allowed: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            path: shortened(path.into()),
            value: shortened(value.into()),
            allowed: allowed.into(),
            remedy: remedy.into(),
        }
    }

    /// The problem in one line: `load = 3 – allowed: 0.05 to 1.5 (share of all GPUs). Choose a value in this range`.
    #[must_use]
    pub fn message(&self) -> String {
        let mut text = self.path.clone();
        if !self.value.is_empty() {
            text.push_str(" = ");
            text.push_str(&self.value);
        }
        if !self.allowed.is_empty() {
            text.push_str(" – allowed: ");
            text.push_str(&self.allowed);
        }
        if !self.remedy.is_empty() {
            text.push_str(". ");
            text.push_str(&self.remedy);
        }
        text
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// All problems found; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Issues(pub Vec<Issue>);

impl fmt::Display for Issues {
    /// One problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, issue) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{issue}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Issues {}

impl From<Issue> for Issues {
    fn from(issue: Issue) -> Self {
        Self(vec![issue])
    }
}

/// Long values are cut: a message is to be read.
fn shortened(value: String) -> String {
    const MOST: usize = 80;
    let value = value.replace(['\n', '\r'], " ");
    if value.chars().count() <= MOST {
        return value;
    }
    let mut cut: String = value.chars().take(MOST - 1).collect();
    cut.push('…');
    cut
}
