//! Running commands so that one sees what is run and why.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Says that something is there already.
pub fn present(what: &str, detail: &str) {
    println!("  ok       {what}: {detail}");
}

/// Says that something is missing and why it is needed.
pub fn announce(what: &str, why: &str) {
    println!("  missing  {what}: {why}");
}

/// Shows a command as one would type it.
pub fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    let name = program.rsplit(['/', '\\']).next().unwrap_or(&program);
    let arguments = command.get_args().map(|word| {
        let word = word.to_string_lossy();
        if word.contains(' ') { format!("'{word}'") } else { word.into_owned() }
    });
    std::iter::once(name.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Shows a command, runs it, and fails where it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    println!("  $ {line}");
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}
