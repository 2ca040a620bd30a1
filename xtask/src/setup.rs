//! Setting a machine up: what is there is left alone, what is missing is
//! installed, and what cannot be installed is named with its remedy.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use xtask::{
    browser::Browser,
    tools::{self, command, find, output, root},
};

use crate::shell::{announce, present, run};

const WASM: &str = "wasm32-unknown-unknown";

/// The last release of Trunk that builds with the Rust version we ask for.
const TRUNK: &str = "0.21.14";

/// One exact version: a new rule in a new release must not break an old commit.
const AXE: &str = "4.14.1";

/// All that `cargo xtask serve` and `cargo xtask build` need.
pub fn for_building() -> Result<()> {
    wasm_target()?;
    wasm_bindgen()?;
    trunk()
}

/// The standard library for WASM, without which nothing builds for the browser.
pub fn wasm_target() -> Result<()> {
    // Asked of rustc, not of rustup: a distribution's Rust has no rustup.
    let installed = || {
        let folder = output("rustc", &["--print", "target-libdir", "--target", WASM])?;
        let libraries = fs::read_dir(folder).ok()?;
        libraries.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libcore")).then_some(())
    };
    if installed().is_some() {
        present("Rust's WASM target", WASM);
        return Ok(());
    }
    ensure!(
        find("rustup").is_some(),
        "Rust's standard library for {WASM} is missing and there is no rustup to add it.\n\
         Remedy: install Rust from https://rustup.rs, or your system's package for that target."
    );
    announce("Rust's WASM target", "the page is compiled to WebAssembly");
    run(command("rustup").args(["target", "add", WASM]))
}

/// rustfmt and clippy, which the tests start with.
pub fn lints() -> Result<()> {
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        if output(program, &["--version"]).is_some() {
            present(component, "installed");
            continue;
        }
        ensure!(find("rustup").is_some(), "{component} is missing. Remedy: install your system's package for it.");
        announce(component, "the tests check style and lints");
        run(command("rustup").args(["component", "add", component]))?;
    }
    Ok(())
}

/// wasm-bindgen's command, in exactly the version of Cargo.lock: the two halves
/// of wasm-bindgen refuse to work together otherwise.
pub fn wasm_bindgen() -> Result<()> {
    let wanted = locked_version("wasm-bindgen")?;
    let trunk_toml = fs::read_to_string(root().join("Trunk.toml"))?;
    ensure!(
        trunk_toml.contains(&format!("wasm_bindgen = \"{wanted}\"")),
        "Cargo.lock has wasm-bindgen {wanted}, Trunk.toml names another version.\n\
         Remedy: put wasm_bindgen = \"{wanted}\" under [tools] in Trunk.toml."
    );
    let runner = find("wasm-bindgen-test-runner");
    if runner.is_some() && version("wasm-bindgen").as_deref() == Some(&wanted) {
        present("wasm-bindgen", &wanted);
        return Ok(());
    }
    announce(
        &format!("wasm-bindgen {wanted}"),
        "it joins WASM and JavaScript, and must be Cargo.lock's version (about 2 minutes where it has to be compiled)",
    );
    install("wasm-bindgen-cli", &wanted, &[])
}

/// Trunk, which builds the page.
pub fn trunk() -> Result<()> {
    let series = TRUNK.rsplit_once('.').map_or(TRUNK, |(series, _)| series);
    match version("trunk") {
        Some(found) if found.starts_with(&format!("{series}.")) => {
            present("Trunk", &found);
            return Ok(());
        }
        _ => announce(&format!("Trunk {TRUNK}"), "it builds the page (about 6 minutes where it has to be compiled)"),
    }
    install("trunk", TRUNK, &["--locked", "--no-default-features", "--features", "rustls"])
}

/// A browser and its driver, for the tests.
pub fn browser() -> Result<Browser> {
    if let Some(browser) = Browser::find() {
        present("browser", &browser.chrome.display().to_string());
        present("driver", &browser.driver.display().to_string());
        return Ok(browser);
    }
    announce("Chromium and its driver", "the tests open the real page");
    let installed = apt_install(&["chromium", "chromium-driver"]);
    if let Some(browser) = Browser::find() {
        return Ok(browser);
    }
    let remedy = "No Chromium or Chrome with its chromedriver was found.\n\
         Remedy, one of:\n  \
         Debian:  sudo apt-get install chromium chromium-driver\n  \
         Ubuntu:  sudo snap install chromium, or Google's .deb and the chromedriver of the same version\n  \
         Fedora:  sudo dnf install chromium chromedriver\n  \
         Arch:    sudo pacman -S chromium\n  \
         macOS:   brew install --cask google-chrome chromedriver\n\
         or set CHROME and CHROMEDRIVER to the two programs. Without a browser: cargo xtask test --only lint --only native";
    match installed {
        Ok(()) => bail!("{remedy}"),
        Err(error) => bail!("{error:#}\n{remedy}"),
    }
}

/// axe-core, which looks for accessibility faults; the path of its script.
/// Fetched when tests run: it is not part of this repository.
pub fn axe(folder: &Path) -> Result<PathBuf> {
    let script = folder.join(format!("axe-{AXE}.min.js"));
    if script.is_file() {
        present("axe-core", AXE);
        return Ok(script);
    }
    fs::create_dir_all(folder)?;
    if find("npm").is_none() {
        announce("npm", "axe-core, the accessibility check, comes from npm");
        apt_install(&["npm"]).map_err(|error| {
            anyhow!(
                "npm is missing, and the accessibility check is fetched with it: {error:#}\n\
                 Remedy: install Node.js (https://nodejs.org, or your system's packages nodejs and npm)."
            )
        })?;
    }
    announce(&format!("axe-core {AXE}"), "it checks accessibility");
    run(command("npm").current_dir(folder).args(["pack", "--silent", &format!("axe-core@{AXE}")]))?;
    run(command("tar").current_dir(folder).args(["-xzf", &format!("axe-core-{AXE}.tgz"), "package/axe.min.js"]))?;
    fs::rename(folder.join("package/axe.min.js"), &script).context("axe-core's package holds no axe.min.js")?;
    Ok(script)
}

/// Installs a program from crates.io: ready-made where cargo-binstall is there, otherwise compiled without
/// optimisation. That takes a quarter of the time, and the programs run for a second or two.
fn install(package: &str, version: &str, options: &[&str]) -> Result<()> {
    if find("cargo-binstall").is_some() {
        let request = format!("{package}@{version}");
        let ready_made =
            run(command("cargo").args(["binstall", "--no-confirm", "--disable-strategies", "compile", &request]));
        if ready_made.is_ok() {
            return Ok(());
        }
        println!("  no ready-made {package}: compiling it");
    }
    run(command("cargo")
        .args(["install", package, "--version", version, "--debug"])
        .args(options)
        .env("CARGO_PROFILE_DEV_DEBUG", "0"))
    .map_err(|error| {
        anyhow!(
            "{package} {version} could not be installed: {error:#}\n\
             Remedy: cargo install {package} --version {version}"
        )
    })
}

/// Installs Debian packages, where this machine and user can.
fn apt_install(packages: &[&str]) -> Result<()> {
    ensure!(find("apt-get").is_some(), "this system has no apt-get");
    let is_root = output("id", &["-u"]).as_deref() == Some("0");
    let with_sudo = !is_root && output("sudo", &["-n", "true"]).is_some();
    ensure!(is_root || with_sudo, "packages can be installed by root only");
    let apt = || {
        let mut apt = command(if is_root { "apt-get" } else { "sudo" });
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        if with_sudo {
            apt.args(["-n", "apt-get"]);
        }
        apt
    };
    run(apt().args(["update", "-q"]))?;
    run(apt().args(["install", "-q", "-y", "--no-install-recommends"]).args(packages))
}

/// The version that a program gives of itself: the first word that is one.
fn version(program: &str) -> Option<String> {
    let text = output(program, &["--version"])?;
    text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(str::to_owned)
}

fn locked_version(package: &str) -> Result<String> {
    let file = tools::root().join("Cargo.lock");
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    version_in_lock(&text, package).with_context(|| format!("{} has no package {package}", file.display()))
}

/// Cargo.lock always has a package's version on the line after its name.
fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.strip_suffix('"')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_exactly_the_named_package() {
        let lock = "[[package]]\nname = \"wasm-bindgen-backend\"\nversion = \"0.2.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        let found = version_in_lock(lock, "wasm-bindgen");
        assert_eq!(found.as_deref(), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "bindgen"), None);
    }
}
