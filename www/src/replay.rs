//! The replay's state: which files there are, what is set, and how far the runs are.
//!
//! Workers read the files and run the policies; the page keeps handles, curves and where pods went. Curves and logs are
//! too large to be signals: they lie in one place that is no signal, and [`Replay::tick`] says that something came.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use leptos::prelude::*;
use residua::replay::files::FileKind;
use residua::replay::published::mean;
use residua::replay::{self, Point};
use residua::schedulers::{Entry, replay_entries};
use residua::stage::board::Log;
use residua::stage::packing::{Loaded, Order, PackingRequest};
use residua::workload::openb::Finding;
use residua_protocol::replay_protocol::{ReplayAsk, ReplayReply, pack, unpack};
use residua_protocol::{BUILD, Reply, read};
use wasm_bindgen::JsValue;
use web_sys::{File, FileList};

use crate::clock::now;
use crate::hands::{Hands, Heard};
use crate::replay_link::{self, Choice, Link, MOST_PERCENT, MOST_SEED, Made, Settings, Trouble};

/// Workers at most: more would only take the machine from the reader.
const MOST_WORKERS: usize = 4;

/// Shortest time between two changes of what the views show, in milliseconds.
const TELL_INTERVAL: f64 = 100.0;

/// How far the files are.
#[derive(Clone, Debug, PartialEq)]
pub enum Files {
    /// None, or not enough of them.
    Wanting,
    /// They are being read.
    Reading,
    /// They have faults.
    Refused(Vec<Finding>),
    /// One of them cannot be read any more.
    Lost(String),
    /// They are in order.
    Ready,
}

/// A file that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    pub name: String,
    /// It could be read and is nothing of the kind.
    pub is_read: bool,
}

/// Which run: of what policy, with which ties, in which order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub policy: String,
    pub random_ties: bool,
    pub order: Order,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It waits for a worker.
    Waiting,
    /// It goes on.
    Running,
    /// It has come to its end.
    Done,
    /// The reader has stopped it.
    Stopped,
    /// It broke off; why, in English.
    Broken(String),
}

/// A run.
#[derive(Debug)]
pub struct Run {
    pub state: State,
    pub arrived: usize,
    pub arrivals: usize,
    pub rejected: u64,
    pub points: Vec<Point>,
    pub log: Log,
    /// Whether it tells where pods go.
    has_moves: bool,
}

impl Run {
    fn new() -> Self {
        let (points, log) = (Vec::new(), Log::default());
        Self { state: State::Waiting, arrived: 0, arrivals: 0, rejected: 0, points, log, has_moves: false }
    }

    /// How much of it is done, from 0 to 1.
    fn share(&self) -> f64 {
        if self.state == State::Done { 1.0 } else { self.arrived as f64 / self.arrivals.max(1) as f64 }
    }
}

/// How far the runs of a policy are, together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// From 0 to 1.
    pub share: f64,
    pub is_running: bool,
    pub is_done: bool,
    pub broken: Option<String>,
}

/// What a worker is asked, and the files beside it.
struct Question {
    ask: ReplayAsk,
    files: Vec<File>,
}

impl From<ReplayAsk> for Question {
    fn from(ask: ReplayAsk) -> Self {
        Self { ask, files: Vec::new() }
    }
}

/// What is known of a policy's runs, together.
#[derive(Clone, Debug, Default)]
struct Known {
    curve: Arc<[Point]>,
    progress: Progress,
    rejected: Option<f64>,
}

impl Known {
    fn of(runs: &[Option<&Run>]) -> Self {
        let there = || runs.iter().flatten();
        let any = |wanted: &dyn Fn(&State) -> bool| there().any(|run| wanted(&run.state));
        let broken = there().find_map(|run| match &run.state {
            State::Broken(message) => Some(message.clone()),
            _ => None,
        });
        let is_done = runs.iter().all(|run| run.is_some_and(|run| run.state == State::Done));
        let curves: Vec<&[Point]> =
            there().map(|run| run.points.as_slice()).filter(|points| !points.is_empty()).collect();
        // Runs end at the same percent; where one is behind, a mean of the others would jump.
        let least = curves.iter().filter_map(|curve| curve.last()).map(|point| point.arrived_pct).min();
        let mut curve = mean(&curves);
        curve.retain(|point| Some(point.arrived_pct) <= least && point.arrived_pct <= MOST_PERCENT);
        let count = runs.len().max(1) as f64;
        Self {
            curve: curve.into(),
            progress: Progress {
                share: there().map(|run| run.share()).sum::<f64>() / count,
                is_running: any(&|state| matches!(state, State::Running | State::Waiting)),
                is_done,
                broken,
            },
            rejected: is_done.then(|| there().map(|run| run.rejected as f64).sum::<f64>() / count),
        }
    }
}

/// What the views show of all runs.
#[derive(Clone, Debug)]
struct Picture {
    share: f64,
    is_at_rest: bool,
    /// By roster id, and whether ties are broken at random.
    policies: BTreeMap<(String, bool), Known>,
}

/// A worker's place.
#[derive(Default)]
struct Place {
    hands: Option<Hands>,
    /// Rises with every worker: what an earlier one still says is not heard.
    generation: u32,
    is_ready: bool,
    /// What it is to hear once it listens.
    waiting: Vec<Question>,
    /// Number of the experiment it was last told to read.
    experiment: u32,
    run: Option<(u32, Key)>,
}

/// A file that is being looked at.
struct Look {
    file: File,
    /// The worker that was to look at it first is gone.
    is_again: bool,
}

/// What is no signal.
#[derive(Default)]
struct Hold {
    places: Vec<Place>,
    files: BTreeMap<FileKind, File>,
    /// Those that were in order last: what runs is of these.
    sound: BTreeMap<FileKind, File>,
    /// Stands for the node list and the pod list that the runs are of.
    hash: Option<u64>,
    /// Whether an order of a published run was among the files.
    has_order: bool,
    /// Files that are being looked at.
    looks: BTreeMap<u32, Look>,
    /// They are to be looked at once more, because the worker that was asked is gone.
    must_look: bool,
    /// The files are not those that were read last, or what read them is gone.
    must_load: bool,
    next: u32,
    experiment: u32,
    runs: BTreeMap<Key, Run>,
    queue: VecDeque<Key>,
    /// The reader does not want what waits to run.
    is_stopped: bool,
    is_tick_due: bool,
    /// When the views were last told, in real milliseconds.
    told: f64,
}

impl Hold {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Whether the two files that are needed are there.
    fn is_whole(&self) -> bool {
        [FileKind::Nodes, FileKind::Pods].iter().all(|kind| self.files.contains_key(kind))
    }

    /// Whatever the first worker has read is nothing that can be run on.
    fn forget_read(&mut self) {
        if let Some(place) = self.places.first_mut() {
            place.experiment = 0;
        }
    }
}

/// What makes a worker read files.
fn reading<'a>(number: u32, files: impl Iterator<Item = (&'a FileKind, &'a File)>) -> Question {
    let (kinds, files) = files.map(|(kind, file)| (*kind, file.clone())).unzip();
    Question { ask: ReplayAsk::Load { number, kinds }, files }
}

/// Everything the replay's views share.
#[derive(Clone, Copy)]
pub struct Replay {
    pub settings: RwSignal<Settings>,
    pub files: RwSignal<Files>,
    /// What the last files that were in order hold. It stays while others are read, and when those have faults.
    loaded: RwSignal<Option<Arc<Loaded>>>,
    /// The files that there are, by kind.
    pub names: RwSignal<BTreeMap<FileKind, String>>,
    pub left_out: RwSignal<Vec<LeftOut>>,
    /// What was wrong with the link.
    pub troubles: RwSignal<Vec<Trouble>>,
    /// The files that the link was made with, as long as they are not here.
    pub missing: RwSignal<Option<Made>>,
    /// Rises when runs have gone on.
    pub tick: RwSignal<u32>,
    /// A worker is gone; why, in English.
    pub failed: RwSignal<Option<String>>,
    /// Percent arrived under the pointer or the keyboard's cursor.
    pub cursor: RwSignal<Option<u32>>,
    picture: RwSignal<Picture>,
    hold: StoredValue<Hold, LocalStorage>,
}

/// The replay, from anywhere in a view.
pub fn use_replay() -> Replay {
    expect_context::<Replay>()
}

/// Name of a policy: as published, or as in the roster.
pub fn title(entry: &Entry) -> String {
    entry.title()
}

fn workers() -> usize {
    let cores = window().navigator().hardware_concurrency();
    (cores as usize).clamp(1, MOST_WORKERS)
}

impl Replay {
    pub fn new() -> Self {
        Self {
            settings: RwSignal::new(Settings::default()),
            files: RwSignal::new(Files::Wanting),
            loaded: RwSignal::new(None),
            names: RwSignal::new(BTreeMap::new()),
            left_out: RwSignal::new(Vec::new()),
            troubles: RwSignal::new(Vec::new()),
            missing: RwSignal::new(None),
            tick: RwSignal::new(0),
            failed: RwSignal::new(None),
            cursor: RwSignal::new(None),
            picture: RwSignal::new(Picture { share: 0.0, is_at_rest: true, policies: BTreeMap::new() }),
            hold: StoredValue::new_local(Hold::default()),
        }
    }

    /// Takes over what a link says.
    pub fn open(self, fragment: &str) {
        let (link, troubles) = replay_link::parse(fragment);
        self.troubles.set(troubles);
        self.settings.set(link.settings);
        let here = self.loaded_untracked().map(|loaded| loaded.hash);
        self.missing.set(link.made.filter(|made| Some(made.hash) != here));
    }

    /// The fragment that [`open`](Self::open) would restore this state from.
    pub fn link(self) -> String {
        let loaded = self.loaded();
        let made = loaded.map(|loaded| Made { workload: loaded.workload.clone(), hash: loaded.hash });
        replay_link::format(&Link { settings: self.settings.get(), made: made.or_else(|| self.missing.get()) })
    }

    /// What the files hold, once they are in order.
    pub fn loaded(self) -> Option<Arc<Loaded>> {
        self.loaded.get()
    }

    pub fn loaded_untracked(self) -> Option<Arc<Loaded>> {
        self.loaded.get_untracked()
    }

    /// Runs whatever is set and has not run. Follows the settings.
    pub fn follow_settings(self) {
        Effect::new(move |_| {
            self.settings.track();
            self.files.track();
            untrack(|| self.plan());
            // At once: else what was done before the change would pass for what is done now.
            self.picture.set(untrack(|| self.draw_up()));
        });
    }

    /// Looks at files that were dropped or chosen.
    pub fn take(self, list: &FileList) {
        self.left_out.set(Vec::new());
        self.look_again();
        for file in (0..list.length()).filter_map(|index| list.get(index)) {
            self.look(Look { file, is_again: false });
        }
    }

    /// Has a file looked at.
    fn look(self, look: Look) {
        let file = look.file.clone();
        let number = self.with_hold(|hold| {
            let number = hold.number();
            hold.looks.insert(number, look);
            number
        });
        if self.files.with_untracked(|files| matches!(files, Files::Wanting)) {
            self.files.set(Files::Reading);
        }
        self.ask(0, Question { ask: ReplayAsk::Look { number }, files: vec![file] });
    }

    /// Has the files looked at that a worker has left behind. Whether there were any.
    fn look_again(self) -> bool {
        let left = self.with_hold(|hold| {
            if std::mem::take(&mut hold.must_look) { std::mem::take(&mut hold.looks) } else { BTreeMap::new() }
        });
        let is_any = !left.is_empty();
        for Look { file, .. } in left.into_values() {
            self.look(Look { file, is_again: true });
        }
        is_any
    }

    /// Puts an optional file away again.
    pub fn remove(self, kind: FileKind) {
        self.with_hold(|hold| hold.files.remove(&kind));
        self.load();
    }

    /// Reads the files, if the two that are needed are there.
    pub fn load(self) {
        let (number, question) = self.with_hold(|hold| {
            hold.experiment = hold.number();
            hold.must_load = false;
            (hold.experiment, hold.is_whole().then(|| reading(hold.experiment, hold.files.iter())))
        });
        self.tell_names();
        match question {
            Some(question) => {
                self.files.set(Files::Reading);
                self.with_hold(|hold| {
                    // What runs belongs to what was read before.
                    requeue_running(hold);
                    if let Some(place) = hold.places.first_mut() {
                        place.experiment = number;
                    }
                });
                self.ask(0, question);
            }
            None => self.files.set(Files::Wanting),
        }
    }

    fn tell_names(self) {
        let names = self.with_hold(|hold| hold.files.iter().map(|(kind, file)| (*kind, file.name())).collect());
        self.names.set(names);
    }

    /// Puts away the files that have faults or are lost, and goes on with those before them.
    pub fn go_back(self) {
        self.with_hold(|hold| hold.files = hold.sound.clone());
        self.tell_names();
        self.left_out.set(Vec::new());
        self.files.set(Files::Ready);
    }

    /// The orders that are run: the first is the one whose nodes are shown.
    pub fn orders(self) -> Vec<Order> {
        let given = self.loaded().is_some_and(|loaded| loaded.order_seed.is_some());
        match self.settings.with(|settings| settings.choice) {
            Choice::File if given => vec![Order::Given],
            Choice::File => vec![Order::Drawn(1)],
            Choice::Seed(seed) => vec![Order::Drawn(seed)],
            Choice::All => (1..=MOST_SEED).map(Order::Drawn).collect(),
        }
    }

    /// Everything that is wanted by the settings.
    fn wanted(self) -> Vec<Key> {
        let settings = self.settings.get();
        let shown = settings.random_ties;
        let policies: Vec<String> = settings.policies().iter().map(Entry::id).collect();
        let orders = self.orders();
        let mut wanted = Vec::new();
        // What is shown comes first, and order by order, so that all policies grow together.
        for random_ties in [shown, !shown].into_iter().take(if settings.both { 2 } else { 1 }) {
            for &order in &orders {
                wanted.extend(policies.iter().map(|policy| Key { policy: policy.clone(), random_ties, order }));
            }
        }
        wanted
    }

    fn plan(self) {
        if self.loaded().is_none() {
            return;
        }
        let (wanted, shown) = (self.wanted(), self.orders().first().copied());
        self.with_hold(|hold| {
            hold.queue.clear();
            for (key, run) in &mut hold.runs {
                if Some(key.order) != shown {
                    // Where pods went takes more room than all else, and can be found out again.
                    run.log = Log::default();
                    run.has_moves = false;
                } else if run.state == State::Done && !run.has_moves {
                    *run = Run::new();
                }
            }
            if hold.is_stopped {
                return;
            }
            for key in wanted {
                let run = hold.runs.entry(key.clone()).or_insert_with(Run::new);
                if run.state == State::Waiting {
                    hold.queue.push_back(key);
                }
            }
        });
        self.dispatch();
        self.tell();
    }

    /// Stops what runs and what waits.
    pub fn stop(self) {
        self.with_hold(|hold| {
            hold.is_stopped = true;
            for key in std::mem::take(&mut hold.queue) {
                hold.runs.remove(&key);
            }
            for place in &mut hold.places {
                if let Some((_, key)) = place.run.take() {
                    post(place, &ReplayAsk::Stop.into());
                    if let Some(run) = hold.runs.get_mut(&key) {
                        run.state = State::Stopped;
                    }
                }
            }
        });
        self.tell();
    }

    /// Runs what was stopped or broke off.
    pub fn resume(self) {
        self.failed.set(None);
        self.with_hold(|hold| {
            hold.is_stopped = false;
            hold.runs.retain(|_, run| !matches!(run.state, State::Stopped | State::Broken(_)));
        });
        // A worker that broke while it read has left nothing: then the files are read again, with those that it did not
        // get to look at.
        let must_load = self.files.with_untracked(|files| matches!(files, Files::Reading | Files::Lost(_)));
        if self.look_again() {
            self.with_hold(|hold| hold.must_load |= must_load);
        } else if must_load {
            self.load();
        }
        self.plan();
    }

    /// Gives waiting runs to workers that have none.
    fn dispatch(self) {
        // Files with faults stop nothing that runs on those before them. While files are read the first worker is not
        // free, and of lost ones there is nothing to read.
        let can_run = self.files.with_untracked(|files| matches!(files, Files::Ready | Files::Refused(_)));
        if !can_run
            || self.loaded_untracked().is_none()
            || self.with_hold(|hold| hold.is_stopped || hold.queue.is_empty())
        {
            return;
        }
        let shown = untrack(|| self.orders()).first().copied();
        for at in 0..workers() {
            let next = self.with_hold(|hold| {
                if hold.places.get(at).is_some_and(|place| place.run.is_some()) {
                    return None;
                }
                let key = hold.queue.pop_front()?;
                let number = hold.number();
                if hold.places.len() <= at {
                    hold.places.resize_with(at + 1, Place::default);
                }
                hold.places[at].run = Some((number, key.clone()));
                let run = hold.runs.entry(key.clone()).or_insert_with(Run::new);
                run.state = State::Running;
                run.has_moves = Some(key.order) == shown;
                Some((number, key, hold.places[at].experiment != hold.experiment))
            });
            let Some((run, key, must_load)) = next else { continue };
            if must_load {
                self.reload(at);
            }
            let Key { policy, random_ties, order } = key;
            let wants_moves = Some(order) == shown;
            let request = PackingRequest { policy, random_ties, order, wants_moves };
            self.ask(at, ReplayAsk::Run { run, request }.into());
        }
    }

    /// Lets a worker read the files that another one has read before.
    fn reload(self, at: usize) {
        let question = self.with_hold(|hold| {
            hold.places[at].experiment = hold.experiment;
            // Another number: only the first reading is news to the page, and what was published is of no use here.
            let is_of_use = |kind: FileKind| !matches!(kind, FileKind::Runs | FileKind::Means);
            reading(0, hold.sound.iter().filter(|(kind, _)| is_of_use(**kind)))
        });
        self.ask(at, question);
    }

    fn ask(self, at: usize, question: Question) {
        let generation = self.with_hold(|hold| {
            if hold.places.len() <= at {
                hold.places.resize_with(at + 1, Place::default);
            }
            let place = &mut hold.places[at];
            if place.is_ready {
                post(place, &question);
                return None;
            }
            place.waiting.push(question);
            if place.hands.is_some() {
                return None;
            }
            place.generation += 1;
            Some(place.generation)
        });
        if let Some(generation) = generation {
            let hear = move |heard| self.hear(at, generation, heard);
            let is_owing = move || self.is_owing(at);
            let hands = Hands::hire(&format!("replay {}", at + 1), hear, is_owing);
            self.with_hold(|hold| hold.places[at].hands = hands);
        }
    }

    /// Whether a worker has something to say: of its run, or of files, which the first one reads.
    fn is_owing(self, at: usize) -> bool {
        let reads = at == 0 && self.files.with_untracked(|files| *files == Files::Reading);
        let is_busy = |hold: &Hold| {
            hold.places.get(at).is_some_and(|place| place.run.is_some()) || (at == 0 && !hold.looks.is_empty())
        };
        reads || self.hold.try_with_value(is_busy) == Some(true)
    }

    fn hear(self, at: usize, generation: u32, heard: Heard) {
        let is_current = self.hold.try_with_value(|hold| hold.places[at].generation == generation);
        if is_current != Some(true) {
            return;
        }
        let data = match heard {
            Heard::Failed(message) => return self.fail(at, message),
            Heard::Message(data) => data,
        };
        let not_understood =
            |error: serde_wasm_bindgen::Error| format!("the worker said what the page does not understand: {error}");
        match unpack::<ReplayReply>(&data) {
            Some(Ok((reply, beside))) => return self.on_reply(at, reply, &beside),
            Some(Err(error)) => return self.fail(at, not_understood(error)),
            None => {}
        }
        match read::<Reply>(data) {
            Ok(Reply::Ready { build }) if build == BUILD => self.with_hold(|hold| {
                let place = &mut hold.places[at];
                place.is_ready = true;
                if let Some(hands) = &place.hands {
                    hands.listens();
                }
                for question in std::mem::take(&mut place.waiting) {
                    post(place, &question);
                }
            }),
            Ok(Reply::Ready { build }) => {
                let message =
                    format!("page and worker are of different builds ({BUILD} and {build}): reload the page");
                self.fail(at, message);
            }
            Ok(Reply::Failed { message }) => self.fail(at, message),
            Ok(_) => {}
            Err(error) => self.fail(at, not_understood(error)),
        }
    }

    /// A worker is gone: its run is broken, the others go on.
    fn fail(self, at: usize, message: String) {
        let mut left_out = Vec::new();
        self.with_hold(|hold| {
            let generation = hold.places[at].generation + 1;
            let place = std::mem::replace(&mut hold.places[at], Place { generation, ..Place::default() });
            if let Some(hands) = place.hands {
                hands.retire();
            }
            if at == 0 {
                // Once more, but not for ever: perhaps it was one of them that broke it.
                let looks = std::mem::take(&mut hold.looks).into_iter();
                let (given_up, left): (BTreeMap<_, _>, _) = looks.partition(|(_, look)| look.is_again);
                (hold.looks, hold.must_look) = (left, true);
                let name = |look: Look| LeftOut { name: look.file.name(), is_read: false };
                left_out.extend(given_up.into_values().map(name));
            }
            if let Some(run) = place.run.and_then(|(_, key)| hold.runs.get_mut(&key)) {
                run.state = State::Broken(message.clone());
            }
            // Not one worker after the other: the reader decides.
            hold.is_stopped = true;
        });
        if !left_out.is_empty() {
            self.left_out.update(|list| list.append(&mut left_out));
        }
        self.failed.set(Some(message));
        self.tell();
    }

    fn on_reply(self, at: usize, reply: ReplayReply, beside: &[JsValue]) {
        match reply {
            ReplayReply::Looked { number, kind, is_read } => {
                let must_load = self.with_hold(|hold| {
                    let Look { file, .. } = hold.looks.remove(&number)?;
                    match kind {
                        Some(kind) => {
                            hold.files.insert(kind, file);
                            hold.must_load = true;
                        }
                        None => {
                            let name = file.name();
                            self.left_out.update(|list| list.push(LeftOut { name, is_read }));
                        }
                    }
                    // A stray changes nothing for runs that go on; without any it is said what is still needed.
                    Some(hold.looks.is_empty() && (hold.must_load || !hold.is_whole()))
                });
                if must_load == Some(true) {
                    self.load();
                }
            }
            ReplayReply::Loaded { number, loaded } => self.on_loaded(number, *loaded),
            ReplayReply::Refused { number, findings } if self.is_news(number) => {
                self.with_hold(Hold::forget_read);
                self.files.set(Files::Refused(findings));
            }
            ReplayReply::Lost { number, name } if number == 0 || self.is_news(number) => {
                self.with_hold(|hold| {
                    requeue_running(hold);
                    hold.forget_read();
                });
                self.files.set(Files::Lost(name));
            }
            ReplayReply::Progress { run, arrived, arrivals, rejected, points, is_over } => {
                let is_mine = self.with_hold(|hold| {
                    let Some((_, key)) = hold.places[at].run.as_ref().filter(|(number, _)| *number == run) else {
                        return false;
                    };
                    let Some(known) = hold.runs.get_mut(key) else { return false };
                    (known.arrived, known.arrivals, known.rejected) = (arrived, arrivals, rejected);
                    if let Some(first) = points.first() {
                        let kept = known.points.partition_point(|point| point.arrived_pct < first.arrived_pct);
                        known.points.truncate(kept);
                    }
                    known.points.extend(points);
                    if let Some(moves) = beside.first().filter(|_| known.has_moves) {
                        known.log.push(&js_sys::Uint32Array::from(moves.clone()).to_vec());
                    }
                    if is_over {
                        known.state = State::Done;
                        hold.places[at].run = None;
                    }
                    true
                });
                if is_mine {
                    self.tell();
                }
                if is_over {
                    // Plans anew, because what is shown may have changed while it ran.
                    untrack(|| self.plan());
                }
            }
            ReplayReply::Broken { run, message } => {
                self.with_hold(|hold| {
                    let place = &mut hold.places[at];
                    if let Some((_, key)) = place.run.take_if(|(number, _)| *number == run)
                        && let Some(run) = hold.runs.get_mut(&key)
                    {
                        run.state = State::Broken(message);
                    }
                });
                self.tell();
                self.dispatch();
            }
            ReplayReply::Refused { .. } | ReplayReply::Lost { .. } => {}
        }
    }

    fn is_news(self, number: u32) -> bool {
        self.with_hold(|hold| hold.experiment == number)
    }

    fn on_loaded(self, number: u32, loaded: Loaded) {
        if !self.is_news(number) {
            return;
        }
        let has_order = loaded.order_seed.is_some();
        let had_order = self.with_hold(|hold| {
            hold.runs.retain(|key, _| key.order != Order::Given);
            std::mem::replace(&mut hold.has_order, has_order)
        });
        self.with_hold(|hold| {
            if hold.hash.replace(loaded.hash) != Some(loaded.hash) {
                hold.runs.clear();
            }
            hold.sound = hold.files.clone();
            hold.is_stopped = false;
        });
        let from_link =
            self.missing.with_untracked(|made| made.as_ref().is_some_and(|made| made.hash == loaded.hash));
        if from_link {
            self.missing.set(None);
        }
        // Whoever drops an order wants it run; a link says by itself which order it was.
        if has_order && !had_order && !from_link {
            self.settings.update(|settings| settings.choice = Choice::File);
        }
        self.failed.set(None);
        self.loaded.set(Some(Arc::new(loaded)));
        self.files.set(Files::Ready);
    }

    /// Tells the views: at once, but not more often than they can be looked at.
    fn tell(self) {
        if self.with_hold(|hold| std::mem::replace(&mut hold.is_tick_due, true)) {
            return;
        }
        let wait = self.with_hold(|hold| (hold.told + TELL_INTERVAL - now()).max(0.0));
        set_timeout(
            move || {
                let is_there = self.hold.try_update_value(|hold| {
                    hold.is_tick_due = false;
                    hold.told = now();
                });
                if is_there.is_some() {
                    self.picture.set(untrack(|| self.draw_up()));
                    self.tick.update(|tick| *tick += 1);
                }
            },
            std::time::Duration::from_millis(wait as u64),
        );
    }

    fn with_hold<T>(self, act: impl FnOnce(&mut Hold) -> T) -> T {
        // The replay lives as long as the page.
        self.hold.try_update_value(act).unwrap_or_else(|| unreachable!("the replay is there"))
    }

    /// Reads a run. Follows all of them.
    pub fn with_run<T>(self, key: &Key, read: impl FnOnce(&Run) -> T) -> Option<T> {
        self.tick.track();
        self.hold.with_value(|hold| hold.runs.get(key).map(read))
    }

    /// The run whose nodes are shown.
    pub fn shown_key(self) -> Option<Key> {
        let order = self.orders().first().copied()?;
        let key = |settings: &Settings| {
            let policy = settings.shown.clone();
            Key { policy, random_ties: settings.random_ties, order }
        };
        Some(self.settings.with(key))
    }

    /// What is known of a policy with such ties. Follows it.
    fn known(self, policy: &str, random_ties: bool) -> Known {
        let key = (policy.to_owned(), random_ties);
        self.picture.with(|picture| picture.policies.get(&key).cloned()).unwrap_or_default()
    }

    /// The curve of a policy: of its run, or the mean of its runs as far as they have begun.
    pub fn curve(self, policy: &str, random_ties: bool) -> Arc<[Point]> {
        self.known(policy, random_ties).curve
    }

    /// The same, once all its runs are done.
    pub fn finished(self, policy: &str, random_ties: bool) -> Option<Arc<[Point]>> {
        let known = self.known(policy, random_ties);
        known.progress.is_done.then_some(known.curve)
    }

    /// How far a policy is.
    pub fn progress(self, policy: &str, random_ties: bool) -> Progress {
        self.known(policy, random_ties).progress
    }

    /// How far everything that is wanted is: from 0 to 1, and whether it has come to rest.
    pub fn overall(self) -> (f64, bool) {
        self.picture.with(|picture| (picture.share, picture.is_at_rest))
    }

    /// Pods turned away by a policy: in its run, or on average.
    pub fn rejected(self, policy: &str, random_ties: bool) -> Option<f64> {
        self.known(policy, random_ties).rejected
    }

    /// Puts together what the views show. Once for all of them, because means of many runs take their time.
    fn draw_up(self) -> Picture {
        let wanted = self.wanted();
        let orders = self.orders();
        self.hold.with_value(|hold| {
            let shares = wanted.iter().map(|key| hold.runs.get(key).map_or(0.0, Run::share));
            let share = shares.sum::<f64>() / wanted.len().max(1) as f64;
            let is_busy =
                hold.places.iter().any(|place| place.run.is_some()) || (!hold.queue.is_empty() && !hold.is_stopped);
            let mut policies = BTreeMap::new();
            for entry in replay_entries() {
                for random_ties in [false, true] {
                    let run = |order: &Order| hold.runs.get(&Key { policy: entry.id(), random_ties, order: *order });
                    let runs: Vec<Option<&Run>> = orders.iter().map(run).collect();
                    policies.insert((entry.id(), random_ties), Known::of(&runs));
                }
            }
            Picture { share, is_at_rest: !is_busy, policies }
        })
    }

    /// What was published for a policy, as far as it can stand beside what is shown.
    pub fn published(self, entry: &Entry) -> Vec<Point> {
        let is_fixed = !self.settings.with(|settings| settings.random_ties);
        let order = self.orders().first().copied();
        let loaded = self.loaded().filter(|_| is_fixed);
        loaded.zip(order).map_or_else(Vec::new, |(loaded, order)| loaded.published(&replay::name(entry), order))
    }
}

fn post(place: &Place, question: &Question) {
    let files: Vec<JsValue> = question.files.iter().map(JsValue::from).collect();
    if let (Some(hands), Ok(message)) = (&place.hands, pack(&question.ask, &files)) {
        hands.post(&message);
    }
}

/// Puts what runs back among what waits.
fn requeue_running(hold: &mut Hold) {
    for place in &mut hold.places {
        if let Some((_, key)) = place.run.take() {
            post(place, &ReplayAsk::Stop.into());
            hold.runs.insert(key, Run::new());
        }
    }
    hold.queue.clear();
}
