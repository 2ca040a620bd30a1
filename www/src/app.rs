//! The page: plays what the workers simulate.
//!
//! [`site`] knows the places. Of the Lab, [`lab`] holds the state, [`clock`] the one animation loop, [`lanes`] the
//! workers; of the replay, [`replay`] does; [`views`] is what is seen. Nothing here simulates: workers do and send what
//! they find, and the page shows it.

mod clock;
mod fragment;
mod hands;
mod i18n;
mod lab;
mod lanes;
mod link;
mod loader;
mod numbers;
mod paint;
mod replay;
mod replay_link;
mod route;
mod settings;
mod site;
mod theme;
mod views;

use leptos::prelude::*;

use crate::i18n::{Lang, Text};
use crate::lab::Lab;
use crate::numbers::Numbers;
use crate::replay::Replay;
use crate::route::Place;
use crate::site::Site;
use crate::theme::Theme;
use crate::views::page::Page;
use crate::views::replay::ReplayPage;

#[cfg(test)]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// Least time between two rewritings of the address, in milliseconds: browsers ration them.
const ADDRESS_INTERVAL: f64 = 500.0;

fn main() {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        show_panic(&panic.to_string());
    }));
    let Some(root) = document().get_element_by_id("app") else {
        return;
    };
    root.set_inner_html("");
    let Ok(root) = wasm_bindgen::JsCast::dyn_into(root) else {
        return;
    };
    leptos::mount::mount_to(root, App).forget();
    if let Some(html) = document().document_element() {
        _ = html.remove_attribute("data-boot");
    }
}

#[component]
fn App() -> impl IntoView {
    let lang = RwSignal::new(route::lang_of_address().unwrap_or_else(document_lang));
    let text = Text { lang };
    let numbers = Numbers { lang, currency: RwSignal::new("USD") };
    let lab = Lab::new(text, numbers);
    let replay = Replay::new();
    let site = Site::new(lab, replay);
    provide_context(text);
    provide_context(numbers);
    provide_context(Theme::new());
    provide_context(lab);
    provide_context(replay);
    provide_context(site);

    follow_language(text, site);
    let is_named = route::lang_of_address().is_some();
    site.follow_address(begin);
    if !is_named {
        route::rewrite(site.place.get_untracked(), lang.get_untracked(), route::fragment().trim_start_matches('#'));
    }
    keep_address(site);

    // Back, forward, and links to another run on the same page.
    let follow = move || {
        if let Some(named) = route::lang_of_address() {
            text.lang.set(named);
        }
        site.follow_address(begin);
    };
    let popped = window_event_listener(leptos::ev::popstate, move |_| follow());
    let hash = window_event_listener(leptos::ev::hashchange, move |_| follow());
    on_cleanup(move || {
        popped.remove();
        hash.remove();
    });

    move || match site.place.get() {
        Place::Lab => view! { <Page/> }.into_any(),
        Place::Replay => view! { <ReplayPage/> }.into_any(),
    }
}

/// What a place begins when it is first entered.
fn begin(site: Site, place: Place) {
    match place {
        Place::Lab => {
            site.lab.follow_settings();
            play_gently(site);
            views::keys::listen(site);
        }
        Place::Replay => site.replay.follow_settings(),
    }
}

/// Sets `<html lang>` and the title to the language in force.
fn follow_language(text: Text, site: Site) {
    Effect::new(move |_| {
        let lang = text.lang.get();
        if let Some(root) = document().document_element() {
            _ = root.set_attribute("lang", lang.code());
        }
        document().set_title(&match site.place.get() {
            Place::Lab => text.t("page.title"),
            Place::Replay => text.t("replay.title"),
        });
    });
}

/// The language that `index.html` found for this reader.
fn document_lang() -> Lang {
    document()
        .document_element()
        .and_then(|root| root.get_attribute("lang"))
        .and_then(|tag| Lang::from_tag(&tag))
        .unwrap_or(Lang::En)
}

/// Starts to play by itself, once, when there is something to see – unless the reader's system asks for little motion
/// the link says where to look, or the reader has moved on meanwhile.
fn play_gently(site: Site) {
    let lab = site.lab;
    if theme::reduced_motion() || lab.is_placed() {
        return;
    }
    let started = StoredValue::new(false);
    Effect::new(move |_| {
        let done = (0..lab.lanes()).all(|slot| lab.watches[slot].metrics.with(Option::is_some));
        if done && !started.get_value() {
            started.set_value(true);
            let is_untouched = lab.clock.position() == lab.first_look() && !lab.clock.playing.get_untracked();
            if is_untouched && site.place.get_untracked() == Place::Lab {
                lab.clock.playing.set(true);
                lab.clock.repaint();
            }
        }
    });
}

/// Keeps the address at what is shown, so that it can be copied at any time: settings at once, the play head when it
/// rests.
fn keep_address(site: Site) {
    let last = StoredValue::new(f64::NEG_INFINITY);
    let waiting = StoredValue::new(false);
    let write = move || {
        last.set_value(clock::now());
        let place = site.place.get_untracked();
        let fragment = site.written(place);
        if route::fragment().trim_start_matches('#') != fragment {
            route::rewrite(place, site.lab.text.lang.get_untracked(), &fragment);
        }
    };
    Effect::new(move |before: Option<()>| {
        match site.place.get() {
            Place::Lab => {
                let lab = site.lab;
                lab.settings.track();
                lab.calculation.track();
                if !lab.clock.playing.get() {
                    lab.clock.shown.track();
                }
            }
            Place::Replay => {
                site.replay.settings.track();
                site.replay.files.track();
                site.replay.missing.track();
            }
        }
        // The first time is the link that was opened: it stays as it was written.
        if before.is_none() || waiting.get_value() {
            return;
        }
        waiting.set_value(true);
        let wait = (last.get_value() + ADDRESS_INTERVAL - clock::now()).max(0.0);
        set_timeout(
            move || {
                waiting.set_value(false);
                write();
            },
            std::time::Duration::from_millis(wait as u64),
        );
    });
}

/// A panic on the page itself: say so and offer to start again, in both languages, without anything that may be
/// broken.
fn show_panic(message: &str) {
    let Some(body) = document().body() else {
        return;
    };
    if document().get_element_by_id("panic").is_some() {
        return;
    }
    let Ok(notice) = document().create_element("div") else {
        return;
    };
    notice.set_id("panic");
    _ = notice.set_attribute("role", "alert");
    notice.set_inner_html(
        "<p lang=\"en\"><b>Something broke on this page.</b> Reloading restores the run from the address.</p>\
         <p lang=\"es\"><b>Algo se rompió en esta página.</b> Al recargar se recupera la simulación desde la \
         dirección.</p><pre lang=\"en\"></pre>\
         <button type=\"button\" onclick=\"location.reload()\">Reload · Recargar</button>",
    );
    if let Ok(Some(text)) = notice.query_selector("pre") {
        text.set_text_content(Some(message));
    }
    _ = body.append_child(&notice);
}
