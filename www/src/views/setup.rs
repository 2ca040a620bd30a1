//! What is simulated: scenario, load, nodes, faults, seed.

use leptos::prelude::*;
use residua::scenario;

use super::field::NumberField;
use super::trace::TraceDrop;
use crate::i18n::{Text, use_text};
use crate::lab::use_lab;
use crate::numbers::use_numbers;
use crate::settings::{FIRST_LANES, Field, Settings};

/// The title of a preset: translated if there is a translation, else its own.
fn preset_title(text: Text, preset: &scenario::Preset) -> String {
    text.maybe(&format!("scenario.{}", preset.id)).unwrap_or_else(|| preset.title.to_owned())
}

/// A seed nobody has chosen, below a million so that it can be read aloud.
fn drawn_seed() -> Option<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes) % 1_000_000)
}

/// What sampling 100 and 30 nodes costs RAGP-I/O on 1,000 nodes: points of `f_lost` and half their 95 % interval, from
/// `docs/performance.md#sampling`.
const SAMPLING_LOSS: [[f64; 2]; 2] = [[0.34, 0.10], [1.05, 0.08]];

/// The controls of the run.
#[component]
pub fn Setup() -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let settings = lab.settings;
    let scenario_id = Memo::new(move |_| settings.with(|settings| settings.scenario.clone()));
    let value = move |field: Field| Signal::derive(move || settings.with(|settings| settings.number(field)));
    let set = move |field: Field| move |value: f64| settings.update(|settings| settings.set_number(field, value));
    let without_storage = move || settings.with(|settings| !settings.has_say(Field::Degraded));
    // What holds in the run, whatever was set for others.
    let rebuilding =
        Signal::derive(move || if without_storage() { 0.0 } else { settings.with(|settings| settings.degraded) });
    let has_trace = move || settings.with(|settings| settings.trace.is_some());

    let choose_scenario = move |event: web_sys::Event| {
        let chosen = event_target_value(&event);
        if scenario::PRESETS.iter().any(|preset| preset.id == chosen) {
            settings.update(|settings| {
                let own = Settings::of_scenario(&chosen);
                *settings = Settings {
                    schedulers: settings.schedulers.clone(),
                    seed: settings.seed,
                    trace: settings.trace.clone(),
                    ..own
                };
            });
        }
    };
    let changed = move || settings.with(|settings| Field::OF_RUN.into_iter().any(|field| !settings.is_own(field)));
    let reset = move |_| {
        settings.update(|settings| {
            for field in Field::OF_RUN {
                settings.set_number(field, settings.own(field));
            }
        });
    };
    let sampling_loss = move || {
        let [[hundred, hundred_ci], [thirty, thirty_ci]] =
            SAMPLING_LOSS.map(|points| points.map(|points| numbers.fixed(points, 2)));
        let values = [
            ("nodes", numbers.whole(1000.0)),
            ("hundred", hundred),
            ("hundred_ci", hundred_ci),
            ("thirty", thirty),
            ("thirty_ci", thirty_ci),
        ];
        text.tf("setup.sampling_loss", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
    };
    let help = move || text.maybe(&format!("scenario.{}.help", scenario_id.get())).unwrap_or_default();

    view! {
        <section class="panel setup" aria-labelledby="setup-title">
            <h2 id="setup-title">{move || text.t("setup.title")}</h2>
            <Show when=move || !has_trace()>
                <div class="field">
                    <label for="scenario">{move || text.t("setup.scenario")}</label>
                    <div class="field-row">
                        <select
                            id="scenario"
                            data-testid="scenario"
                            aria-describedby="scenario-help"
                            on:change=choose_scenario
                            prop:value=move || scenario_id.get()
                        >
                            {scenario::PRESETS
                                .iter()
                                .map(|preset| view! {
                                    <option value=preset.id selected=move || scenario_id.get() == preset.id>
                                        {move || preset_title(text, preset)}
                                    </option>
                                })
                                .collect_view()}
                        </select>
                    </div>
                    <p class="note" id="scenario-help">{help}</p>
                </div>
            </Show>
            <NumberField field=Field::Load value=value(Field::Load) on_set=set(Field::Load) slider=true/>
            <NumberField
                field=Field::Degraded
                value=rebuilding
                on_set=set(Field::Degraded)
                slider=true
                silent=Signal::derive(move || without_storage().then_some("field.deg.silent"))
            />
            <Show when=move || !has_trace()>
                <NumberField
                    field=Field::Storage
                    value=value(Field::Storage)
                    on_set=set(Field::Storage)
                    slider=true
                    unit=Signal::derive(|| "×".to_owned())
                />
                <NumberField field=Field::Nodes value=value(Field::Nodes) on_set=set(Field::Nodes)/>
            </Show>
            <NumberField field=Field::Sample value=value(Field::Sample) on_set=set(Field::Sample)/>
            <Show when=move || settings.with(|settings| settings.sample > 0)>
                <p class="note" data-testid="sample-loss">{sampling_loss}</p>
            </Show>
            <NumberField field=Field::Seed value=value(Field::Seed) on_set=set(Field::Seed)>
                <button
                    type="button"
                    class="button"
                    data-testid="new-seed"
                    on:click=move |_| {
                        if let Some(seed) = drawn_seed() {
                            settings.update(|settings| settings.seed = seed);
                        }
                    }
                >
                    {move || text.t("setup.new_seed")}
                </button>
            </NumberField>
            <div class="setup-actions">
                <Show when=changed>
                    <button type="button" class="button button-quiet" on:click=reset>{move || text.t("setup.reset")}</button>
                </Show>
                <TraceDrop/>
            </div>
        </section>
    }
}

/// Two lanes or four, and the table instead of glyphs.
#[component]
pub fn LaneTools() -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    let set_lanes = move |count: usize| {
        lab.keep_lanes(count);
        lab.settings.update(|settings| {
            let lanes = &mut settings.schedulers;
            for id in FIRST_LANES {
                if lanes.len() < count && !lanes.iter().any(|lane| lane == id) {
                    lanes.push(id.to_owned());
                }
            }
            while lanes.len() < count {
                lanes.push(FIRST_LANES[lanes.len() % FIRST_LANES.len()].to_owned());
            }
        });
    };
    view! {
        <div class="tools">
            <div class="segments" role="group" aria-label=move || text.t("tools.lanes")>
                {[2, 4]
                    .into_iter()
                    .map(|count| view! {
                        <button
                            type="button"
                            aria-pressed=move || (lab.lanes() == count).to_string()
                            on:click=move |_| set_lanes(count)
                        >
                            {move || text.tf("tools.n_lanes", &[("n", &count.to_string())])}
                        </button>
                    })
                    .collect_view()}
            </div>
            <button
                type="button"
                class="button"
                data-testid="table-switch"
                aria-pressed=move || lab.table.get().to_string()
                on:click=move |_| lab.table.update(|table| *table = !*table)
            >
                {move || text.t("tools.table")}
            </button>
        </div>
    }
}
