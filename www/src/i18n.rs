//! Every word of the page, in English and Spanish.
//!
//! The texts are in `locales/*.json`, one flat table a language, compiled in. [`Text::t`] reads the current language
//! from a signal, so a view that uses it follows a change of language by itself. A text that is missing shows its
//! key; the tests make sure that none is.
//!
//! What the simulator itself says – findings in a trace, assumptions, problems of a run – comes in English with its
//! numbers and names in it; [`said`] puts it into the language of the page.

mod said;

use std::collections::HashMap;

use leptos::prelude::*;

use said::translated;

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

thread_local! {
    static TABLES: [Table; 2] = SOURCES.map(parse);
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

    /// What a worker that is gone has said, in the language of the page, and its own words behind that, if there are
    /// any. `None` if all of it is its own words: what it said is no sentence of ours, as after a panic.
    pub fn explained(self, english: &str) -> Option<(String, Option<String>)> {
        said::explained(self.lang.get(), english)
    }

    /// The text of `key.one` or `key.other`, by `count` as it is `shown`, with `{n}` replaced by that.
    pub fn count(self, key: &str, count: f64, shown: &str) -> String {
        // What is written "1" is read as one, though it be 1.04.
        let form = if count == 1.0 || shown == "1" { "one" } else { "other" };
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
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::views;

    /// What the views are made of: a key in one of these must exist.
    const VIEWS: &[(&str, &str)] = views::SOURCES;

    pub fn tables() -> [Table; 2] {
        SOURCES.map(parse)
    }

    pub fn placeholders(text: &str) -> BTreeSet<String> {
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
    fn a_language_tag_is_read_with_its_region() {
        assert_eq!(Lang::from_tag("es-MX"), Some(Lang::Es));
        assert_eq!(Lang::from_tag("EN"), Some(Lang::En));
        assert_eq!(Lang::from_tag("fr"), None);
    }
}
