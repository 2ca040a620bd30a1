//! Finding programs and folders.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// The repository's root folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository's root").to_path_buf()
}

/// Where `cargo install` puts programs.
pub fn cargo_bin_dir() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let user = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?;
        Some(PathBuf::from(user).join(".cargo"))
    })?;
    Some(home.join("bin"))
}

/// `PATH` with cargo's own folder first, so that what set-up has installed is
/// what the build finds, even where that folder is not on the user's `PATH`.
pub fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = cargo_bin_dir().into_iter().chain(env::split_paths(&path));
    env::join_paths(folders).unwrap_or(path)
}

/// The full path of a program, if it can be found.
pub fn find(program: &str) -> Option<PathBuf> {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&search_path()).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

/// A command that runs in the repository's root and finds what set-up installed.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(find(program).unwrap_or_else(|| program.into()));
    command.current_dir(root()).env("PATH", search_path());
    command
}

/// What a command prints, when it succeeds; its own complaints are not shown.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = command(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}
