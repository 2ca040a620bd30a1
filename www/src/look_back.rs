//! Questions about a moment of a run: the worker goes through the run again, a slice at a time, and answers.

use residua::stage::session::Session;
use residua::stage::why::LookBack;
use residua_protocol::Reply;

/// Events between two looks at the clock.
const EVENTS: u32 = 2_000;

/// How often it says how far it is, in ms.
const TELL_MS: f64 = 250.0;

/// Clusters up to so many nodes are kept as they were at the last answer: a question about a later moment goes on from
/// there. Larger ones take too much memory.
const KEPT_NODES: u32 = 2_000;

/// What was asked, and how far the look back is.
#[derive(Default)]
pub struct Questions {
    at: Option<u64>,
    back: Option<LookBack>,
    told: f64,
}

impl Questions {
    /// Asks about a moment, in simulated milliseconds, in place of what was asked before.
    pub fn ask(&mut self, at: u64) {
        self.at = Some(at);
        if self.back.as_ref().is_some_and(|back| back.at() > at) {
            self.back = None;
        }
    }

    /// Whether something is to be answered.
    pub fn is_open(&self) -> bool {
        self.at.is_some()
    }

    /// Goes on for a slice, until the clock `now` says `end`; the answer, or from time to time how far it is.
    pub fn slice(
        &mut self,
        run: u32,
        session: &Session,
        end: impl FnOnce() -> f64,
        now: impl Fn() -> f64,
    ) -> Option<Reply> {
        let (at, end) = (self.at?, end());
        let back = match self.back.take().map_or_else(|| session.look_back(), Ok) {
            Ok(back) => self.back.insert(back),
            Err(error) => return Some(Reply::Failed { message: error.to_string() }),
        };
        while !back.advance(at, EVENTS) {
            if now() < end {
                continue;
            }
            let is_time = now() - self.told >= TELL_MS;
            return is_time.then(|| {
                self.told = now();
                Reply::LookingBack { run, share: back.at() as f64 / at.max(1) as f64 }
            });
        }
        self.at = None;
        let waiting = back.waiting();
        if session.header().nodes > KEPT_NODES {
            self.back = None;
        }
        Some(Reply::Waiting { run, waiting })
    }
}
