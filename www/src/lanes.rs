//! Lanes: one worker each, watched from the page.
//!
//! Whatever happens to a worker – it cannot be loaded, it is of another build, it panics, it traps – ends in one
//! [`LaneEvent::Failed`], after which [`Lane::restart`] brings up a new one with the same run.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{ArrayBuffer, Uint32Array};
use residua::probes::Metrics;
use residua::scenario::Issue;
use residua::stage::reel::ReelHeader;
use residua::stage::session::RunRequest;
use residua_protocol::{Ask, BUILD, Reply, read, write};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, Event, MessageEvent, Url, Worker};

use crate::loader::load;

/// How long a worker may take until it listens, in ms. Loading it over a slow line takes seconds; longer than this,
/// something is wrong that nobody reports.
const PATIENCE_MS: i32 = 60_000;

/// What a lane tells.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "an event is handed over once and not kept")]
pub enum LaneEvent {
    /// Its worker listens.
    Ready,
    /// A run begins; whatever came before belongs to another.
    Header(ReelHeader),
    /// The next frames of the run.
    Frames(Vec<u32>),
    /// All frames have come.
    Done(Metrics),
    /// The run was refused.
    Problems(Vec<Issue>),
    /// The worker is gone, or was never there.
    Failed {
        /// Why, in English.
        message: String,
    },
}

/// A worker and what it is to do. Dropped, the worker ends.
pub struct Lane {
    state: Rc<RefCell<State>>,
}

struct State {
    id: usize,
    on_event: Rc<dyn Fn(LaneEvent)>,
    worker: Option<Hands>,
    /// Rises with every worker: what an earlier one still says is not heard.
    generation: u32,
    is_ready: bool,
    request: Option<RunRequest>,
    /// Number of the run that is wanted.
    run: u32,
    /// Number of the run that the worker last announced.
    announced: u32,
}

/// What the browser calls when a worker says something, when it fails, and when time is up.
type Ears = (Closure<dyn FnMut(MessageEvent)>, Closure<dyn FnMut(Event)>, Closure<dyn FnMut()>);

/// A worker and the ears of the page for it.
struct Hands {
    worker: Worker,
    /// Where its loader is, until it is no longer needed.
    address: String,
    patience: Option<i32>,
    _ears: Ears,
}

impl Drop for Hands {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        self.stop_waiting();
        _ = Url::revoke_object_url(&self.address);
    }
}

impl Hands {
    /// Ends the worker at once. Its ears, which may be listening at this very moment, are dropped afterwards.
    fn retire(self) {
        self.worker.terminate();
        let drop_later = Closure::once_into_js(move || drop(self));
        if let Some(window) = web_sys::window() {
            _ = window.set_timeout_with_callback(drop_later.unchecked_ref());
        }
    }

    fn stop_waiting(&mut self) {
        if let (Some(timer), Some(window)) = (self.patience.take(), web_sys::window()) {
            window.clear_timeout_with_handle(timer);
        }
    }
}

impl Lane {
    /// Brings up a worker. `id` is the lane's number, for its name in the browser's tools. `on_event` is never called
    /// from within a call of this type.
    pub fn spawn(id: usize, on_event: impl Fn(LaneEvent) + 'static) -> Self {
        let state = State {
            id,
            on_event: Rc::new(on_event),
            worker: None,
            generation: 0,
            is_ready: false,
            request: None,
            run: 0,
            announced: 0,
        };
        let lane = Self { state: Rc::new(RefCell::new(state)) };
        lane.bring_up();
        lane
    }

    /// Runs this from now on, and nothing else. After a failure this also brings up a new worker.
    pub fn start(&self, request: RunRequest) {
        let is_gone = {
            let mut state = self.state.borrow_mut();
            state.request = Some(request);
            state.run += 1;
            state.worker.is_none()
        };
        if is_gone {
            self.bring_up();
        } else {
            self.state.borrow_mut().send_request();
        }
    }

    /// Ends the worker and brings up a new one with the same run.
    pub fn restart(&self) {
        self.state.borrow_mut().run += 1;
        self.bring_up();
    }

    fn bring_up(&self) {
        let generation = {
            let mut state = self.state.borrow_mut();
            if let Some(hands) = state.worker.take() {
                hands.retire();
            }
            state.is_ready = false;
            state.generation += 1;
            state.generation
        };
        let weak = Rc::downgrade(&self.state);
        // Hears with the lane's state, if the lane is still there and has not got another worker.
        let hear = move |act: &dyn Fn(&mut State) -> Option<LaneEvent>| {
            let Some(state) = weak.upgrade() else { return };
            let (event, on_event) = {
                let Ok(mut state) = state.try_borrow_mut() else { return };
                if state.generation != generation {
                    return;
                }
                (act(&mut state), state.on_event.clone())
            };
            // Nothing is borrowed any more: the listener may start and restart lanes.
            if let Some(event) = event {
                on_event(event);
            }
        };
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new({
            let hear = hear.clone();
            move |event: MessageEvent| hear(&|state| state.hear(event.data()))
        });
        let on_error = Closure::<dyn FnMut(Event)>::new({
            let hear = hear.clone();
            move |event: Event| {
                event.prevent_default();
                let reason = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).unwrap_or_default();
                hear(&|state| {
                    let message = match reason.as_str() {
                        "" if state.is_ready => "the worker failed without saying why".to_owned(),
                        "" => "the worker could not be loaded".to_owned(),
                        reason if state.is_ready => reason.to_owned(),
                        reason => format!("the worker could not be loaded: {reason}"),
                    };
                    state.fail(message)
                });
            }
        });
        let on_timeout = Closure::<dyn FnMut()>::new(move || {
            hear(&|state| {
                let message = format!("the worker did not answer within {} s", PATIENCE_MS / 1000);
                if state.is_ready { None } else { state.fail(message) }
            });
        });

        let mut state = self.state.borrow_mut();
        match load(&format!("lane {}", state.id + 1)) {
            Ok((worker, address)) => {
                worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
                worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
                let patience = later(&on_timeout, PATIENCE_MS);
                state.worker = Some(Hands { worker, address, patience, _ears: (on_message, on_error, on_timeout) });
            }
            Err(error) => {
                // Told afterwards, as everything is.
                let on_event = state.on_event.clone();
                let message = format!("the worker could not be loaded: {}", text_of(&error));
                let tell = Closure::once_into_js(move || on_event(LaneEvent::Failed { message }));
                if let Some(window) = web_sys::window() {
                    _ = window.set_timeout_with_callback(tell.unchecked_ref());
                }
            }
        }
    }
}

impl State {
    fn hear(&mut self, data: JsValue) -> Option<LaneEvent> {
        if let Some(buffer) = data.dyn_ref::<ArrayBuffer>() {
            self.post(&Ask::Taken);
            // Frames of a run that is no longer wanted may still be on their way.
            return (self.announced == self.run).then(|| LaneEvent::Frames(Uint32Array::new(buffer).to_vec()));
        }
        let reply = match read::<Reply>(data) {
            Ok(reply) => reply,
            Err(error) => return self.fail(format!("the worker said what the page does not understand: {error}")),
        };
        match reply {
            Reply::Ready { build } if build != BUILD => {
                self.fail(format!("page and worker are of different builds ({BUILD} and {build}): reload the page"))
            }
            Reply::Ready { .. } => {
                self.is_ready = true;
                if let Some(hands) = &mut self.worker {
                    hands.stop_waiting();
                }
                self.send_request();
                Some(LaneEvent::Ready)
            }
            Reply::Header { run, header } => {
                self.announced = run;
                (run == self.run).then_some(LaneEvent::Header(header))
            }
            Reply::Done { run, metrics } => (run == self.run).then_some(LaneEvent::Done(*metrics)),
            Reply::Problems { run, issues } => (run == self.run).then_some(LaneEvent::Problems(issues)),
            Reply::Failed { message } => self.fail(message),
        }
    }

    /// Tells once that the worker is gone, and sees to it that it is.
    fn fail(&mut self, message: String) -> Option<LaneEvent> {
        let hands = self.worker.take()?;
        hands.retire();
        self.is_ready = false;
        self.generation += 1;
        Some(LaneEvent::Failed { message })
    }

    fn send_request(&self) {
        if let (true, Some(request)) = (self.is_ready, &self.request) {
            self.post(&Ask::Start { run: self.run, request: request.clone() });
        }
    }

    fn post(&self, ask: &Ask) {
        if let (Some(hands), Ok(message)) = (&self.worker, write(ask)) {
            // A worker that cannot be reached is noticed by its silence or by its error.
            _ = hands.worker.post_message(&message);
        }
    }
}

fn later(act: &Closure<dyn FnMut()>, ms: i32) -> Option<i32> {
    web_sys::window()?.set_timeout_with_callback_and_timeout_and_arguments_0(act.as_ref().unchecked_ref(), ms).ok()
}

fn text_of(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.message()))
        .or_else(|| error.as_string())
        .unwrap_or_else(|| "for no stated reason".to_owned())
}

#[cfg(test)]
mod tests {
    use js_sys::Promise;
    use wasm_bindgen_futures::JsFuture;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    async fn wait_ms(ms: i32) {
        let promise = Promise::new(&mut |resolve, _| {
            _ = web_sys::window().unwrap().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
        });
        JsFuture::from(promise).await.unwrap();
    }

    /// Waits until `heard` has `count` events.
    async fn wait_for(heard: &Rc<RefCell<Vec<LaneEvent>>>, count: usize) {
        for _ in 0..200 {
            if heard.borrow().len() >= count {
                return;
            }
            wait_ms(50).await;
        }
        panic!("only {:?} within 10 s", heard.borrow());
    }

    /// The page that runs the tests has no worker beside it.
    #[wasm_bindgen_test]
    async fn a_worker_that_is_not_there_is_one_failure_and_can_be_tried_again() {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let lane = Lane::spawn(0, {
            let heard = heard.clone();
            move |event| heard.borrow_mut().push(event)
        });
        assert!(heard.borrow().is_empty(), "told before spawn returned");
        wait_for(&heard, 1).await;
        wait_ms(300).await;
        assert_eq!(heard.borrow().len(), 1);
        assert!(matches!(&heard.borrow()[0], LaneEvent::Failed { message } if !message.is_empty()));
        lane.restart();
        wait_for(&heard, 2).await;
        assert!(matches!(&heard.borrow()[1], LaneEvent::Failed { .. }));
    }

    #[wasm_bindgen_test]
    async fn a_dropped_lane_is_silent() {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let lane = Lane::spawn(0, {
            let heard = heard.clone();
            move |event| heard.borrow_mut().push(event)
        });
        drop(lane);
        wait_ms(1000).await;
        assert!(heard.borrow().is_empty(), "{:?}", heard.borrow());
    }
}
