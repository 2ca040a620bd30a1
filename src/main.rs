//! The `residua` command: list what there is, check scenario files, run and compare schedulers, replay a paper.
//!
//! It alone reads files, writes to the terminal and uses threads. Exit codes: 0 done, 1 a run failed, 2 bad input.

use std::process::ExitCode;

use clap::Parser;

#[path = "main/check.rs"]
mod check;
#[path = "main/cost.rs"]
mod cost;
#[path = "main/list.rs"]
mod list;
#[path = "main/options.rs"]
mod options;
#[path = "main/output.rs"]
mod output;
#[path = "main/replay.rs"]
mod replay;
#[path = "main/report.rs"]
mod report;
#[path = "main/run.rs"]
mod run;
#[path = "main/table.rs"]
mod table;
#[path = "main/threads.rs"]
mod threads;
#[path = "main/trace.rs"]
mod trace;

fn main() -> ExitCode {
    let outcome = match options::Options::parse().command {
        options::Command::List(options) => list::list(&options),
        options::Command::Check(options) => check::check(&options),
        options::Command::Run(options) => run::run(&options),
        options::Command::Replay(options) => replay::replay(&options),
    };
    match outcome {
        Ok(text) => output::print(&text),
        Err(failure) => failure.report(),
    }
}
