//! What a person can set, within which limits, and what it is if nobody says otherwise.

use std::sync::Arc;

use residua::scenario::{self, Scenario, build};
use residua::schedulers;
use residua::stage::session::{RunRequest, TraceFiles};

use crate::link::LinkedTrace;

/// Most lanes side by side.
pub const MOST_LANES: usize = 4;

/// The scenario of a first visit: the article's storage stress.
pub const FIRST_SCENARIO: &str = "c-storage-stress";

/// The lanes of a first visit.
pub const FIRST_LANES: [&str; MOST_LANES] = ["scalar-5d", "tetris-5d", "ragp-5d", "ragp-io"];

/// A number that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Seed,
    Load,
    Nodes,
    Degraded,
    Storage,
    Sample,
    Price,
    Fleet,
    Waste,
    Hours,
}

impl Field {
    pub const ALL: [Self; 10] = [
        Self::Seed,
        Self::Load,
        Self::Nodes,
        Self::Degraded,
        Self::Storage,
        Self::Sample,
        Self::Price,
        Self::Fleet,
        Self::Waste,
        Self::Hours,
    ];

    /// Those of the simulation.
    pub const OF_RUN: [Self; 6] = [Self::Seed, Self::Load, Self::Nodes, Self::Degraded, Self::Storage, Self::Sample];

    /// Its key in links, and the middle of the keys of its texts: `field.load.label`, `field.load.help`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Load => "load",
            Self::Nodes => "nodes",
            Self::Degraded => "deg",
            Self::Storage => "sto",
            Self::Sample => "sample",
            Self::Price => "price",
            Self::Fleet => "fleet",
            Self::Waste => "waste",
            Self::Hours => "hours",
        }
    }

    /// The key of a scenario that it sets; `None` for numbers that are no such key.
    pub const fn path(self) -> Option<&'static str> {
        match self {
            Self::Load => Some("load"),
            Self::Nodes => Some("nodes"),
            Self::Degraded => Some("rebuilds.degraded_share"),
            Self::Storage => Some("storage_intensity"),
            Self::Sample => Some("scheduler.sample"),
            Self::Seed | Self::Price | Self::Fleet | Self::Waste | Self::Hours => None,
        }
    }

    /// Smallest and largest value. A test holds those of the simulation to the scenario schema.
    pub const fn range(self) -> (f64, f64) {
        match self {
            // Whole numbers up to here are exact in a double, and so in JSON and in a link.
            Self::Seed => (0.0, 9_007_199_254_740_991.0),
            Self::Load => (0.05, 1.5),
            // So many fit in a browser's memory, with four lanes at usual loads; from a thousand on a run takes minutes.
            Self::Nodes => (4.0, 10_000.0),
            Self::Degraded => (0.0, 0.5),
            Self::Storage => (0.5, 1.5),
            // 0: all of them.
            Self::Sample => (0.0, 10_000.0),
            // A few dollars are tens of thousands of some currencies.
            Self::Price => (0.0, 10_000_000.0),
            Self::Fleet => (1.0, 10_000_000.0),
            Self::Waste => (0.0, 1.0),
            Self::Hours => (1.0, 8784.0),
        }
    }

    /// Whether it is a whole number.
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Seed | Self::Nodes | Self::Sample)
    }

    /// Whether people read and write it as a percentage.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Load | Self::Degraded | Self::Waste)
    }

    /// Decimals worth showing, of the percentage where it is one.
    pub const fn digits(self) -> u8 {
        match self {
            Self::Seed | Self::Nodes | Self::Sample => 0,
            Self::Load | Self::Degraded => 1,
            Self::Storage => 2,
            // What was typed stays as it was typed: sums are made with it.
            Self::Price | Self::Waste | Self::Fleet | Self::Hours => 6,
        }
    }

    /// Step of its slider.
    pub const fn step(self) -> f64 {
        match self {
            Self::Load | Self::Degraded | Self::Waste => 0.01,
            Self::Storage => 0.05,
            Self::Price => 0.1,
            Self::Seed | Self::Nodes | Self::Sample | Self::Fleet | Self::Hours => 1.0,
        }
    }

    /// Whether `value` may be set.
    pub fn allows(self, value: f64) -> bool {
        let (least, most) = self.range();
        value >= least && value <= most && (!self.is_whole() || value.fract() == 0.0)
    }

    /// The allowed value nearest to `value`.
    pub fn nearest(self, value: f64) -> f64 {
        let (least, most) = self.range();
        let value = if self.is_whole() { value.round() } else { value };
        // Minus zero is zero.
        value.clamp(least, most) + 0.0
    }
}

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Preset id.
    pub scenario: String,
    /// Roster ids, one a lane.
    pub schedulers: Vec<String>,
    pub seed: u64,
    /// Offered GPU-hours ÷ GPU-hours of the fleet.
    pub load: f64,
    pub nodes: u32,
    /// Share of nodes in rebuild, on average.
    pub degraded: f64,
    /// Factor on every demand for storage bandwidth and I/O CPU.
    pub storage: f64,
    /// Feasible nodes that a decision scores; 0: all.
    pub sample: u32,
    /// Recorded cluster and jobs that replace the scenario's own.
    pub trace: Option<Arc<Trace>>,
}

/// A trace that was dropped on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub files: TraceFiles,
    /// Stands for its contents in links.
    pub hash: String,
}

impl Trace {
    /// What a link says of it.
    pub fn in_link(&self) -> LinkedTrace {
        LinkedTrace { hash: self.hash.clone(), assume: self.files.assume }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::of_scenario(FIRST_SCENARIO)
    }
}

impl Settings {
    /// The settings of a preset as its author wrote them, with the lanes of a first visit.
    pub fn of_scenario(id: &str) -> Self {
        let own = Own::of(id);
        Self {
            scenario: id.to_owned(),
            schedulers: FIRST_LANES.map(str::to_owned).to_vec(),
            seed: 42,
            load: own.load,
            nodes: own.nodes,
            degraded: own.degraded,
            storage: own.storage,
            sample: own.sample,
            trace: None,
        }
    }

    /// What a worker is asked to run for one of the lanes: the preset, or the trace, and what differs from it.
    pub fn request(&self, scheduler: &str) -> RunRequest {
        let set = Field::ALL
            .into_iter()
            .filter(|field| self.has_say(*field) && !self.is_own(*field))
            .filter_map(|field| Some((field.path()?.to_owned(), self.number(field).to_string())))
            .collect();
        RunRequest {
            scenario: self.scenario.clone(),
            set,
            scheduler: scheduler.to_owned(),
            seed: self.seed,
            trace: self.trace.as_ref().map(|trace| trace.files.clone()),
            lanes: self.schedulers.len() as u32,
        }
    }

    /// Replaces the trace. A number that nobody has changed becomes the one that the run then starts from: a trace is
    /// run as the command runs it, whatever scenario was there before.
    pub fn take_trace(&mut self, trace: Option<Arc<Trace>>) {
        let unchanged = [Field::Load, Field::Degraded].map(|field| (field, self.is_own(field)));
        self.trace = trace;
        for (field, _) in unchanged.into_iter().filter(|(_, unchanged)| *unchanged) {
            self.set_number(field, self.own(field));
        }
    }

    /// Whether a number has a say, as the command decides it: a trace brings its own nodes and jobs, and without
    /// assumptions it has no storage. A run is never asked for with a number that has none, and its control says so.
    pub fn has_say(&self, field: Field) -> bool {
        let (Some(trace), Some(path)) = (&self.trace, field.path()) else { return true };
        build::has_say(path, trace.files.assume)
    }

    /// What the author of the preset, or of what a trace starts from, wrote.
    pub fn own(&self, field: Field) -> f64 {
        let own = if self.trace.is_some() { Own::of_trace() } else { Own::of(&self.scenario) };
        match field {
            Field::Load => own.load,
            Field::Degraded => own.degraded,
            // A trace brings these itself.
            Field::Nodes | Field::Storage if self.trace.is_some() => self.number(field),
            Field::Nodes => f64::from(own.nodes),
            Field::Storage => own.storage,
            Field::Sample => f64::from(own.sample),
            _ => self.number(field),
        }
    }

    /// Whether a number is [that one](Self::own).
    pub fn is_own(&self, field: Field) -> bool {
        self.number(field) == self.own(field)
    }

    /// The value of a number of the simulation.
    pub fn number(&self, field: Field) -> f64 {
        match field {
            Field::Seed => self.seed as f64,
            Field::Load => self.load,
            Field::Nodes => f64::from(self.nodes),
            Field::Degraded => self.degraded,
            Field::Storage => self.storage,
            Field::Sample => f64::from(self.sample),
            Field::Price | Field::Fleet | Field::Waste | Field::Hours => f64::NAN,
        }
    }

    /// Sets a number of the simulation; `value` is one that [`Field::allows`].
    pub fn set_number(&mut self, field: Field, value: f64) {
        match field {
            Field::Seed => self.seed = value as u64,
            Field::Load => self.load = value,
            Field::Nodes => self.nodes = value as u32,
            Field::Degraded => self.degraded = value,
            Field::Storage => self.storage = value,
            Field::Sample => self.sample = value as u32,
            Field::Price | Field::Fleet | Field::Waste | Field::Hours => {}
        }
    }
}

/// Whether there is a scheduler of that id.
pub fn is_scheduler(id: &str) -> bool {
    schedulers::find(id).is_some()
}

/// The title of the scheduler of that id.
pub fn scheduler_title(id: &str) -> String {
    schedulers::find(id).map_or_else(|| id.to_owned(), |entry| entry.title())
}

/// The preset of that id, letter or file name.
pub fn preset_id(name: &str) -> Option<&'static str> {
    scenario::PRESETS
        .iter()
        .map(|preset| preset.id)
        .find(|id| *id == name || (name.len() == 1 && id.split('-').next() == Some(name)))
}

/// What a preset says of the numbers that the page can change.
#[derive(Clone, Copy)]
struct Own {
    load: f64,
    nodes: u32,
    degraded: f64,
    storage: f64,
    sample: u32,
}

thread_local! {
    /// What each preset says, and what a run on a trace starts from: reading it takes milliseconds, and it is asked
    /// for with every change of a setting.
    static OWN: (Vec<(&'static str, Own)>, Own) =
        (scenario::PRESETS.iter().map(|preset| (preset.id, Own::read(preset.id))).collect(), Own::read_for_trace());
}

impl Own {
    fn of(id: &str) -> Self {
        let known = OWN.with(|(presets, _)| presets.iter().find(|(preset, _)| *preset == id).map(|(_, own)| *own));
        known.unwrap_or_else(|| Self::read(id))
    }

    /// What a run on a trace starts from.
    fn of_trace() -> Self {
        OWN.with(|(_, trace)| *trace)
    }

    fn read(id: &str) -> Self {
        // Presets are part of the program and tested with it; were one broken, its worker would say what is wrong.
        Scenario::preset(id, &[])
            .map_or(Self { load: 0.7, nodes: 64, degraded: 0.15, storage: 1.0, sample: 0 }, |read| {
                Self::in_scenario(&read)
            })
    }

    fn read_for_trace() -> Self {
        Scenario::for_trace(scenario::TRACE, &[])
            .map_or(Self { load: 0.7, nodes: 64, degraded: 0.0, storage: 1.0, sample: 0 }, |read| {
                Self::in_scenario(&read)
            })
    }

    fn in_scenario(scenario: &Scenario) -> Self {
        Self {
            load: scenario.load,
            nodes: scenario.nodes,
            degraded: scenario.rebuilds.degraded_share,
            storage: scenario.storage_intensity,
            sample: scenario.scheduler.sample,
        }
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn what_the_page_allows_the_schema_allows() {
        let of_runs: Vec<_> = Field::ALL.into_iter().filter_map(|field| Some((field, field.path()?))).collect();
        assert_eq!(of_runs.len(), 5);
        for (field, path) in of_runs {
            let (least, most) = field.range();
            for value in [least, most] {
                let set = [(path.to_owned(), value.to_string())];
                let setup = Scenario::preset(FIRST_SCENARIO, &set).and_then(|read| read.setup("ragp-io", 1));
                assert!(setup.is_ok(), "{path} = {value}: {}", setup.unwrap_err());
            }
        }
    }

    #[wasm_bindgen_test]
    fn every_preset_and_every_scheduler_makes_a_request() {
        for preset in scenario::PRESETS {
            let settings = Settings::of_scenario(preset.id);
            for field in Field::ALL {
                let value = settings.number(field);
                assert!(value.is_nan() || field.allows(value), "{}: {field:?} = {value}", preset.id);
            }
            for entry in schedulers::entries() {
                let request = settings.request(&entry.id());
                assert_eq!(request.set, [], "an unchanged preset is run as it is");
                assert!(Scenario::preset(&request.scenario, &request.set).is_ok());
            }
        }
    }

    #[wasm_bindgen_test]
    fn a_trace_is_run_as_the_command_runs_it() {
        let trace = |assume| {
            let (nodes_name, pods_name) = ("n".to_owned(), "p".to_owned());
            let (nodes_csv, pods_csv) = (Arc::from(""), Arc::from(""));
            let on_fault = residua::workload::openb::OnFault::Stop;
            let files = TraceFiles { nodes_name, nodes_csv, pods_name, pods_csv, on_fault, assume };
            Some(Arc::new(Trace { files, hash: String::new() }))
        };
        let mut settings = Settings::default();
        settings.set_number(Field::Nodes, 128.0);
        settings.take_trace(trace(true));
        assert_eq!(settings.degraded, 0.0, "no node of a trace rebuilds unless somebody says so");
        assert_eq!(settings.request("ragp-io").set, [], "nodes have no say");
        settings.set_number(Field::Degraded, 0.2);
        settings.set_number(Field::Load, 0.9);
        let set = settings.request("ragp-io").set;
        let paths: Vec<&str> = set.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["load", "rebuilds.degraded_share"]);
        assert!(Scenario::for_trace(scenario::TRACE, &set).is_ok());
        settings.take_trace(trace(false));
        assert!(!settings.has_say(Field::Degraded), "without storage nothing rebuilds");
        let set = settings.request("ragp-io").set;
        assert_eq!(set, [("load".to_owned(), "0.9".to_owned())]);
        settings.take_trace(None);
        assert_eq!((settings.load, settings.degraded), (0.9, 0.2), "what somebody set stays");
        let mut untouched = Settings::default();
        for assume in [true, false] {
            untouched.take_trace(trace(assume));
        }
        untouched.take_trace(None);
        assert_eq!(untouched, Settings::default());
    }

    #[wasm_bindgen_test]
    fn what_is_changed_is_asked_for() {
        let mut settings = Settings::default();
        settings.set_number(Field::Load, 0.85);
        settings.set_number(Field::Nodes, 128.0);
        let request = settings.request("ragp-io");
        let set: Vec<_> = request.set.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        assert_eq!(set, [("load", "0.85"), ("nodes", "128")]);
    }

    #[wasm_bindgen_test]
    fn a_request_says_how_many_share_the_memory() {
        let mut settings = Settings::default();
        let beside_three = settings.request("ragp-io");
        settings.schedulers.truncate(2);
        let beside_one = settings.request("ragp-io");
        assert_eq!((beside_three.lanes, beside_one.lanes), (4, 2));
        assert!(beside_three.is_same_run(&beside_one), "it need not be run again for that");
        settings.seed += 1;
        assert!(!settings.request("ragp-io").is_same_run(&beside_one));
    }
}
