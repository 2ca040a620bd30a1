//! How to read the glyphs, the bar and the numbers.

use leptos::prelude::*;
use residua::resources::{DIMS, Dim, DimMask};
use residua::stage::glyph;
use residua::stage::reel::{NodeFrame, NodeState};

use super::canvas::Drawing;
use super::grid::{dim_name, state_name};
use super::kpis::{KPIS, USES};
use crate::i18n::use_text;
use crate::theme::use_theme;

/// An example of a node in a state: its numbers are made up to show the glyph, no run has them.
fn example(state: NodeState) -> NodeFrame {
    // In the order of vectors: cpu, ram, gpu, hbm, net, sto, ioc.
    let mut residual: [f32; DIMS] = [0.55, 0.6, 0.62, 0.58, 0.5, 0.56, 0.6];
    let mut effective: [f32; DIMS] = [1.0; DIMS];
    let mut forecast = None;
    let mut stall = 0.0;
    match state {
        NodeState::Healthy | NodeState::Offline => {}
        NodeState::Pinched => residual[Dim::Sto.index()] = 0.04,
        NodeState::Degraded => {
            effective[Dim::Sto.index()] = 0.4;
            effective[Dim::Ioc.index()] = 0.75;
            residual[Dim::Sto.index()] = 0.22;
        }
        NodeState::Stalled => {
            effective[Dim::Sto.index()] = 0.4;
            effective[Dim::Ioc.index()] = 0.75;
            residual[Dim::Sto.index()] = 0.0;
            stall = 0.45;
        }
        NodeState::Breathing => {
            let mut later = residual;
            later[Dim::Hbm.index()] = 0.15;
            later[Dim::Sto.index()] = 0.25;
            forecast = Some(later);
        }
        NodeState::Blocked => residual = [0.4, 0.05, 0.5, 0.1, 0.2, 0.05, 0.3],
        NodeState::Packed => residual = [0.08, 0.05, 0.0, 0.06, 0.1, 0.12, 0.1],
    }
    NodeFrame {
        residual,
        effective,
        forecast,
        stall,
        fits: 0.0,
        state,
        gpus_free: 4.0,
        jobs: 3,
        reserved: false,
        rebuilding: matches!(state, NodeState::Degraded | NodeState::Stalled),
        dims: DimMask::SEVEN,
    }
}

/// The glyph of a state.
#[component]
pub fn StateSign(state: NodeState, size: f64) -> impl IntoView {
    let theme = use_theme();
    let marks = Signal::derive(move || glyph::marks(&example(state), size, theme.palette()));
    view! { <Drawing size=[size, size] marks=marks/> }
}

/// What the parts of the bar are, in one line.
#[component]
pub fn UsesLine() -> impl IntoView {
    let text = use_text();
    view! {
        <ul class="uses-line" aria-label=move || text.t("legend.bar")>
            {USES
                .into_iter()
                .map(|name| view! {
                    <li>
                        <i class=format!("use-sample use-{name}") aria-hidden="true"></i>
                        <span>{move || text.t(&format!("uses.{name}"))}</span>
                    </li>
                })
                .collect_view()}
        </ul>
    }
}

/// What the signs above each lane's nodes stand for, in one line.
#[component]
pub fn StatesLine() -> impl IntoView {
    let text = use_text();
    view! {
        <ul class="uses-line states-line" aria-label=move || text.t("lane.states") data-testid="states-line">
            {NodeState::ALL
                .into_iter()
                .filter(|state| *state != NodeState::Offline)
                .map(|state| view! {
                    <li title=move || text.t(&format!("state.{}.help", state.name()))>
                        <StateSign state=state size=20.0/>
                        <span>{move || state_name(text, state)}</span>
                    </li>
                })
                .collect_view()}
        </ul>
    }
}

/// The foldable legend.
#[component]
pub fn Legend() -> impl IntoView {
    let text = use_text();
    view! {
        <details class="legend">
            <summary>{move || text.t("legend.title")}</summary>
            <div class="legend-body">
                <section>
                    <h3>{move || text.t("legend.glyph")}</h3>
                    <div class="legend-glyph">
                        <StateSign state=NodeState::Degraded size=140.0/>
                        <div>
                            <p>{move || text.t("legend.shape")}</p>
                            <p>{move || text.t("legend.outlines")}</p>
                        </div>
                    </div>
                    <dl class="axes">
                        {glyph::AXES
                            .into_iter()
                            .zip(glyph::AXIS_NAMES)
                            .map(|(dim, short)| view! {
                                <div><dt>{short}</dt><dd>{move || dim_name(text, dim)}</dd></div>
                            })
                            .collect_view()}
                    </dl>
                </section>
                <section>
                    <h3>{move || text.t("legend.states")}</h3>
                    <ul class="legend-states">
                        {NodeState::ALL
                            .into_iter()
                            .map(|state| view! {
                                <li>
                                    <StateSign state=state size=48.0/>
                                    <span>
                                        <b>{move || state_name(text, state)}</b>
                                        {move || text.t(&format!("state.{}.help", state.name()))}
                                    </span>
                                </li>
                            })
                            .collect_view()}
                    </ul>
                </section>
                <section>
                    <h3>{move || text.t("legend.numbers")}</h3>
                    <dl class="legend-numbers">
                        {KPIS
                            .iter()
                            .map(|kpi| view! {
                                <div>
                                    <dt>
                                        {move || text.t(&format!("kpi.{}.label", kpi.id))}
                                        <span class="term" lang="en">
                                            {move || text.maybe(&format!("kpi.{}.term", kpi.id))}
                                        </span>
                                    </dt>
                                    <dd>{move || text.t(&format!("kpi.{}.help", kpi.id))}</dd>
                                </div>
                            })
                            .collect_view()}
                    </dl>
                    <h3>{move || text.t("legend.bar")}</h3>
                    <ul class="legend-uses">
                        {USES
                            .into_iter()
                            .map(|name| view! {
                                <li>
                                    <i class=format!("use-sample use-{name}") aria-hidden="true"></i>
                                    <span>
                                        <b>{move || text.t(&format!("uses.{name}"))}</b>
                                        {move || text.t(&format!("uses.{name}.help"))}
                                    </span>
                                </li>
                            })
                            .collect_view()}
                    </ul>
                </section>
            </div>
        </details>
    }
}
