//! Small runs end as they always did. The same file is checked in a browser (`tests/web`), so native and WASM agree.
//!
//! Where results change on purpose: `RESIDUA_BLESS=1 cargo test`, and an entry in CHANGELOG.md.

use std::{env, fs};

#[path = "../golden/cases.rs"]
mod cases;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/digests.txt");

const HEAD: &str = "\
# scenario, scheduler, digest of what happened, fingerprint of the measures: see cases.rs.
# Written by RESIDUA_BLESS=1 cargo test; checked natively and in a browser.
";

#[test]
fn small_runs_end_as_they_are_pinned() {
    let found = cases::lines();
    if env::var_os("RESIDUA_BLESS").is_some() {
        fs::write(FILE, format!("{HEAD}{}\n", found.join("\n"))).unwrap();
        return;
    }
    let pinned = fs::read_to_string(FILE).unwrap();
    let differences = cases::differences(&pinned, &found);
    assert!(
        differences.is_empty(),
        "{differences:#?}\nOn purpose? RESIDUA_BLESS=1 cargo test, and say why in CHANGELOG.md"
    );
}

#[test]
fn the_same_run_ends_the_same_twice() {
    assert_eq!(cases::lines(), cases::lines());
}
