//! Building the page into a folder that any static host can serve.
//!
//! The worker is compiled twice, without SIMD by Trunk and with it here; the page's head names both, and its loader
//! (`www/src/loader.rs`) takes the one that the browser can run.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use xtask::{serve::public_path, tools::command};

use crate::{check, shell::run};

/// What a module compiled with SIMD says of itself, in its section `target_features`.
const SIMD: &[u8] = b"simd128";

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
    worker_with_simd(dist)?;
    let plain = publish(dist, "worker", false)?;
    let simd = publish(dist, "worker-simd", true)?;
    // Trunk's own loader, which asks for a name that is no more.
    fs::remove_file(dist.join("worker_loader.js")).context("Trunk left no loader for the worker")?;

    let index = dist.join("index.html");
    let page = fs::read_to_string(&index).with_context(|| format!("reading {}", index.display()))?;
    let page = naming(&page, &plain, &simd)?;
    for file in ["index.html", "404.html"] {
        fs::write(dist.join(file), &page).with_context(|| format!("writing {file} in {}", dist.display()))?;
    }
    Ok(())
}

/// Has a command compile WASM with SIMD, in a target folder of its own: in the common one the two builds would
/// replace each other's files.
pub fn with_simd(command: &mut Command) -> Result<PathBuf> {
    let target = check::target_dir()?.join("simd");
    // What is set already stays.
    let flags = env::var("RUSTFLAGS").unwrap_or_default();
    command
        .env("RUSTFLAGS", format!("{flags} -C target-feature=+simd128").trim_start())
        // It would be preferred.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("CARGO_TARGET_DIR", &target);
    Ok(target)
}

/// Compiles the worker with SIMD and puts it into `dist`, named as Trunk names things.
fn worker_with_simd(dist: &Path) -> Result<()> {
    let mut cargo = command("cargo");
    cargo
        .args(["build", "--release", "--package", "residua-web", "--bin", "worker"])
        // Without what only the page needs.
        .arg("--no-default-features")
        .args(["--target", "wasm32-unknown-unknown"]);
    let target = with_simd(&mut cargo)?;
    run(&mut cargo)?;
    run(command("wasm-bindgen")
        .args(["--target", "no-modules", "--no-typescript", "--out-name", "worker-simd", "--out-dir"])
        .args([dist, &target.join("wasm32-unknown-unknown/release/worker.wasm")]))
}

/// Gives a worker's files a name with the hash of their contents; returns it, without the endings.
fn publish(dist: &Path, worker: &str, has_simd: bool) -> Result<String> {
    let endings = [".js", "_bg.wasm"];
    let mut hash = Fnv::default();
    for ending in endings {
        let file = format!("{worker}{ending}");
        let contents = fs::read(dist.join(&file)).with_context(|| format!("there is no {file}"))?;
        hash.mix(&contents);
        if file.ends_with(".wasm") {
            let says_so = contents.windows(SIMD.len()).any(|window| window == SIMD);
            ensure!(says_so == has_simd, "{file} is compiled {} SIMD", if says_so { "with" } else { "without" });
        }
    }
    let name = format!("{worker}-{:016x}", hash.0);
    for ending in endings {
        fs::rename(dist.join(format!("{worker}{ending}")), dist.join(format!("{name}{ending}")))?;
    }
    Ok(name)
}

/// The page with the names of its workers in its head.
fn naming(page: &str, plain: &str, simd: &str) -> Result<String> {
    let (before, after) = page.split_once("</title>").context("index.html has no title to put names after")?;
    Ok(format!(
        "{before}</title>\
         <meta name=\"residua-worker\" content=\"{plain}\">\
         <meta name=\"residua-worker-simd\" content=\"{simd}\">\
         {after}"
    ))
}

/// FNV-1a: enough to tell one build from another.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files of a worker.
    fn folder(name: &str, wasm: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("residua-dist-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("worker.js"), "script").unwrap();
        fs::write(folder.join("worker_bg.wasm"), wasm).unwrap();
        folder
    }

    #[test]
    fn a_worker_is_named_by_what_is_in_it() {
        let names = ["one", "other"].map(|wasm| {
            let folder = folder(wasm, wasm);
            let name = publish(&folder, "worker", false).unwrap();
            assert_eq!(fs::read_to_string(folder.join(format!("{name}_bg.wasm"))).unwrap(), wasm);
            assert_eq!(fs::read_to_string(folder.join(format!("{name}.js"))).unwrap(), "script");
            assert!(!folder.join("worker.js").exists());
            name
        });
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn a_worker_that_is_not_what_it_should_be_is_not_published() {
        assert!(publish(&folder("with", "\0asm+simd128"), "worker", true).is_ok());
        assert!(publish(&folder("not-without", "\0asm+simd128"), "worker", false).is_err());
        assert!(publish(&folder("not-with", "\0asm"), "worker", true).is_err());
    }

    #[test]
    fn the_head_names_both_workers() {
        let page = naming("<title>Residua</title><base href=/residua/>", "worker-1", "worker-simd-2").unwrap();
        let expected = "<title>Residua</title><meta name=\"residua-worker\" content=\"worker-1\">\
            <meta name=\"residua-worker-simd\" content=\"worker-simd-2\"><base href=/residua/>";
        assert_eq!(page, expected);
        assert!(naming("<base>", "a", "b").is_err());
    }
}
