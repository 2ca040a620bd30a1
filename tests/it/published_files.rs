//! Where tests find the published traces and results. They are not part of this repository.

use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

/// The text of a published file: in the folder that `RESIDUA_OPENB` names, else in `../shared/data/openb`. `None` if it
/// is not there.
pub fn text(name: &str) -> Option<String> {
    let folder = env::var_os("RESIDUA_OPENB")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/openb"), PathBuf::from);
    fs::read_to_string(folder.join(name)).ok()
}

/// Says that a test had nothing to read.
pub fn left_out(test: &str) {
    // Not println!, which the test harness swallows when a test passes.
    let _ = writeln!(std::io::stderr(), "left out: {test}. Set RESIDUA_OPENB to the folder of the published traces");
}
