//! The worker of a lane: simulates ahead, and sends what it finds.
//!
//! It works in slices and listens in between, so that it hears when something else is wanted. All that it knows about
//! runs is in [`Session`].

use std::cell::RefCell;

use js_sys::{Array, Uint32Array};
use residua::stage::session::Session;
use residua_protocol::replay_protocol::{ReplayAsk, unpack};
use residua_protocol::{Ask, BUILD, MOST_ON_THE_WAY, PING, PONG, READING, Reply, read, write};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

mod look_back;
mod replay_worker;

use look_back::Questions;
use replay_worker::ReplayWorker;

/// How long it works before it listens, in ms.
const SLICE_MS: f64 = 20.0;

/// Events between two looks at the clock: a frame of ten thousand nodes is a hundred thousand events after the one
/// before, and the page gives up a worker that does not listen for a minute.
const EVENTS: u32 = 200;

/// How long it gathers frames before it sends them, in ms. Every buffer costs the page a redrawing; the first is sent
/// at once.
const GATHER_MS: f64 = 100.0;

thread_local! {
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

struct Worker {
    scope: DedicatedWorkerGlobalScope,
    /// A message to oneself: the next slice comes after whatever else has arrived.
    again: MessagePort,
    is_slice_due: bool,
    run: u32,
    session: Option<Session>,
    questions: Questions,
    /// Frames that are not sent yet.
    gathered: Vec<u32>,
    /// When frames were last sent.
    sent: f64,
    /// Buffers sent and not yet taken over by the page.
    on_the_way: u32,
    replay: ReplayWorker,
}

fn main() {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    let panicking = scope.clone();
    std::panic::set_hook(Box::new(move |info| {
        // First the message, while one still can: what follows a panic is a trap without a reason.
        say(&panicking, &Reply::Failed { message: info.to_string() });
        console_error_panic_hook::hook(info);
    }));
    let Ok(channel) = MessageChannel::new() else {
        say(&scope, &Reply::Failed { message: "this browser has no message channels".to_owned() });
        return;
    };

    let on_message =
        Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| with_worker(|w| w.hear(event.data())));
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    let on_again = Closure::<dyn FnMut(MessageEvent)>::new(|_| with_worker(Worker::slice));
    channel.port1().set_onmessage(Some(on_again.as_ref().unchecked_ref()));
    // Both listen for as long as the worker lives.
    on_message.forget();
    on_again.forget();

    let again = channel.port2();
    let worker = Worker {
        scope: scope.clone(),
        again,
        is_slice_due: false,
        run: 0,
        session: None,
        questions: Questions::default(),
        gathered: Vec::new(),
        sent: 0.0,
        on_the_way: 0,
        replay: ReplayWorker::default(),
    };
    WORKER.with_borrow_mut(|slot| *slot = Some(worker));
    say(&scope, &Reply::Ready { build: BUILD.to_owned() });
}

fn with_worker(act: impl FnOnce(&mut Worker)) {
    WORKER.with(|slot| {
        // A worker that has panicked stays borrowed for ever. It has said so; what still arrives is for nobody.
        if let Ok(mut worker) = slot.try_borrow_mut()
            && let Some(worker) = worker.as_mut()
        {
            act(worker);
        }
    });
}

/// Says a bare word: whether it is there, and listens.
fn say_word(scope: &DedicatedWorkerGlobalScope, word: &str) {
    _ = scope.post_message(&word.into());
}

fn say(scope: &DedicatedWorkerGlobalScope, reply: &Reply) {
    // There is nobody to tell if telling fails; the page notices silence by itself.
    if let Ok(message) = write(reply) {
        let _ = scope.post_message(&message);
    }
}

impl Worker {
    fn hear(&mut self, data: JsValue) {
        if data.as_string().as_deref() == Some(PING) {
            return say_word(&self.scope, PONG);
        }
        if let Some(asked) = unpack::<ReplayAsk>(&data) {
            match asked {
                Ok((ask, beside)) => self.replay.hear(ask, &beside, &self.scope),
                Err(error) => say(&self.scope, &Reply::Failed { message: error.to_string() }),
            }
            return self.go_on();
        }
        match read::<Ask>(data) {
            Ok(Ask::Start { run, request }) => {
                self.run = run;
                self.on_the_way = 0;
                self.gathered.clear();
                self.sent = 0.0;
                self.questions = Questions::default();
                if request.trace.is_some() {
                    say_word(&self.scope, READING);
                }
                match Session::start(&request) {
                    Ok(session) => {
                        let header = session.header().clone();
                        self.session = Some(session);
                        say(&self.scope, &Reply::Header { run, header });
                    }
                    Err(issues) => {
                        self.session = None;
                        say(&self.scope, &Reply::Problems { run, issues });
                    }
                }
            }
            Ok(Ask::Why { run, at }) if run == self.run => self.questions.ask(at),
            // About a run that is no longer wanted.
            Ok(Ask::Why { .. }) => {}
            // What is on its way from a run before may still be taken over after the next has begun.
            Ok(Ask::Taken) => self.on_the_way = self.on_the_way.saturating_sub(1),
            Err(error) => say(&self.scope, &Reply::Failed { message: error.to_string() }),
        }
        self.go_on();
    }

    /// Asks for the next slice, if there is something to do and the page keeps up.
    fn go_on(&mut self) {
        let wanted = self.session.as_ref().is_some_and(|session| !session.is_over());
        let has_to_look = self.questions.is_open() && self.session.is_some();
        let is_wanted = wanted && self.on_the_way < MOST_ON_THE_WAY || has_to_look || self.replay.is_busy();
        if is_wanted && !self.is_slice_due {
            self.is_slice_due = self.again.post_message(&JsValue::NULL).is_ok();
        }
    }

    fn slice(&mut self) {
        self.is_slice_due = false;
        if self.replay.is_busy() {
            self.replay.slice(&self.scope, now);
            self.go_on();
        }
        let Some(session) = &mut self.session else { return };
        // Somebody waits for the answer; the rest of the run can wait.
        if self.questions.is_open() {
            let reply = self.questions.slice(self.run, session, || now() + SLICE_MS, now);
            if let Some(reply) = reply {
                say(&self.scope, &reply);
            }
            return self.go_on();
        }
        let end = now() + SLICE_MS;
        let mut done = None;
        while !session.is_over() && now() < end {
            if !session.approach(EVENTS) {
                continue;
            }
            let chunk = session.advance(1);
            self.gathered.extend_from_slice(&chunk.words);
            done = chunk.done;
        }
        let (is_over, fault) = (session.is_over(), session.fault());
        if is_over || now() - self.sent >= GATHER_MS {
            self.send();
        }
        if let Some(metrics) = done {
            say(&self.scope, &Reply::Done { run: self.run, metrics: Box::new(metrics) });
        }
        if let Some(message) = fault {
            self.session = None;
            say(&self.scope, &Reply::Failed { message });
        }
        self.go_on();
    }

    /// Sends what was gathered.
    fn send(&mut self) {
        if self.gathered.is_empty() {
            return;
        }
        let buffer = Uint32Array::from(self.gathered.as_slice()).buffer();
        self.gathered.clear();
        self.sent = now();
        self.on_the_way += 1;
        if let Err(error) = self.scope.post_message_with_transfer(&buffer, &Array::of1(&buffer)) {
            say(&self.scope, &Reply::Failed { message: format!("frames could not be sent: {error:?}") });
        }
    }
}

/// Milliseconds of wall time: for slices only, never for what is simulated.
fn now() -> f64 {
    js_sys::Date::now()
}
