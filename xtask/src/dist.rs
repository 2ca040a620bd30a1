//! Building the page into a folder that any static host can serve.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use xtask::{serve::public_path, tools::command};

use crate::shell::run;

/// Builds the page for a public path, in release. `404.html` is a copy of
/// `index.html`: a static host answers a deep link with it, and the page's
/// router goes on from there.
pub fn build(base: &str, dist: &Path) -> Result<()> {
    let base = public_path(base);
    run(command("trunk")
        // Trunk takes this variable for a flag of its own and refuses "1".
        .env_remove("NO_COLOR")
        // Its own stack says nothing about what is wrong with the page.
        .env("RUST_BACKTRACE", "0")
        .args(["build", "--release", "--public-url", &base, "--dist"])
        .arg(dist))?;
    fs::copy(dist.join("index.html"), dist.join("404.html"))
        .with_context(|| format!("Trunk left no index.html in {}", dist.display()))?;
    Ok(())
}
