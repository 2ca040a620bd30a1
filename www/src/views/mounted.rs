//! Components in a document: what is done to them as a reader does it, and what they show then.

use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::task::tick;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement, HtmlSelectElement};

use super::calculator::Calculator;
use super::failure::Reason;
use super::field::NumberField;
use crate::i18n::{Lang, Text};
use crate::lab::Lab;
use crate::numbers::Numbers;
use crate::settings::Field;

/// A part of the document with a view in it; goes with its drop.
struct Stage {
    root: HtmlElement,
    text: Text,
    unmount: Option<Box<dyn FnOnce()>>,
}

impl Stage {
    /// Mounts a view with all that views of the Lab find in their context.
    fn of<N: IntoView + 'static>(lang: Lang, view: impl FnOnce() -> N + 'static) -> Self {
        let root: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().append_child(&root).unwrap();
        let text = Text { lang: RwSignal::new(lang) };
        let numbers = Numbers { lang: text.lang, currency: RwSignal::new("USD") };
        let handle = mount_to(root.clone(), move || {
            provide_context(text);
            provide_context(numbers);
            provide_context(Lab::new(text, numbers));
            view()
        });
        Self { root, text, unmount: Some(Box::new(move || drop(handle))) }
    }

    fn all(&self, selector: &str) -> Vec<Element> {
        let found = self.root.query_selector_all(selector).unwrap();
        (0..found.length()).filter_map(|at| found.get(at)).map(JsCast::unchecked_into).collect()
    }

    fn find<T: JsCast>(&self, selector: &str) -> T {
        let found = self.root.query_selector(selector).unwrap();
        found.unwrap_or_else(|| panic!("there is no {selector}")).unchecked_into()
    }

    /// What stands in the first element that the selector finds.
    fn words(&self, selector: &str) -> String {
        self.find::<Element>(selector).text_content().unwrap_or_default()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(unmount) = self.unmount.take() {
            unmount();
        }
        self.root.remove();
    }
}

/// Waits until what follows a change has followed, and what follows that.
async fn settled() {
    tick().await;
    tick().await;
}

async fn happens(target: &Element, event: &str) {
    target.dispatch_event(&Event::new(event).unwrap()).unwrap();
    settled().await;
}

/// Writes into a field and leaves it.
async fn enter(input: &HtmlInputElement, words: &str) {
    input.set_value(words);
    happens(input, "input").await;
    happens(input, "change").await;
}

#[wasm_bindgen_test]
async fn a_number_is_taken_and_what_is_none_or_too_much_is_refused() {
    let price = RwSignal::new(3.0);
    let stage = Stage::of(Lang::Es, move || {
        view! { <NumberField field=Field::Price value=price on_set=move |value| price.set(value)/> }
    });
    settled().await;
    let input: HtmlInputElement = stage.find("input");
    let is_invalid = || input.get_attribute("aria-invalid").unwrap();
    assert_eq!((input.value().as_str(), is_invalid().as_str()), ("3", "false"));

    enter(&input, "2,35").await;
    assert_eq!(price.get_untracked(), 2.35);
    assert_eq!((input.value().as_str(), is_invalid().as_str()), ("2,35", "false"));
    assert_eq!(stage.words("[role=alert]"), "");

    for refused in ["caro", "10000001"] {
        enter(&input, refused).await;
        assert_eq!(price.get_untracked(), 2.35, "{refused} was taken");
        assert_eq!((input.value().as_str(), is_invalid().as_str()), (refused, "true"));
        let words = stage.words("[role=alert]");
        for part in [refused, "Precio", "de 0 a 10.000.000"] {
            assert!(words.contains(part), "{part} in {words}");
        }
    }

    // A value from elsewhere, as from a link, takes the place of what was refused.
    price.set(4.0);
    settled().await;
    assert_eq!((input.value().as_str(), is_invalid().as_str()), ("4", "false"));
    assert_eq!(stage.words("[role=alert]"), "");
}

#[wasm_bindgen_test]
async fn the_calculator_follows_its_fields() {
    let stage = Stage::of(Lang::En, || view! { <Calculator/> });
    settled().await;
    let column = |id: &str| {
        stage.all(&format!("[data-testid='{id}']")).iter().filter_map(|cell| cell.text_content()).collect()
    };
    let money = || -> [Vec<String>; 2] { ["spend", "waste"].map(column) };
    assert_eq!(money(), [["$3,000", "$72,000", "$26,280,000"], ["$300", "$7,200", "$2,628,000"]]);

    enter(&stage.find("[data-field='fleet']"), "500").await;
    enter(&stage.find("[data-field='waste']"), "20").await;
    assert_eq!(money(), [["$1,500", "$36,000", "$13,140,000"], ["$300", "$7,200", "$2,628,000"]]);

    let currency: HtmlSelectElement = stage.find("select.currency");
    currency.set_value("EUR");
    happens(&currency, "change").await;
    stage.text.lang.set(Lang::Es);
    settled().await;
    let [spend, _] = money();
    assert_eq!(spend[2], "13.140.000\u{a0}€");
}

#[wasm_bindgen_test]
async fn a_panics_words_stand_apart_in_either_language() {
    const RAW: &str = "panicked at src/engine.rs:1:1: index out of bounds";
    let stage = Stage::of(Lang::Es, || view! { <Reason message=RAW/> });
    settled().await;
    let words = stage.words("p");
    assert!(words.contains("Se detuvo de forma inesperada") && !words.contains("panicked"), "{words}");
    assert_eq!(stage.words("[lang=en]"), RAW);
    stage.text.lang.set(Lang::En);
    settled().await;
    assert!(stage.words("p").contains("It stopped unexpectedly"), "{}", stage.words("p"));
    assert_eq!(stage.words("[lang=en]"), RAW);
}
