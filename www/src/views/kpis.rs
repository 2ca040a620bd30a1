//! The numbers of a lane since the warm-up, and how they differ from the first lane's.

use leptos::prelude::*;

use crate::i18n::use_text;
use crate::lab::{Lab, Measure, use_lab};
use crate::numbers::{NOTHING, Numbers, use_numbers};

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Share,
    Index,
    Hours,
    Seconds,
    Money,
}

/// A number that each lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kpi {
    /// Name in the metrics, and the middle of the keys of its texts.
    pub id: &'static str,
    measure: Measure,
    kind: Kind,
}

/// All of them, the one that says most first.
pub const KPIS: &[Kpi] = &[
    Kpi { id: "f_lost", measure: Measure::Lost, kind: Kind::Share },
    Kpi { id: "waste_per_hour", measure: Measure::Lost, kind: Kind::Money },
    Kpi { id: "productive_gpu_h", measure: Measure::ProductiveHours, kind: Kind::Hours },
    Kpi { id: "f_shape", measure: Measure::Shape, kind: Kind::Index },
    Kpi { id: "stall", measure: Measure::Stall, kind: Kind::Share },
    Kpi { id: "wait_p99", measure: Measure::WaitP99, kind: Kind::Seconds },
];

impl Kpi {
    fn value(self, lab: Lab, lane: usize) -> f64 {
        let value = lab.measure(lane, self.measure);
        match self.kind {
            // What is lost is paid for all the same.
            Kind::Money => value * lab.gpus() * lab.calculation.with(|calculation| calculation.price),
            _ => value,
        }
    }

    fn written(self, numbers: Numbers, value: f64) -> String {
        if !value.is_finite() {
            return NOTHING.to_owned();
        }
        match self.kind {
            Kind::Share => numbers.percent(value, 1),
            Kind::Index => numbers.fixed(value, 3),
            Kind::Hours => numbers.whole(value),
            Kind::Seconds => numbers.duration(value),
            Kind::Money => numbers.money(value, 0),
        }
    }

    fn difference(self, numbers: Numbers, value: f64, first: f64) -> String {
        if !(value.is_finite() && first.is_finite()) {
            return String::new();
        }
        let difference = value - first;
        match self.kind {
            // Of shares in points, without the sign of a percentage: 3 % is not "12.8 % less" than 15.9 %.
            Kind::Share => numbers.signed(difference * 100.0, |points| numbers.fixed(points, 1)),
            _ => numbers.signed(difference, |difference| self.written(numbers, difference)),
        }
    }
}

/// How many of [`KPIS`] stand above a lane's nodes; the others stand below.
pub const FIRST_KPIS: usize = 2;

/// Some of the numbers of one lane.
#[component]
pub fn Kpis(lane: usize, kpis: &'static [Kpi]) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    view! {
        <dl class="kpis" class:kpis-first=kpis.len() == FIRST_KPIS>
            {kpis
                .iter()
                .map(|&kpi| {
                    let value = Memo::new(move |_| kpi.value(lab, lane));
                    let label = move || text.t(&format!("kpi.{}.label", kpi.id));
                    let term = move || text.maybe(&format!("kpi.{}.term", kpi.id));
                    let exact = move || {
                        let value = value.get();
                        if value.is_finite() { value.to_string() } else { String::new() }
                    };
                    let difference = move || {
                        if lane == 0 {
                            // Said once: what the others are compared with.
                            return if kpi.id == "f_lost" { text.t("lane.first") } else { String::new() };
                        }
                        let difference = kpi.difference(numbers, value.get(), kpi.value(lab, 0));
                        if kpi.kind == Kind::Share && !difference.is_empty() {
                            text.tf("kpi.points", &[("n", &difference)])
                        } else {
                            difference
                        }
                    };
                    view! {
                        <div class="kpi" title=move || text.t(&format!("kpi.{}.help", kpi.id))>
                            <dt>
                                {label}
                                {move || term().map(|term| view! { <span class="term" lang="en">{term}</span> })}
                            </dt>
                            <dd>
                                <b data-testid="kpi" data-metric=kpi.id data-value=exact>
                                    {move || kpi.written(numbers, value.get())}
                                </b>
                                <span class="difference">{difference}</span>
                            </dd>
                        </div>
                    }
                })
                .collect_view()}
        </dl>
    }
}

/// Where every GPU-hour of a lane's fleet went: one bar, four uses.
#[component]
pub fn Uses(lane: usize) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let uses = Memo::new(move |_| {
        uses(
            lab.measure(lane, Measure::Productive),
            lab.measure(lane, Measure::Allocated),
            lab.measure(lane, Measure::Lost),
        )
    });
    let description = move || {
        let written = uses.get().map(|share| numbers.percent(share, 1));
        text.tf(
            "uses.description",
            &[
                ("productive", &written[0]),
                ("stalled", &written[1]),
                ("stranded", &written[2]),
                ("spare", &written[3]),
            ],
        )
    };
    let width = move |use_: usize| {
        move || {
            let share = uses.with(|uses| uses[use_]);
            format!("{:.3}%", if share.is_finite() { share * 100.0 } else { 0.0 })
        }
    };
    view! {
        <div class="uses" role="img" aria-label=description title=description>
            <i class="use-productive" style:width=width(0)></i>
            <i class="use-stalled" style:width=width(1)></i>
            <i class="use-stranded" style:width=width(2)></i>
            <i class="use-spare"></i>
        </div>
    }
}

/// Names of the uses, in the order of the bar.
pub const USES: [&str; 4] = ["productive", "stalled", "stranded", "spare"];

/// Shares of the fleet that were productive, stalled, stranded and spare.
fn uses(productive: f64, allocated: f64, lost: f64) -> [f64; 4] {
    let stalled = (allocated - productive).max(0.0);
    let stranded = (lost - stalled).max(0.0);
    [productive, stalled, stranded, (1.0 - productive - stalled - stranded).max(0.0)]
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn the_uses_are_the_whole_fleet() {
        let shares = uses(0.8, 0.88, 0.11);
        let wanted = [0.8, 0.08, 0.03, 0.09];
        for (share, wanted) in shares.into_iter().zip(wanted) {
            assert!((share - wanted).abs() < 1e-12, "{shares:?}");
        }
    }
}
