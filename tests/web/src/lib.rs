//! The simulator, compiled to WASM, gives in a browser what it gives natively, to the last bit.
//!
//! What is run and what must come out is in `tests/golden/`; the native tests check the same file.

#[path = "../../golden/cases.rs"]
mod cases;

/// Runs the pinned cases on this target: what came out differently, in words.
pub fn differences() -> Vec<String> {
    cases::differences(include_str!("../../golden/digests.txt"), &cases::lines())
}
