//! Scenario files as their readers use them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use residua::scenario::{self, PRESETS, Scenario};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

#[test]
fn every_file_of_the_folder_is_right() {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = fs::read_to_string(&path).expect("a text");
            Scenario::parse(&text, &[]).unwrap_or_else(|issues| panic!("{}:\n{issues}", path.display()));
            names.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
        }
    }
    for preset in PRESETS {
        assert!(names.iter().any(|name| name == preset.id), "{} is not in the folder", preset.id);
    }
    assert_eq!(names.len(), PRESETS.len() + 2, "a file is no preset, and not model or trace: {names:?}");
}

#[test]
fn every_number_of_a_file_has_a_comment_with_its_unit_or_source() {
    for preset in PRESETS {
        for line in preset.text.lines().filter(|line| !line.starts_with(['#', '[']) && line.contains('=')) {
            let is_number =
                line.split('=').nth(1).is_some_and(|value| value.trim().starts_with(|c: char| c.is_ascii_digit()));
            // Shares are explained once for all, above their section.
            if is_number && !line.contains(".share") {
                assert!(line.contains('#'), "{}: {line}", preset.id);
            }
        }
    }
}

#[test]
fn examples_in_the_readme_are_right() {
    let readme = fs::read_to_string(folder().join("README.md")).expect("the README");
    let examples: Vec<&str> =
        readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().expect("an end")).collect();
    assert!(examples.len() >= 2);
    for example in examples {
        Scenario::parse(example, &[]).unwrap_or_else(|issues| panic!("{issues}\nin\n{example}"));
    }
}

/// The table is derived from the schema, so that a key is described in one place.
#[test]
fn keys_in_the_readme_are_those_of_the_schema() {
    let knob_prefixes = residua::schedulers::ROSTER.iter().flat_map(|card| card.knobs).map(|knob| knob.key);
    let of_cards: Vec<String> = knob_prefixes.map(|key| format!("scheduler.{key}")).collect();
    let mut table = String::from("| key | default | allowed | what it does |\n|---|---|---|---|\n");
    for knob in scenario::knobs().iter().filter(|knob| !of_cards.contains(&knob.path)) {
        let default = if ["title", "about"].contains(&knob.path.as_str()) { "" } else { &knob.default };
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        writeln!(table, "| `{}` | {default} | {} | {} |", knob.path, knob.range, knob.help).expect("a string");
    }
    let path = folder().join("README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let (before, rest) = readme.split_once("-->\n").expect("the mark of the table");
    let (written, after) = rest.split_once("<!-- /keys -->").expect("the end of the table");
    if std::env::var_os("RESIDUA_BLESS").is_some() {
        fs::write(&path, format!("{before}-->\n{table}<!-- /keys -->{after}")).expect("writable");
        return;
    }
    assert_eq!(written, table, "run `RESIDUA_BLESS=1 cargo test keys_in_the_readme`");
}

#[test]
fn the_same_seed_brings_the_same_jobs_to_every_scheduler() {
    let scenario = Scenario::preset("b", &[]).expect("right");
    let jobs = |scheduler, seed| scenario.setup(scheduler, seed).expect("right").source.take(500).collect::<Vec<_>>();
    assert_eq!(jobs("scalar-5d", 3), jobs("ragp-io", 3));
    assert_ne!(jobs("scalar-5d", 3), jobs("scalar-5d", 4));
}

/// What arrives is what the model says: within five standard errors of the expected GPU-hours of each class.
#[test]
fn offered_load_and_mix_are_as_written() {
    for id in ["a", "b", "d"] {
        let scenario = Scenario::preset(id, &[]).expect("right");
        let mut hours = vec![0.0; scenario.classes.len()];
        let horizon = 2000.0;
        let (mut count, seeds) = (vec![0.0f64; scenario.classes.len()], 1);
        for seed in 1..=seeds {
            let jobs = scenario.setup("scalar-5d", seed).expect("right").source;
            for job in jobs.take_while(|job| job.arrival.as_hours() < horizon) {
                hours[job.class.index()] += job.gpu_milli() as f64 / 1000.0 * job.work.as_hours();
                count[job.class.index()] += 1.0;
            }
        }
        let total_hours = horizon * seeds as f64;
        for (position, class) in scenario.classes.iter().enumerate() {
            let expected = scenario.load * scenario.gpus() * class.share;
            let offered = hours[position] / total_hours;
            if class.share == 0.0 {
                assert_eq!(offered, 0.0, "{id}: {} has no share and comes", class.id);
                continue;
            }
            // A job's GPU-hours vary by about their mean or a little more; bursts add to it in B.
            let error = expected * if id == "b" { 0.03 } else { 5.0 * 1.2 / count[position].sqrt() + 0.004 };
            assert!((offered - expected).abs() < error, "{id} {}: {offered} is not {expected} ± {error}", class.id);
        }
    }
}

#[test]
fn a_larger_cluster_gets_more_jobs_and_the_same_load() {
    let set = |nodes: &str| [("nodes".to_owned(), nodes.to_owned())];
    let small = Scenario::preset("a", &set("64")).expect("right");
    let large = Scenario::preset("a", &set("256")).expect("right");
    assert_eq!(large.gpus(), 4.0 * small.gpus());
    assert!((large.expected_jobs() / small.expected_jobs() - 4.0).abs() < 1e-9);
}

#[test]
fn drawn_tasks_keep_to_their_limits_and_fit_some_node() {
    for overrides in [
        vec![],
        // Nodes too small for what the limits of the model would allow.
        vec![("node_types.G8.cpu", "40"), ("node_types.G4.cpu", "40"), ("node_types.S8.cpu", "40")],
        vec![("storage_intensity", "1.5")],
        vec![("node_types.S8.share", "1")],
    ] {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let scenario = Scenario::preset("d", &overrides).expect("right");
        let setup = scenario.setup("ragp-io", 1).expect("right");
        let capacities: Vec<_> = setup.node_types.iter().map(|kind| kind.capacity).collect();
        let used: Vec<_> = (0..capacities.len()).filter(|kind| setup.nodes.contains(&(*kind as u8))).collect();
        for job in setup.source.take(20_000) {
            let fits = used.iter().any(|kind| job.demand.fits_in(&capacities[*kind], setup.exists));
            assert!(fits, "{job:?} fits no node of {capacities:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is written, the answer is a scenario or issues that say something.
    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        if let Err(issues) = Scenario::parse(&text, &[]) {
            prop_assert!(!issues.0.is_empty());
        }
    }

    #[test]
    fn any_override_is_taken_or_refused(path in "[a-z_.]{0,30}|(?s).{0,30}", value in "(?s).{0,40}") {
        if let Err(issues) = Scenario::preset("c", &[(path, value)]) {
            for issue in issues.0 {
                prop_assert!(!issue.message().is_empty() && !issue.allowed.is_empty() && !issue.remedy.is_empty());
            }
        }
    }

    /// Every key with any value: what is taken can be built, what is refused names the key.
    #[test]
    fn any_value_of_any_key_is_built_or_refused(position in 0usize..200, value in prop_oneof![
        any::<f64>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        (-1000i32..100_000).prop_map(|number| format!("{}", f64::from(number) / 1000.0)),
        Just("nan".to_owned()), Just("-inf".to_owned()), Just("true".to_owned()), Just("[]".to_owned()),
        Just("{}".to_owned()), Just("{ a = 1 }".to_owned()), Just("1979-05-27".to_owned()), Just("strict".to_owned()),
    ]) {
        let settings = Scenario::preset("d", &[]).expect("right").settings();
        let (path, _) = &settings[position % settings.len()];
        match Scenario::preset("d", &[(path.clone(), value)]) {
            Ok(scenario) => match scenario.setup("ragp-io", 1) {
                Ok(setup) => prop_assert_eq!(setup.check(), Ok(())),
                // How much must be left to plan with is a matter of the scheduler: of its share, or of a class that grows.
                Err(issues) => {
                    let is_plan = path == "scheduler.safety" && issues.0[0].path == *path;
                    let is_growth = path.starts_with("classes.") || path.starts_with("growth.");
                    prop_assert!(is_plan || is_growth && issues.0[0].path.starts_with("growth."), "{path}: {issues}");
                }
            },
            Err(issues) => prop_assert!(!issues.0.is_empty()),
        }
    }

    /// Half-right files: lines of keys with values, some wrong.
    #[test]
    fn any_lines_of_keys_are_read_or_refused(lines in proptest::collection::vec(("[a-z_]{1,12}(\\.[a-z_]{1,12}){0,3}", "[-0-9.ae\"\\[\\]{}=, ]{0,12}"), 0..8)) {
        let mut text = String::new();
        for (key, value) in lines {
            writeln!(text, "{key} = {value}").expect("a string");
        }
        let _ = Scenario::parse(&text, &[]);
    }
}
