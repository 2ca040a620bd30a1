//! Lets the benchmark of `tests/speed.rs` take the published traces in, if `RESIDUA_OPENB` names their folder: a path
//! from the repository's root, or an absolute one.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RESIDUA_OPENB");
    let files = env::var_os("RESIDUA_OPENB").map(|folder| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        // Those of `FILES` in benches/work.rs.
        ["openb_node_list_gpu_node.csv", "openb_pod_list_default.csv", "replay/replay_default_42.txt"]
            .map(|file| format!("include_str!({:?})", folder.join(file)))
            .join(", ")
    });
    let source = files.map_or_else(|| "None".to_owned(), |files| format!("Some([{files}])"));
    let folder = env::var_os("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&folder).join("openb.rs"), source).expect("the folder can be written to");
}
