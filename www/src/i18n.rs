//! Every word of the page, in English and Spanish.
//!
//! The texts are in `locales/*.json`, one flat table a language, compiled in. [`Text::t`] reads the current language
//! from a signal, so a view that uses it follows a change of language by itself. A text that is missing shows its
//! key; the tests make sure that none is.
//!
//! What the simulator itself says – findings in a trace, assumptions, problems of a run – comes in English with its
//! numbers and names in it. The `said.` texts are its sentences with blanks: [`Text::said`] finds the English one that
//! fits and fills the same blanks in the language of the page.

use std::collections::HashMap;

use leptos::prelude::*;

use crate::numbers::decimal_separator;

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    En,
    Es,
}

impl Lang {
    /// The part of the address that stands for it, and the value of `<html lang>`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Es => "es",
        }
    }

    /// The language with that code, or whose code a tag such as `es-MX` starts with.
    pub fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "es" => Some(Self::Es),
            _ => None,
        }
    }

    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::En => Self::Es,
            Self::Es => Self::En,
        }
    }

    /// Its name in itself.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Es => "Español",
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::En => 0,
            Self::Es => 1,
        }
    }
}

const SOURCES: [&str; 2] = [include_str!("../locales/en.json"), include_str!("../locales/es.json")];

type Table = HashMap<String, String>;

/// Begins the keys of the simulator's own sentences.
const SAID: &str = "said.";

thread_local! {
    static TABLES: [Table; 2] = SOURCES.map(parse);
    /// The simulator's own sentences with their keys, the most particular first.
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

/// What stands in the blanks of `template` where it reads `text`. A blank is not empty and ends at the first place
/// where what follows it fits; it holds no semicolon, which stands between whole sentences.
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
        if value.is_empty() || value.contains(';') {
            return None;
        }
        found.push((name, value));
        text = &text[end + fixed.len()..];
    }
    text.is_empty().then_some(found)
}

/// One of the simulator's own sentences in `lang`, if it is known there.
fn translated(lang: Lang, english: &str) -> Option<String> {
    let whole = SENTENCES.with(|sentences| {
        sentences.iter().find_map(|(template, key)| {
            let found = blanks(template, english)?;
            let values: Vec<(&str, String)> =
                found.into_iter().map(|(name, value)| (name, translated_value(lang, value))).collect();
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            Some(filled(&lookup(lang, key)?, &values))
        })
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

/// Reads a table of texts with the browser's own JSON parser.
fn parse(source: &str) -> Table {
    let mut table = Table::new();
    let Ok(value) = js_sys::JSON::parse(source) else {
        return table;
    };
    for pair in js_sys::Object::entries(&js_sys::Object::from(value)).iter() {
        let pair = js_sys::Array::from(&pair);
        if let (Some(key), Some(text)) = (pair.get(0).as_string(), pair.get(1).as_string()) {
            table.insert(key, text);
        }
    }
    table
}

/// The text of `key` in `lang`, if there is one.
pub fn lookup(lang: Lang, key: &str) -> Option<String> {
    TABLES.with(|tables| tables[lang.index()].get(key).cloned())
}

/// `text` with each `{name}` replaced by its value.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// The texts in the language that is chosen now.
#[derive(Clone, Copy)]
pub struct Text {
    pub lang: RwSignal<Lang>,
}

impl Text {
    /// The text of `key`.
    pub fn t(self, key: &str) -> String {
        lookup(self.lang.get(), key).unwrap_or_else(|| key.to_owned())
    }

    /// The text of `key` with each `{name}` replaced by its value.
    pub fn tf(self, key: &str, values: &[(&str, &str)]) -> String {
        filled(&self.t(key), values)
    }

    /// The text of `key`, if it has one: for things that describe themselves in English and may have a translation.
    pub fn maybe(self, key: &str) -> Option<String> {
        lookup(self.lang.get(), key)
    }

    /// What the simulator says, in the language of the page; and `en` where that is another one and has no text for
    /// it.
    pub fn said(self, english: &str) -> (String, Option<&'static str>) {
        let lang = self.lang.get();
        if lang == Lang::En || english.is_empty() {
            return (english.to_owned(), None);
        }
        translated(lang, english).map_or_else(|| (english.to_owned(), Some(Lang::En.code())), |text| (text, None))
    }

    /// The text of `key.one` or `key.other`, by `count`, with `{n}` replaced by `shown`.
    pub fn count(self, key: &str, count: f64, shown: &str) -> String {
        let form = if count == 1.0 { "one" } else { "other" };
        self.tf(&format!("{key}.{form}"), &[("n", shown)])
    }
}

/// What the simulator says, in the language of the page, or marked as English where there is no text for it.
#[component]
pub fn Said(#[prop(into)] english: String) -> impl IntoView {
    let text = use_text();
    move || {
        let (words, lang) = text.said(&english);
        view! { <span lang=lang>{words}</span> }
    }
}

/// The texts, from anywhere in a view.
pub fn use_text() -> Text {
    expect_context::<Text>()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::views;

    /// What the views are made of: a key in one of these must exist.
    const VIEWS: &[(&str, &str)] = views::SOURCES;

    fn tables() -> [Table; 2] {
        SOURCES.map(parse)
    }

    fn placeholders(text: &str) -> BTreeSet<String> {
        text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.to_owned()).collect()
    }

    #[wasm_bindgen_test]
    fn both_languages_have_the_same_texts_with_the_same_blanks() {
        let [english, spanish] = tables();
        assert!(english.len() > 100, "the English table was read: {}", english.len());
        let keys = |table: &Table| table.keys().cloned().collect::<BTreeSet<_>>();
        let (english_keys, spanish_keys) = (keys(&english), keys(&spanish));
        let missing: Vec<_> = english_keys.symmetric_difference(&spanish_keys).collect();
        assert!(missing.is_empty(), "in one language only: {missing:?}");
        for (key, text) in &english {
            assert!(!text.trim().is_empty() && !spanish[key].trim().is_empty(), "{key} is empty");
            assert_eq!(placeholders(text), placeholders(&spanish[key]), "blanks of {key}");
        }
    }

    #[wasm_bindgen_test]
    fn a_key_stands_only_once_in_a_file() {
        for (source, table) in SOURCES.iter().zip(tables()) {
            let lines = source.lines().filter(|line| line.trim_start().starts_with('"')).count();
            assert_eq!(lines, table.len(), "one line a key, and no key twice");
        }
    }

    #[wasm_bindgen_test]
    fn every_key_a_view_uses_exists() {
        let [english, _] = tables();
        let mut used = 0;
        for (file, source) in VIEWS {
            for opening in [".t(\"", ".tf(\"", ".maybe(\""] {
                for (at, _) in source.match_indices(opening) {
                    let rest = &source[at + opening.len()..];
                    let key = &rest[..rest.find('"').expect("a closing quote")];
                    used += 1;
                    assert!(english.contains_key(key), "{file} uses {key}");
                }
            }
            for (at, _) in source.match_indices(".count(\"") {
                let rest = &source[at + ".count(\"".len()..];
                let key = &rest[..rest.find('"').expect("a closing quote")];
                for form in ["one", "other"] {
                    assert!(english.contains_key(&format!("{key}.{form}")), "{file} uses {key}.{form}");
                }
            }
        }
        assert!(used > 50, "the views were searched: {used}");
        for key in views::composed_keys() {
            assert!(english.contains_key(&key), "a view composes {key}");
        }
    }

    #[wasm_bindgen_test]
    fn blanks_are_filled_by_name() {
        assert_eq!(filled("{a} of {b}", &[("b", "2"), ("a", "1")]), "1 of 2");
    }

    #[wasm_bindgen_test]
    fn blanks_are_read_from_a_text() {
        let found =
            blanks("at most {most} {unit} is believable here", "at most 7 thousandths of a core is believable here");
        assert_eq!(found, Some(vec![("most", "7"), ("unit", "thousandths of a core")]));
        assert_eq!(blanks("row {row} has it", "row  has it"), None, "an empty blank");
        assert_eq!(blanks("no blank", "no blank"), Some(vec![]));
        assert_eq!(blanks("no blank", "no blank here"), None);
        assert_eq!(blanks("{a}: x", "y; z: x"), None, "two sentences");
    }

    #[wasm_bindgen_test]
    fn every_sentence_reads_itself() {
        let [english, _] = tables();
        let sentences: Vec<_> = english.iter().filter(|(key, _)| key.starts_with(SAID)).collect();
        assert!(sentences.len() > 100, "{}", sentences.len());
        for (key, template) in sentences {
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
            include_str!("../../tests/data/openb/nodes_faulty.csv"),
            include_str!("../../tests/data/openb/pods_faulty.csv"),
        ),
        (include_str!("../../tests/data/openb/nodes.csv"), include_str!("../../tests/data/openb/pods_faulty.csv")),
        (include_str!("../../tests/data/openb/nodes.csv"), include_str!("../../tests/data/openb/pods.csv")),
        (include_str!("../../tests/data/openb/pods.csv"), include_str!("../../tests/data/openb/nodes.csv")),
        (include_str!("../../tests/data/openb/pods.csv"), include_str!("../../tests/data/openb/pods.csv")),
        ("", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,0,\n", include_str!("../../tests/data/openb/pods.csv")),
        ("sn;cpu_milli;memory_mib;gpu;model\n", "name\tcpu_milli\tmemory_mib\tnum_gpu\tgpu_milli\n"),
        ("sn,cpu_mili,memory_mib,gpu,gpu,model,rack\n", "1,2,3\n4,5,6\n"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,0,5,0,\nb,9,9,1,A|B\n", "x,y\n"),
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
            set: vec![("nodes".to_owned(), "10000".to_owned()), ("load".to_owned(), "1.2".to_owned())],
            scheduler: "ragp-io".to_owned(),
            seed: 1,
            trace: None,
        };
        let issue = Session::start(&request).expect_err("more memory than a browser has").remove(0);
        assert!(issue.allowed.contains("64 MB"), "{issue}");
        for text in
            [issue.allowed.as_str(), &issue.remedy, "Take less load, or run it with the command, which may take more"]
        {
            assert!(translated(Lang::Es, text).is_some(), "no Spanish for {text:?}");
        }
        let error = residua::error::Error::Setup("x".to_owned()).to_string();
        assert_eq!(translated(Lang::Es, &error).as_deref(), Some("esta simulación no puede empezar: x"));
    }

    #[wasm_bindgen_test]
    fn a_language_tag_is_read_with_its_region() {
        assert_eq!(Lang::from_tag("es-MX"), Some(Lang::Es));
        assert_eq!(Lang::from_tag("EN"), Some(Lang::En));
        assert_eq!(Lang::from_tag("fr"), None);
    }
}
