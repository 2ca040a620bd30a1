//! Addresses: `{base}{language}/{place}`, below wherever the page is served from.
//!
//! The base is that of the document, so the page works from any path.

use leptos::prelude::*;

use crate::i18n::Lang;

/// A part of the page with an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Schedulers side by side.
    Lab,
    /// A published experiment, run again.
    Replay,
}

impl Place {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::Lab, Self::Replay];

    /// The part of the address that stands for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::Replay => "replay",
        }
    }
}

/// The path below which the page is served; ends with a slash.
fn base() -> String {
    document()
        .base_uri()
        .ok()
        .flatten()
        .and_then(|uri| web_sys::Url::new(&uri).ok())
        .map_or_else(|| "/".to_owned(), |url| url.pathname())
}

/// The path of a place in a language.
pub fn path(place: Place, lang: Lang) -> String {
    format!("{}{}/{}", base(), lang.code(), place.code())
}

/// What stands at a position of the address, below the base.
fn part(position: usize) -> Option<String> {
    let path = window().location().pathname().ok()?;
    path.strip_prefix(&base())?.split('/').nth(position).map(str::to_owned)
}

/// The language that the address names, if it names one.
pub fn lang_of_address() -> Option<Lang> {
    Lang::from_tag(&part(0)?)
}

/// The place that the address names; the Lab, if it names none.
pub fn place_of_address() -> Place {
    let named = part(1).unwrap_or_default();
    Place::ALL.into_iter().find(|place| place.code() == named).unwrap_or(Place::Lab)
}

/// The fragment of the address, with its `#`.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Goes to another address as a step that the browser's Back undoes.
pub fn go(place: Place, lang: Lang, fragment: &str) {
    change(place, lang, fragment, false);
}

/// Rewrites the address in place.
pub fn rewrite(place: Place, lang: Lang, fragment: &str) {
    change(place, lang, fragment, true);
}

fn change(place: Place, lang: Lang, fragment: &str, in_place: bool) {
    let path = path(place, lang);
    let address = if fragment.is_empty() { path } else { format!("{path}#{fragment}") };
    let Ok(history) = window().history() else {
        return;
    };
    // Browsers refuse to be called too often; the next change catches up.
    _ = if in_place {
        history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&address))
    } else {
        history.push_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&address))
    };
}
