//! What a worker does for the replay: reads files, and runs policies in slices. All that it knows about runs is in
//! [`Bench`] and [`PackingSession`].

use std::collections::BTreeMap;

use js_sys::{Array, Uint32Array};
use residua::replay::files::FileKind;
use residua::stage::packing::{Bench, PackingSession, Text, Texts, look};
use residua_protocol::READING;
use residua_protocol::replay_protocol::{ReplayAsk, ReplayReply, pack};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, File, FileReaderSync};

use crate::say_word;

/// How many pods arrive between two looks at the time. Few, because on a cluster of many thousands of nodes each of them
/// takes a while, and the page gives up a worker that does not listen for a minute.
const STEP: usize = 10;

/// How long it works before it listens, in ms.
const SLICE_MS: f64 = 20.0;

/// Shortest time between two reports of a run, in ms.
const REPORT_MS: f64 = 60.0;

/// Larger files are not read: a browser tab would not survive them.
const MOST_BYTES: f64 = 256.0 * 1024.0 * 1024.0;

/// The replay's part of a worker.
#[derive(Default)]
pub struct ReplayWorker {
    bench: Option<Bench>,
    run: Option<(u32, PackingSession)>,
    /// When the run was last reported on.
    reported: f64,
}

impl ReplayWorker {
    /// Does what is asked, or begins to.
    pub fn hear(&mut self, ask: ReplayAsk, beside: &[JsValue], scope: &DedicatedWorkerGlobalScope) {
        match ask {
            ReplayAsk::Look { number } => {
                say_word(scope, READING);
                let text = beside.first().and_then(|file| file.dyn_ref()).and_then(read);
                let kind = text.as_ref().and_then(|text| look(&text.text).0);
                say(scope, ReplayReply::Looked { number, kind, is_read: text.is_some() });
            }
            ReplayAsk::Load { number, kinds } => {
                self.run = None;
                self.bench = None;
                say_word(scope, READING);
                let reply = match texts(&kinds, beside) {
                    Err(name) => ReplayReply::Lost { number, name },
                    Ok(texts) => match Bench::load(&texts) {
                        Ok((bench, loaded)) => {
                            self.bench = Some(bench);
                            ReplayReply::Loaded { number, loaded: Box::new(loaded) }
                        }
                        Err(findings) => ReplayReply::Refused { number, findings },
                    },
                };
                say(scope, reply);
            }
            ReplayAsk::Run { run, request } => {
                self.reported = 0.0;
                let bench = self.bench.as_mut().ok_or_else(|| "no files have been read".to_owned());
                match bench.and_then(|bench| bench.start(&request)) {
                    Ok(session) => self.run = Some((run, session)),
                    Err(message) => {
                        self.run = None;
                        say(scope, ReplayReply::Broken { run, message });
                    }
                }
            }
            ReplayAsk::Stop => self.run = None,
        }
    }

    /// Whether there is something to do.
    pub fn is_busy(&self) -> bool {
        self.run.is_some()
    }

    /// Works for a while.
    pub fn slice(&mut self, scope: &DedicatedWorkerGlobalScope, now: fn() -> f64) {
        let Some((run, session)) = &mut self.run else { return };
        let end = now() + SLICE_MS;
        while !session.is_over() && now() < end {
            session.advance(STEP);
        }
        let is_over = session.is_over();
        if !is_over && now() - self.reported < REPORT_MS {
            return;
        }
        self.reported = now();
        let (run, fault) = (*run, session.fault());
        let slice = session.tell();
        let moves = Uint32Array::from(slice.moves.as_slice());
        let buffer = moves.buffer();
        let report = ReplayReply::Progress {
            run,
            arrived: session.arrived(),
            arrivals: session.arrivals(),
            rejected: session.rejected(),
            points: slice.points,
            is_over: is_over && fault.is_none(),
        };
        // The words change owner instead of being copied.
        if let Ok(message) = pack(&report, &[moves.into()]) {
            _ = scope.post_message_with_transfer(&message, &Array::of1(&buffer));
        }
        if let Some(message) = fault {
            say(scope, ReplayReply::Broken { run, message });
        }
        if is_over {
            self.run = None;
        }
    }
}

fn say(scope: &DedicatedWorkerGlobalScope, reply: ReplayReply) {
    // There is nobody to tell if telling fails; the page notices silence by itself.
    if let Ok(message) = pack(&reply, &[]) {
        _ = scope.post_message(&message);
    }
}

/// A file's text; `None` if it cannot be read. Nobody waits for a worker, so it may wait for the disk.
fn read(file: &File) -> Option<Text> {
    let reader = FileReaderSync::new().ok().filter(|_| file.size() <= MOST_BYTES)?;
    let text = reader.read_as_text(file).ok()?;
    Some(Text { name: file.name(), text })
}

/// The texts of an experiment's files, or the name of the one that cannot be read.
fn texts(kinds: &[FileKind], files: &[JsValue]) -> Result<Texts, String> {
    let mut found: BTreeMap<FileKind, Text> = BTreeMap::new();
    for (kind, file) in kinds.iter().zip(files) {
        let Some(file) = file.dyn_ref::<File>() else { continue };
        found.insert(*kind, read(file).ok_or_else(|| file.name())?);
    }
    let mut take = |kind: FileKind| found.remove(&kind);
    let needed = |text: Option<Text>, kind: FileKind| text.ok_or_else(|| kind.name().to_owned());
    Ok(Texts {
        nodes: needed(take(FileKind::Nodes), FileKind::Nodes)?,
        pods: needed(take(FileKind::Pods), FileKind::Pods)?,
        order: take(FileKind::Order),
        runs: take(FileKind::Runs),
        means: take(FileKind::Means),
    })
}
