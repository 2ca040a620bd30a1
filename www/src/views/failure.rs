//! Why something stopped, for who reads and for who mends.

use leptos::prelude::*;

use crate::i18n::use_text;

/// Why a run or its worker stopped. What is no sentence of ours – a panic's words, a browser's – stands apart as what
/// it is.
#[component]
pub fn Reason(#[prop(into)] message: String) -> impl IntoView {
    let text = use_text();
    move || {
        let (words, raw) = match text.explained(&message) {
            Some((words, raw)) => (capitalised(&words), raw),
            None => (text.t("lane.unexpected"), Some(message.clone())),
        };
        view! {
            <p>{words}</p>
            {raw.map(|raw| view! {
                <details class="own-words">
                    <summary>{text.t("lane.own_words")}</summary>
                    <pre lang="en">{raw}</pre>
                </details>
            })}
        }
    }
}

/// The sentence with a capital letter: those that end in a list begin with a small one.
fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
