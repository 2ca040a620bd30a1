//! `cargo xtask`: everything one does with this repository, each in one command
//! that installs what it needs.

// Tools measure real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod bench;
mod check;
mod dist;
mod setup;
mod shell;

use std::{env, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, anyhow, bail, ensure};
use check::Part;
use lexopt::prelude::*;
use xtask::{
    serve::{Server, Site},
    tools::root,
};

const USAGE: &str = "\
Residua's commands. Each installs what it needs and is missing.

  cargo xtask serve [--port 8080] [--public-path /] [--no-build]
      Builds the page and serves it on http://127.0.0.1:8080/.
      --no-build serves dist/ as it is.

  cargo xtask test [--only lint|native|web|e2e]…
      Style and lints; the simulator's tests; the same numbers in a browser;
      the built page in a real browser. --only runs a part, and may be repeated.

  cargo xtask build [--public-path /residua/] [--dist dist]
      Builds dist/ for a static host, for the given path on it.

  cargo xtask bench
      Events per second of the simulator, natively and in a browser, with SIMD
      and without, as ratios. RESIDUA_OPENB names the folder of the published
      openb traces: then also an experiment of the FGD paper.

  cargo xtask setup
      Only installs what is missing.

Environment: CHROME and CHROMEDRIVER name the browser and driver for the tests.
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Help,
    Setup,
    Bench,
    Build { public_path: String, dist: PathBuf },
    Serve { port: u16, public_path: String, build: bool },
    Test { parts: Vec<Part> },
}

fn main() -> ExitCode {
    match parse(lexopt::Parser::from_env()).and_then(perform) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: lexopt::Parser) -> Result<Task> {
    let mut task = None;
    let mut port = None;
    let mut public_path = None;
    let mut dist = None;
    let mut build = true;
    let mut parts = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Task::Help),
            Value(name) if task.is_none() => task = Some(name.string()?),
            Long("port") => {
                let value = arguments.value()?.string()?;
                let number = value.parse().ok();
                port = Some(number.with_context(|| format!("--port {value}: a port is a number from 0 to 65535"))?);
            }
            Long("public-path") => public_path = Some(arguments.value()?.string()?),
            Long("dist") => dist = Some(PathBuf::from(arguments.value()?)),
            Long("no-build") => build = false,
            Long("only") => {
                let name = arguments.value()?.string()?;
                let part = Part::named(&name);
                parts.push(part.with_context(|| format!("--only {name}: choose lint, native, web or e2e"))?);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let name = task.unwrap_or_else(|| "help".to_owned());
    // An option that has no meaning here is a mistake, not a detail.
    let takes = |option: &str, given: bool, tasks: &[&str]| {
        ensure!(!given || tasks.contains(&name.as_str()), "{option} has no meaning for `{name}`");
        Ok(())
    };
    takes("--port", port.is_some(), &["serve"])?;
    takes("--no-build", !build, &["serve"])?;
    takes("--public-path", public_path.is_some(), &["serve", "build"])?;
    takes("--dist", dist.is_some(), &["build"])?;
    takes("--only", !parts.is_empty(), &["test"])?;
    Ok(match name.as_str() {
        "help" => Task::Help,
        "setup" => Task::Setup,
        "bench" => Task::Bench,
        "build" => Task::Build {
            public_path: public_path.unwrap_or_else(|| "/".to_owned()),
            dist: dist.unwrap_or_else(|| "dist".into()),
        },
        "serve" => Task::Serve {
            port: port.unwrap_or(8080),
            public_path: public_path.unwrap_or_else(|| "/".to_owned()),
            build,
        },
        "test" => Task::Test { parts: if parts.is_empty() { Part::ALL.to_vec() } else { parts } },
        other => bail!("no command `{other}`; see cargo xtask --help"),
    })
}

/// Does it; `false` where tests have failed, which they have said themselves.
fn perform(task: Task) -> Result<bool> {
    match task {
        Task::Help => print!("{USAGE}"),
        Task::Setup => {
            println!("Setting up");
            setup::for_building()?;
            setup::lints()?;
            setup::browser()?;
            setup::axe(&check::scratch()?)?;
            println!("All is there.");
        }
        Task::Bench => bench::run()?,
        Task::Build { public_path, dist } => {
            println!("Setting up");
            setup::for_building()?;
            println!("Building");
            // A relative folder is meant from where one stands.
            let dist = env::current_dir()?.join(dist);
            dist::build(&public_path, &dist)?;
            println!("Built {}", dist.display());
        }
        Task::Serve { port, public_path, build } => serve(port, &public_path, build)?,
        Task::Test { parts } => return check::run(&parts),
    }
    Ok(true)
}

fn serve(port: u16, public_path: &str, build: bool) -> Result<()> {
    let dist = root().join("dist");
    // Before the build: a taken port should not cost a minute to find out.
    let bind = || {
        Server::bind(Site::new(&dist, public_path), port).map_err(|error| {
            anyhow!(
                "port {port} on 127.0.0.1 cannot be used: {error}\n\
             Remedy: choose another, e.g. cargo xtask serve --port {}",
                port.checked_add(1).unwrap_or(8080),
            )
        })
    };
    // Given back until there is something to show: who comes early is refused, and does not wait for an answer.
    drop(bind()?);
    if build {
        println!("Setting up");
        setup::for_building()?;
        println!("Building (the first time ten to twenty minutes on two cores, then one or two)");
        dist::build(public_path, &dist)?;
    }
    ensure!(
        dist.join("index.html").is_file(),
        "there is no dist/index.html yet. Remedy: cargo xtask serve, without --no-build"
    );
    let server = bind()?;
    println!("\nResidua is at  {}\nStop it with Ctrl-C.", server.url()?);
    server.run();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Task> {
        parse(lexopt::Parser::from_iter(std::iter::once("xtask").chain(words.iter().copied())))
    }

    #[test]
    fn the_two_commands_of_the_readme_need_no_option() {
        let serve = Task::Serve { port: 8080, public_path: "/".into(), build: true };
        assert_eq!(parsed(&["serve"]).unwrap(), serve);
        let test = Task::Test { parts: Part::ALL.to_vec() };
        assert_eq!(parsed(&["test"]).unwrap(), test);
    }

    #[test]
    fn a_mistake_is_named() {
        for (words, word) in [
            (&["serve", "--port", "web"][..], "--port web"),
            (&["test", "--only", "all"], "--only all"),
            (&["test", "--port", "1"], "--port"),
            (&["deploy"], "deploy"),
            (&["serve", "--fast"], "--fast"),
        ] {
            let message = format!("{:#}", parsed(words).unwrap_err());
            assert!(message.contains(word), "{words:?}: {message}");
        }
    }
}
