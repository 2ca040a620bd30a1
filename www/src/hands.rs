//! A worker, seen from the page: brought up, listened to, and ended.
//!
//! Whatever happens to it – it cannot be loaded, it panics, it traps, it never answers – is heard as one
//! [`Heard::Failed`].

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, Event, MessageEvent, Url, Worker};

use crate::loader::load;

/// How long a worker may take until it listens, in ms. Loading it over a slow line takes seconds; longer than this,
/// something is wrong that nobody reports.
const PATIENCE_MS: i32 = 60_000;

/// What is heard of a worker.
pub enum Heard {
    /// It says something.
    Message(JsValue),
    /// It is gone, or was never there; why, in English.
    Failed(String),
}

/// What the browser calls when a worker says something, when it fails, and when time is up.
type Ears = (Closure<dyn FnMut(MessageEvent)>, Closure<dyn FnMut(Event)>, Closure<dyn FnMut()>);

/// A worker and the ears of the page for it. Dropped, the worker ends.
pub struct Hands {
    worker: Worker,
    /// Where its loader is, until it is no longer needed.
    address: String,
    patience: Option<i32>,
    is_listening: Rc<Cell<bool>>,
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
    /// Brings up a worker with a name for the browser's tools. `None` if it cannot be; then, too, `hear` is told.
    /// `hear` is never called from within this.
    pub fn hire(name: &str, hear: impl Fn(Heard) + Clone + 'static) -> Option<Self> {
        let is_listening = Rc::new(Cell::new(false));
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new({
            let hear = hear.clone();
            move |event: MessageEvent| hear(Heard::Message(event.data()))
        });
        let on_error = Closure::<dyn FnMut(Event)>::new({
            let (hear, is_listening) = (hear.clone(), is_listening.clone());
            move |event: Event| {
                event.prevent_default();
                let reason = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).unwrap_or_default();
                hear(Heard::Failed(match reason.as_str() {
                    "" if is_listening.get() => "the worker failed without saying why".to_owned(),
                    "" => "the worker could not be loaded".to_owned(),
                    reason if is_listening.get() => reason.to_owned(),
                    reason => format!("the worker could not be loaded: {reason}"),
                }));
            }
        });
        let on_timeout = Closure::<dyn FnMut()>::new({
            let (hear, is_listening) = (hear.clone(), is_listening.clone());
            move || {
                if !is_listening.get() {
                    let message = format!("the worker did not answer within {} s", PATIENCE_MS / 1000);
                    hear(Heard::Failed(message));
                }
            }
        });
        match load(name) {
            Ok((worker, address)) => {
                worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
                worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
                let patience = later(&on_timeout, PATIENCE_MS);
                let _ears = (on_message, on_error, on_timeout);
                Some(Self { worker, address, patience, is_listening, _ears })
            }
            Err(error) => {
                // Told afterwards, as everything is.
                let message = format!("the worker could not be loaded: {}", text_of(&error));
                let tell = Closure::once_into_js(move || hear(Heard::Failed(message)));
                if let Some(window) = web_sys::window() {
                    _ = window.set_timeout_with_callback(tell.unchecked_ref());
                }
                None
            }
        }
    }

    /// It has said that it listens.
    pub fn listens(&mut self) {
        self.is_listening.set(true);
        self.stop_waiting();
    }

    /// Says something to it. A worker that cannot be reached is noticed by its silence or by its error.
    pub fn post(&self, message: &JsValue) {
        _ = self.worker.post_message(message);
    }

    /// Ends the worker at once. Its ears, which may be listening at this very moment, are dropped afterwards.
    pub fn retire(self) {
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
