//! What happens next: one total order of events.
//!
//! At the same moment, capacity comes back before it is asked for: completions, then rebuilds, growth, telemetry,
//! samples, and arrivals last. Within a class, first scheduled is first served.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cluster::NodeId;
use crate::units::SimTime;

/// Order of events at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Completion,
    Rebuild,
    Growth,
    Telemetry,
    Sample,
    Arrival,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A job reaches its next growth step or its end – unless its version has moved on.
    Milestone { slot: u32, version: u64 },
    /// A node starts or ends a rebuild.
    Rebuild(NodeId),
    /// All nodes report their storage state.
    Telemetry,
    /// The once-a-minute sample of the queue.
    Sample,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: SimTime,
    class: Class,
    sequence: u64,
    event: Event,
}

/// The future, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl Calendar {
    pub fn schedule(&mut self, at: SimTime, class: Class, event: Event) {
        self.sequence += 1;
        self.heap.push(Reverse(Entry { at, class, sequence: self.sequence, event }));
    }

    /// When the next event is, and its class.
    pub fn peek(&self) -> Option<(SimTime, Class)> {
        self.heap.peek().map(|Reverse(entry)| (entry.at, entry.class))
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Forgets what is not wanted any more. The order of all else stays as it was.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&Event) -> bool) {
        self.heap.retain(|Reverse(entry)| is_wanted(&entry.event));
    }

    pub fn pop(&mut self) -> Option<(SimTime, Event)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_comes_back_before_it_is_asked_for() {
        let mut calendar = Calendar::default();
        let now = SimTime(5);
        calendar.schedule(now, Class::Sample, Event::Sample);
        calendar.schedule(now, Class::Growth, Event::Milestone { slot: 1, version: 0 });
        calendar.schedule(now, Class::Telemetry, Event::Telemetry);
        calendar.schedule(now, Class::Completion, Event::Milestone { slot: 3, version: 0 });
        calendar.schedule(now, Class::Completion, Event::Milestone { slot: 2, version: 0 });
        calendar.schedule(now, Class::Rebuild, Event::Rebuild(NodeId(0)));
        calendar.schedule(SimTime(4), Class::Sample, Event::Sample);
        let order: Vec<Event> = core::iter::from_fn(|| calendar.pop().map(|(_, event)| event)).collect();
        assert_eq!(
            order,
            [
                Event::Sample,
                Event::Milestone { slot: 3, version: 0 },
                Event::Milestone { slot: 2, version: 0 },
                Event::Rebuild(NodeId(0)),
                Event::Milestone { slot: 1, version: 0 },
                Event::Telemetry,
                Event::Sample,
            ]
        );
        assert!(Class::Sample < Class::Arrival, "arrivals come last of all");
    }

    #[test]
    fn what_is_forgotten_leaves_the_rest_in_order() {
        let mut calendar = Calendar::default();
        for slot in 0..100 {
            calendar.schedule(
                SimTime(u64::from(slot * 37 % 10)),
                Class::Growth,
                Event::Milestone { slot, version: 0 },
            );
        }
        let mut whole = calendar.clone();
        let is_wanted = |event: &Event| matches!(event, Event::Milestone { slot, .. } if slot % 3 == 0);
        calendar.retain(is_wanted);
        assert_eq!(calendar.len(), 34);
        let left: Vec<_> = core::iter::from_fn(|| calendar.pop()).collect();
        let expected: Vec<_> = core::iter::from_fn(|| whole.pop()).filter(|(_, event)| is_wanted(event)).collect();
        assert_eq!(left, expected);
    }
}
