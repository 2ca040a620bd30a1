//! What page and workers say to each other about a replay.
//!
//! A message is an array: the message proper as a plain object, and beside it what is no plain object – files, which only
//! workers read, and words, which change owner instead of being copied.

use js_sys::Array;
use residua::replay::Point;
use residua::replay::files::FileKind;
use residua::stage::packing::{Loaded, PackingRequest};
use residua::workload::openb::Finding;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};

use crate::{read, write};

/// What the page asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum ReplayAsk {
    /// What is the file beside this?
    Look {
        /// Number of the question.
        number: u32,
    },
    /// Read the files beside this, and tell what they hold. Whatever was read before is forgotten.
    Load {
        /// Number of the experiment.
        number: u32,
        /// What the files are, in their order.
        kinds: Vec<FileKind>,
    },
    /// Run this on what was loaded.
    Run {
        /// Number of the run.
        run: u32,
        /// What to run.
        request: PackingRequest,
    },
    /// Drop the run.
    Stop,
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum ReplayReply {
    /// What a file is.
    Looked {
        /// Number of the question.
        number: u32,
        /// What it is; `None`: nothing of the kind.
        kind: Option<FileKind>,
        /// Whether it could be read at all.
        is_read: bool,
    },
    /// The files are in order.
    Loaded {
        /// Number of the experiment.
        number: u32,
        /// What they hold.
        loaded: Box<Loaded>,
    },
    /// The files have faults.
    Refused {
        /// Number of the experiment.
        number: u32,
        /// All of them.
        findings: Vec<Finding>,
    },
    /// A file could not be read any more.
    Lost {
        /// Number of the experiment.
        number: u32,
        /// Its name.
        name: String,
    },
    /// A run goes on; beside this is where pods went since the last time, as a `Uint32Array`.
    Progress {
        /// Number of the run.
        run: u32,
        /// Pods that have arrived.
        arrived: usize,
        /// Pods that arrive in all.
        arrivals: usize,
        /// Pods turned away.
        rejected: u64,
        /// Points that are new, in place of those from the first on.
        points: Vec<Point>,
        /// Whether that was all of it.
        is_over: bool,
    },
    /// A run could not be made, or broke off.
    Broken {
        /// Number of the run.
        run: u32,
        /// Why, in English.
        message: String,
    },
}

/// A message and what goes beside it.
///
/// # Errors
/// If it has no form as a plain object; none of the messages here is of that kind.
pub fn pack(message: &impl Serialize, beside: &[JsValue]) -> Result<Array, serde_wasm_bindgen::Error> {
    let packed = Array::of1(&write(message)?);
    for value in beside {
        packed.push(value);
    }
    Ok(packed)
}

/// The message that an array holds, and what is beside it; `None` if it is no array.
///
/// # Errors
/// If it holds no such message.
pub fn unpack<T: DeserializeOwned>(data: &JsValue) -> Option<Result<(T, Vec<JsValue>), serde_wasm_bindgen::Error>> {
    let packed = data.dyn_ref::<Array>()?;
    Some(read(packed.get(0)).map(|message| (message, packed.iter().skip(1).collect())))
}

#[cfg(test)]
mod tests {
    use residua::stage::packing::Order;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_message_arrives_with_what_is_beside_it() {
        let request = PackingRequest {
            policy: "fgd-paper".to_owned(),
            random_ties: true,
            order: Order::Drawn(u64::MAX - 1),
            wants_moves: true,
        };
        let words = js_sys::Uint32Array::from([7, 8].as_slice());
        let packed = pack(&ReplayAsk::Run { run: 3, request: request.clone() }, &[words.into()]).unwrap();
        let (message, beside) = unpack::<ReplayAsk>(&packed).unwrap().unwrap();
        let ReplayAsk::Run { run: 3, request: arrived } = message else { panic!("another request") };
        assert_eq!(arrived, request);
        assert_eq!(js_sys::Uint32Array::from(beside[0].clone()).to_vec(), [7, 8]);
    }

    #[wasm_bindgen_test]
    fn what_is_no_message_is_not_taken_for_one() {
        assert!(unpack::<ReplayAsk>(&JsValue::NULL).is_none());
        assert!(unpack::<ReplayAsk>(&Array::new()).unwrap().is_err());
    }
}
