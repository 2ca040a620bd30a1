//! What the documents promise of the source's shape, checked: promises that nobody checks come true only by chance.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file below a folder, with its path from the root.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} has no Rust file");
    found
}

/// A file's lines with their numbers and without comments, which may well name what the code may not.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()))
}

/// Whether `text` holds `word` as a whole word: `fs` is not in `offset`.
fn names(text: &str, word: &str) -> bool {
    let is_inner = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_inner) && !text[at + word.len()..].starts_with(is_inner))
}

#[test]
fn the_simulator_knows_no_web_no_clock_and_no_files() {
    let banned = ["web_sys", "js_sys", "leptos", "wasm_bindgen", "Instant", "SystemTime", "std::fs", "std::net"];
    let mut faults = Vec::new();
    for (file, text) in sources("src") {
        if file == "src/main.rs" || file.starts_with("src/main/") {
            continue;
        }
        for (number, line) in code(&text) {
            faults.extend(
                banned.iter().filter(|word| names(line, word)).map(|word| format!("{file}:{number}: {word}")),
            );
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_engine_names_no_policy() {
    // As a module or type would be written, and as an id in a string.
    let spellings = |card: &residua::schedulers::Card| [card.family.to_owned(), card.family.replace('-', "_")];
    let families: Vec<String> = residua::schedulers::ROSTER.iter().flat_map(spellings).collect();
    let mut faults = Vec::new();
    for (file, text) in sources("src").into_iter().filter(|(file, _)| file.starts_with("src/engine")) {
        for (number, line) in code(without_tests(&text)) {
            let line = line.to_lowercase();
            let named = families.iter().filter(|family| names(&line, family));
            faults.extend(named.map(|family| format!("{file}:{number}: {family}")));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Who may import whom: each area and what it may name of the crate. Later lines may use earlier ones, not the other
/// way round. `compare`, `stage` and `scenario` may use all of it.
const AREAS: [(&str, &str); 10] = [
    ("units", "units"),
    ("resources", "resources"),
    ("rng", "rng"),
    ("error", "error"),
    ("text", "text"),
    ("cluster", "cluster units resources rng error"),
    ("workload", "workload cluster units resources rng error text"),
    ("engine", "engine workload cluster units resources rng error"),
    ("schedulers", "schedulers engine workload cluster units resources rng error"),
    ("replay", "replay schedulers probes engine workload cluster units resources rng error"),
];

#[test]
fn areas_import_only_what_lies_below_them() {
    let probes = ("probes", "probes engine workload cluster units resources rng error");
    let economics = ("economics", "economics probes units resources error");
    let mut faults = Vec::new();
    for (area, may) in AREAS.into_iter().chain([probes, economics]) {
        let may: Vec<&str> = may.split(' ').collect();
        let of_area = |file: &str| file == format!("src/{area}.rs") || file.starts_with(&format!("src/{area}/"));
        for (file, text) in sources("src").into_iter().filter(|(file, _)| of_area(file)) {
            for (number, line) in code(without_tests(&text)) {
                for (_, rest) in line.match_indices("crate::").map(|(at, word)| (at, &line[at + word.len()..])) {
                    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                    if !may.contains(&name) {
                        faults.push(format!("{file}:{number}: {area} may not know {name}"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A scheduler sees the port: no books, no job list, no other scheduler. The compiler keeps the port's insides to the
/// engine.
#[test]
fn a_scheduler_sees_the_port_and_no_other_scheduler() {
    let may = [
        "crate::engine::port",
        "crate::cluster::{NodeId, NodeType}",
        "crate::cluster::NodeId",
        "crate::cluster::devices",
        "crate::resources",
        "crate::rng",
        "crate::workload::JobClass",
        "crate::workload::typical",
        "crate::schedulers::{",
    ];
    let mut faults = Vec::new();
    for (file, text) in sources("src/schedulers") {
        let own = file.trim_start_matches("src/schedulers/").split(['.', '/']).next().unwrap_or_default();
        let own = format!("crate::schedulers::{own}::");
        for (number, line) in code(without_tests(&text)) {
            for (at, _) in line.match_indices("crate::") {
                let path = &line[at..];
                if !path.starts_with(&own) && !may.iter().any(|allowed| path.starts_with(allowed)) {
                    faults.push(format!("{file}:{number}: {path}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// What stands below is a file's own tests, which may know anything.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

#[test]
fn only_the_edges_know_scenarios() {
    let may = ["src/main.rs", "src/main/", "src/compare", "src/stage", "src/scenario"];
    let mut faults = Vec::new();
    for (file, text) in sources("src") {
        let text = without_tests(&text);
        if may.iter().all(|allowed| !file.starts_with(allowed)) {
            let knows = code(text).filter(|(_, line)| line.contains("crate::scenario"));
            faults.extend(knows.map(|(number, _)| format!("{file}:{number}")));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_path_in_the_code_map_exists() {
    let text = read("ARCHITECTURE.md");
    // Between single backticks, outside of fenced blocks.
    let prose: String = text.split("```").step_by(2).collect();
    let is_path = |word: &&str| {
        let kinds = [".rs", ".toml", ".md", ".yml", ".html", ".json", ".txt", "/"];
        kinds.iter().any(|kind| word.ends_with(kind)) && !word.contains([' ', '*', '<', '{', ':'])
    };
    let paths: Vec<_> = prose.split('`').skip(1).step_by(2).filter(is_path).collect();
    assert!(paths.len() > 20, "the code map has only {} paths", paths.len());
    let missing: Vec<_> = paths.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:#?}");
}

#[test]
fn every_module_is_in_the_code_map() {
    let text = read("ARCHITECTURE.md");
    let modules = fs::read_dir(root().join("src")).unwrap().flatten().map(|entry| entry.path());
    let names = modules.filter(|path| path.is_file()).map(|path| path.file_name().unwrap().to_os_string());
    let paths = names.map(|name| format!("`src/{}`", name.to_string_lossy()));
    let missing: Vec<_> = paths.filter(|path| !text.contains(path.as_str())).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:?}");
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut faults = Vec::new();
    let mut documents: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "scenarios/README.md"]
            .map(|name| root().join(name))
            .to_vec();
    for folder in ["docs", "docs/decisions"] {
        let files = fs::read_dir(root().join(folder)).unwrap().flatten().map(|entry| entry.path());
        documents.extend(files.filter(|file| file.extension().is_some_and(|kind| kind == "md")));
    }
    assert!(documents.len() > 12, "{documents:?}");
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let folder = document.parent().map(PathBuf::from).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next()) {
            let leads_away = link.is_empty() || link.contains("://");
            if !leads_away && !folder.join(link).exists() {
                faults.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn one_version_of_wasm_bindgen_is_named_everywhere() {
    let lock = read("Cargo.lock");
    let version = lock
        .split("name = \"wasm-bindgen\"\nversion = \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("Cargo.lock has wasm-bindgen");
    for file in ["Trunk.toml", "www/Cargo.toml", "tests/web/Cargo.toml"] {
        assert!(read(file).contains(version), "{file} does not name wasm-bindgen {version}, as Cargo.lock does");
    }
}
