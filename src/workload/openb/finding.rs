//! What the importer found: everything by file, row, column, value and reason, and how much it matters.

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::number::whole;
use crate::text::visible;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The file as a whole cannot be used; there is nothing to choose.
    Refusal,
    /// A row is bad data; the user chooses to drop such rows or to stop.
    Fault,
    /// Worth knowing; the data is in order.
    Note,
}

/// What kind of finding it is; findings are counted by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing in the file, or a header and no rows.
    EmptyFile,
    /// A node list where a pod list belongs, or the other way round.
    WrongFile,
    /// A needed column is not there.
    MissingColumn,
    /// The pod list has no run times at all.
    NoTimeColumns,
    /// Two columns have the same name.
    RepeatedColumn,
    /// More kinds of nodes than the simulator tells apart.
    TooManyKinds,
    /// Without the faulty rows nothing is left to simulate.
    NothingLeft,
    /// A row that is earlier than the one before, where rows are replayed one by one.
    OutOfOrder,
    /// More or fewer fields than the header.
    FieldCount,
    /// A quotation mark that is not closed in its line.
    OpenQuote,
    /// A character that steers what shows it, e.g. escape: nobody sees it, and no name or number has one.
    ControlCharacter,
    /// An empty field that must not be empty.
    MissingValue,
    /// Not a whole number.
    NotANumber,
    /// A number below zero.
    Negative,
    /// A number above what any machine or trace has.
    TooLarge,
    /// A name that an earlier row has.
    RepeatedName,
    /// GPU count and GPU share contradict each other.
    GpuMismatch,
    /// A GPU model that no node has.
    UnknownModel,
    /// Ends before it starts, or starts before it was created.
    EndBeforeStart,
    /// Larger than every node it may run on.
    FitsNoNode,
    /// Never started or not ended: no duration. Not used.
    NoRunTime,
    /// Ended in the second it started. Kept, with one second.
    ZeroRunTime,
    /// A quality-of-service class that the format does not know. Kept, as latency-sensitive.
    UnknownQos,
    /// GPU models on a pod without GPUs mean nothing. Kept, without them.
    ModelsIgnored,
    /// A column that the format does not know. Not read.
    UnusedColumn,
    /// An optional column is not there.
    AbsentColumn,
    /// Fields are separated by something else than commas. Read as such.
    Separator,
}

impl Kind {
    /// Every kind, refusals first, notes last.
    pub const ALL: [Self; 27] = [
        Self::EmptyFile,
        Self::WrongFile,
        Self::MissingColumn,
        Self::NoTimeColumns,
        Self::RepeatedColumn,
        Self::TooManyKinds,
        Self::NothingLeft,
        Self::OutOfOrder,
        Self::FieldCount,
        Self::OpenQuote,
        Self::ControlCharacter,
        Self::MissingValue,
        Self::NotANumber,
        Self::Negative,
        Self::TooLarge,
        Self::RepeatedName,
        Self::GpuMismatch,
        Self::UnknownModel,
        Self::EndBeforeStart,
        Self::FitsNoNode,
        Self::NoRunTime,
        Self::ZeroRunTime,
        Self::UnknownQos,
        Self::ModelsIgnored,
        Self::UnusedColumn,
        Self::AbsentColumn,
        Self::Separator,
    ];

    /// How much it matters.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::EmptyFile
            | Self::WrongFile
            | Self::MissingColumn
            | Self::NoTimeColumns
            | Self::RepeatedColumn
            | Self::TooManyKinds
            | Self::NothingLeft
            | Self::OutOfOrder => Severity::Refusal,
            Self::FieldCount
            | Self::OpenQuote
            | Self::ControlCharacter
            | Self::MissingValue
            | Self::NotANumber
            | Self::Negative
            | Self::TooLarge
            | Self::RepeatedName
            | Self::GpuMismatch
            | Self::UnknownModel
            | Self::EndBeforeStart
            | Self::FitsNoNode => Severity::Fault,
            Self::NoRunTime
            | Self::ZeroRunTime
            | Self::UnknownQos
            | Self::ModelsIgnored
            | Self::UnusedColumn
            | Self::AbsentColumn
            | Self::Separator => Severity::Note,
        }
    }

    /// A few words for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::EmptyFile => "empty file",
            Self::WrongFile => "wrong file",
            Self::MissingColumn => "missing column",
            Self::NoTimeColumns => "no run times in this file",
            Self::RepeatedColumn => "repeated column",
            Self::TooManyKinds => "too many kinds of nodes",
            Self::NothingLeft => "nothing left to simulate",
            Self::OutOfOrder => "not in order of time",
            Self::FieldCount => "wrong number of fields",
            Self::OpenQuote => "quotation mark not closed",
            Self::ControlCharacter => "control character",
            Self::MissingValue => "missing value",
            Self::NotANumber => "not a whole number",
            Self::Negative => "negative number",
            Self::TooLarge => "number too large",
            Self::RepeatedName => "repeated name",
            Self::GpuMismatch => "GPU count and share contradict",
            Self::UnknownModel => "unknown GPU model",
            Self::EndBeforeStart => "ends before it starts",
            Self::FitsNoNode => "fits no node",
            Self::NoRunTime => "no run time, not used",
            Self::ZeroRunTime => "zero run time, taken as 1 s",
            Self::UnknownQos => "unknown qos, taken as LS",
            Self::ModelsIgnored => "GPU models without GPUs, ignored",
            Self::UnusedColumn => "column not used",
            Self::AbsentColumn => "optional column absent",
            Self::Separator => "other separator",
        }
    }
}

/// One thing found in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the file, as given.
    pub file: String,
    /// Line, counted from 1 as an editor shows it; the header is usually line 1.
    pub row: usize,
    /// Column, by its name in the header; empty if it concerns the whole line or file.
    pub column: String,
    /// What is written there, with control characters [written out](crate::text::visible); long values are cut.
    pub value: String,
    /// What kind it is.
    pub kind: Kind,
    /// Why it matters and what is expected.
    pub reason: String,
}

impl fmt::Display for Finding {
    /// `pods.csv, row 17, column gpu_milli, value "1200": …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}", self.file, self.row)?;
        if !self.column.is_empty() {
            write!(f, ", column {}", self.column)?;
        }
        if !self.value.is_empty() {
            write!(f, ", value \"{}\"", self.value)?;
        }
        write!(f, ": {}: {}", self.kind.title(), self.reason)
    }
}

/// How many findings of a kind there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub count: usize,
}

/// Counts by kind, in the order of [`Kind::ALL`], without zeros.
#[must_use]
pub fn count(findings: &[Finding]) -> Vec<Count> {
    Kind::ALL
        .into_iter()
        .map(|kind| Count { kind, count: findings.iter().filter(|finding| finding.kind == kind).count() })
        .filter(|count| count.count > 0)
        .collect()
}

/// Collects the findings of one file.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    file: &'a str,
    pub(super) list: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Self { file, list: Vec::new() }
    }

    pub(super) fn add(&mut self, row: usize, column: &str, value: &str, kind: Kind, reason: impl Into<String>) {
        self.list.push(Finding {
            file: self.file.to_owned(),
            row,
            column: column.to_owned(),
            value: visible(&shorten(value), &[]),
            kind,
            reason: reason.into(),
        });
    }

    /// The whole number in a field, from 0 to `most`; `None`, and a fault, if it is none.
    pub(super) fn number(&mut self, row: usize, column: &str, value: &str, most: i64, unit: &str) -> Option<i64> {
        match whole(value, most, unit) {
            Ok(number) => Some(number),
            Err((kind, reason)) => {
                self.add(row, column, value, kind, reason);
                None
            }
        }
    }

    /// Whether the name in a field is the row's own: there, and in no row before. `taken` holds the names so far with
    /// the rows that have them; without a name, the reason is `missing`.
    pub(super) fn has_own_name(
        &mut self,
        row: usize,
        column: &str,
        name: &str,
        taken: &mut BTreeMap<String, usize>,
        missing: &str,
    ) -> bool {
        if name.is_empty() {
            self.add(row, column, name, Kind::MissingValue, missing);
        } else if let Some(first) = taken.get(name) {
            self.add(row, column, name, Kind::RepeatedName, format!("row {first} has this name already"));
        } else {
            taken.insert(name.to_owned(), row);
            return true;
        }
        false
    }

    /// The list by row; findings of one row keep their order.
    pub(super) fn by_row(mut self) -> Vec<Finding> {
        self.list.sort_by_key(|finding| finding.row);
        self.list
    }

    /// Whether one of them makes the file unusable.
    pub(super) fn refuses(&self) -> bool {
        self.list.iter().any(|finding| finding.kind.severity() == Severity::Refusal)
    }
}

/// At most 80 characters: a damaged file may have a megabyte in one field.
fn shorten(value: &str) -> String {
    match value.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_every_kind_once_and_by_severity() {
        assert!(Kind::ALL.windows(2).all(|pair| pair[0] < pair[1] && pair[0].severity() <= pair[1].severity()));
        // The last one's position is the number of kinds before it.
        assert_eq!(Kind::Separator as usize + 1, Kind::ALL.len());
    }

    #[test]
    fn a_finding_reads_as_a_sentence() {
        let mut findings = Findings::new("pods.csv");
        findings.add(17, "gpu_milli", "1200", Kind::TooLarge, "at most 1,000");
        assert_eq!(
            findings.list[0].to_string(),
            "pods.csv, row 17, column gpu_milli, value \"1200\": number too large: at most 1,000"
        );
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let mut findings = Findings::new("f");
        findings.add(1, "", &"é".repeat(1000), Kind::NotANumber, "");
        assert_eq!(findings.list[0].value.chars().count(), 81);
    }
}
