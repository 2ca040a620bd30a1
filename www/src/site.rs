//! The places of the page and the way between them. Each keeps its state while another is shown, and begins its work
//! when it is first entered: who wants the replay does not wait for four simulations.

use leptos::prelude::*;

use crate::i18n::Lang;
use crate::lab::Lab;
use crate::replay::Replay;
use crate::route::{self, Place};

/// Where the reader is, and what is there.
#[derive(Clone, Copy)]
pub struct Site {
    pub place: RwSignal<Place>,
    pub lab: Lab,
    pub replay: Replay,
    /// Places that have been entered.
    begun: StoredValue<Vec<Place>>,
    /// What places begin lives as long as the page, not as long as the click that began it.
    owner: StoredValue<Option<Owner>>,
}

/// The site, from anywhere in a view.
pub fn use_site() -> Site {
    expect_context::<Site>()
}

impl Site {
    pub fn new(lab: Lab, replay: Replay) -> Self {
        let place = RwSignal::new(route::place_of_address());
        Self { place, lab, replay, begun: StoredValue::new(Vec::new()), owner: StoredValue::new(Owner::current()) }
    }

    /// Takes over what the address says: the place, and its state.
    pub fn follow_address(self, begin: fn(Site, Place)) {
        let place = route::place_of_address();
        let fragment = route::fragment();
        let is_new = self.begun.with_value(|begun| !begun.contains(&place));
        // What the page itself wrote is no news.
        if is_new || fragment.trim_start_matches('#') != self.written(place) {
            match place {
                Place::Lab => self.lab.open(&fragment),
                Place::Replay => self.replay.open(&fragment),
            }
        }
        self.enter(place, begin);
    }

    /// Shows a place, and has it begin its work if this is the first time.
    fn enter(self, place: Place, begin: fn(Site, Place)) {
        if place != Place::Lab {
            self.lab.clock.playing.set(false);
        }
        let is_first = self.begun.try_update_value(|begun| {
            let is_first = !begun.contains(&place);
            if is_first {
                begun.push(place);
            }
            is_first
        });
        if is_first == Some(true) {
            match self.owner.get_value() {
                Some(owner) => owner.with(|| begin(self, place)),
                None => begin(self, place),
            }
        }
        if self.place.get_untracked() != place {
            self.place.set(place);
        }
    }

    /// Goes to a place as a step that the browser's Back undoes.
    pub fn go(self, place: Place, begin: fn(Site, Place)) {
        let lang = self.lab.text.lang.get_untracked();
        self.rest_here(lang);
        let is_known = self.begun.with_value(|begun| begun.contains(&place));
        let fragment = if is_known { self.written(place) } else { String::new() };
        route::go(place, lang, &fragment);
        self.enter(place, begin);
        window().scroll_to_with_x_and_y(0.0, 0.0);
    }

    /// Stops what moves and writes where it is into the address that is left, for Back to find it there.
    fn rest_here(self, lang: Lang) {
        let here = self.place.get_untracked();
        if here == Place::Lab {
            self.lab.clock.playing.set(false);
        }
        route::rewrite(here, lang, &self.written(here));
    }

    /// The fragment that the address has while a place rests.
    pub fn written(self, place: Place) -> String {
        untrack(|| match place {
            Place::Lab => self.lab.link(self.lab.address_time()),
            Place::Replay => self.replay.link(),
        })
    }

    /// The fragment of exactly what is shown at this moment. Follows it.
    pub fn link(self) -> String {
        match self.place.get() {
            Place::Lab => self.lab.link(None),
            Place::Replay => self.replay.link(),
        }
    }

    /// The same with the play head where it is.
    pub fn link_now(self) -> String {
        untrack(|| match self.place.get() {
            Place::Lab => self.lab.link(Some(self.lab.clock.position())),
            Place::Replay => self.replay.link(),
        })
    }
}
