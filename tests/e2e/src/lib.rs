//! A real browser before the built page, and questions to ask of it.
//!
//! [`drive`] starts a file server, a driver and a browser for one test, all on
//! free ports, hands out a [`Lab`], and ends what it started, also when the test
//! fails; then it leaves a screenshot in `target/e2e/`. WebDriver has no
//! events, so whatever takes time is asked for until it is true
//! ([`Lab::until`]).
//!
//! `cargo xtask test --only e2e` runs the tests; it says where the built page,
//! the native command, the browser and axe-core are (`RESIDUA_DIST`,
//! `RESIDUA_BIN`, `CHROME`, `CHROMEDRIVER`, `RESIDUA_AXE`).

// Tests measure real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod driver;
mod lab;
mod outside;

pub use lab::{Lab, Scheme, View};

use std::{env, future::Future, process::Command};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Runs one test in a browser of its own. `name` is the screenshot's.
///
/// Without `RESIDUA_DIST` there is no page to open: it says so and returns.
pub fn drive<T, F>(name: &str, view: View, test: T)
where
    T: FnOnce(Lab) -> F,
    F: Future<Output = Result<()>> + Send + 'static,
{
    if env::var_os("RESIDUA_DIST").is_none() {
        println!("{name}: not run, RESIDUA_DIST is not set. Run: cargo xtask test --only e2e");
        return;
    }
    let runtime = Runtime::new().expect("a runtime");
    let outcome = runtime.block_on(async {
        let lab = Lab::start(name, view).await?;
        // On a task of its own, so that a failed assertion ends the test and
        // not the browser's orderly shut-down.
        let outcome = runtime.spawn(test(lab.clone())).await;
        if !matches!(outcome, Ok(Ok(()))) {
            lab.describe_failure().await;
        }
        lab.stop().await;
        match outcome {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(error.into()),
            },
        }
    });
    if let Err(error) = outcome {
        panic!("{name}: {error:#}");
    }
}

/// What the native `residua` command prints for these arguments, as JSON.
pub fn residua(arguments: &[&str]) -> Result<Value> {
    let program = env::var_os("RESIDUA_BIN").context("RESIDUA_BIN is not set")?;
    let output = Command::new(program).args(arguments).output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "residua {arguments:?}: {messages}");
    serde_json::from_slice(&output.stdout).with_context(|| format!("residua {arguments:?} printed no JSON"))
}
