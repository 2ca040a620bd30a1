//! What is seen.

pub mod calculator;
pub mod canvas;
pub mod curves;
pub mod drop;
pub mod failure;
pub mod field;
pub mod focus;
pub mod grid;
pub mod headline;
pub mod keys;
pub mod kpis;
pub mod lane;
pub mod legend;
#[cfg(test)]
mod mounted;
pub mod notices;
pub mod page;
pub mod replay;
pub mod replay_controls;
pub mod replay_figures;
pub mod replay_files;
pub mod replay_floor;
pub mod replay_ranking;
pub mod setup;
pub mod topbar;
pub mod trace;
pub mod transport;
pub mod why;

/// The views' own text, in which a test looks for keys of texts.
#[cfg(test)]
pub const SOURCES: &[(&str, &str)] = &[
    ("calculator.rs", include_str!("views/calculator.rs")),
    ("curves.rs", include_str!("views/curves.rs")),
    ("failure.rs", include_str!("views/failure.rs")),
    ("field.rs", include_str!("views/field.rs")),
    ("grid.rs", include_str!("views/grid.rs")),
    ("headline.rs", include_str!("views/headline.rs")),
    ("kpis.rs", include_str!("views/kpis.rs")),
    ("lane.rs", include_str!("views/lane.rs")),
    ("legend.rs", include_str!("views/legend.rs")),
    ("notices.rs", include_str!("views/notices.rs")),
    ("page.rs", include_str!("views/page.rs")),
    ("replay.rs", include_str!("views/replay.rs")),
    ("replay_controls.rs", include_str!("views/replay_controls.rs")),
    ("replay_figures.rs", include_str!("views/replay_figures.rs")),
    ("replay_files.rs", include_str!("views/replay_files.rs")),
    ("replay_floor.rs", include_str!("views/replay_floor.rs")),
    ("replay_ranking.rs", include_str!("views/replay_ranking.rs")),
    ("setup.rs", include_str!("views/setup.rs")),
    ("topbar.rs", include_str!("views/topbar.rs")),
    ("trace.rs", include_str!("views/trace.rs")),
    ("transport.rs", include_str!("views/transport.rs")),
    ("why.rs", include_str!("views/why.rs")),
];

/// Keys that are put together from a name: they cannot be found by looking.
#[cfg(test)]
pub fn composed_keys() -> Vec<String> {
    use residua::resources::Dim;
    use residua::stage::reel::NodeState;
    use residua::workload::openb::Kind;
    use residua::{scenario, schedulers};

    use crate::settings::Field;

    let mut keys = Vec::new();
    for field in Field::ALL {
        keys.extend(["label", "help"].map(|part| format!("field.{}.{part}", field.key())));
    }
    keys.push("field.deg.silent".to_owned());
    keys.extend(transport::JUMPS.map(|to| format!("transport.{to}")));
    for kpi in kpis::KPIS {
        keys.extend(["label", "help"].map(|part| format!("kpi.{}.{part}", kpi.id)));
    }
    for name in kpis::USES {
        keys.extend([format!("uses.{name}"), format!("uses.{name}.help")]);
    }
    for curve in curves::Curve::ALL {
        keys.extend([format!("curves.{}", curve.key()), format!("curves.{}.unit", curve.key())]);
    }
    for state in NodeState::ALL {
        keys.extend([format!("state.{}", state.name()), format!("state.{}.help", state.name())]);
    }
    keys.extend(Dim::ALL.map(|dim| format!("dim.{}", dim.name())));
    for dim in Dim::ALL {
        keys.extend(["one", "other"].map(|form| format!("unit.{}.{form}", dim.name())));
    }
    for noun in ["count.nodes", "count.gpus", "count.pods", "replay.typical"] {
        keys.extend(["one", "other"].map(|form| format!("{noun}.{form}")));
    }
    keys.extend(Kind::ALL.map(|kind| format!("finding.{kind:?}")));
    keys.extend(
        ["space", "arrows", "shift_arrows", "brackets", "home_end", "table", "question"].map(|k| format!("help.{k}")),
    );
    keys.extend(["space", "shift_left", "shift_right", "home", "end"].map(|key| format!("help.key_{key}")));
    keys.extend(["hour", "day", "year"].map(|row| format!("calculator.{row}")));
    for preset in scenario::PRESETS {
        keys.extend([format!("scenario.{}", preset.id), format!("scenario.{}.help", preset.id)]);
        let read = scenario::Scenario::preset(preset.id, &[]).expect("a preset");
        keys.extend(read.classes.iter().map(|class| format!("class.{}", class.id)));
    }
    for kind in residua::replay::files::FileKind::ALL {
        keys.extend([format!("replay.file.{}", kind.name()), format!("replay.file.{}.example", kind.name())]);
    }
    for value in replay_figures::Value::ALL {
        keys.extend(["", ".unit"].map(|part| format!("replay.figure.{}{part}", value.key())));
    }
    keys.extend(
        ["help.open", "page.copy", "replay.ties", "replay.view", "replay.stop", "replay.run"].map(str::to_owned),
    );
    keys.extend(crate::route::Place::ALL.map(|place| format!("replay.place.{}", place.code())));
    for (group, names) in [
        ("promise", &["curves", "ties", "devices", "curves.text", "ties.text", "devices.text"][..]),
        ("ties", &["fixed", "random"]),
        ("view", &["whole", "close"]),
        ("stock", &["model", "nodes", "free", "partly", "full", "idle", "stranded"]),
        ("finding", &["fixed", "random"]),
        ("column", &["policy", "values", "alloc", "frag"]),
        ("differences", &["exact", "means"]),
        ("ranking", &["falls", "stays"]),
    ] {
        keys.extend(names.iter().map(|name| format!("replay.{group}.{name}")));
    }
    keys.extend(schedulers::ROSTER.iter().map(|card| format!("scheduler.{}.idea", card.family)));
    keys
}
