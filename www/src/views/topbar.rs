//! The bar at the top of every place.

use leptos::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::transport::Icon;
use crate::begin;
use crate::i18n::use_text;
use crate::route::{self, Place};
use crate::site::use_site;
use crate::theme::{store, use_theme};

/// The bar: where one is, where one can go, and what is set for the whole page.
#[component]
pub fn TopBar() -> impl IntoView {
    let (site, text, theme) = (use_site(), use_text(), use_theme());
    let other = move || text.lang.get().other();
    let switch = move |event: web_sys::MouseEvent| {
        if !is_here(&event) {
            return;
        }
        let lang = text.lang.get_untracked().other();
        store("residua-lang", lang.code());
        route::go(site.place.get_untracked(), lang, &site.link_now());
        text.lang.set(lang);
    };
    view! {
        <header class="topbar">
            <a class="wordmark" href=move || route::path(Place::Lab, text.lang.get())>
                <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
                    <path class="mark-outline" d="M16 2 27 7.3 29.7 19.1 22.1 28.6 9.9 28.6 2.3 19.1 5 7.3Z"></path>
                    <path class="mark-fill" d="M16 6 24 10 24 18 19 24 12 22 13 17 9 11Z"></path>
                </svg>
                <span>"Residua"</span>
            </a>
            <nav class="places" aria-label=move || text.t("replay.places")>
                {Place::ALL.map(|place| view! { <PlaceLink place=place/> }).collect_view()}
            </nav>
            <span class="tagline">{move || text.t("page.tagline")}</span>
            <nav class="topbar-tools" aria-label=move || text.t("page.tools")>
                <CopyLink/>
                <a
                    class="bar-button"
                    data-testid="lang-switch"
                    href=move || format!("{}#{}", route::path(site.place.get(), other()), site.link())
                    lang=move || other().code()
                    hreflang=move || other().code()
                    on:click=switch
                >
                    {move || other().own_name()}
                </a>
                <button
                    type="button"
                    class="icon-button"
                    data-testid="theme-switch"
                    aria-pressed=move || theme.dark.get().to_string()
                    aria-label=move || text.t("page.dark")
                    title=move || if theme.dark.get() { text.t("page.to_light") } else { text.t("page.to_dark") }
                    on:click=move |_| theme.toggle()
                >
                    {move || if theme.dark.get() {
                        view! { <Icon path="M12 7a5 5 0 1 0 0 10a5 5 0 1 0 0-10M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4"/> }
                    } else {
                        view! { <Icon path="M20 14.5A8.5 8.5 0 1 1 9.5 4a6.8 6.8 0 0 0 10.5 10.5Z"/> }
                    }}
                </button>
                <Show when=move || site.place.get() == Place::Lab>
                    <SignButton testid="help-open" name="help.open" act=move || site.lab.help.set(true)>
                        <Icon path="M9 9a3 3 0 1 1 4.2 2.75c-.8.4-1.2 1-1.2 2V15M12 18v.5M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18"/>
                    </SignButton>
                </Show>
            </nav>
        </header>
    }
}

/// Whether a click on a link means this page; then the browser does not follow the link by itself.
fn is_here(event: &web_sys::MouseEvent) -> bool {
    let is_here = !(event.ctrl_key() || event.meta_key() || event.shift_key());
    if is_here {
        event.prevent_default();
    }
    is_here
}

/// A button with a sign, whose name is its title.
#[component]
fn SignButton(
    testid: &'static str,
    /// Key of its name.
    name: &'static str,
    act: impl Fn() + 'static,
    children: Children,
) -> impl IntoView {
    let text = use_text();
    view! {
        <button
            type="button"
            class="icon-button"
            data-testid=testid
            aria-label=move || text.t(name)
            title=move || text.t(name)
            on:click=move |_| act()
        >
            {children()}
        </button>
    }
}

/// The way to a place; without a page load, so that nothing is lost on the way.
#[component]
fn PlaceLink(place: Place) -> impl IntoView {
    let (site, text) = (use_site(), use_text());
    let go = move |event: web_sys::MouseEvent| {
        if !is_here(&event) {
            return;
        }
        if site.place.get_untracked() != place {
            site.go(place, begin);
        }
    };
    view! {
        <a
            class="place"
            data-testid=format!("go-{}", place.code())
            href=move || route::path(place, text.lang.get())
            aria-current=move || (site.place.get() == place).then_some("page")
            on:click=go
        >
            {move || text.t(&format!("replay.place.{}", place.code()))}
        </a>
    }
}

/// What has become of a link that was to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    /// Nothing yet, or nothing that is still news.
    Idle,
    Done,
    /// The browser does not let the page copy.
    Refused,
}

impl Copy {
    /// How long it is said, in seconds.
    const fn stay(self) -> u64 {
        if matches!(self, Self::Refused) { 10 } else { 3 }
    }
}

/// Whether `text` is on the clipboard now. Browsers keep it from pages that come unencrypted, or that were not allowed.
async fn copied(text: &str) -> bool {
    let navigator = window().navigator();
    if !js_sys::Reflect::get(&navigator, &"clipboard".into()).is_ok_and(|clipboard| clipboard.is_object()) {
        return false;
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}

/// Puts the address of exactly this run and moment on the clipboard.
#[component]
fn CopyLink() -> impl IntoView {
    let (site, text) = (use_site(), use_text());
    let state = RwSignal::new(Copy::Idle);
    // How often something was said: an older one does not take away a newer one.
    let said = StoredValue::new(0_u32);
    let tell = move |outcome: Copy| {
        // The page may have gone to another place meanwhile.
        let number = said.try_update_value(|said| {
            *said += 1;
            *said
        });
        state.try_set(outcome);
        let end = move || {
            if said.try_get_value() == number {
                state.try_set(Copy::Idle);
            }
        };
        set_timeout(end, std::time::Duration::from_secs(outcome.stay()));
    };
    let copy = move || {
        let (place, lang) = (site.place.get_untracked(), text.lang.get_untracked());
        let (fragment, moment) = (site.link_now(), site.lab.clock.position());
        let origin = window().location().origin().unwrap_or_default();
        let address = format!("{origin}{}#{fragment}", route::path(place, lang));
        spawn_local(async move {
            if copied(&address).await {
                tell(Copy::Done);
            } else {
                // The address bar holds the moment only while the play head rests there.
                if site.place.get_untracked() == place {
                    if place == Place::Lab {
                        site.lab.clock.playing.set(false);
                        site.lab.seek(moment);
                    }
                    route::rewrite(place, text.lang.get_untracked(), &fragment);
                }
                tell(Copy::Refused);
            }
        });
    };
    view! {
        <div class="copy-link">
            <SignButton testid="copy-link" name="page.copy" act=copy>
                {move || if state.get() == Copy::Done {
                    view! { <Icon path="M5 13l4 4L19 7"/> }
                } else {
                    view! { <Icon path="M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2"/> }
                }}
            </SignButton>
            // The tick is for the eye; that there is none has to be read.
            <p class=move || if state.get() == Copy::Refused { "copy-refused" } else { "sr" } role="status" data-testid="copy-said">
                {move || match state.get() {
                    Copy::Idle => String::new(),
                    Copy::Done => text.t("page.copied"),
                    Copy::Refused => text.t("page.copy_refused"),
                }}
            </p>
        </div>
    }
}
