//! Files dropped anywhere on the page.

use leptos::prelude::*;

/// Calls `take` with files that are dropped, for as long as the component lives; `dragging` is true while some are held
/// over the page.
pub fn on_files(dragging: RwSignal<bool>, take: impl Fn(web_sys::FileList) + 'static) {
    let over = window_event_listener(leptos::ev::dragover, move |event| {
        event.prevent_default();
        let carried = event.data_transfer();
        let has_files = carried.as_ref().is_some_and(|carried| carried.types().includes(&"Files".into(), 0));
        if let Some(carried) = carried.filter(|_| has_files) {
            carried.set_drop_effect("copy");
        }
        if has_files != dragging.get_untracked() {
            dragging.set(has_files);
        }
    });
    let leave = window_event_listener(leptos::ev::dragleave, move |event| {
        // From one element of the page to another is not away from it.
        if event.related_target().is_none() {
            dragging.set(false);
        }
    });
    let drop = window_event_listener(leptos::ev::drop, move |event| {
        event.prevent_default();
        dragging.set(false);
        let list = event.data_transfer().and_then(|transfer| transfer.files());
        if let Some(list) = list.filter(|list| list.length() > 0) {
            take(list);
        }
    });
    on_cleanup(move || {
        over.remove();
        leave.remove();
        drop.remove();
    });
}
