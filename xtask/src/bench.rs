//! `cargo xtask bench`: events per second, natively and in a browser's worker, in turn, and their ratio.
//!
//! Machines are noisy: the two are measured one after the other several times, and the ratio is taken round by round.

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::{Context, Result, ensure};
use xtask::{browser::Browser, tools::command};

use crate::{check, setup, shell::shown};

/// Rounds of native, browser, native, browser, …
const ROUNDS: usize = 3;

/// What one program measured of one case.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    events: f64,
    digest: String,
    seconds: f64,
}

/// Cases by number of nodes.
type Cases = BTreeMap<u32, Measured>;

/// Measures and prints a table.
pub fn run() -> Result<()> {
    println!("Setting up");
    setup::wasm_target()?;
    setup::wasm_bindgen()?;
    let browser = setup::browser()?;
    println!("Measuring, {ROUNDS} rounds (the first builds both)");
    let mut rounds = Vec::new();
    for round in 1..=ROUNDS {
        println!("  round {round}");
        rounds.push((measure(&mut native(), "native")?, measure(&mut in_browser(&browser)?, "wasm")?));
    }
    print!("{}", table(&rounds)?);
    Ok(())
}

fn native() -> Command {
    let mut program = command("cargo");
    program.args(["bench", "--quiet", "--bench", "events"]);
    program
}

fn in_browser(browser: &Browser) -> Result<Command> {
    let capabilities = check::scratch()?.join("webdriver.json");
    fs::write(&capabilities, browser.webdriver_json())?;
    let mut program = command("cargo");
    program
        .args(["test", "--release", "--package", "residua-web-tests", "--features", "speed"])
        .args(["--test", "speed", "--target", "wasm32-unknown-unknown", "--", "--nocapture"])
        .env("CHROMEDRIVER", &browser.driver)
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities)
        .env("WASM_BINDGEN_TEST_TIMEOUT", "600");
    Ok(program)
}

fn measure(program: &mut Command, side: &str) -> Result<Cases> {
    let line = shown(program);
    let output = program.output().with_context(|| format!("`{line}` could not be started"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "`{line}` failed:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    let cases = read(&text, side);
    ensure!(!cases.is_empty(), "`{line}` printed no measurement:\n{text}");
    Ok(cases)
}

/// Reads lines such as `native 64 61778 26b13ec0d1eaba1b 0.1398`; all else is a test runner's chatter.
fn read(text: &str, side: &str) -> Cases {
    let case = |line: &str| {
        let mut words = line.split_once(&format!("{side} "))?.1.split_whitespace();
        let nodes = words.next()?.parse().ok()?;
        let events = words.next()?.parse().ok()?;
        let digest = words.next()?.to_owned();
        let seconds = words.next()?.parse().ok()?;
        Some((nodes, Measured { events, digest, seconds }))
    };
    text.lines().filter_map(case).collect()
}

fn table(rounds: &[(Cases, Cases)]) -> Result<String> {
    let mut text = String::from(
        "\n| nodes | events | native, events/s | in a browser, events/s | time in a browser ÷ native |\n|---|---|---|---|---|\n",
    );
    let Some((first, _)) = rounds.first() else { return Ok(text) };
    for (nodes, reference) in first {
        let mut pairs = Vec::new();
        for (native, wasm) in rounds {
            let pair = native.get(nodes).zip(wasm.get(nodes));
            let (native, wasm) = pair.with_context(|| format!("a round measured nothing at {nodes} nodes"))?;
            let is_same = native.digest == wasm.digest && native.digest == reference.digest;
            ensure!(is_same, "at {nodes} nodes the runs differ: {native:?}, {wasm:?}");
            pairs.push((native.seconds, wasm.seconds));
        }
        let speed = |seconds: &dyn Fn(&(f64, f64)) -> f64| {
            spread(pairs.iter().map(|pair| reference.events / seconds(pair)).collect(), 0)
        };
        let ratio = spread(pairs.iter().map(|(native, wasm)| wasm / native).collect(), 2);
        let (native, wasm) = (speed(&|pair| pair.0), speed(&|pair| pair.1));
        text += &format!("| {nodes} | {} | {native} | {wasm} | {ratio} |\n", reference.events);
    }
    Ok(text)
}

/// Median and, in brackets, least and most.
fn spread(mut values: Vec<f64>, digits: usize) -> String {
    values.sort_by(f64::total_cmp);
    let (first, last) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
    format!("{median:.digits$} ({first:.digits$}–{last:.digits$})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_read_from_between_chatter() {
        let text = "running 1 test\n    wasm 64 61778 26b13ec0d1eaba1b 0.1398\ntest ok\n";
        let expected = Measured { events: 61778.0, digest: "26b13ec0d1eaba1b".into(), seconds: 0.1398 };
        assert_eq!(read(text, "wasm"), Cases::from([(64, expected)]));
        assert!(read(text, "native").is_empty());
    }

    #[test]
    fn runs_that_differ_are_not_compared() {
        let case = |digest: &str| Cases::from([(64, Measured { events: 1.0, digest: digest.into(), seconds: 1.0 })]);
        assert!(table(&[(case("a"), case("b"))]).is_err());
        assert!(
            table(&[(case("a"), case("a"))]).unwrap().contains("| 64 | 1 | 1 (1–1) | 1 (1–1) | 1.00 (1.00–1.00) |")
        );
    }
}
