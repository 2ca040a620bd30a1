//! `cargo xtask test`: every check there is, one after another, with a table at
//! the end. A failing step does not hide the outcome of the later ones.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use xtask::{browser::Browser, tools::command};

use crate::{dist, setup, shell::shown};

const WASM: [&str; 2] = ["--target", "wasm32-unknown-unknown"];

/// Where the page lies when it is tested: a sub-path, as on GitHub Pages.
const PUBLIC_PATH: &str = "/residua/";

/// A part of the checks that can be run by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Style and lints.
    Lint,
    /// The simulator, natively.
    Native,
    /// The simulator and the page's parts, compiled to WASM, in a browser.
    Web,
    /// The built page in a real browser.
    EndToEnd,
}

impl Part {
    /// All of them, the quickest first.
    pub const ALL: [Self; 4] = [Self::Lint, Self::Native, Self::Web, Self::EndToEnd];

    /// The part of that name on the command line.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "lint" => Self::Lint,
            "native" => Self::Native,
            "web" => Self::Web,
            "e2e" => Self::EndToEnd,
            _ => return None,
        })
    }
}

/// A folder below `target/` for what the tests fetch and write.
pub fn scratch() -> Result<PathBuf> {
    let folder = target_dir()?.join("xtask");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The folder of this program, `target/debug`: cargo puts `residua` beside it,
/// wherever the target folder is configured to be.
fn debug_dir() -> Result<PathBuf> {
    let program = env::current_exe()?;
    let folder = program.parent().context("xtask lies in no folder")?;
    Ok(folder.to_path_buf())
}

/// The target folder.
pub fn target_dir() -> Result<PathBuf> {
    let folder = debug_dir()?;
    let target = folder.parent().context("xtask lies in no target folder")?;
    Ok(target.to_path_buf())
}

/// Runs the given parts; `true` where all of it passed.
pub fn run(parts: &[Part]) -> Result<bool> {
    let wants = |part| parts.contains(&part);
    let in_browser = wants(Part::Web) || wants(Part::EndToEnd);

    println!("Setting up");
    if wants(Part::Lint) {
        setup::lints()?;
        setup::wasm_target()?;
    }
    let mut browser = None;
    if in_browser {
        setup::wasm_target()?;
        setup::wasm_bindgen()?;
        browser = Some(setup::browser()?);
    }
    let mut axe = None;
    if wants(Part::EndToEnd) {
        setup::trunk()?;
        axe = Some(setup::axe(&scratch()?)?);
    }

    let mut report = Report::default();
    if wants(Part::Lint) {
        lint(&mut report);
    }
    if wants(Part::Native) {
        native(&mut report);
    }
    if let Some(browser) = &browser {
        if wants(Part::Web) {
            web(&mut report, browser)?;
        }
        if let Some(axe) = &axe {
            end_to_end(&mut report, browser, axe)?;
        }
    }
    Ok(report.finish())
}

fn lint(report: &mut Report) {
    report.step("format", command("cargo").args(["fmt", "--all", "--", "--check"]));
    // The page and its tests compile for the browser only.
    let web = ["residua-web", "residua-web-tests"];
    let mut native = command("cargo");
    native.args(["clippy", "--workspace", "--all-targets"]);
    let mut wasm = command("cargo");
    wasm.arg("clippy").args(WASM).arg("--all-targets");
    for package in web {
        native.args(["--exclude", package]);
        wasm.args(["--package", package]);
    }
    report.step("lints, native", native.args(["--", "-D", "warnings"]));
    report.step("lints, page", wasm.args(["--", "-D", "warnings"]));
}

fn native(report: &mut Report) {
    report.step("simulator", command("cargo").args(["test", "--no-fail-fast"]));
    report.step("xtask", command("cargo").args(["test", "--package", "xtask"]));
}

fn web(report: &mut Report, browser: &Browser) -> Result<()> {
    let capabilities = scratch()?.join("webdriver.json");
    fs::write(&capabilities, browser.webdriver_json())?;
    for (name, package, with_simd) in [
        ("simulator in a browser", "residua-web-tests", false),
        ("the same with SIMD", "residua-web-tests", true),
        ("parts of the page", "residua-web", false),
    ] {
        let mut tests = command("cargo");
        tests
            .args(["test", "--package", package])
            .args(WASM)
            .env("CHROMEDRIVER", &browser.driver)
            .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities)
            // Simulations in the dev profile on a slow machine take their time.
            .env("WASM_BINDGEN_TEST_TIMEOUT", "300")
            .env("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", "60");
        for other in ["GECKODRIVER", "SAFARIDRIVER"] {
            // These would be preferred to the driver just chosen.
            tests.env_remove(other);
        }
        if with_simd {
            dist::with_simd(&mut tests)?;
        }
        report.step(name, &mut tests);
    }
    Ok(())
}

fn end_to_end(report: &mut Report, browser: &Browser, axe: &Path) -> Result<()> {
    // Not dist/: that one belongs to whoever is serving it right now.
    let dist = scratch()?.join("dist");
    let built = report.task("build the page", || dist::build(PUBLIC_PATH, &dist));
    let residua = debug_dir()?.join(format!("residua{}", env::consts::EXE_SUFFIX));
    let compiled = report.step("build the command", command("cargo").args(["build", "--bin", "residua"]));
    if !(built && compiled) {
        report.skip("page in a browser");
        return Ok(());
    }
    report.step(
        "page in a browser",
        command("cargo")
            .args(["test", "--package", "residua-e2e"])
            // Each test drives a browser of its own: more at once only makes
            // all of them slow.
            .args(["--", "--test-threads=1"])
            .env("RESIDUA_DIST", &dist)
            .env("RESIDUA_PUBLIC_PATH", PUBLIC_PATH)
            .env("RESIDUA_BIN", &residua)
            .env("RESIDUA_AXE", axe)
            .env("RESIDUA_SHOTS", target_dir()?.join("e2e"))
            .env("CHROME", &browser.chrome)
            .env("CHROMEDRIVER", &browser.driver),
    );
    Ok(())
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// Tests that passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    /// Adds what a line of output says, if it is a test harness's last line:
    /// "test result: ok. 12 passed; 0 failed; …".
    fn read(&mut self, line: &str) {
        let Some((_, numbers)) = line.split_once("test result: ") else {
            return;
        };
        let number = |word: &str| -> u64 {
            let before = numbers.split(word).next().unwrap_or_default();
            let digits = before.trim().rsplit(' ').next().unwrap_or_default();
            digits.parse().unwrap_or(0)
        };
        self.passed += number(" passed");
        self.failed += number(" failed");
    }

    /// A step counts its tests; one that has none counts as one itself, and so
    /// does a failure that no test has reported, such as code that does not
    /// compile.
    fn settled(mut self, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed if self.passed == 0 => self.passed = 1,
            Outcome::Failed if self.failed == 0 => self.failed = 1,
            Outcome::Skipped => self.failed = 1,
            Outcome::Passed | Outcome::Failed => {}
        }
        self
    }
}

#[derive(Debug)]
struct Row {
    name: String,
    outcome: Outcome,
    count: Count,
    time: Duration,
}

/// What has been run so far.
#[derive(Debug, Default)]
struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Runs a command, shows its output as it comes and counts its tests.
    fn step(&mut self, name: &str, command: &mut Command) -> bool {
        println!("\n== {name}\n  $ {}", shown(command));
        let start = Instant::now();
        let mut count = Count::default();
        let outcome = match streamed(command, &mut count) {
            Ok(true) => Outcome::Passed,
            Ok(false) => Outcome::Failed,
            Err(error) => {
                eprintln!("error: {error:#}");
                Outcome::Failed
            }
        };
        self.push(name, outcome, count, start.elapsed())
    }

    /// Runs something that is more than one command.
    fn task(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> bool {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = match work() {
            Ok(()) => Outcome::Passed,
            Err(error) => {
                eprintln!("error: {error:#}");
                Outcome::Failed
            }
        };
        self.push(name, outcome, Count::default(), start.elapsed())
    }

    /// Notes a step that could not be run because an earlier one failed.
    fn skip(&mut self, name: &str) {
        self.push(name, Outcome::Skipped, Count::default(), Duration::ZERO);
    }

    fn push(&mut self, name: &str, outcome: Outcome, count: Count, time: Duration) -> bool {
        self.rows.push(Row { name: name.to_owned(), outcome, count: count.settled(outcome), time });
        outcome == Outcome::Passed
    }

    /// Prints the table and the last line; `true` where nothing failed.
    fn finish(&self) -> bool {
        let total = self.rows.iter().fold(Count::default(), |sum, row| Count {
            passed: sum.passed + row.count.passed,
            failed: sum.failed + row.count.failed,
        });
        println!("\n{:<24} {:>8} {:>8} {:>8}", "step", "passed", "failed", "time");
        for row in &self.rows {
            let mark = match row.outcome {
                Outcome::Passed => "",
                Outcome::Failed => "FAILED",
                Outcome::Skipped => "NOT RUN",
            };
            println!(
                "{:<24} {:>8} {:>8} {:>7.0}s  {mark}",
                row.name,
                row.count.passed,
                row.count.failed,
                row.time.as_secs_f64(),
            );
        }
        println!("\n{} passed, {} failed", total.passed, total.failed);
        total.failed == 0
    }
}

/// Runs a command whose output passes through and is counted; its messages go
/// straight to the terminal. `false` where it fails.
fn streamed(command: &mut Command, count: &mut Count) -> Result<bool> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{}` could not be started", shown(command)))?;
    let output = child.stdout.take().context("no output to read")?;
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        io::stdout().write_all(&line)?;
        count.read(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(child.wait()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_test_harnesses_report() {
        let mut count = Count::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; finished in 0.1s",
            "test result: FAILED. 2 passed; 3 failed; 0 ignored",
        ] {
            count.read(line);
        }
        let expected = Count { passed: 14, failed: 3 };
        assert_eq!(count, expected);
    }

    #[test]
    fn a_failure_that_no_test_reports_still_counts() {
        let tests = Count { passed: 9, failed: 0 };
        assert_eq!(tests.settled(Outcome::Failed).failed, 1);
        assert_eq!(tests.settled(Outcome::Passed), tests);
        assert_eq!(Count::default().settled(Outcome::Passed).passed, 1);
        assert_eq!(Count::default().settled(Outcome::Skipped).failed, 1);
    }
}
