//! The simulator's own sentences, in the language of the page.
//!
//! It says them in English, with its numbers and names in them. The `said.` texts are the same sentences with blanks:
//! the English one that fits is found, and its blanks are filled in the other language. A blank holds anything but a
//! semicolon, which stands between whole sentences; `{#n}` only a number, `{.a}` only a single word, and `{raw}`, at
//! the end behind a colon, words that are none of ours: a browser's or a panic's.
//!
//! A test reads the simulator's source: a sentence that is written there and has no text here fails it.

use super::{Lang, TABLES, filled, lookup};
use crate::numbers::decimal_separator;

/// Begins the keys of the simulator's own sentences.
const SAID: &str = "said.";

/// The blank for words that are none of ours, with what stands before it.
const RAW: &str = ": {raw}";

thread_local! {
    /// The English sentences with their keys, the most particular first.
    static SENTENCES: Vec<(String, String)> = sentences();
}

fn sentences() -> Vec<(String, String)> {
    let mut sentences: Vec<(String, String)> = TABLES.with(|tables| {
        let english = tables[Lang::En.index()].iter().filter(|(key, _)| key.starts_with(SAID));
        english.map(|(key, text)| (text.clone(), key.clone())).collect()
    });
    let fixed = |text: &str| text.split('{').map(|part| part.rsplit('}').next().map_or(0, str::len)).sum::<usize>();
    sentences.sort_by(|a, b| fixed(&b.0).cmp(&fixed(&a.0)).then_with(|| a.cmp(b)));
    sentences
}

/// Whether a blank may hold `value`.
fn may_hold(name: &str, value: &str) -> bool {
    match name.chars().next() {
        _ if name == "raw" => !value.is_empty(),
        Some('#') => value.parse::<f64>().is_ok(),
        Some('.') => !value.is_empty() && !value.contains([' ', ';']),
        _ => !value.is_empty() && !value.contains(';'),
    }
}

/// What stands in the blanks of `template` where it reads `text`. A blank ends at the first place where what follows
/// it fits.
fn blanks<'a>(template: &'a str, text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let (start, mut template) =
        template.split_once('{').map_or((template, None), |(start, rest)| (start, Some(rest)));
    let mut text = text.strip_prefix(start)?;
    let mut found = Vec::new();
    while let Some((name, rest)) = template.and_then(|rest| rest.split_once('}')) {
        let fixed;
        (fixed, template) = rest.split_once('{').map_or((rest, None), |(fixed, rest)| (fixed, Some(rest)));
        let end = if template.is_none() { text.strip_suffix(fixed)?.len() } else { text.find(fixed)? };
        let value = &text[..end];
        if !may_hold(name, value) {
            return None;
        }
        found.push((name, value));
        text = &text[end + fixed.len()..];
    }
    text.is_empty().then_some(found)
}

/// The key of the sentence that reads `english`, and what stands in its blanks.
fn sentence(english: &str) -> Option<(String, Vec<(String, String)>)> {
    SENTENCES.with(|sentences| {
        sentences.iter().find_map(|(template, key)| {
            let found = blanks(template, english)?;
            Some((key.clone(), found.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
        })
    })
}

/// One of the simulator's own sentences in `lang`, if it is known there.
pub(super) fn translated(lang: Lang, english: &str) -> Option<String> {
    let whole = sentence(english).and_then(|(key, found)| {
        let values: Vec<(&str, String)> =
            found.iter().map(|(name, value)| (name.as_str(), translated_value(lang, value))).collect();
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Some(filled(&lookup(lang, &key)?, &values))
    });
    // Several problems of one kind stand in one text.
    whole.or_else(|| {
        let parts = english.contains("; ").then(|| english.split("; ").map(|part| translated(lang, part)))?;
        Some(parts.collect::<Option<Vec<_>>>()?.join("; "))
    })
}

/// What stands in a blank: a sentence in itself, a number, or something that is the same in every language.
fn translated_value(lang: Lang, value: &str) -> String {
    if value.parse::<f64>().is_ok() {
        return value.replace('.', decimal_separator(lang).encode_utf8(&mut [0; 4]));
    }
    translated(lang, value).unwrap_or_else(|| value.to_owned())
}

/// A sentence in `lang` and apart from it the words that are none of ours, if it quotes some. `None` if it is no
/// sentence of ours.
pub(super) fn explained(lang: Lang, english: &str) -> Option<(String, Option<String>)> {
    let (key, found) = sentence(english)?;
    let raw = found.into_iter().find(|(name, _)| name == "raw").map(|(_, value)| value);
    let words = match &raw {
        Some(_) => format!("{}.", lookup(lang, &key)?.strip_suffix(RAW)?),
        None => translated(lang, english)?,
    };
    Some((words, raw))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::i18n::tests::{placeholders, tables};

    #[wasm_bindgen_test]
    fn blanks_are_read_from_a_text() {
        let found =
            blanks("at most {most} {unit} is believable here", "at most 7 thousandths of a core is believable here");
        assert_eq!(found, Some(vec![("most", "7"), ("unit", "thousandths of a core")]));
        assert_eq!(blanks("row {row} has it", "row  has it"), None, "an empty blank");
        assert_eq!(blanks("no blank", "no blank"), Some(vec![]));
        assert_eq!(blanks("no blank", "no blank here"), None);
        assert_eq!(blanks("{a}: x", "y; z: x"), None, "two sentences");
        assert_eq!(blanks("{#least} to {#most}", "0.05 to 1.5"), Some(vec![("#least", "0.05"), ("#most", "1.5")]));
        assert_eq!(blanks("{#least} to {#most}", "what to do"), None, "no numbers");
        assert_eq!(blanks("{.a} or {.b}", "one thing or another"), None, "more than a word");
    }

    #[wasm_bindgen_test]
    fn every_sentence_reads_itself() {
        let [english, _] = tables();
        let sentences: Vec<_> = english.iter().filter(|(key, _)| key.starts_with(SAID)).collect();
        assert!(sentences.len() > 100, "{}", sentences.len());
        for (key, template) in sentences {
            if placeholders(template).contains("raw") {
                assert!(
                    template.ends_with(RAW) && lookup(Lang::Es, key).is_some_and(|text| text.ends_with(RAW)),
                    "{key}"
                );
            }
            let text = placeholders(template)
                .iter()
                .fold(template.clone(), |text, name| text.replace(&format!("{{{name}}}"), "7.5"));
            let spanish = translated(Lang::Es, &text);
            let expected = placeholders(template)
                .iter()
                .fold(lookup(Lang::Es, key).expect("both"), |text, name| text.replace(&format!("{{{name}}}"), "7,5"));
            assert_eq!(spanish.as_deref(), Some(expected.as_str()), "{key}");
        }
    }

    /// Files with everything wrong that the importer knows of.
    const FAULTY: &[(&str, &str)] = &[
        (
            include_str!("../../../tests/data/openb/nodes_faulty.csv"),
            include_str!("../../../tests/data/openb/pods_faulty.csv"),
        ),
        (
            include_str!("../../../tests/data/openb/nodes.csv"),
            include_str!("../../../tests/data/openb/pods_faulty.csv"),
        ),
        (include_str!("../../../tests/data/openb/nodes.csv"), include_str!("../../../tests/data/openb/pods.csv")),
        (include_str!("../../../tests/data/openb/pods.csv"), include_str!("../../../tests/data/openb/nodes.csv")),
        (include_str!("../../../tests/data/openb/pods.csv"), include_str!("../../../tests/data/openb/pods.csv")),
        ("", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,0,\n", include_str!("../../../tests/data/openb/pods.csv")),
        ("sn;cpu_milli;memory_mib;gpu;model\n", "name\tcpu_milli\tmemory_mib\tnum_gpu\tgpu_milli\n"),
        ("sn,cpu_mili,memory_mib,gpu,gpu,model,rack\n", "1,2,3\n4,5,6\n"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,0,5,0,\nb,9,9,1,A|B\n", "x,y\n"),
        ("sn|cpu_milli|memory_mib|gpu|model\n", include_str!("../../../tests/data/openb/pods.csv")),
        (
            "sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,2,T4\nb,9000,512,1,A10\n",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,deletion_time,scheduled_time,creation_time\n\
             a,1,1,0,0,T4,??,9,5,1\nb,1,1,1,1000,H200,LS,9,,\nc,8000,1000,2,1000,,LS,,5,1\n\
             d,1,1,1,1000,T5,LS,5,5,1\ne,1,1,1,1000,,LS,-3,5,1\n,1,1,1,1000,,LS,9,5,1\n",
        ),
        (
            "sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,1,T4\n",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,deletion_time,scheduled_time,creation_time,qoss\n\
             a,1,1,0,0,9,5,1,LS\n",
        ),
        (
            "sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,1,T4\n",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,deletion_time,scheduled_time,creation_time\na,1,1,0,0,9,,1\n",
        ),
    ];

    #[wasm_bindgen_test]
    fn all_that_is_found_and_assumed_in_a_trace_is_said_in_spanish() {
        use residua::workload::openb::recorded::{Opener, Trouble, survey};
        use residua::workload::openb::{self, Kind, OnFault, Options};

        let mut kinds = BTreeSet::new();
        let mut said = BTreeSet::new();
        let many: String = (1..=65).map(|n| format!("n{n},{n}000,1024,1,T4\n")).collect();
        let many = format!("sn,cpu_milli,memory_mib,gpu,model\n{many}");
        for (nodes, pods) in FAULTY.iter().copied().chain([(many.as_str(), FAULTY[2].1)]) {
            for (on_fault, assume) in [(OnFault::Stop, true), (OnFault::Drop, true), (OnFault::Drop, false)] {
                let options = Options { on_fault, assume, ..Options::default() };
                let findings = match openb::import(("n", nodes), ("p", pods), &options) {
                    Ok(imported) => {
                        for line in imported.assumptions {
                            said.extend([line.what, line.value, line.reason]);
                        }
                        said.extend(imported.node_types.into_iter().map(|kind| kind.title));
                        [imported.report.faults, imported.report.notes].concat()
                    }
                    Err(refused) => refused.findings,
                };
                for finding in findings {
                    kinds.insert(finding.kind);
                    said.insert(finding.reason);
                }
            }
        }
        // What is said only where arrivals are replayed as recorded.
        let header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,deletion_time,scheduled_time";
        let recordings = [
            format!("{header},creation_time\na,1,1,1,1000,9,5,4\nb,1,1,1,1000,9,5,\nc,1,1,1,1000,9,5,3\n"),
            format!("{header}\na,1,1,1,1000,9,5\n"),
            format!("{header},creation_time\na,1,1,1,1000,9,5,4\n"),
        ];
        for pods in recordings {
            let opener = Opener::new(move || Ok(Box::new(std::io::Cursor::new(pods.clone().into_bytes()))));
            let nodes = ("n", "sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,2,T4\n");
            match survey(nodes, ("p", &opener), &Options::default(), |_| {}) {
                Ok(recorded) => said.extend(
                    recorded.trace.assumptions.into_iter().flat_map(|line| [line.what, line.value, line.reason]),
                ),
                Err(Trouble::Refused(refused)) => {
                    for finding in refused.findings {
                        kinds.insert(finding.kind);
                        said.insert(finding.reason);
                    }
                }
                Err(Trouble::Unreadable(why)) => panic!("{why}"),
            }
        }
        let missing: Vec<_> = Kind::ALL.into_iter().filter(|kind| !kinds.contains(kind)).collect();
        assert!(missing.is_empty(), "no file has {missing:?}");
        let silent: Vec<_> = said.iter().filter(|text| translated(Lang::Es, text).is_none()).collect();
        assert!(silent.is_empty(), "no Spanish for {silent:#?}");
    }

    #[wasm_bindgen_test]
    fn the_problems_of_a_run_are_said_in_spanish() {
        use residua::scenario::Scenario;
        use residua::stage::session::{RunRequest, Session};

        let sets: &[&[(&str, &str)]] = &[
            &[("nodes", "4"), ("load", "0.05")],
            &[("nodes", "1"), ("load", "0.05")],
            &[("nodes", "20000"), ("hours", "700"), ("load", "1.5")],
            &[("classes.rag_rt.sto", "900")],
            &[("classes.rag_rt.sto", "900"), ("limits.sto", "1000")],
        ];
        let mut found = 0;
        for set in sets {
            let set: Vec<_> = set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
            for issue in Scenario::preset("c-storage-stress", &set).err().into_iter().flat_map(|issues| issues.0) {
                found += 1;
                for text in [&issue.allowed, &issue.remedy] {
                    assert!(translated(Lang::Es, text).is_some(), "no Spanish for {issue:?}");
                }
            }
        }
        assert!(found > 1, "{found} problems");
        let request = RunRequest {
            scenario: "c-storage-stress".to_owned(),
            set: [("nodes", "10000"), ("load", "1.5"), ("hours", "20")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .into(),
            scheduler: "ragp-io".to_owned(),
            seed: 1,
            trace: None,
            lanes: 1,
        };
        for lanes in [1, 3] {
            let request = RunRequest { lanes, ..request.clone() };
            let issue = Session::start(&request).expect_err("more memory than a browser has").remove(0);
            assert!(issue.allowed.contains(" MB of memory"), "{issue}");
            for text in [&issue.allowed, &issue.remedy] {
                assert!(translated(Lang::Es, text).is_some(), "no Spanish for {text:?}");
            }
        }
        let error = residua::error::Error::Setup("x".to_owned()).to_string();
        assert_eq!(translated(Lang::Es, &error).as_deref(), Some("esta simulación no puede empezar: x"));
    }

    /// Every file whose sentences can reach a reader of the page.
    const SPEAKERS: &[(&str, &str)] = &[
        ("src/error.rs", include_str!("../../../src/error.rs")),
        ("src/engine/setup.rs", include_str!("../../../src/engine/setup.rs")),
        ("src/scenario.rs", include_str!("../../../src/scenario.rs")),
        ("src/scenario/build.rs", include_str!("../../../src/scenario/build.rs")),
        ("src/scenario/check.rs", include_str!("../../../src/scenario/check.rs")),
        ("src/scenario/field.rs", include_str!("../../../src/scenario/field.rs")),
        ("src/scenario/issues.rs", include_str!("../../../src/scenario/issues.rs")),
        ("src/scenario/memory.rs", include_str!("../../../src/scenario/memory.rs")),
        ("src/scenario/presets.rs", include_str!("../../../src/scenario/presets.rs")),
        ("src/scenario/read.rs", include_str!("../../../src/scenario/read.rs")),
        ("src/scenario/schema.rs", include_str!("../../../src/scenario/schema.rs")),
        ("src/scenario/suggest.rs", include_str!("../../../src/scenario/suggest.rs")),
        ("src/stage.rs", include_str!("../../../src/stage.rs")),
        ("src/replay.rs", include_str!("../../../src/replay.rs")),
        ("src/replay/curve.rs", include_str!("../../../src/replay/curve.rs")),
        ("src/replay/files.rs", include_str!("../../../src/replay/files.rs")),
        ("src/replay/order.rs", include_str!("../../../src/replay/order.rs")),
        ("src/replay/published.rs", include_str!("../../../src/replay/published.rs")),
        ("src/stage/board.rs", include_str!("../../../src/stage/board.rs")),
        ("src/stage/charts.rs", include_str!("../../../src/stage/charts.rs")),
        ("src/stage/charts/thinning.rs", include_str!("../../../src/stage/charts/thinning.rs")),
        ("src/stage/devices.rs", include_str!("../../../src/stage/devices.rs")),
        ("src/stage/figure.rs", include_str!("../../../src/stage/figure.rs")),
        ("src/stage/glyph.rs", include_str!("../../../src/stage/glyph.rs")),
        ("src/stage/look.rs", include_str!("../../../src/stage/look.rs")),
        ("src/stage/marks.rs", include_str!("../../../src/stage/marks.rs")),
        ("src/stage/palette.rs", include_str!("../../../src/stage/palette.rs")),
        ("src/stage/packing.rs", include_str!("../../../src/stage/packing.rs")),
        ("src/stage/plot.rs", include_str!("../../../src/stage/plot.rs")),
        ("src/stage/ranking.rs", include_str!("../../../src/stage/ranking.rs")),
        ("src/stage/reel.rs", include_str!("../../../src/stage/reel.rs")),
        ("src/stage/reel/node.rs", include_str!("../../../src/stage/reel/node.rs")),
        ("src/stage/replay.rs", include_str!("../../../src/stage/replay.rs")),
        ("src/stage/running.rs", include_str!("../../../src/stage/running.rs")),
        ("src/stage/why.rs", include_str!("../../../src/stage/why.rs")),
        ("src/stage/session.rs", include_str!("../../../src/stage/session.rs")),
        ("src/stage/svg.rs", include_str!("../../../src/stage/svg.rs")),
        ("src/stage/tile.rs", include_str!("../../../src/stage/tile.rs")),
        ("src/workload/openb.rs", include_str!("../../../src/workload/openb.rs")),
        ("src/workload/openb/assumed.rs", include_str!("../../../src/workload/openb/assumed.rs")),
        ("src/workload/openb/classes.rs", include_str!("../../../src/workload/openb/classes.rs")),
        ("src/workload/openb/finding.rs", include_str!("../../../src/workload/openb/finding.rs")),
        ("src/workload/openb/lines.rs", include_str!("../../../src/workload/openb/lines.rs")),
        ("src/workload/openb/nodes.rs", include_str!("../../../src/workload/openb/nodes.rs")),
        ("src/workload/openb/number.rs", include_str!("../../../src/workload/openb/number.rs")),
        ("src/workload/openb/packing.rs", include_str!("../../../src/workload/openb/packing.rs")),
        ("src/workload/openb/pods.rs", include_str!("../../../src/workload/openb/pods.rs")),
        ("src/workload/openb/recorded.rs", include_str!("../../../src/workload/openb/recorded.rs")),
        ("src/workload/openb/table.rs", include_str!("../../../src/workload/openb/table.rs")),
        ("www/src/hands.rs", include_str!("../hands.rs")),
        ("www/src/lanes.rs", include_str!("../lanes.rs")),
        ("www/src/loader.rs", include_str!("../loader.rs")),
        ("www/src/look_back.rs", include_str!("../look_back.rs")),
        ("www/src/replay_worker.rs", include_str!("../replay_worker.rs")),
        ("www/src/worker.rs", include_str!("../worker.rs")),
    ];

    /// What is written there and never reaches a reader, or not as a sentence.
    const SILENT: &[&str] = &[
        // Titles of scenarios have texts of their own.
        "C: storage stress",
        // Only a developer sees these.
        "the shared model is wrong: {}",
        "an event is handed over once and not kept",
        // The command's: the page lists the same findings one by one.
        "the trace was not imported:",
        "correct these rows, or choose to drop them",
        "… and {count} more × {}",
        // Quoted as the browser's reasons are.
        "no document",
        "no base address",
    ];

    /// The texts in quotation marks of a source file, without its comments and tests.
    fn literals(source: &str) -> Vec<String> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let mut found = Vec::new();
        let mut letters = code.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '/' if letters.peek() == Some(&'/') => while letters.next().is_some_and(|letter| letter != '\n') {},
                // A letter in quotes; a lifetime has none behind it.
                '\'' => {
                    let mut ahead = letters.clone();
                    match (ahead.next(), ahead.next()) {
                        (Some('\\'), _) => {
                            letters.nth(1);
                            while letters.next().is_some_and(|letter| letter != '\'') {}
                        }
                        (_, Some('\'')) => _ = letters.nth(1),
                        _ => {}
                    }
                }
                '"' => {
                    let mut text = String::new();
                    while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                        match letter {
                            '\\' => match letters.next() {
                                Some('\n') => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
                                Some('n') => text.push('\n'),
                                Some(other) => text.push(other),
                                None => {}
                            },
                            other => text.push(other),
                        }
                    }
                    found.push(text);
                }
                _ => {}
            }
        }
        found
    }

    /// The text with something in each of its blanks, as `format!` would put it there.
    fn formatted(literal: &str) -> String {
        let mut text = String::new();
        let mut rest = literal;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            text.push_str("7.5");
            rest = after.split_once('}').map_or("", |(_, after)| after);
        }
        text + rest
    }

    #[wasm_bindgen_test]
    fn every_sentence_that_is_written_down_is_said_in_spanish() {
        use residua::workload::openb::Kind;

        let is_marks = |text: &str| ["<", " stroke=", "importScripts("].iter().any(|start| text.starts_with(start));
        // Kinds have texts of their own, and what a key does is for the command to list.
        let mut known: Vec<String> = Kind::ALL.map(|kind| kind.title().to_owned()).into();
        known.extend(residua::scenario::knobs().into_iter().map(|knob| knob.help));
        known.extend(SILENT.iter().map(|text| (*text).to_owned()));
        let mut sentences = 0;
        let mut silent = Vec::new();
        for (file, source) in SPEAKERS {
            for literal in literals(source) {
                let text = literal.trim();
                let filled = formatted(text);
                let words =
                    filled.split(|letter: char| !letter.is_alphabetic()).filter(|word| word.len() > 1).count();
                if words < 2 || !text.contains(' ') || is_marks(&literal) || known.iter().any(|known| known == text) {
                    continue;
                }
                sentences += 1;
                if translated(Lang::Es, &filled).is_none() {
                    silent.push(format!("{file}: {text}"));
                }
            }
        }
        assert!(silent.is_empty(), "no Spanish for {silent:#?}");
        assert!(sentences > 150, "the sources were read: {sentences}");
    }

    #[wasm_bindgen_test]
    fn what_a_key_allows_is_said_in_spanish() {
        for knob in residua::scenario::knobs() {
            let is_said = |text: &str| text.is_empty() || text == "text" || translated(Lang::Es, text).is_some();
            assert!(is_said(&knob.range), "no Spanish for {}", knob.range);
            let units = ["h", "min", "s", "GiB", "GB/s", "Gbit/s", "×", "GPUs"];
            assert!(units.contains(&knob.unit.as_str()) || is_said(&knob.unit), "no Spanish for {}", knob.unit);
        }
    }

    #[wasm_bindgen_test]
    fn every_file_below_a_speaker_is_one() {
        for (file, source) in SPEAKERS {
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            let modules = code.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
            for module in modules.filter_map(|rest| rest.strip_suffix(';')) {
                // Modules of a program's own file stand beside it.
                let folder = if *file == "www/src/worker.rs" { "www/src" } else { file.trim_end_matches(".rs") };
                let below = format!("{folder}/{module}.rs");
                assert!(
                    SPEAKERS.iter().any(|(file, _)| *file == below),
                    "{below} is not among the files that are read"
                );
            }
        }
    }

    #[wasm_bindgen_test]
    fn words_that_are_none_of_ours_are_told_apart() {
        let told = explained(Lang::Es, "the worker could not be loaded: NetworkError: a; b");
        let words = "no se pudo cargar el proceso de simulación.".to_owned();
        assert_eq!(told, Some((words, Some("NetworkError: a; b".to_owned()))));
        let told = explained(
            Lang::Es,
            "node 3 does not hold job 5, which seemed to fit; the run stops here: please report it",
        );
        assert!(told.is_some_and(|(words, raw)| words.starts_with("el nodo 3 no admite") && raw.is_none()));
        for lang in [Lang::En, Lang::Es] {
            let panic = "panicked at src/engine.rs:1:1:\nindex out of bounds: the len is 3 but the index is 5";
            assert_eq!(explained(lang, panic), None);
        }
    }

    #[wasm_bindgen_test]
    fn sentences_are_found_in_source() {
        let source = "fn a<'a>(x: &'a str) { let c = '\"'; // \"not this\"\n f(\"one \\\n    {two} \\\"x\\\"\"); }\n#[cfg(test)] \"nor this\"";
        assert_eq!(literals(source), ["one {two} \"x\""]);
        assert_eq!(formatted("{a} of {}: {b:.2}"), "7.5 of 7.5: 7.5");
    }
}
