//! What this run shows, in a sentence with its numbers: the first thing that is read.

use leptos::prelude::*;
use residua::probes::Metrics;

use crate::i18n::{Text, use_text};
use crate::lab::{Progress, use_lab};
use crate::numbers::{Numbers, use_numbers};
use crate::settings::scheduler_title;

/// Two lanes that differ by less than this share of the fleet are not told apart by a sentence.
const SAME: f64 = 0.0005;

/// A lane that has ended.
#[derive(Clone, Debug, PartialEq)]
struct Ended {
    title: String,
    metrics: Metrics,
}

/// A name that no line ends in: with word joiners around what lines may be broken at.
fn unbroken(name: &str) -> String {
    name.replace('-', "\u{2060}-\u{2060}").replace('/', "\u{2060}/\u{2060}")
}

/// The lanes with the least and the greatest loss; `None` if they cannot be told apart.
fn extremes(lanes: &[Ended]) -> Option<(&Ended, &Ended)> {
    let by_loss = |a: &&Ended, b: &&Ended| a.metrics.f_lost.total_cmp(&b.metrics.f_lost);
    let (best, worst) = (lanes.iter().min_by(by_loss)?, lanes.iter().max_by(by_loss)?);
    (worst.metrics.f_lost - best.metrics.f_lost >= SAME).then_some((best, worst))
}

/// A lane that looks busier than the one that loses least, and gets less done.
fn illusion<'a>(lanes: &'a [Ended], best: &Ended) -> Option<&'a Ended> {
    lanes
        .iter()
        .filter(|lane| {
            lane.metrics.allocated > best.metrics.allocated + 0.005
                && lane.metrics.productive < best.metrics.productive - 0.001
        })
        .max_by(|a, b| a.metrics.allocated.total_cmp(&b.metrics.allocated))
}

/// The sentence about the loss.
fn finding(text: Text, numbers: Numbers, lanes: &[Ended]) -> String {
    match extremes(lanes) {
        Some((best, worst)) => text.tf(
            "headline.finding",
            &[
                ("best", &best.title),
                ("best_lost", &numbers.percent(best.metrics.f_lost, 1)),
                ("worst", &worst.title),
                ("worst_lost", &numbers.percent(worst.metrics.f_lost, 1)),
            ],
        ),
        None if lanes.len() > 1 => {
            let lost = lanes.first().map_or(f64::NAN, |lane| lane.metrics.f_lost);
            text.tf("headline.same", &[("lost", &numbers.percent(lost, 1))])
        }
        None => lanes.first().map_or_else(String::new, |lane| {
            let lost = numbers.percent(lane.metrics.f_lost, 1);
            text.tf("headline.one", &[("lane", &lane.title), ("lost", &lost)])
        }),
    }
}

/// What the loss costs, and what "busy" hides.
fn consequence(text: Text, numbers: Numbers, lanes: &[Ended], gpus: f64, price: f64) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some((best, worst)) = extremes(lanes) {
        sentences.push(text.tf(
            "headline.money",
            &[
                ("gpus", &text.count("count.gpus", gpus, &numbers.whole(gpus))),
                ("price", &numbers.money(price, 2)),
                ("best_money", &numbers.money(best.metrics.f_lost * gpus * price, 0)),
                ("worst_money", &numbers.money(worst.metrics.f_lost * gpus * price, 0)),
            ],
        ));
        if let Some(busy) = illusion(lanes, best) {
            sentences.push(text.tf(
                "headline.illusion",
                &[
                    ("busy", &busy.title),
                    ("busy_allocated", &numbers.percent(busy.metrics.allocated, 1)),
                    ("busy_productive", &numbers.percent(busy.metrics.productive, 1)),
                    ("best", &best.title),
                    ("best_allocated", &numbers.percent(best.metrics.allocated, 1)),
                    ("best_productive", &numbers.percent(best.metrics.productive, 1)),
                ],
            ));
        }
    }
    sentences
}

/// The headline, and the lines under it.
#[component]
pub fn Headline() -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());

    // Only whole comparisons make a headline: all lanes, to the end.
    let ended = Memo::new(move |_| {
        let schedulers = lab.settings.with(|settings| settings.schedulers.clone());
        schedulers
            .iter()
            .enumerate()
            .map(|(slot, id)| {
                let metrics = lab.watches[slot].metrics.get()?;
                Some(Ended { title: unbroken(&scheduler_title(id)), metrics })
            })
            .collect::<Option<Vec<_>>>()
    });
    let stuck = move || {
        (0..lab.lanes()).any(|slot| {
            lab.watches[slot].progress.with(|progress| matches!(progress, Progress::Failed(_) | Progress::Refused(_)))
        })
    };
    let done = move || {
        let lanes = lab.lanes();
        let share: f64 = (0..lanes)
            .map(|slot| {
                let frames = lab.watches[slot].frames.get();
                lab.with_header(slot, |header| frames as f64 / f64::from(header.frames.max(1))).unwrap_or(0.0)
            })
            .sum();
        share / lanes.max(1) as f64
    };
    let price = move || lab.calculation.with(|calculation| calculation.price);

    let sentence = move || match ended.get() {
        Some(lanes) => finding(text, numbers, &lanes),
        None => text.t("headline.question"),
    };
    let lines = move || match ended.get() {
        Some(lanes) => {
            let seed = lab.settings.with(|settings| settings.seed);
            let hours = lab
                .with_any_header(|header| {
                    (header.horizon_ms - header.warm_up_ms.min(header.horizon_ms)) as f64 / 3.6e6
                })
                .unwrap_or(f64::NAN);
            let mut lines = consequence(text, numbers, &lanes, lab.gpus(), price());
            lines.push(text.tf(
                "headline.basis",
                &[("hours", &numbers.short(hours, 1)), ("seed", &numbers.plain(seed as f64, 0))],
            ));
            lines.join(" ")
        }
        None if stuck() => text.t("headline.stuck"),
        None => text.tf("headline.simulating", &[("done", &numbers.percent(done(), 0))]),
    };

    view! {
        <section class="headline">
            <p class="eyebrow">
                {move || if ended.with(Option::is_some) { text.t("headline.question") } else { text.t("headline.eyebrow") }}
            </p>
            <h1>{sentence}</h1>
            <p class="lead">{lines}</p>
            // Said once when it is known; progress is not read out.
            <p class="sr" role="status">{move || ended.get().map(|lanes| finding(text, numbers, &lanes))}</p>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn lane(title: &str, f_lost: f64, allocated: f64, productive: f64) -> Ended {
        Ended { title: title.to_owned(), metrics: Metrics { f_lost, allocated, productive, ..Metrics::default() } }
    }

    #[wasm_bindgen_test]
    fn lanes_that_lose_the_same_are_not_set_against_each_other() {
        assert_eq!(extremes(&[lane("a", 0.1, 0.9, 0.8), lane("b", 0.1002, 0.9, 0.8)]), None);
        let lanes = [lane("a", 0.15, 0.9, 0.8), lane("b", 0.03, 0.84, 0.83)];
        let (best, worst) = extremes(&lanes).expect("they differ");
        assert_eq!((best.title.as_str(), worst.title.as_str()), ("b", "a"));
    }

    #[wasm_bindgen_test]
    fn busier_is_only_an_illusion_if_less_gets_done() {
        let best = lane("best", 0.03, 0.84, 0.83);
        assert_eq!(illusion(&[lane("busy", 0.1, 0.9, 0.835), best.clone()], &best), None);
        let lanes = [lane("busy", 0.1, 0.9, 0.82), best.clone()];
        assert_eq!(illusion(&lanes, &best).map(|lane| lane.title.as_str()), Some("busy"));
    }
}
