//! Light or dark: the reader's system decides until the reader does.

use leptos::prelude::*;
use residua::stage::palette::Palette;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

const STORED: &str = "residua-theme";

/// Whether the page is dark.
#[derive(Clone, Copy)]
pub struct Theme {
    pub dark: RwSignal<bool>,
}

impl Theme {
    /// The theme that `index.html` has already put in force, and from now on the system's changes.
    pub fn new() -> Self {
        let chosen = document_theme();
        let system = window().match_media("(prefers-color-scheme: dark)").ok().flatten();
        let dark = match chosen.as_deref() {
            Some(theme) => theme == "dark",
            None => system.as_ref().is_some_and(web_sys::MediaQueryList::matches),
        };
        let theme = Self { dark: RwSignal::new(dark) };
        if let Some(system) = system {
            let query = system.clone();
            let on_change = Closure::<dyn Fn()>::new(move || {
                if document_theme().is_none() {
                    theme.dark.set(query.matches());
                }
            });
            _ = system.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
            // The page listens for as long as it lives.
            on_change.forget();
        }
        theme
    }

    /// The other theme, from now on and on the next visit.
    pub fn toggle(self) {
        let dark = !self.dark.get_untracked();
        let name = if dark { "dark" } else { "light" };
        if let Some(root) = document().document_element() {
            _ = root.set_attribute("data-theme", name);
        }
        store(STORED, name);
        self.dark.set(dark);
    }

    /// The stage's colours. Follows the theme.
    pub fn palette(self) -> &'static Palette {
        const LIGHT: Palette = Palette::LIGHT;
        const DARK: Palette = Palette::DARK;
        if self.dark.get() { &DARK } else { &LIGHT }
    }
}

fn document_theme() -> Option<String> {
    document().document_element()?.get_attribute("data-theme")
}

/// Remembers a choice on this device, where that is allowed.
pub fn store(key: &str, value: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        _ = storage.set_item(key, value);
    }
}

/// Whether the reader's system asks for little motion.
pub fn reduced_motion() -> bool {
    window().match_media("(prefers-reduced-motion: reduce)").ok().flatten().is_some_and(|query| query.matches())
}

/// The theme, from anywhere in a view.
pub fn use_theme() -> Theme {
    expect_context::<Theme>()
}
