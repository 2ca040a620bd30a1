//! The nodes of a run at a moment, each with its devices on a canvas, and what is left of them as a table.
//!
//! Only nodes that look different from what is on the canvas are drawn again.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;
use residua::stage::board::{Board, Floor, Stock};
use residua::stage::devices::{Places, marks, outline};
use residua::stage::marks::{Anchor, Mark, Paint};
use residua::stage::packing::{Loaded, MOST_KEPT};
use residua::stage::palette::Palette;

use super::grid::observe_width;
use crate::i18n::{Said, Text, use_text};
use crate::numbers::{NOTHING, Numbers, use_numbers};
use crate::paint;
use crate::replay::{Key, title, use_replay};
use crate::replay_link::MOST_PERCENT;
use crate::theme::use_theme;

/// Size of the letters of a model's name.
const LETTERS: f64 = 12.0;

/// A cluster at a moment, and of which run.
#[derive(Default)]
struct Now {
    key: Option<Key>,
    hash: u64,
    /// Pods of the log when it was last seen: a run that began anew has fewer.
    seen: usize,
    board: Board,
}

/// What is on the canvas.
#[derive(Default)]
struct Drawn {
    places: Option<Places>,
    ratio: f64,
    dark: bool,
    lang: &'static str,
    /// Free thousandths of the devices and of the CPU of each node as drawn; empty: not drawn.
    nodes: Vec<(Vec<u16>, i32)>,
    outlined: Option<usize>,
}

/// Whose devices are free, and when.
#[component]
pub fn FloorSection() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let settings = replay.settings;
    let now = StoredValue::new_local(Now::default());
    // Rises when the board is at another moment than before.
    let turn = RwSignal::new(0_u32);
    let reached = Memo::new(move |_| {
        let key = replay.shown_key()?;
        replay.with_run(&key, |run| run.points.last().map(|point| point.arrived_pct.min(MOST_PERCENT))).flatten()
    });
    let at = Memo::new(move |_| {
        let reached = reached.get().unwrap_or(0);
        settings.with(|settings| settings.moment).map_or(reached, |moment| moment.min(reached))
    });
    Effect::new(move |_| {
        let (Some(loaded), Some(key)) = (replay.loaded(), replay.shown_key()) else { return };
        let at = at.get();
        let changed = now.try_update_value(|now| {
            replay.with_run(&key, |run| {
                let is_other = now.key.as_ref() != Some(&key) || now.hash != loaded.hash || run.log.len() < now.seen;
                if is_other {
                    *now =
                        Now { key: Some(key.clone()), hash: loaded.hash, seen: 0, board: Board::new(&loaded.floor) };
                }
                now.seen = run.log.len();
                let arrived = run.log.arrivals_at(at);
                let is_moved = is_other || arrived != now.board.arrived();
                now.board.go_to(&run.log, arrived);
                is_moved
            })
        });
        if changed.flatten() == Some(true) {
            turn.update(|turn| *turn += 1);
        }
    });
    let policies = Memo::new(move |_| {
        settings
            .with(|settings| settings.policies().iter().map(|entry| (entry.id(), title(entry))).collect::<Vec<_>>())
    });
    // Remembered, because the canvas below is made anew when this changes.
    let is_too_many = Memo::new(move |_| {
        let key = replay.shown_key();
        key.and_then(|key| replay.with_run(&key, |run| run.arrivals > MOST_KEPT)).unwrap_or(false)
    });
    let moment_said = move || {
        let percent = numbers.percent(f64::from(at.get()) / 100.0, 0);
        let arrived = {
            turn.track();
            now.with_value(|now| now.board.arrived())
        };
        let pods = text.count("count.pods", arrived as f64, &numbers.whole(arrived as f64));
        text.tf("replay.moment.said", &[("percent", &percent), ("pods", &pods)])
    };
    view! {
        <section class="floor" aria-labelledby="floor-title" data-testid="floor" data-percent=move || at.get().to_string()>
            <header class="section-header">
                <h2 id="floor-title">{move || text.t("replay.floor")}</h2>
                <p class="note">{moment_said}</p>
            </header>
            <p class="note">{move || text.t("replay.floor.read")}</p>
            <div class="floor-controls">
                <div class="field">
                    <label for="floor-policy">{move || text.t("replay.column.policy")}</label>
                    <select
                        id="floor-policy"
                        data-testid="floor-policy"
                        prop:value=move || settings.with(|settings| settings.shown.clone())
                        on:change=move |event| {
                            let id = event_target_value(&event);
                            settings.update(|settings| settings.shown = id);
                        }
                    >
                        {move || {
                            policies
                                .get()
                                .into_iter()
                                .map(|(id, title)| {
                                    let this = id.clone();
                                    let is_shown = move || settings.with(|settings| settings.shown == this);
                                    view! { <option value=id selected=is_shown>{title}</option> }
                                })
                                .collect_view()
                        }}
                    </select>
                </div>
                <div class="field moment">
                    <label for="floor-moment">{move || text.t("replay.moment")}</label>
                    <input
                        type="range"
                        id="floor-moment"
                        data-testid="floor-moment"
                        min="0"
                        max=MOST_PERCENT.to_string()
                        step="1"
                        aria-valuetext=moment_said
                        prop:value=move || at.get().to_string()
                        on:input=move |event| {
                            if let Ok(percent) = event_target_value(&event).parse::<u32>() {
                                settings.update(|settings| settings.moment = Some(percent.min(MOST_PERCENT)));
                            }
                        }
                    />
                </div>
                <button
                    type="button"
                    class="button"
                    data-testid="floor-follow"
                    aria-pressed=move || settings.with(|settings| settings.moment.is_none()).to_string()
                    on:click=move |_| settings.update(|settings| {
                        settings.moment = if settings.moment.is_none() { Some(at.get_untracked()) } else { None };
                    })
                >
                    {move || text.t("replay.follow")}
                </button>
            </div>
            {move || if is_too_many.get() {
                let most = numbers.whole(MOST_KEPT as f64);
                view! { <p class="note">{text.tf("replay.floor.too_many", &[("n", &most)])}</p> }.into_any()
            } else {
                view! {
                    <FloorGrid now=now turn=turn/>
                    <Stocks now=now turn=turn/>
                }.into_any()
            }}
        </section>
    }
}

/// The canvas.
#[component]
fn FloorGrid(now: StoredValue<Now, LocalStorage>, turn: RwSignal<u32>) -> impl IntoView {
    let (replay, text, numbers, theme) = (use_replay(), use_text(), use_numbers(), use_theme());
    let wrapper = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let width = RwSignal::new(0.0_f64);
    let node = RwSignal::new(None::<usize>);
    let by_keys = RwSignal::new(false);
    observe_width(wrapper, width);
    let loaded = Memo::new(move |_| replay.loaded());
    let places = Memo::new(move |_| {
        let loaded = loaded.get()?;
        (width.get() >= 40.0).then(|| Places::of(&loaded.floor, width.get()))
    });
    let drawn = Rc::new(RefCell::new(Drawn::default()));
    Effect::new(move |_| {
        turn.track();
        let (Some(canvas), Some(loaded), Some(places)) = (canvas.get(), loaded.get(), places.get()) else { return };
        let look = Look {
            palette: theme.palette(),
            dark: theme.dark.get(),
            lang: text.lang.get().code(),
            outlined: node.get(),
        };
        let heading = |model: &str, nodes: u32, devices: u32| {
            let nodes = text.count("count.nodes", f64::from(nodes), &numbers.whole(f64::from(nodes)));
            let gpus = text.count("count.gpus", f64::from(devices), &numbers.whole(f64::from(devices)));
            text.tf("replay.floor.group", &[("model", model), ("nodes", &nodes), ("gpus", &gpus)])
        };
        now.with_value(|now| {
            redraw(&mut drawn.borrow_mut(), &canvas, &loaded.floor, &now.board, &places, &look, &heading)
        });
    });

    let point = move |event: web_sys::PointerEvent| {
        let at = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let found = places.with_untracked(|places| places.as_ref().and_then(|places| places.node_at(at.0, at.1)));
        if node.get_untracked() != found {
            by_keys.set(false);
            node.set(found);
        }
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" {
            node.set(None);
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.shift_key() {
            return;
        }
        let to = places.with_untracked(|places| {
            let places = places.as_ref()?;
            let first = places.order.first().map(|node| *node as usize)?;
            match node.get_untracked() {
                None => places.beside(first, &event.key()).map(|_| first),
                Some(node) => places.beside(node, &event.key()),
            }
        });
        if let Some(to) = to {
            event.prevent_default();
            by_keys.set(true);
            node.set(Some(to));
        }
    };
    let said = move || {
        turn.track();
        let (loaded, node) = (loaded.get()?, node.get()?);
        now.with_value(|now| (node < now.board.len()).then(|| describe(text, numbers, &loaded, &now.board, node)))
    };
    // Above nodes in the lower half, below those in the upper.
    let side = move || {
        places.with(|places| {
            let (places, node) = (places.as_ref()?, node.get()?);
            let ([_, y], [_, height]) = places.node(node);
            Some(if y + height / 2.0 > places.height / 2.0 {
                format!("bottom: calc(100% - {}px)", y - 6.0)
            } else {
                format!("top: {}px", y + height + 6.0)
            })
        })
    };
    view! {
        <div class="floor-panel">
        <div
            class="grid floor-grid"
            node_ref=wrapper
            role="group"
            tabindex="0"
            aria-label=move || text.t("replay.floor.label")
            aria-describedby="floor-keys"
            data-testid="floor-grid"
            on:keydown=on_key
            on:blur=move |_| node.set(None)
        >
            <canvas
                node_ref=canvas
                aria-hidden="true"
                on:pointermove=point
                on:pointerdown=point
                on:pointerleave=move |_| node.set(None)
            ></canvas>
            {move || said().map(|said| view! {
                <div class="node-card" style=side data-testid="floor-card">
                    <p><b>{said.name}</b> " " <Said english=said.kind/></p>
                    <p>{said.words}</p>
                </div>
            })}
            <p class="sr" role="status">
                {move || by_keys.get().then(said).flatten().map(|said| format!("{}: {}", said.name, said.words))}
            </p>
        </div>
        </div>
        <p class="sr" id="floor-keys">{move || text.t("grid.keys")}</p>
    }
}

/// What decides how the nodes look, besides their state.
struct Look {
    palette: &'static Palette,
    dark: bool,
    lang: &'static str,
    outlined: Option<usize>,
}

fn redraw(
    drawn: &mut Drawn,
    canvas: &web_sys::HtmlCanvasElement,
    floor: &Floor,
    board: &Board,
    places: &Places,
    look: &Look,
    heading: &dyn Fn(&str, u32, u32) -> String,
) {
    if board.len() != floor.nodes.len() {
        return;
    }
    let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
    let is_same = drawn.places.as_ref() == Some(places)
        && drawn.ratio == ratio
        && drawn.dark == look.dark
        && drawn.lang == look.lang
        // An outline reaches over its neighbours, so taking one away is drawing all anew.
        && drawn.outlined == look.outlined;
    let context = if is_same {
        paint::context(canvas)
    } else {
        *drawn = Drawn {
            places: Some(places.clone()),
            ratio,
            dark: look.dark,
            lang: look.lang,
            nodes: vec![(Vec::new(), 0); floor.nodes.len()],
            outlined: look.outlined,
        };
        paint::fit(canvas, places.width, places.height, ratio)
    };
    let Some(context) = context else { return };
    let mut all: Vec<Mark> = Vec::new();
    if !is_same {
        all.extend(places.groups.iter().map(|group| Mark::Text {
            at: [0.0, group.base],
            text: heading(&group.model, group.nodes, group.devices),
            size: LETTERS,
            anchor: Anchor::Start,
            colour: look.palette.text,
        }));
    }
    for (node, before) in drawn.nodes.iter_mut().enumerate() {
        let now = board.node(node);
        if before.0 == now.free && before.1 == now.cpu_milli {
            continue;
        }
        *before = (now.free.to_vec(), now.cpu_milli);
        let (corner, size) = places.node(node);
        all.push(Mark::Rect { at: corner, size, fill: Some(Paint::Solid(look.palette.background)), stroke: None });
        let drawing = marks(&now, floor.kind(node).cpu_milli, places, look.palette);
        all.extend(drawing.into_iter().map(|mark| mark.moved(corner)));
    }
    all.extend(
        look.outlined.filter(|node| *node < floor.nodes.len()).map(|node| outline(places, node, look.palette)),
    );
    paint::paint(&context, &all);
}

/// A node in words.
struct Described {
    name: String,
    kind: String,
    words: String,
}

fn describe(text: Text, numbers: Numbers, loaded: &Loaded, board: &Board, node: usize) -> Described {
    let now = board.node(node);
    let kind = loaded.floor.kind(node);
    let in_use: Vec<String> =
        now.free.iter().map(|free| numbers.percent(1.0 - f64::from(*free) / 1000.0, 0)).collect();
    let cores = f64::from(kind.cpu_milli) / 1000.0;
    let words = text.tf(
        "replay.node",
        &[
            ("devices", &in_use.join(" · ")),
            ("cores", &numbers.short(f64::from(now.cpu_milli) / 1000.0, 1)),
            ("all", &text.count("count.cores", cores, &numbers.short(cores, 1))),
            ("pods", &numbers.whole(f64::from(now.pods))),
        ],
    );
    Described { name: loaded.floor.nodes[node].name.clone(), kind: kind.title.clone(), words }
}

/// What is left of each model of GPU.
#[component]
fn Stocks(now: StoredValue<Now, LocalStorage>, turn: RwSignal<u32>) -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let stocks = move || {
        turn.track();
        let Some(loaded) = replay.loaded() else { return Vec::new() };
        now.with_value(|now| {
            if now.board.len() == loaded.floor.nodes.len() { now.board.stocks(&loaded.floor) } else { Vec::new() }
        })
    };
    let probe = Memo::new(move |_| replay.loaded().and_then(|loaded| loaded.floor.probe));
    let cells = move |stock: &Stock| {
        let gpus = |milli: u64| numbers.fixed(milli as f64 / 1000.0, 1);
        let stranded = if probe.with(Option::is_some) { gpus(stock.stranded_milli) } else { NOTHING.to_owned() };
        let count = |count: u32| numbers.whole(f64::from(count));
        view! {
            <td>{count(stock.nodes)}</td>
            <td>{count(stock.free)}</td>
            <td>{count(stock.partly)}</td>
            <td>{count(stock.full)}</td>
            <td data-of="free">{gpus(stock.free_milli)}</td>
            <td data-of="stranded">{stranded}</td>
        }
    };
    view! {
        <div class="scroll stock-scroll" tabindex="0" role="region" aria-label=move || text.t("replay.stock")>
            <table data-testid="stock">
                <thead>
                    <tr>
                        {["model", "nodes", "free", "partly", "full", "idle", "stranded"]
                            .map(|name| view! {
                                <th scope="col">{move || text.t(&format!("replay.stock.{name}"))}</th>
                            })
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {move || {
                        let stocks = stocks();
                        let total = Stock::total(&stocks);
                        let rows = stocks.iter().map(|stock| view! {
                            <tr><th scope="row">{stock.model.clone()}</th>{cells(stock)}</tr>
                        });
                        view! {
                            {rows.collect_view()}
                            <tr class="total"><th scope="row">{text.t("replay.stock.all")}</th>{cells(&total)}</tr>
                        }
                    }}
                </tbody>
            </table>
        </div>
        <p class="note">
            {move || match probe.get() {
                Some(probe) => text.tf(
                    "replay.stock.note",
                    &[("cores", &numbers.short(f64::from(probe.cpu_milli) / 1000.0, 3))],
                ),
                None => text.t("replay.stock.no_probe"),
            }}
        </p>
    }
}
