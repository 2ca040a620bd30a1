//! The one animation loop of the page, and the play head that it moves.
//!
//! Painters hear of every frame in which something may have to be drawn; text follows the [`Clock::shown`] signal,
//! which changes at most ten times a second. When nothing moves, nothing runs.

use leptos::prelude::*;

/// Playing speeds, in simulated minutes a second.
pub const SPEEDS: [f64; 5] = [1.0, 5.0, 20.0, 60.0, 180.0];

/// The speed to start with: an index into [`SPEEDS`].
const FIRST_SPEED: usize = 1;

/// Shortest time between two changes of text, in milliseconds.
const TEXT_INTERVAL: f64 = 100.0;

/// A painter gets the play head's simulated time in milliseconds.
type Painter = std::rc::Rc<dyn Fn(u64)>;

struct Inner {
    /// Play head, in simulated milliseconds, with fractions so that slow speeds add up.
    position: f64,
    /// How far is simulated.
    ready: u64,
    /// End of the run.
    end: u64,
    /// Time between frames of the reel.
    step: u64,
    /// When the last animation frame was, in real milliseconds.
    last: Option<f64>,
    /// When text last changed.
    text: f64,
    /// Whether an animation frame is already on its way.
    scheduled: bool,
    painters: Vec<(u64, Painter)>,
    next_painter: u64,
}

/// The play head.
#[derive(Clone, Copy)]
pub struct Clock {
    pub playing: RwSignal<bool>,
    /// Index into [`SPEEDS`].
    pub speed: RwSignal<usize>,
    /// The time that text shows, in simulated milliseconds.
    pub shown: RwSignal<u64>,
    inner: StoredValue<Inner, LocalStorage>,
}

impl Clock {
    pub fn new() -> Self {
        Self {
            playing: RwSignal::new(false),
            speed: RwSignal::new(FIRST_SPEED),
            shown: RwSignal::new(0),
            inner: StoredValue::new_local(Inner {
                position: 0.0,
                ready: 0,
                end: 0,
                step: 60_000,
                last: None,
                text: 0.0,
                scheduled: false,
                painters: Vec::new(),
                next_painter: 0,
            }),
        }
    }

    /// The play head's time.
    pub fn position(self) -> u64 {
        self.inner.with_value(|inner| inner.position as u64)
    }

    /// How far is simulated, the end of the run, and the time between frames.
    pub fn set_extent(self, ready: u64, end: u64, step: u64) {
        self.inner.update_value(|inner| {
            inner.ready = ready;
            inner.end = end;
            inner.step = step.max(1);
            if end > 0 {
                inner.position = inner.position.min(end as f64);
            }
        });
        self.repaint();
    }

    /// Puts the play head somewhere; it stays inside what is simulated once that is known.
    pub fn seek(self, time: u64) {
        self.inner.update_value(|inner| {
            let most = if inner.end > 0 { inner.end } else { u64::MAX };
            inner.position = time.min(most) as f64;
        });
        self.repaint();
    }

    /// Moves the play head by whole frames.
    pub fn step_by(self, frames: i64) {
        let (position, step) = self.inner.with_value(|inner| (inner.position, inner.step));
        let here = (position / step as f64).floor() as i64;
        self.playing.set(false);
        self.seek((here + frames).max(0) as u64 * step);
    }

    /// Plays, or pauses; at the end it plays from the start of the measured window's first hour again.
    pub fn toggle(self, restart_at: u64) {
        let playing = !self.playing.get_untracked();
        if playing && self.inner.with_value(|inner| inner.end > 0 && inner.position >= inner.end as f64) {
            self.seek(restart_at);
        }
        self.playing.set(playing);
        self.repaint();
    }

    /// One speed up or down.
    pub fn change_speed(self, by: isize) {
        self.speed.update(|speed| *speed = speed.saturating_add_signed(by).min(SPEEDS.len() - 1));
    }

    /// Calls `painter` in every frame in which something may have to be drawn, until the component is gone.
    pub fn on_paint(self, painter: impl Fn(u64) + 'static) {
        let id = self.inner.try_update_value(|inner| {
            inner.next_painter += 1;
            inner.painters.push((inner.next_painter, std::rc::Rc::new(painter)));
            inner.next_painter
        });
        on_cleanup(move || {
            _ = self.inner.try_update_value(|inner| inner.painters.retain(|(other, _)| Some(*other) != id));
        });
        self.repaint();
    }

    /// Draws once more, in the next animation frame.
    pub fn repaint(self) {
        let first = self.inner.try_update_value(|inner| !std::mem::replace(&mut inner.scheduled, true));
        if first == Some(true) {
            request_animation_frame(move || self.frame());
        }
    }

    fn frame(self) {
        let now = now();
        let playing = self.playing.get_untracked();
        let a_second = SPEEDS[self.speed.get_untracked()] * 60_000.0;
        let Some((painters, time, text_due, at_end)) = self.inner.try_update_value(|inner| {
            inner.scheduled = false;
            // After a hidden tab or a long pause the play head goes on, it does not leap.
            let elapsed = inner.last.map_or(0.0, |last| (now - last).clamp(0.0, 100.0));
            inner.last = playing.then_some(now);
            if playing && inner.end > 0 {
                let most = inner.ready.min(inner.end) as f64;
                if inner.position < most {
                    inner.position = (inner.position + elapsed * a_second / 1000.0).min(most);
                }
            }
            let text_due = now - inner.text >= TEXT_INTERVAL;
            if text_due {
                inner.text = now;
            }
            let painters: Vec<Painter> = inner.painters.iter().map(|(_, painter)| painter.clone()).collect();
            (painters, inner.position as u64, text_due, inner.end > 0 && inner.position >= inner.end as f64)
        }) else {
            return;
        };
        {
            // Painters look at signals without following them, and that is meant.
            let _zone = leptos::reactive::diagnostics::SpecialNonReactiveZone::enter();
            for painter in painters {
                painter(time);
            }
        }
        let mut behind = self.shown.get_untracked() != time;
        if text_due && behind {
            self.shown.set(time);
            behind = false;
        }
        if playing && at_end {
            self.playing.set(false);
        }
        if (playing && !at_end) || behind {
            self.repaint();
        }
    }
}

/// Real time in milliseconds.
pub fn now() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}

/// Simulated time as people read it: `12:04`.
pub fn hours_minutes(time: u64) -> String {
    let minutes = time / 60_000;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}
