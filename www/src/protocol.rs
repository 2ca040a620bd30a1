//! What page and workers say to each other.
//!
//! Requests and replies are plain objects, written by [`write`] and read by [`read`]. Frames are not: they travel as
//! bare `ArrayBuffer`s that change owner instead of being copied, in order between the [`Reply`]s, and belong to the
//! run of the [`Reply::Header`] before them. Arrays are about the replay ([`replay_protocol`]), bare words about whether
//! a worker is still there.

use residua::probes::Metrics;
use residua::scenario::Issue;
use residua::stage::reel::ReelHeader;
use residua::stage::session::RunRequest;
use residua::stage::why::Waiting;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;

pub mod replay_protocol;

/// Stands for the sources that workers are built from: a page and a worker that differ in it may not understand each
/// other.
pub const BUILD: &str = env!("RESIDUA_BUILD");

/// Frames on their way at most. A page that has not taken over that many is given time to.
pub const MOST_ON_THE_WAY: u32 = 8;

/// Said by the page, as a bare word, to a worker that owes an answer and has said nothing for a while.
pub const PING: &str = "ping";

/// What a worker answers to it: it is there, and goes on.
pub const PONG: &str = "pong";

/// Said by a worker, as a bare word, before it reads files: until it says something else, it may not listen for minutes.
pub const READING: &str = "reading";

/// What the page asks of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Ask {
    /// Drop what you do and run this.
    Start {
        /// Number of the run, which its replies carry.
        run: u32,
        /// What to run.
        request: RunRequest,
    },
    /// One buffer of frames was taken over.
    Taken,
    /// Go through the run again up to a moment and say who waits there, and why. A later question takes the place of
    /// one that is not answered yet.
    Why {
        /// Number of the run.
        run: u32,
        /// The moment, in simulated milliseconds.
        at: u64,
    },
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// It listens now.
    Ready {
        /// Its [`BUILD`].
        build: String,
    },
    /// A run begins; frames follow.
    Header {
        /// Number of the run.
        run: u32,
        /// What is the same in all its frames.
        header: ReelHeader,
    },
    /// All frames of the run were sent.
    Done {
        /// Number of the run.
        run: u32,
        /// Its measures.
        metrics: Box<Metrics>,
    },
    /// It goes through the run again and has come so far.
    LookingBack {
        /// Number of the run.
        run: u32,
        /// The part of the way, 0 to 1.
        share: f64,
    },
    /// Who waits at the moment that was asked for, and why.
    Waiting {
        /// Number of the run.
        run: u32,
        /// The answer.
        waiting: Waiting,
    },
    /// The request was refused.
    Problems {
        /// Number of the run.
        run: u32,
        /// Why.
        issues: Vec<Issue>,
    },
    /// The worker cannot go on.
    Failed {
        /// Why.
        message: String,
    },
}

/// A message as a plain object.
///
/// # Errors
/// If it has no such form; none of the messages here is of that kind.
pub fn write(message: &impl Serialize) -> Result<JsValue, serde_wasm_bindgen::Error> {
    // Seeds are whole numbers of 64 bits; as floating point numbers they would lose their last digits.
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_large_number_types_as_bigints(true);
    message.serialize(&serializer)
}

/// The message that a plain object stands for.
///
/// # Errors
/// If it stands for none.
pub fn read<T: DeserializeOwned>(message: JsValue) -> Result<T, serde_wasm_bindgen::Error> {
    serde_wasm_bindgen::from_value(message)
}

#[cfg(test)]
mod tests {
    use residua::probes::{LedgerHours, Uses};
    use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

    use super::*;

    wasm_bindgen_test_configure!(run_in_browser);

    #[wasm_bindgen_test]
    fn a_request_arrives_to_the_last_digit_of_its_seed() {
        let request = RunRequest {
            scenario: "c-storage-stress".to_owned(),
            set: vec![("load".to_owned(), "0.7".to_owned())],
            scheduler: "ragp-io".to_owned(),
            seed: u64::MAX - 1,
            trace: None,
            lanes: 3,
        };
        let message = write(&Ask::Start { run: 3, request: request.clone() }).unwrap();
        let Ask::Start { run: 3, request: arrived } = read(message).unwrap() else { panic!("another request") };
        assert_eq!(arrived, request);
    }

    #[wasm_bindgen_test]
    fn measures_arrive_as_they_are_and_those_without_a_case_as_such() {
        // Whole numbers and others, as a ledger has them.
        let uses = Uses { productive: 300.0, stalled: 12.25, spare: 191.75, ..Uses::default() };
        let ledger = LedgerHours { capacity: 504.0, uses, difference: 0 };
        let metrics = Metrics { f_shape: 0.047, wait_p99: None, wait_p50: Some(1.5), ledger, ..Metrics::default() };
        let message = write(&Reply::Done { run: 1, metrics: Box::new(metrics.clone()) }).unwrap();
        let Reply::Done { metrics: arrived, .. } = read(message).unwrap() else { panic!("another reply") };
        assert_eq!(*arrived, metrics);
    }

    #[wasm_bindgen_test]
    fn what_is_no_message_is_an_error() {
        assert!(read::<Reply>(JsValue::NULL).is_err());
        assert!(read::<Ask>(JsValue::from_str("start")).is_err());
    }
}
