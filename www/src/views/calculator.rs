//! What waste costs: a formula with the numbers in it.

use leptos::prelude::*;
use residua::economics;

use super::field::NumberField;
use crate::i18n::use_text;
use crate::lab::use_lab;
use crate::link::WasteSource;
use crate::numbers::{CURRENCIES, NOTHING, use_numbers};
use crate::settings::{Field, scheduler_title};

/// The calculator beside the lanes.
#[component]
pub fn Calculator() -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let calculation = lab.calculation;

    let set = move |field: Field| {
        move |value: f64| {
            calculation.update(|calculation| match field {
                Field::Price => calculation.price = value,
                Field::Fleet => calculation.fleet = value,
                Field::Hours => calculation.hours = value,
                _ => {
                    calculation.share = value;
                    calculation.source = WasteSource::Typed;
                }
            });
        }
    };
    let value = move |field: Field| {
        Signal::derive(move || {
            calculation.with(|calculation| match field {
                Field::Price => calculation.price,
                Field::Fleet => calculation.fleet,
                Field::Hours => calculation.hours,
                _ => calculation.share,
            })
        })
    };
    let share = Memo::new(move |_| lab.wasted_share());
    let spend = Memo::new(move |_| {
        let c = calculation.get();
        economics::spend(c.fleet, c.price, c.hours)
    });
    let waste = Memo::new(move |_| {
        let c = calculation.get();
        economics::waste(c.fleet, c.price, share.get(), c.hours)
    });
    // Whole money from a hundred up, cents below.
    let money = move |value: f64| numbers.money(value, if value != 0.0 && value.abs() < 100.0 { 2 } else { 0 });

    let row = move |key: &'static str, spend: Signal<f64>, waste: Signal<f64>| {
        view! {
            <tr>
                <th scope="row">{move || text.t(key)}</th>
                <td data-testid="spend" data-value=move || spend.get().to_string()>{move || money(spend.get())}</td>
                <td class="waste" data-testid="waste" data-value=move || waste.get().to_string()>
                    {move || money(waste.get())}
                </td>
            </tr>
        }
    };

    let source_value = move || {
        calculation.with(|calculation| match calculation.source {
            WasteSource::Typed => "typed".to_owned(),
            WasteSource::Lost(lane) => format!("lost{lane}"),
            WasteSource::Stalled(lane) => format!("stall{lane}"),
        })
    };
    let choose_source = move |event: web_sys::Event| {
        let chosen = event_target_value(&event);
        let lane = |prefix: &str| chosen.strip_prefix(prefix).and_then(|lane| lane.parse::<usize>().ok());
        let source = match (lane("lost"), lane("stall")) {
            (Some(lane), _) => WasteSource::Lost(lane),
            (_, Some(lane)) => WasteSource::Stalled(lane),
            _ => WasteSource::Typed,
        };
        calculation.update(|calculation| calculation.source = source);
    };
    let lanes = move || lab.settings.with(|settings| settings.schedulers.clone());
    let live = move || calculation.with(|calculation| calculation.source != WasteSource::Typed);
    let shown_share = move || {
        let share = share.get();
        match (share.is_finite(), live()) {
            (false, _) => NOTHING.to_owned(),
            (true, false) => numbers.percent_short(share, Field::Waste.digits()),
            // A measured share has no last digit; as many as beside the lanes, and a small one two.
            (true, true) => {
                let digits = if share.abs() < 0.01 { 2 } else { 1 };
                format!("≈\u{202f}{}", numbers.percent(share, digits))
            }
        }
    };

    view! {
        <section class="panel calculator" aria-labelledby="calculator-title">
            <h2 id="calculator-title">{move || text.t("calculator.title")}</h2>
            <p class="note">{move || text.t("calculator.what")}</p>
            <div class="calculator-fields">
                <div class="pair">
                    <NumberField field=Field::Fleet value=value(Field::Fleet) on_set=set(Field::Fleet)/>
                    <NumberField field=Field::Hours value=value(Field::Hours) on_set=set(Field::Hours)/>
                </div>
                <NumberField field=Field::Price value=value(Field::Price) on_set=set(Field::Price)>
                    <select
                        class="currency"
                        aria-label=move || text.t("calculator.currency")
                        on:change=move |event| {
                            let chosen = event_target_value(&event);
                            if let Some(currency) = CURRENCIES.into_iter().find(|currency| *currency == chosen) {
                                calculation.update(|calculation| calculation.currency = currency);
                                numbers.currency.set(currency);
                            }
                        }
                        prop:value=move || numbers.currency.get()
                    >
                        {CURRENCIES
                            .into_iter()
                            .map(|currency| view! {
                                <option value=currency selected=move || numbers.currency.get() == currency>{currency}</option>
                            })
                            .collect_view()}
                    </select>
                </NumberField>
                <div class="field">
                    <label for="waste-source">{move || text.t("calculator.source")}</label>
                    <div class="field-row">
                        <select id="waste-source" data-testid="waste-source" on:change=choose_source prop:value=source_value>
                            <option value="typed" selected=move || source_value() == "typed">
                                {move || text.t("calculator.typed")}
                            </option>
                            {move || {
                                lanes()
                                    .into_iter()
                                    .enumerate()
                                    .map(|(slot, id)| {
                                        let title = scheduler_title(&id);
                                        let (lost, stall) = (format!("lost{slot}"), format!("stall{slot}"));
                                        let (lost_is, stall_is) = (lost.clone(), stall.clone());
                                        view! {
                                            <option value=lost selected=move || source_value() == lost_is>
                                                {text.tf("calculator.lost_of", &[("lane", &title)])}
                                            </option>
                                            <option value=stall selected=move || source_value() == stall_is>
                                                {text.tf("calculator.stall_of", &[("lane", &title)])}
                                            </option>
                                        }
                                    })
                                    .collect_view()
                            }}
                        </select>
                    </div>
                </div>
                <Show when=move || !live()>
                    <NumberField field=Field::Waste value=value(Field::Waste) on_set=set(Field::Waste)/>
                </Show>
                <Show when=live>
                    <div class="field">
                        <span class="label">{move || text.t("field.waste.label")}</span>
                        <output class="live-share" data-testid="live-share" data-value=move || share.get().to_string()>
                            {shown_share}
                        </output>
                        <span class="note">{move || text.t("calculator.live")}</span>
                    </div>
                </Show>
            </div>
            <table class="money">
                <caption class="sr">{move || text.t("calculator.table")}</caption>
                <thead>
                    <tr>
                        <td></td>
                        <th scope="col">{move || text.t("calculator.paid")}</th>
                        <th scope="col">{move || text.t("calculator.wasted")}</th>
                    </tr>
                </thead>
                <tbody>
                    {row(
                        "calculator.hour",
                        Signal::derive(move || spend.with(|w| w.per_hour)),
                        Signal::derive(move || waste.with(|w| w.per_hour)),
                    )}
                    {row(
                        "calculator.day",
                        Signal::derive(move || spend.with(|w| w.per_day)),
                        Signal::derive(move || waste.with(|w| w.per_day)),
                    )}
                    {row(
                        "calculator.year",
                        Signal::derive(move || spend.with(|w| w.per_year)),
                        Signal::derive(move || waste.with(|w| w.per_year)),
                    )}
                </tbody>
            </table>
            <p class="formula" data-testid="formula">
                {move || {
                    let c = calculation.get();
                    text.tf(
                        "calculator.formula",
                        &[
                            ("fleet", &text.count("count.gpus", c.fleet, &numbers.short(c.fleet, Field::Fleet.digits()))),
                            ("price", &numbers.price(c.price)),
                            ("hours", &numbers.short(c.hours, Field::Hours.digits())),
                            ("share", &shown_share()),
                            ("year", &money(waste.with(|w| w.per_year))),
                        ],
                    )
                }}
            </p>
            <p class="formula">
                {move || {
                    let price = calculation.with(|c| c.price);
                    text.tf(
                        "calculator.productive",
                        &[
                            ("price", &numbers.price(price)),
                            ("share", &shown_share()),
                            ("result", &numbers.money(economics::price_per_productive(price, share.get()), 2)),
                        ],
                    )
                }}
            </p>
            <p class="note">{move || text.t("calculator.caveat")}</p>
        </section>
    }
}
