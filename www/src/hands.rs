//! A worker, seen from the page: brought up, listened to, and ended.
//!
//! Whatever happens to it – it cannot be loaded, it panics, it traps, it never answers, it is gone without a word – is
//! heard as one [`Heard::Failed`]. A worker that ends itself, or that the browser ends, tells nobody: it is found out by
//! its [`Silence`].

use std::cell::Cell;
use std::rc::Rc;

use residua_protocol::{PING, READING};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, Event, MessageEvent, Url, Worker};

use crate::loader::load;

/// How often the page looks whether a worker that owes an answer says anything, in ms.
const LOOK_MS: i32 = 10_000;

/// So many looks in silence are borne, and the next is the end. Loading a worker over a slow line takes seconds; longer
/// than a minute, something is wrong that nobody reports.
const MOST_LOOKS: u32 = 6;

/// The same while a worker reads files. Until it has, it does not listen: those of a quarter of a gigabyte take a slow
/// machine a minute.
const MOST_LOOKS_READING: u32 = 30;

/// What is to be done about a worker's silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Nothing yet.
    Wait,
    /// It is asked whether it is there.
    Ping,
    /// It is given up, after so many seconds.
    GiveUp(i32),
}

/// For how long nothing has been heard of a worker: counted in looks, not in time, because only at a look that finds the
/// page running could its answer to the look before have come. A machine that slept for a night is a single look late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Silence {
    looks: u32,
    is_reading: bool,
}

impl Silence {
    /// Something is heard.
    fn end(&mut self, is_reading: bool) {
        *self = Self { looks: 0, is_reading };
    }

    /// The page looks: whether the worker owes it an answer, and whether the page itself is seen. Browsers slow down or
    /// stop a page that is hidden, and its workers with it, so then nothing counts.
    fn look(&mut self, is_owing: bool, is_seen: bool) -> Next {
        if !(is_owing && is_seen) {
            self.looks = 0;
            return Next::Wait;
        }
        self.looks += 1;
        let most = if self.is_reading { MOST_LOOKS_READING } else { MOST_LOOKS };
        match self.looks {
            // Whatever was said last may have been said just now.
            1 => Next::Wait,
            looks if looks <= most => Next::Ping,
            _ => Next::GiveUp(most as i32 * (LOOK_MS / 1000)),
        }
    }
}

/// What is heard of a worker.
pub enum Heard {
    /// It says something.
    Message(JsValue),
    /// It is gone, or was never there; why, in English.
    Failed(String),
}

/// What the browser calls when a worker says something, when it fails, and at each look.
type Ears = (Closure<dyn FnMut(MessageEvent)>, Closure<dyn FnMut(Event)>, Closure<dyn FnMut()>);

/// A worker and the ears of the page for it. Dropped, the worker ends.
pub struct Hands {
    worker: Worker,
    /// Where its loader is, until it is no longer needed.
    address: String,
    looks: Option<i32>,
    is_listening: Rc<Cell<bool>>,
    _ears: Ears,
}

impl Drop for Hands {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        if let (Some(timer), Some(window)) = (self.looks.take(), web_sys::window()) {
            window.clear_interval_with_handle(timer);
        }
        _ = Url::revoke_object_url(&self.address);
    }
}

impl Hands {
    /// Brings up a worker with a name for the browser's tools. `None` if it cannot be; then, too, `hear` is told.
    /// `is_owing` says whether the worker owes an answer: while it does, its silence is not borne for long. None of them
    /// is called from within this.
    pub fn hire(
        name: &str,
        hear: impl Fn(Heard) + Clone + 'static,
        is_owing: impl Fn() -> bool + 'static,
    ) -> Option<Self> {
        let is_listening = Rc::new(Cell::new(false));
        let silence = Rc::new(Cell::new(Silence::default()));
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new({
            let (hear, silence) = (hear.clone(), silence.clone());
            move |event: MessageEvent| {
                let (data, mut heard) = (event.data(), silence.get());
                let word = data.as_string();
                heard.end(word.as_deref() == Some(READING));
                silence.set(heard);
                if word.is_none() {
                    hear(Heard::Message(data));
                }
            }
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
        match load(name) {
            Ok((worker, address)) => {
                let on_look = Closure::<dyn FnMut()>::new({
                    let (worker, is_listening) = (worker.clone(), is_listening.clone());
                    move || {
                        let mut heard = silence.get();
                        // Before all else it owes that it listens.
                        let next = heard.look(!is_listening.get() || is_owing(), is_seen());
                        silence.set(heard);
                        match next {
                            Next::Wait => {}
                            Next::Ping => _ = worker.post_message(&PING.into()),
                            Next::GiveUp(seconds) => {
                                hear(Heard::Failed(format!("the worker did not answer within {seconds} s")));
                            }
                        }
                    }
                });
                worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
                worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
                let looks = again_and_again(&on_look, LOOK_MS);
                let _ears = (on_message, on_error, on_look);
                Some(Self { worker, address, looks, is_listening, _ears })
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
    pub fn listens(&self) {
        self.is_listening.set(true);
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
}

fn again_and_again(act: &Closure<dyn FnMut()>, ms: i32) -> Option<i32> {
    let window = web_sys::window()?;
    window.set_interval_with_callback_and_timeout_and_arguments_0(act.as_ref().unchecked_ref(), ms).ok()
}

fn is_seen() -> bool {
    web_sys::window().and_then(|window| window.document()).is_some_and(|document| !document.hidden())
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
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// What follows from so many looks at a worker that owes an answer.
    fn looks(silence: &mut Silence, count: u32) -> Vec<Next> {
        (0..count).map(|_| silence.look(true, true)).collect()
    }

    #[wasm_bindgen_test]
    fn a_worker_that_says_nothing_is_asked_and_then_given_up() {
        let mut silence = Silence::default();
        assert_eq!(silence.look(true, true), Next::Wait);
        assert_eq!(looks(&mut silence, 5), [Next::Ping; 5]);
        assert_eq!(silence.look(true, true), Next::GiveUp(60));
    }

    #[wasm_bindgen_test]
    fn whatever_it_says_begins_anew() {
        let mut silence = Silence::default();
        for _ in 0..100 {
            let next = looks(&mut silence, 6);
            assert!(!next.iter().any(|next| matches!(next, Next::GiveUp(_))), "{next:?}");
            silence.end(false);
        }
    }

    #[wasm_bindgen_test]
    fn one_that_reads_files_has_more_time_until_it_says_something_else() {
        let mut silence = Silence::default();
        silence.end(true);
        assert_eq!(looks(&mut silence, 30)[1..], [Next::Ping; 29]);
        assert_eq!(silence.look(true, true), Next::GiveUp(300));
        silence.end(true);
        silence.end(false);
        assert_eq!(looks(&mut silence, 7)[6], Next::GiveUp(60));
    }

    #[wasm_bindgen_test]
    fn nobody_is_given_up_who_owes_nothing_or_while_nobody_looks_at_the_page() {
        for (is_owing, is_seen) in [(false, true), (true, false), (false, false)] {
            let mut silence = Silence::default();
            looks(&mut silence, 6);
            for _ in 0..100 {
                assert_eq!(silence.look(is_owing, is_seen), Next::Wait);
            }
            // And then it has the whole time again.
            assert_eq!(looks(&mut silence, 6)[1..], [Next::Ping; 5]);
        }
    }
}
