//! What page and workers say to each other about a replay.

use residua::replay::Point;
use residua::replay::files::FileKind;
use residua::stage::packing::{Loaded, PackingRequest};
use residua::workload::openb::Finding;
use serde::{Deserialize, Serialize};

/// The files of an experiment, as handles: workers read them, the page never does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Handles {
    /// The node list.
    #[serde(with = "serde_wasm_bindgen::preserve")]
    pub nodes: web_sys::File,
    /// The pod list.
    #[serde(with = "serde_wasm_bindgen::preserve")]
    pub pods: web_sys::File,
    /// The others: order, published runs, published means.
    pub more: Vec<Handle>,
}

/// A file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Handle {
    /// What it was recognised as; nothing yet, where that is asked.
    pub kind: Option<FileKind>,
    /// The file.
    #[serde(with = "serde_wasm_bindgen::preserve")]
    pub file: web_sys::File,
}

/// What the page asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "replay", rename_all = "kebab-case")]
pub enum ReplayAsk {
    /// What is this file?
    Look {
        /// Number of the question.
        number: u32,
        /// The file.
        handle: Handle,
    },
    /// Read these, and tell what they hold. Whatever was read before is forgotten.
    Load {
        /// Number of the experiment.
        number: u32,
        /// The files.
        handles: Handles,
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
#[serde(tag = "replay", rename_all = "kebab-case")]
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
    /// A run goes on.
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
        /// Where pods went, if that was wanted.
        #[serde(with = "serde_wasm_bindgen::preserve")]
        moves: js_sys::Uint32Array,
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
