//! A number that can be set: typed, or moved with a slider, checked before anything happens.

use leptos::prelude::*;

use crate::i18n::{Text, use_text};
use crate::numbers::{Numbers, decimal_separator, parse, use_numbers};
use crate::settings::Field;

/// Why what was typed is not taken.
#[derive(Clone, Debug, PartialEq)]
struct Refusal {
    written: String,
    is_number: bool,
}

/// How the value of a field is written, without its unit.
pub fn written(numbers: Numbers, field: Field, value: f64) -> String {
    let value = if field.is_share() { value * 100.0 } else { value };
    match field {
        Field::Seed | Field::Nodes | Field::Sample => numbers.plain(value, 0),
        _ => numbers.short(value, field.digits()),
    }
}

/// What is allowed, in words.
pub fn allowed(text: Text, numbers: Numbers, field: Field) -> String {
    let (least, most) = field.range();
    let whole = |value: f64| {
        if field.is_share() { numbers.percent_short(value, field.digits()) } else { written(numbers, field, value) }
    };
    let (least, most) = (whole(least), whole(most));
    let values = [("least", least.as_str()), ("most", most.as_str())];
    if field.is_whole() { text.tf("field.range.whole", &values) } else { text.tf("field.range", &values) }
}

/// Reads what was typed into a field.
fn read(field: Field, typed: &str, decimal: char) -> Result<f64, Refusal> {
    let refuse = |is_number| Refusal { written: typed.trim().to_owned(), is_number };
    let number = parse(typed, decimal).ok_or_else(|| refuse(false))?;
    let value = if field.is_share() { number / 100.0 } else { number };
    if field.allows(value) { Ok(value) } else { Err(refuse(true)) }
}

/// A labelled number. `on_set` only ever gets allowed values.
#[component]
pub fn NumberField(
    field: Field,
    #[prop(into)] value: Signal<f64>,
    on_set: impl Fn(f64) + Copy + Send + 'static,
    /// Whether a slider stands beside it.
    #[prop(optional)]
    slider: bool,
    /// What stands behind the number.
    #[prop(optional, into)]
    unit: Option<Signal<String>>,
    /// The key of the text that says why the number has no say, while it has none: then it cannot be changed.
    #[prop(optional, into)]
    silent: Option<Signal<Option<&'static str>>>,
    /// Where else than in its usual place it stands: ids on a page are unique.
    #[prop(optional)]
    place: &'static str,
    /// More controls in the same row.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let key = field.key();
    let id = if place.is_empty() { format!("field-{key}") } else { format!("field-{place}-{key}") };
    let [help_id, error_id, silent_id] = ["help", "error", "silent"].map(|part| format!("{id}-{part}"));
    // What is being typed, until it is taken; and why it was not.
    let draft = RwSignal::new(None::<String>);
    let refusal = RwSignal::new(None::<Refusal>);
    // Another value from elsewhere (a link, a preset) replaces what was being typed.
    Effect::new(move |_| {
        value.track();
        draft.set(None);
        refusal.set(None);
    });

    let shown = move || draft.get().unwrap_or_else(|| written(numbers, field, value.get()));
    let take = move |typed: String| match read(field, &typed, decimal_separator(text.lang.get_untracked())) {
        Ok(read) => {
            draft.set(None);
            refusal.set(None);
            if read != value.get_untracked() {
                on_set(read);
            }
        }
        Err(refused) => {
            draft.set(Some(typed));
            refusal.set(Some(refused));
        }
    };
    let (least, most) = field.range();
    let scale = if field.is_share() { 100.0 } else { 1.0 };
    let has_error = move || refusal.with(Option::is_some);
    let why_silent = move || silent.and_then(|silent| silent.get());

    let slider_view = slider.then(|| {
        view! {
            <input
                type="range"
                class="slider"
                min=least * scale
                max=most * scale
                step=field.step() * scale
                aria-label=move || label(text, field)
                aria-valuetext=move || {
                    let value = value.get();
                    if field.is_share() { numbers.percent_short(value, field.digits()) } else { shown() }
                }
                disabled=move || why_silent().is_some()
                prop:value=move || value.get() * scale
                on:input=move |event| {
                    if let Some(moved) = slid(field, &event_target_value(&event)) {
                        refusal.set(None);
                        draft.set(Some(written(numbers, field, moved)));
                    }
                }
                on:change=move |event| {
                    if let Some(moved) = slid(field, &event_target_value(&event)) {
                        draft.set(None);
                        on_set(moved);
                    }
                }
            />
        }
    });

    view! {
        <div class="field" class:field-wide=slider class:field-wrong=has_error>
            <label for=id.clone()>{move || label(text, field)}</label>
            <div class="field-row">
                <span class="number">
                    <input
                        type="text"
                        inputmode=if field.is_whole() { "numeric" } else { "decimal" }
                        autocomplete="off"
                        spellcheck="false"
                        id=id
                        data-field=key
                        disabled=move || why_silent().is_some()
                        aria-describedby=format!("{error_id} {silent_id} {help_id}")
                        aria-invalid=move || has_error().to_string()
                        prop:value=shown
                        on:input=move |event| draft.set(Some(event_target_value(&event)))
                        on:change=move |event| take(event_target_value(&event))
                    />
                    {move || {
                        let unit = unit.map(|unit| unit.get()).unwrap_or_default();
                        let unit = if field.is_share() { "%".to_owned() } else { unit };
                        (!unit.is_empty()).then(|| view! { <span class="unit" aria-hidden="true">{unit}</span> })
                    }}
                </span>
                {slider_view}
                {children.map(|children| children())}
            </div>
            <p class="field-error" id=error_id role="alert">
                {move || refusal.get().map(|refusal| {
                    let label = label(text, field);
                    let allowed = allowed(text, numbers, field);
                    let values =
                        [("field", label.as_str()), ("value", refusal.written.as_str()), ("allowed", allowed.as_str())];
                    if refusal.is_number {
                        text.tf("field.outside", &values)
                    } else {
                        text.tf("field.unreadable", &values)
                    }
                })}
            </p>
            <p class="note" id=silent_id>{move || why_silent().map(|key| text.t(key))}</p>
            <p class="sr" id=help_id>{move || format!("{} {}", help(text, field), allowed(text, numbers, field))}</p>
        </div>
    }
}

/// The name of a field.
pub fn label(text: Text, field: Field) -> String {
    text.t(&format!("field.{}.label", field.key()))
}

/// What a field does, in one line.
fn help(text: Text, field: Field) -> String {
    text.t(&format!("field.{}.help", field.key()))
}

/// The value of a slider's position; sliders speak in binary fractions, so it is brought back to its step.
fn slid(field: Field, position: &str) -> Option<f64> {
    let position: f64 = position.parse().ok()?;
    let value = if field.is_share() { position.round() / 100.0 } else { (position * 100.0).round() / 100.0 };
    Some(field.nearest(value))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_percentage_is_read_as_a_share_and_checked() {
        assert_eq!(read(Field::Load, "70", '.'), Ok(0.7));
        assert_eq!(read(Field::Load, "70,5 %", ','), Ok(0.705));
        assert!(read(Field::Load, "700", '.').unwrap_err().is_number);
        assert!(!read(Field::Load, "lots", '.').unwrap_err().is_number);
        assert!(read(Field::Nodes, "12.5", '.').is_err(), "half a node");
    }

    #[wasm_bindgen_test]
    fn a_slider_moves_in_whole_steps() {
        assert_eq!(slid(Field::Load, "70.00000001"), Some(0.7));
        assert_eq!(slid(Field::Storage, "1.1500000000000001"), Some(1.15));
        assert_eq!(slid(Field::Degraded, "99"), Some(Field::Degraded.range().1));
    }
}
