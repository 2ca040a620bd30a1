//! What was wrong with the link, and what the browser lacks.

use leptos::prelude::*;

use super::focus;
use crate::i18n::{Text, use_text};
use crate::numbers::{Numbers, use_numbers};
use crate::paint;

/// Troubles that are told one by one: a link may have thousands, and the page stands below them.
const MOST: usize = 6;

/// Characters of what stands in a link that are shown.
const MOST_SHOWN: usize = 60;

/// What was wrong with the link, in the words of `explained`, until the reader has seen it.
#[component]
pub fn Notices<T: Clone + Send + Sync + 'static>(
    troubles: RwSignal<Vec<T>>,
    explained: fn(Text, Numbers, &T) -> String,
    testid: &'static str,
) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let told = move || {
        troubles.with(|troubles| {
            let more = troubles.len().saturating_sub(MOST);
            let first = troubles.iter().take(MOST).map(|trouble| explained(text, numbers, trouble));
            let rest = (more > 0).then(|| text.count("notice.more", more as f64, &numbers.whole(more as f64)));
            first.chain(rest).map(|words| view! { <li>{words}</li> }).collect_view()
        })
    };
    view! {
        <Show when=move || !troubles.with(Vec::is_empty)>
            <section class="notice" role="alert" data-testid=testid>
                <div>
                    <p><b>{move || text.t("notice.title")}</b></p>
                    <ul>{told}</ul>
                </div>
                <button
                    type="button"
                    class="button"
                    data-testid="notice-close"
                    on:click=move |_| {
                        focus::to_main();
                        troubles.set(Vec::new());
                    }
                >
                    {move || text.t("notice.close")}
                </button>
            </section>
        </Show>
    }
}

/// Says so where nothing can be drawn: else the places of nodes and curves would be empty without a word.
#[component]
pub fn NoDrawing() -> impl IntoView {
    let text = use_text();
    (!paint::is_possible()).then(|| {
        view! { <p class="notice" role="alert" data-testid="no-drawing">{move || text.t("notice.canvas")}</p> }
    })
}

/// What stands in a link, cut where it is too long to be shown.
pub fn cut(written: &str) -> String {
    match written.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &written[..end]),
        None => written.to_owned(),
    }
}

/// What is wrong with a pair of a link: a key that is not known, or a value that is none.
pub fn unknown(text: Text, key: &str, written: &str) -> String {
    text.tf("notice.unknown", &[("key", &cut(key)), ("value", &cut(written))])
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn what_is_long_is_cut_between_letters() {
        assert_eq!(cut("ñandú"), "ñandú");
        assert_eq!(cut(&"ñ".repeat(60)), "ñ".repeat(60));
        assert_eq!(cut(&"ñ".repeat(61)), format!("{}…", "ñ".repeat(60)));
    }
}
