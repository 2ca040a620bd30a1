//! Keyboard shortcuts. None works while something is typed, none takes a key from a control that has a use for it,
//! and all can be switched off.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::route::Place;
use crate::site::Site;

/// Listens for as long as the page lives.
pub fn listen(site: Site) {
    let lab = site.lab;
    let handle = window_event_listener(leptos::ev::keydown, move |event| {
        if site.place.get_untracked() != Place::Lab || !lab.shortcuts.get_untracked() || event.default_prevented() {
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let focus = document().active_element();
        if focus.as_ref().is_some_and(is_typing) || focus.as_ref().is_some_and(in_dialog) {
            return;
        }
        // A slider has its own arrows, a button its own space bar.
        let slider = focus.as_ref().is_some_and(is_slider);
        let pressable = focus.as_ref().is_some_and(is_pressable);
        // A table that scrolls has its own arrows and its own space bar.
        let scrolls = focus.as_ref().is_some_and(|focus| focus.class_list().contains("node-table"));
        if scrolls && matches!(event.key().as_str(), " " | "ArrowRight" | "ArrowLeft" | "Home" | "End") {
            return;
        }
        let clock = lab.clock;
        let frames = if event.shift_key() { 10 } else { 1 };
        match event.key().as_str() {
            " " if !pressable => clock.toggle(lab.first_look()),
            "ArrowRight" if !slider => clock.step_by(frames),
            "ArrowLeft" if !slider => clock.step_by(-frames),
            "Home" if !slider => lab.seek(0),
            "End" if !slider => lab.seek(u64::MAX),
            "[" => clock.change_speed(-1),
            "]" => clock.change_speed(1),
            "t" | "T" => lab.table.update(|table| *table = !*table),
            "?" => lab.help.set(true),
            _ => return,
        }
        event.prevent_default();
    });
    on_cleanup(move || handle.remove());
}

/// Whether keys that are typed end up in this element.
fn is_typing(element: &web_sys::Element) -> bool {
    match element.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => true,
        "INPUT" => element
            .dyn_ref::<web_sys::HtmlInputElement>()
            .is_some_and(|input| !matches!(input.type_().as_str(), "range" | "checkbox" | "button" | "file")),
        _ => element.has_attribute("contenteditable"),
    }
}

fn is_slider(element: &web_sys::Element) -> bool {
    element.dyn_ref::<web_sys::HtmlInputElement>().is_some_and(|input| input.type_() == "range")
}

fn is_pressable(element: &web_sys::Element) -> bool {
    matches!(element.tag_name().as_str(), "BUTTON" | "A" | "SUMMARY")
        || element.dyn_ref::<web_sys::HtmlInputElement>().is_some_and(|input| input.type_() == "checkbox")
}

fn in_dialog(element: &web_sys::Element) -> bool {
    element.closest("dialog").ok().flatten().is_some()
}
