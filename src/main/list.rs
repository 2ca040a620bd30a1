//! `residua list`: what there is to run and to set.

use residua::scenario::{self, PRESETS, Scenario};
use residua::schedulers::{self, Arena, Entry};
use serde_json::json;

use crate::options::ListOptions;
use crate::output::Failure;

/// Everything that can be named on the command line.
pub fn list(options: &ListOptions) -> Result<String, Failure> {
    if options.json { json() } else { text() }
}

/// How the jobs of a trace may arrive, the usual way first.
const ARRIVALS: [(&str, &str); 2] = [
    ("bootstrap", "Jobs are drawn from the pods and arrive at random, at the load that is wanted."),
    ("recorded", "Pods are replayed when they were created, for as long as they ran, read as time passes."),
];

fn text() -> Result<String, Failure> {
    let mut text = String::from("SCHEDULERS  (5d: blind to storage and I/O CPU; 7d or io: sees them)\n\n");
    for card in schedulers::ROSTER.iter().filter(|card| card.arena != Arena::Replay) {
        let ids: Vec<String> =
            schedulers::entries().filter(|entry| entry.card.family == card.family).map(|entry| entry.id()).collect();
        text.push_str(&format!("  {}\n      {}\n      Source: {}\n", ids.join(", "), card.idea, card.source));
        for knob in card.knobs {
            text.push_str(&format!(
                "      --set scheduler.{}={}  ({} to {}) {}\n",
                knob.key, knob.default, knob.range.0, knob.range.1, knob.help
            ));
        }
    }
    text.push_str("\nIN A REPLAY  of the FGD paper's experiment, as published there; with them: ");
    let others: Vec<String> = schedulers::replay_entries()
        .filter(|entry| entry.card.arena != Arena::Replay)
        .map(|entry| entry.id())
        .collect();
    text.push_str(&format!("{}\n\n", others.join(", ")));
    for entry in schedulers::replay_entries().filter(|entry| entry.card.arena == Arena::Replay) {
        let Entry { card, .. } = entry;
        text.push_str(&format!(
            "  {} ({})\n      {}\n      Source: {}\n",
            entry.id(),
            card.title,
            card.idea,
            card.source
        ));
    }
    text.push_str("\nSCENARIOS\n\n");
    for preset in PRESETS {
        let scenario = Scenario::parse(preset.text, &[])?;
        text.push_str(&format!("  {}\n      {}\n", preset.id, scenario.about));
        for (name, settings) in &scenario.presets {
            let settings: Vec<String> = settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            text.push_str(&format!("      --preset {name}: {}\n", settings.join(", ")));
        }
    }
    text.push_str("\nREAL TRACES  by --trace-nodes and --trace-pods; how their jobs arrive:\n\n");
    for (arrivals, what) in ARRIVALS {
        text.push_str(&format!("  --arrivals {arrivals}\n      {what}\n"));
    }
    text.push_str(
        "\nKEYS  of a scenario file, each settable by --set KEY=VALUE: default, what is allowed, what it does\n\n",
    );
    for knob in scenario::knobs() {
        let default = if knob.default.is_empty() { String::new() } else { format!(" = {}", knob.default) };
        text.push_str(&format!("  {}{default}  [{}]\n      {}\n", knob.path, knob.range, knob.help));
    }
    text.push_str("\nID stands for a node type or job class of the scenario, e.g. classes.train.share.\n");
    Ok(text)
}

fn json() -> Result<String, Failure> {
    let scheduler = |entry: Entry| {
        json!({ "id": entry.id(), "title": entry.title(), "idea": entry.card.idea, "source": entry.card.source,
                "sees": entry.sees.to_string(),
                "knobs": entry.card.knobs.iter().map(|knob| format!("scheduler.{}", knob.key)).collect::<Vec<_>>() })
    };
    let mut scenarios = Vec::new();
    for preset in PRESETS {
        let scenario = Scenario::parse(preset.text, &[])?;
        let presets: Vec<&str> = scenario.presets.iter().map(|(name, _)| name.as_str()).collect();
        scenarios
            .push(json!({ "id": preset.id, "title": preset.title, "about": scenario.about, "presets": presets }));
    }
    let all = json!({ "schedulers": schedulers::entries().map(scheduler).collect::<Vec<_>>(),
                      "replay_schedulers": schedulers::replay_entries().map(scheduler).collect::<Vec<_>>(),
                      "arrivals": ARRIVALS.map(|(arrivals, what)| json!({ "id": arrivals, "about": what })),
                      "scenarios": scenarios, "keys": scenario::knobs() });
    Ok(format!("{all:#}\n"))
}
