//! Where the focus goes when a button that is pressed takes itself away: without a place it falls back to the top of
//! the document.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Moves the focus to the element with this id, if there is one.
pub fn to(id: &str) {
    let element = document().get_element_by_id(id);
    if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        _ = element.focus();
    }
}

/// Moves the focus to the page's main part.
pub fn to_main() {
    to("main");
}
