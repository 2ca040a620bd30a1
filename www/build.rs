//! Gives both programs the same build id: a hash of every source that a worker is made of. A page and a worker from
//! different builds can meet, since the browser caches them separately; by the id they notice.

use std::fs;
use std::path::Path;

fn main() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in [
        "../src",
        "../scenarios",
        "src/protocol.rs",
        "src/replay_protocol.rs",
        "src/worker.rs",
        "src/look_back.rs",
        "src/replay_worker.rs",
    ] {
        println!("cargo:rerun-if-changed={path}");
        visit(Path::new(path), &mut hash);
    }
    println!("cargo:rustc-env=RESIDUA_BUILD={hash:016x}");
}

/// Mixes the names and contents of all files below `path` into `hash`, in the order of their names (FNV-1a).
fn visit(path: &Path, hash: &mut u64) {
    let mut mix = |bytes: &[u8]| {
        for byte in bytes {
            *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    if let Ok(contents) = fs::read(path) {
        mix(path.to_string_lossy().as_bytes());
        mix(&contents);
        return;
    }
    let mut entries: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        visit(&entry, hash);
    }
}
