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
use residua::stage::why::Waiting;
use residua_protocol::{Ask, BUILD, Reply, read, write};
use wasm_bindgen::{JsCast, JsValue};

use crate::hands::{Hands, Heard};

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
    /// It goes through the run again and has come so far, 0 to 1.
    LookingBack(f64),
    /// Who waits at the moment that was asked for, and why.
    Waiting(Waiting),
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
    /// The run has not come to its end yet.
    is_running: bool,
    /// The moment of the question who waits, until it is answered.
    asked: Option<u64>,
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
            is_running: false,
            asked: None,
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

    /// Asks who waits at a moment of the run, and why.
    pub fn ask_why(&self, at: u64) {
        let mut state = self.state.borrow_mut();
        state.asked = Some(at);
        state.post(&Ask::Why { run: state.run, at });
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
        let hear = move |heard: Heard| {
            let Some(state) = weak.upgrade() else { return };
            let (event, on_event) = {
                let Ok(mut state) = state.try_borrow_mut() else { return };
                if state.generation != generation {
                    return;
                }
                let event = match heard {
                    Heard::Message(data) => state.hear(data),
                    Heard::Failed(message) => state.fail(message),
                };
                (event, state.on_event.clone())
            };
            // Nothing is borrowed any more: the listener may start and restart lanes.
            if let Some(event) = event {
                on_event(event);
            }
        };
        let weak = Rc::downgrade(&self.state);
        let is_owing =
            move || weak.upgrade().is_some_and(|state| state.try_borrow().is_ok_and(|state| state.is_owing()));
        let mut state = self.state.borrow_mut();
        state.worker = Hands::hire(&format!("lane {}", state.id + 1), hear, is_owing);
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
                if let Some(hands) = &self.worker {
                    hands.listens();
                }
                self.send_request();
                Some(LaneEvent::Ready)
            }
            Reply::Header { run, header } => {
                self.announced = run;
                (run == self.run).then_some(LaneEvent::Header(header))
            }
            Reply::Done { run, metrics } => {
                self.is_running &= run != self.run;
                (run == self.run).then_some(LaneEvent::Done(*metrics))
            }
            Reply::LookingBack { run, share } => (run == self.run).then_some(LaneEvent::LookingBack(share)),
            Reply::Waiting { run, waiting } => {
                if run == self.run && self.asked == Some(waiting.at) {
                    self.asked = None;
                }
                (run == self.run).then_some(LaneEvent::Waiting(waiting))
            }
            Reply::Problems { run, issues } => {
                self.is_running &= run != self.run;
                (run == self.run).then_some(LaneEvent::Problems(issues))
            }
            Reply::Failed { message } => self.fail(message),
        }
    }

    /// Tells once that the worker is gone, and sees to it that it is.
    fn fail(&mut self, message: String) -> Option<LaneEvent> {
        if let Some(hands) = self.worker.take() {
            hands.retire();
        }
        self.is_ready = false;
        self.generation += 1;
        Some(LaneEvent::Failed { message })
    }

    fn send_request(&mut self) {
        if let (true, Some(request)) = (self.is_ready, &self.request) {
            self.post(&Ask::Start { run: self.run, request: request.clone() });
            (self.is_running, self.asked) = (true, None);
        }
    }

    /// Whether the worker has something to say. While it owes nothing, its silence means nothing.
    fn is_owing(&self) -> bool {
        self.is_running || self.asked.is_some()
    }

    fn post(&self, ask: &Ask) {
        if let (Some(hands), Ok(message)) = (&self.worker, write(ask)) {
            hands.post(&message);
        }
    }
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
