//! The Lab's state: what is set, what has been simulated, and where the play head is.
//!
//! Reels are too large to be signals: they lie in one place that is no signal, and a small signal a lane says how far
//! it is. Settings are always valid; what a person types is checked before it gets here, so there is no half-applied
//! state.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use residua::probes::Metrics;
use residua::scenario::Issue;
use residua::stage::reel::{Frame, Reel, ReelHeader, Stat};
use residua::stage::session::{RunRequest, TraceFiles};
use residua::stage::why::Waiting;
use residua::units::SimTime;

use crate::clock::{Clock, now};
use crate::i18n::Text;
use crate::lanes::{Lane, LaneEvent};
use crate::link::{self, Calculation, Link, LinkedTrace, Trouble, WasteSource};
use crate::numbers::Numbers;
use crate::settings::{MOST_LANES, Settings, Trace};

/// Shortest time between two changes of a lane's number of frames, in milliseconds.
const TELL_INTERVAL: f64 = 150.0;

/// How far a lane is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Nothing has come yet.
    Starting,
    /// Some frames are here.
    Running,
    /// The whole run is here.
    Done,
    /// The settings were refused.
    Refused(Vec<Issue>),
    /// The worker is gone.
    Failed(String),
}

/// What can be watched of a lane.
#[derive(Clone, Copy)]
pub struct Watch {
    pub progress: RwSignal<Progress>,
    /// Frames that have arrived.
    pub frames: RwSignal<usize>,
    /// Rises with every run that is asked for and that begins.
    pub run: RwSignal<u32>,
    /// The finished run's measures.
    pub metrics: RwSignal<Option<Metrics>>,
}

/// Which frame of which run a lane shows. Frames that arrive ahead of the play head do not change it, so nothing
/// that only depends on it is worked out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    run: u32,
    time: u64,
    /// `None` before the first frame.
    index: Option<usize>,
}

/// What a lane holds that is no signal.
#[derive(Default)]
struct Hold {
    lane: Option<Lane>,
    reel: Option<Rc<RefCell<Reel>>>,
    /// What the worker was last asked to run.
    asked: Option<RunRequest>,
}

/// A question to a lane: who waits, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    pub lane: usize,
    /// The moment, in simulated milliseconds.
    pub at: u64,
    /// How far the look back is, 0 to 1.
    pub share: f64,
    pub answer: Option<Waiting>,
}

/// Everything the Lab's views share.
#[derive(Clone, Copy)]
pub struct Lab {
    pub settings: RwSignal<Settings>,
    pub calculation: RwSignal<Calculation>,
    pub clock: Clock,
    pub watches: [Watch; MOST_LANES],
    holds: StoredValue<[Hold; MOST_LANES], LocalStorage>,
    /// When each lane's number of frames was last told, in real milliseconds.
    told: StoredValue<[f64; MOST_LANES]>,
    /// What each lane shows, at the time that text shows.
    here: [Memo<Here>; MOST_LANES],
    /// What was asked last, while its answer is shown or awaited.
    pub why: RwSignal<Option<Why>>,
    /// What was wrong with the link.
    pub troubles: RwSignal<Vec<Trouble>>,
    /// The time under the pointer on the curves.
    pub cursor: RwSignal<Option<u64>>,
    /// The node that is pointed at, outlined in all lanes.
    pub node: RwSignal<Option<usize>>,
    /// The lane in which a node was last moved to with the keyboard: only it says so.
    pub speaking: RwSignal<Option<usize>>,
    /// The lane that narrow screens show.
    pub front: RwSignal<usize>,
    /// Whether grids show their table.
    pub table: RwSignal<bool>,
    /// Whether single keys are shortcuts.
    pub shortcuts: RwSignal<bool>,
    /// Whether the list of shortcuts is open.
    pub help: RwSignal<bool>,
    /// The trace a link was made with and does not carry.
    pub missing_trace: RwSignal<Option<LinkedTrace>>,
    /// Whether the play head is where it is to be: the reader has moved it, the link has, or a run's first look.
    placed: StoredValue<bool>,
    /// Where the link wants the play head once the trace that it lacks is there.
    linked_time: StoredValue<Option<u64>>,
    /// The time that the link names, until it is known where the run ends.
    asked_time: StoredValue<Option<u64>>,
    /// Where the play head goes with the next run, if that is not the run's first look.
    next_time: StoredValue<Option<u64>>,
    pub text: Text,
    pub numbers: Numbers,
}

/// The Lab, from anywhere in a view.
pub fn use_lab() -> Lab {
    expect_context::<Lab>()
}

impl Lab {
    pub fn new(text: Text, numbers: Numbers) -> Self {
        let watch = || Watch {
            progress: RwSignal::new(Progress::Starting),
            frames: RwSignal::new(0),
            run: RwSignal::new(0),
            metrics: RwSignal::new(None),
        };
        let watches: [Watch; MOST_LANES] = std::array::from_fn(|_| watch());
        let clock = Clock::new();
        let holds: StoredValue<[Hold; MOST_LANES], LocalStorage> = StoredValue::new_local(Default::default());
        let here = std::array::from_fn(|slot| {
            Memo::new(move |_| {
                watches[slot].frames.track();
                let time = clock.shown.get();
                let reel = holds.with_value(|holds| holds[slot].reel.clone());
                let index = reel.and_then(|reel| arrived(&reel.borrow(), time));
                Here { run: watches[slot].run.get(), time, index }
            })
        });
        Self {
            settings: RwSignal::new(Settings::default()),
            calculation: RwSignal::new(Calculation::default()),
            clock,
            watches,
            holds,
            told: StoredValue::new([f64::NEG_INFINITY; MOST_LANES]),
            here,
            why: RwSignal::new(None),
            troubles: RwSignal::new(Vec::new()),
            cursor: RwSignal::new(None),
            node: RwSignal::new(None),
            speaking: RwSignal::new(None),
            front: RwSignal::new(MOST_LANES - 1),
            table: RwSignal::new(false),
            shortcuts: RwSignal::new(true),
            help: RwSignal::new(false),
            missing_trace: RwSignal::new(None),
            placed: StoredValue::new(false),
            linked_time: StoredValue::new(None),
            asked_time: StoredValue::new(None),
            next_time: StoredValue::new(None),
            text,
            numbers,
        }
    }

    /// Number of lanes.
    pub fn lanes(self) -> usize {
        self.settings.with(|settings| settings.schedulers.len())
    }

    /// Takes out lanes from the second on, as many as needed for `count` to be left. What was taken live from a lane
    /// follows it; from one that is gone, its last value stays as if typed.
    pub fn keep_lanes(self, count: usize) {
        let gone = self.lanes().saturating_sub(count);
        if gone == 0 {
            return;
        }
        let share = untrack(|| self.wasted_share());
        self.calculation.update(|calculation| {
            let moved = |lane: usize| match lane {
                0 => Some(0),
                lane if lane <= gone => None,
                lane => Some(lane - gone),
            };
            let source = match calculation.source {
                WasteSource::Lost(lane) => moved(lane).map(WasteSource::Lost),
                WasteSource::Stalled(lane) => moved(lane).map(WasteSource::Stalled),
                WasteSource::Typed => Some(WasteSource::Typed),
            };
            if source.is_none() && share.is_finite() {
                calculation.share = share.clamp(0.0, 1.0);
            }
            calculation.source = source.unwrap_or(WasteSource::Typed);
        });
        // The first is what the others are compared with, the last what the comparison is about.
        self.settings.update(|settings| _ = settings.schedulers.drain(1..=gone));
    }

    /// Takes over what a link says.
    pub fn open(self, fragment: &str) {
        let (link, troubles) = link::parse(fragment);
        let trace = self.settings.with_untracked(|settings| settings.trace.clone());
        let kept = trace.and_then(|trace| {
            let linked = link.trace.as_ref().filter(|linked| linked.hash == trace.hash)?;
            Some(if linked.assume == trace.files.assume {
                trace
            } else {
                let files = TraceFiles { assume: linked.assume, ..trace.files.clone() };
                Arc::new(Trace { files, hash: trace.hash.clone() })
            })
        });
        self.troubles.set(troubles.into_iter().filter(|t| kept.is_none() || *t != Trouble::WithoutTrace).collect());
        self.missing_trace.set(link.trace.filter(|_| kept.is_none()));
        self.calculation.set(link.calculation);
        self.numbers.currency.set(self.calculation.with_untracked(|calculation| calculation.currency));
        self.settings.set(Settings { trace: kept, ..link.settings });
        self.placed.set_value(link.time.is_some());
        self.linked_time.set_value(link.time.filter(|_| self.missing_trace.with_untracked(Option::is_some)));
        self.asked_time.set_value(link.time);
        if let Some(time) = link.time {
            self.clock.playing.set(false);
            self.clock.seek(time);
        }
    }

    /// The fragment that [`open`](Self::open) would restore this state from, with the play head at `time`.
    pub fn link(self, time: Option<u64>) -> String {
        let settings = self.settings.get();
        link::format(&Link {
            calculation: self.calculation.get(),
            time,
            trace: settings.trace.as_deref().map(Trace::in_link).or_else(|| self.missing_trace.get()),
            settings,
        })
    }

    /// Sends every lane whose run is not the one that is set to work. Follows the settings.
    pub fn follow_settings(self) {
        Effect::new(move |_| {
            let settings = self.settings.get();
            for (slot, watch) in self.watches.iter().enumerate() {
                let wanted = settings.schedulers.get(slot).map(|scheduler| settings.request(scheduler));
                self.holds.update_value(|holds| {
                    let hold = &mut holds[slot];
                    let is_refused = matches!(watch.progress.get_untracked(), Progress::Refused(_));
                    if !asks_anew(hold.asked.as_ref(), wanted.as_ref(), is_refused) {
                        return;
                    }
                    hold.reel = None;
                    watch.run.update(|run| *run += 1);
                    self.forget_why(slot);
                    hold.asked.clone_from(&wanted);
                    match wanted {
                        None => hold.lane = None,
                        Some(request) => hold
                            .lane
                            .get_or_insert_with(|| Lane::spawn(slot, move |event| self.on_event(slot, event)))
                            .start(request),
                    }
                    watch.progress.set(Progress::Starting);
                    watch.metrics.set(None);
                    watch.frames.set(0);
                });
            }
            let front = self.front.get_untracked();
            self.front.set(front.min(settings.schedulers.len() - 1));
            self.measure_extent();
        });
    }

    /// Starts a lane's worker anew with the same run.
    pub fn restart(self, slot: usize) {
        let watch = self.watches[slot];
        watch.progress.set(Progress::Starting);
        watch.metrics.set(None);
        watch.frames.set(0);
        watch.run.update(|run| *run += 1);
        self.holds.update_value(|holds| {
            let hold = &mut holds[slot];
            hold.reel = None;
            if let Some(lane) = &mut hold.lane {
                lane.restart();
            }
        });
    }

    fn on_event(self, slot: usize, event: LaneEvent) {
        let watch = self.watches[slot];
        match event {
            LaneEvent::Ready => {}
            LaneEvent::Header(header) => match Reel::new(header) {
                Ok(reel) => {
                    self.holds.update_value(|holds| holds[slot].reel = Some(Rc::new(RefCell::new(reel))));
                    watch.metrics.set(None);
                    watch.run.update(|run| *run += 1);
                    watch.frames.set(0);
                    watch.progress.set(Progress::Running);
                }
                Err(error) => self.gone(slot, Progress::Failed(error.to_string())),
            },
            LaneEvent::Frames(words) => {
                let Some(reel) = self.reel(slot) else {
                    return;
                };
                let pushed = reel.borrow_mut().push(&words);
                match pushed {
                    Ok(()) => self.tell_frames(slot, &reel.borrow()),
                    Err(error) => return self.gone(slot, Progress::Failed(error.to_string())),
                }
                self.measure_extent();
            }
            LaneEvent::Done(metrics) => {
                if let Some(reel) = self.reel(slot) {
                    watch.frames.set(reel.borrow().len());
                }
                watch.metrics.set(Some(metrics));
                watch.progress.set(Progress::Done);
                self.measure_extent();
            }
            LaneEvent::LookingBack(share) => self.why.update(|why| {
                if let Some(why) = why.as_mut().filter(|why| why.lane == slot) {
                    why.share = share;
                }
            }),
            LaneEvent::Waiting(waiting) => self.why.update(|why| {
                if let Some(why) = why.as_mut().filter(|why| why.lane == slot && why.at == waiting.at) {
                    why.answer = Some(waiting);
                }
            }),
            LaneEvent::Problems(issues) => self.gone(slot, Progress::Refused(issues)),
            LaneEvent::Failed { message } => self.gone(slot, Progress::Failed(message)),
        }
    }

    /// Stops, and asks a lane who waits at the moment that is shown, and why.
    pub fn ask_why(self, slot: usize) {
        self.clock.playing.set(false);
        // The moment of the frame that is shown, which comes before the play head or at it.
        let at = self.index_at(slot, self.clock.position());
        let Some(at) = at.and_then(|index| self.with_header(slot, |header| header.time_of(index).as_ms())) else {
            return;
        };
        self.why.set(Some(Why { lane: slot, at, share: 0.0, answer: None }));
        self.holds.with_value(|holds| {
            if let Some(lane) = &holds[slot].lane {
                lane.ask_why(at);
            }
        });
    }

    /// A question about a run that is gone has no answer.
    fn forget_why(self, slot: usize) {
        if self.why.with_untracked(|why| why.as_ref().is_some_and(|why| why.lane == slot)) {
            self.why.set(None);
        }
    }

    /// No more frames come of a lane. The others do not wait for it.
    fn gone(self, slot: usize, why: Progress) {
        self.watches[slot].progress.set(why);
        self.forget_why(slot);
        self.measure_extent();
        self.clock.repaint();
    }

    /// Says how many frames a lane has: the first at once, all when it is done, and between them not with each of the
    /// many small parcels in which they come, because much follows this number.
    fn tell_frames(self, slot: usize, reel: &Reel) {
        let frames = self.watches[slot].frames;
        let due = self.told.try_update_value(|told| {
            let now = now();
            let due = now - told[slot] >= TELL_INTERVAL;
            if due {
                told[slot] = now;
            }
            due
        });
        let ends = reel.len() >= reel.header().frames as usize;
        if due == Some(true) || ends || frames.get_untracked() == 0 {
            frames.set(reel.len());
        }
    }

    /// Tells the clock how far all lanes are. A lane that has failed does not hold back the others.
    fn measure_extent(self) {
        let mut extent: Option<(u64, u64, u64)> = None;
        let mut is_awaited = false;
        let lanes = self.settings.with_untracked(|settings| settings.schedulers.len());
        for slot in 0..lanes {
            let failed = self.watches[slot]
                .progress
                .with_untracked(|progress| matches!(progress, Progress::Refused(_) | Progress::Failed(_)));
            let Some(reel) = self.reel(slot) else {
                is_awaited |= !failed;
                continue;
            };
            let reel = reel.borrow();
            let header = reel.header();
            let ready = match reel.len() {
                _ if failed => u64::MAX,
                0 => 0,
                frames => header.time_of(frames - 1).as_ms(),
            };
            extent = Some(match extent {
                None => (ready, header.horizon_ms, header.interval_ms),
                Some((before, end, step)) => (ready.min(before), end, step),
            });
        }
        if let Some((ready, end, step)) = extent {
            let ready = if is_awaited { 0 } else { ready };
            self.tell_if_past(end);
            let placed = self.placed.get_value();
            if !placed && end > 0 {
                // A first look at a cluster that has filled up, not at an empty one.
                self.placed.set_value(true);
                self.clock.set_extent(ready, end, step);
                let linked = self.next_time.try_update_value(Option::take).flatten();
                self.clock.seek(linked.unwrap_or_else(|| self.first_look()));
            } else {
                self.clock.set_extent(ready, end, step);
            }
        }
    }

    /// Says so if the link's time lies after the end of the run.
    fn tell_if_past(self, end: u64) {
        let asked = self.asked_time.try_update_value(Option::take).flatten();
        if let Some(written) = asked.filter(|asked| *asked > end) {
            self.troubles.update(|troubles| troubles.push(Trouble::PastTheEnd { written, end }));
        }
    }

    /// Where a first visit starts: some hours into the measured window, where there is something to see.
    pub fn first_look(self) -> u64 {
        let early = |header: &ReelHeader| {
            header.warm_up_ms + (header.horizon_ms - header.warm_up_ms.min(header.horizon_ms)) / 4
        };
        untrack(|| self.with_any_header(early)).unwrap_or(0)
    }

    fn reel(self, slot: usize) -> Option<Rc<RefCell<Reel>>> {
        self.holds.try_with_value(|holds| holds.get(slot)?.reel.clone()).flatten()
    }

    /// Reads the reel of a lane, if it has one.
    pub fn with_reel<T>(self, slot: usize, read: impl FnOnce(&Reel) -> T) -> Option<T> {
        Some(read(&self.reel(slot)?.borrow()))
    }

    /// Reads what is the same in all frames of a lane.
    pub fn with_header<T>(self, slot: usize, read: impl FnOnce(&ReelHeader) -> T) -> Option<T> {
        self.with_reel(slot, |reel| read(reel.header()))
    }

    /// What is the same in all lanes, read from the first that has it. Follows all of them.
    pub fn with_any_header<T>(self, read: impl Fn(&ReelHeader) -> T) -> Option<T> {
        (0..self.lanes()).find_map(|slot| {
            self.watches[slot].progress.track();
            self.with_header(slot, &read)
        })
    }

    /// Position of the frame of a lane at `time`; `None` where the run has not come so far yet.
    pub fn index_at(self, slot: usize, time: u64) -> Option<usize> {
        self.with_reel(slot, |reel| arrived(reel, time))?
    }

    /// Reads the frame of a lane at `time`, or the last one where the run has not come so far yet.
    pub fn with_frame<T>(self, slot: usize, time: u64, read: impl FnOnce(&Frame<'_>) -> T) -> Option<T> {
        self.with_reel(slot, |reel| {
            let frame = reel.frame(reel.index_at(SimTime(time)))?;
            Some(read(&frame))
        })?
    }

    /// Whether `time` is the end of a lane's finished run.
    fn is_end(self, slot: usize, time: u64) -> bool {
        self.watches[slot].metrics.with(Option::is_some)
            && self.with_header(slot, |header| time >= header.horizon_ms).unwrap_or(false)
    }

    /// A measure of a lane since the warm-up, at the time that text shows; at the end of a finished run it is the
    /// run's own, to the last digit. NaN where there is none. Follows time and lane.
    pub fn measure(self, slot: usize, measure: Measure) -> f64 {
        let watch = self.watches[slot];
        let here = self.here[slot].get();
        if self.is_end(slot, here.time) {
            return watch.metrics.with(|metrics| metrics.as_ref().map_or(f64::NAN, |m| measure.of_metrics(m)));
        }
        let measuring = self.with_header(slot, |header| here.time > header.warm_up_ms).unwrap_or(false);
        if !measuring {
            return f64::NAN;
        }
        self.here(slot, |frame| frame.stat(measure.stat())).unwrap_or(f64::NAN)
    }

    /// Reads the frame of a lane at the time that text shows, if there is one. Follows time and lane, but not the
    /// frames that arrive ahead.
    pub fn here<T>(self, slot: usize, read: impl FnOnce(&Frame<'_>) -> T) -> Option<T> {
        self.at_here(slot, |reel, index| Some(read(&reel.frame(index)?)))?
    }

    /// The same with the whole reel and the frame's position.
    pub fn at_here<T>(self, slot: usize, read: impl FnOnce(&Reel, usize) -> T) -> Option<T> {
        let index = self.here[slot].get().index?;
        self.with_reel(slot, |reel| read(reel, index))
    }

    /// A number of a lane at this moment, at the time that text shows. Follows time and lane.
    pub fn now(self, slot: usize, stat: Stat) -> f64 {
        self.here(slot, |frame| frame.stat(stat)).unwrap_or(f64::NAN)
    }

    /// GPUs of the fleet. Follows the lanes.
    pub fn gpus(self) -> f64 {
        self.with_any_header(|header| header.gpus).unwrap_or(f64::NAN)
    }

    /// Whether the play head is where it is to be: by the reader, by a link, or by the first look.
    pub fn is_placed(self) -> bool {
        self.placed.get_value()
    }

    /// The time that belongs in the address: none while the play head moves by itself.
    pub fn address_time(self) -> Option<u64> {
        let resting = !self.clock.playing.get_untracked() && self.placed.get_value();
        resting.then(|| self.clock.position())
    }

    /// Puts the play head somewhere because a person said so.
    pub fn seek(self, time: u64) {
        self.placed.set_value(true);
        self.clock.seek(time);
    }

    /// Replaces the trace. Its hours are not those of the run before, so the play head starts anew: where a link wanted it
    /// that was made with this trace, else at the first look.
    pub fn set_trace(self, trace: Option<Trace>) {
        let missing = self.missing_trace.get_untracked();
        let is_linked = missing.is_some() && missing == trace.as_ref().map(Trace::in_link);
        let linked_time = self.linked_time.try_update_value(Option::take).flatten();
        self.next_time.set_value(linked_time.filter(|_| is_linked));
        self.placed.set_value(false);
        self.missing_trace.set(None);
        self.troubles.update(|troubles| troubles.retain(|trouble| *trouble != Trouble::WithoutTrace));
        self.settings.update(|settings| settings.take_trace(trace.map(Arc::new)));
    }

    /// The share of waste that the calculator uses, and whether it can be had yet. Follows what it comes from.
    pub fn wasted_share(self) -> f64 {
        match self.calculation.with(|calculation| calculation.source.clone()) {
            WasteSource::Typed => self.calculation.with(|calculation| calculation.share),
            WasteSource::Lost(slot) => self.measure(slot, Measure::Lost),
            // Stall is a share of what is allocated; money is paid for the whole fleet.
            WasteSource::Stalled(slot) => self.measure(slot, Measure::Stall) * self.measure(slot, Measure::Allocated),
        }
    }
}

/// Position of the frame at `time`; `None` where the run has not come so far yet.
fn arrived(reel: &Reel, time: u64) -> Option<usize> {
    let last = reel.len().checked_sub(1)?;
    let header = reel.header();
    let is_there = reel.is_complete() || time < header.time_of(last).as_ms() + header.interval_ms;
    is_there.then(|| reel.index_at(SimTime(time)))
}

/// Whether a lane's worker is to be asked for `wanted`. A run that goes on does so whatever is beside it; one that was
/// refused because of that has another chance where fewer are.
fn asks_anew(asked: Option<&RunRequest>, wanted: Option<&RunRequest>, is_refused: bool) -> bool {
    match (asked, wanted) {
        (Some(asked), Some(wanted)) => !asked.is_same_run(wanted) || (is_refused && wanted.lanes < asked.lanes),
        (None, None) => false,
        _ => true,
    }
}

/// A measure of the window since the warm-up that the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Lost,
    Shape,
    Stall,
    Allocated,
    Productive,
    ProductiveHours,
    WaitP99,
}

impl Measure {
    const fn stat(self) -> Stat {
        match self {
            Self::Lost => Stat::FLostMean,
            Self::Shape => Stat::FShapeMean,
            Self::Stall => Stat::StallMean,
            Self::Allocated => Stat::AllocatedMean,
            Self::Productive => Stat::ProductiveMean,
            Self::ProductiveHours => Stat::ProductiveGpuHours,
            Self::WaitP99 => Stat::WaitP99,
        }
    }

    pub fn of_metrics(self, metrics: &Metrics) -> f64 {
        match self {
            Self::Lost => metrics.f_lost,
            Self::Shape => metrics.f_shape,
            Self::Stall => metrics.stall,
            Self::Allocated => metrics.allocated,
            Self::Productive => metrics.productive,
            Self::ProductiveHours => metrics.productive_gpu_h,
            Self::WaitP99 => metrics.wait_p99.unwrap_or(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_lane_beside_goes_or_comes_and_only_what_was_refused_is_asked_for_again() {
        let request = |lanes: usize, seed| {
            let mut settings = Settings { seed, ..Settings::default() };
            settings.schedulers.truncate(lanes);
            settings.request("ragp-io")
        };
        let (four, three, other) = (request(4, 1), request(3, 1), request(4, 2));
        for (asked, wanted, is_refused, expected) in [
            (Some(&four), Some(&three), false, false),
            (Some(&three), Some(&four), false, false),
            (Some(&four), Some(&three), true, true),
            (Some(&three), Some(&four), true, false),
            (Some(&four), Some(&four), true, false),
            (Some(&four), Some(&other), false, true),
            (None, Some(&four), false, true),
            (Some(&four), None, false, true),
            (None, None, false, false),
        ] {
            assert_eq!(asks_anew(asked, wanted, is_refused), expected, "{asked:?}, then {wanted:?}");
        }
    }
}
