//! Addresses: `{base}{language}/lab`, below wherever the page is served from.
//!
//! The base is that of the document, so the page works from any path. Routes yet to come go beside `lab`.

use leptos::prelude::*;

use crate::i18n::Lang;

/// The path below which the page is served; ends with a slash.
fn base() -> String {
    document()
        .base_uri()
        .ok()
        .flatten()
        .and_then(|uri| web_sys::Url::new(&uri).ok())
        .map_or_else(|| "/".to_owned(), |url| url.pathname())
}

/// The path of the Lab in a language.
pub fn path(lang: Lang) -> String {
    format!("{}{}/lab", base(), lang.code())
}

/// The language that the address names, if it names one.
pub fn lang_of_address() -> Option<Lang> {
    let path = window().location().pathname().ok()?;
    Lang::from_tag(path.strip_prefix(&base())?.split('/').next()?)
}

/// The fragment of the address, with its `#`.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Goes to another address as a step that the browser's Back undoes.
pub fn go(lang: Lang, fragment: &str) {
    change(lang, fragment, false);
}

/// Rewrites the address in place.
pub fn rewrite(lang: Lang, fragment: &str) {
    change(lang, fragment, true);
}

fn change(lang: Lang, fragment: &str, in_place: bool) {
    let address = if fragment.is_empty() { path(lang) } else { format!("{}#{fragment}", path(lang)) };
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
