//! `cargo xtask bench`: events per second, natively and in a browser's worker with SIMD and without, in turn, and the
//! browser's times as multiples of the native ones.
//!
//! Machines are noisy: the three are measured one after the other several times, and the ratio is taken round by round.

use std::{env, fs, process::Command};

use anyhow::{Context, Result, ensure};
use xtask::{browser::Browser, tools::command};

use crate::{check, dist, setup, shell::shown};

/// Rounds of native, browser with SIMD, browser without, native, …
const ROUNDS: usize = 9;

/// The folder of the published traces, for the experiment of the FGD paper.
const OPENB: &str = "RESIDUA_OPENB";

/// What one program measured of one case.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    /// Nodes of a scenario, or the name of an experiment.
    case: String,
    events: f64,
    digest: String,
    seconds: f64,
}

/// What was measured in one round: natively, in a browser with SIMD, in a browser without.
type Round = [Vec<Measured>; 3];

/// Measures and prints a table.
pub fn run() -> Result<()> {
    println!("Setting up");
    setup::wasm_target()?;
    setup::wasm_bindgen()?;
    let browser = setup::browser()?;
    if env::var_os(OPENB).is_none() {
        println!(
            "The experiment of the FGD paper is left out: {OPENB} does not name the folder of the published traces"
        );
    }
    println!("Measuring, {ROUNDS} rounds (the first builds all three)");
    let mut rounds = Vec::new();
    for round in 1..=ROUNDS {
        println!("  round {round}");
        rounds.push([
            measure(&mut native(), "native")?,
            measure(&mut in_browser(&browser, true)?, "wasm")?,
            measure(&mut in_browser(&browser, false)?, "wasm")?,
        ]);
    }
    print!("{}", table(&rounds)?);
    Ok(())
}

fn native() -> Command {
    let mut program = command("cargo");
    program.args(["bench", "--quiet", "--bench", "events"]);
    program
}

fn in_browser(browser: &Browser, with_simd: bool) -> Result<Command> {
    let capabilities = check::scratch()?.join("webdriver.json");
    fs::write(&capabilities, browser.webdriver_json())?;
    let mut program = command("cargo");
    program
        .args(["test", "--release", "--package", "residua-web-tests", "--features", "speed"])
        .args(["--test", "speed", "--target", "wasm32-unknown-unknown", "--", "--nocapture"])
        .env("CHROMEDRIVER", &browser.driver)
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities)
        .env("WASM_BINDGEN_TEST_TIMEOUT", "600");
    if with_simd {
        dist::with_simd(&mut program)?;
    }
    Ok(program)
}

fn measure(program: &mut Command, side: &str) -> Result<Vec<Measured>> {
    let line = shown(program);
    let output = program.output().with_context(|| format!("`{line}` could not be started"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "`{line}` failed:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    let cases = read(&text, side);
    ensure!(!cases.is_empty(), "`{line}` printed no measurement:\n{text}");
    Ok(cases)
}

/// Reads lines such as `native 64 61778 26b13ec0d1eaba1b 0.1398`; all else is a test runner's chatter.
fn read(text: &str, side: &str) -> Vec<Measured> {
    let case = |line: &str| {
        let mut words = line.split_once(&format!("{side} "))?.1.split_whitespace();
        let case = words.next()?.to_owned();
        let events = words.next()?.parse().ok()?;
        let digest = words.next()?.to_owned();
        let seconds = words.next()?.parse().ok()?;
        Some(Measured { case, events, digest, seconds })
    };
    text.lines().filter_map(case).collect()
}

fn table(rounds: &[Round]) -> Result<String> {
    let mut text = String::from(
        "\n| case | events | native, events/s | browser with SIMD, events/s | browser without, events/s \
         | time with SIMD ÷ native | time without ÷ native |\n|---|---|---|---|---|---|---|\n",
    );
    let Some([first, ..]) = rounds.first() else { return Ok(text) };
    for reference in first {
        let case = &reference.case;
        // Seconds of each side, one array a round.
        let mut times = Vec::new();
        for round in rounds {
            let mut seconds = [0.0; 3];
            for (side, seconds) in round.iter().zip(&mut seconds) {
                let found = side.iter().find(|measured| &measured.case == case);
                let found = found.with_context(|| format!("a round measured nothing for {case}"))?;
                ensure!(found.digest == reference.digest, "the runs of {case} differ: {reference:?}, {found:?}");
                *seconds = found.seconds;
            }
            times.push(seconds);
        }
        text += &format!("| {case} | {} |", reference.events);
        for side in 0..3 {
            text +=
                &format!(" {} |", spread(times.iter().map(|seconds| reference.events / seconds[side]).collect(), 0));
        }
        for side in 1..3 {
            text += &format!(" {} |", spread(times.iter().map(|seconds| seconds[side] / seconds[0]).collect(), 2));
        }
        text.push('\n');
    }
    text += "\nA number is that many nodes of the storage-stress scenario; FGD is one packing experiment of the paper,\n\
             its events arrivals, the fastest of nine. Medians; in brackets the least and the most of the rounds.\n";
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

    fn measured(case: &str, digest: &str, seconds: f64) -> Vec<Measured> {
        vec![Measured { case: case.into(), events: 12.0, digest: digest.into(), seconds }]
    }

    #[test]
    fn measurements_are_read_from_between_chatter() {
        let text = "running 1 test\n    wasm 64 61778 26b13ec0d1eaba1b 0.1398\ntest ok\nwasm FGD 12 ab 0.5\n";
        let mut expected = measured("FGD", "ab", 0.5);
        let events = 61778.0;
        expected
            .insert(0, Measured { case: "64".into(), events, digest: "26b13ec0d1eaba1b".into(), seconds: 0.1398 });
        assert_eq!(read(text, "wasm"), expected);
        assert!(read(text, "native").is_empty());
    }

    #[test]
    fn runs_that_differ_are_not_compared() {
        let round = |last: &str| [measured("64", "a", 1.0), measured("64", "a", 2.0), measured("64", last, 3.0)];
        assert!(table(&[round("a"), round("b")]).is_err());
        let row = "| 64 | 12 | 12 (12–12) | 6 (6–6) | 4 (4–4) | 2.00 (2.00–2.00) | 3.00 (3.00–3.00) |";
        let table = table(&[round("a"), round("a")]).unwrap();
        assert!(table.contains(row), "{table}");
    }

    #[test]
    fn a_case_that_one_side_left_out_is_not_passed_over() {
        assert!(table(&[[measured("FGD", "a", 1.0), measured("64", "a", 1.0), measured("FGD", "a", 1.0)]]).is_err());
    }
}
