//! The health of storage: when nodes rebuild, and what telemetry says of it.

use crate::cluster::{Cluster, NodeId};
use crate::engine::Simulation;
use crate::engine::calendar::{Calendar, Class, Event};
use crate::engine::facts::{Fact, Probe, Stage};
use crate::engine::setup::{Rebuilds, Setup};
use crate::resources::Dim;
use crate::rng::{Purpose, Stream};
use crate::units::{SimTime, Span};

impl<P: Probe> Simulation<P> {
    pub(super) fn toggle_rebuild(&mut self, node: NodeId) {
        let Some(rebuilds) = self.setup.rebuilds else { return };
        let stream = &mut self.rebuild_streams[node.index()];
        let starts = !self.cluster.is_rebuilding(node);
        let (storage, io_cpu, mean) = if starts {
            (draw_factor(&rebuilds, stream), rebuilds.ioc_ppm, rebuilds.rebuild_mean)
        } else {
            (1_000_000, 1_000_000, rebuilds.healthy_mean)
        };
        let length = draw_length(mean, stream);
        self.cluster.set_health(node, storage, io_cpu);
        self.schedule(self.now + length, Class::Rebuild, Event::Rebuild(node));
        if self.belief.is_perfect() && self.belief.learn_truth(&self.cluster, node) {
            self.queue.gain(node);
        }
        self.reshare(node);
        self.touch(node);
        self.settle_rates();
        self.tell(&Fact::Rebuild { node, starts });
    }

    pub(super) fn read_telemetry(&mut self) {
        let queue = &mut self.queue;
        self.belief.take_readings(&self.cluster, |node| queue.gain(node));
        if let Some(first) = self.setup.classes.first() {
            let needed = first.typical[Dim::Sto];
            for node in self.cluster.ids() {
                let left = self.cluster.effective(node)[Dim::Sto] - self.cluster.used(node)[Dim::Sto];
                let truth = needed <= left;
                let believed = needed <= self.belief.available_storage(node);
                let stage = Stage { cluster: &self.cluster, totals: &self.totals };
                self.probe.observe(self.now, &Fact::Reading { node, truth, believed }, &stage);
            }
        }
        self.schedule(self.now + self.setup.telemetry.interval, Class::Telemetry, Event::Telemetry);
    }
}

/// Draws every node's first state from the stationary law and schedules its first change.
pub(super) fn start(setup: &Setup, cluster: &mut Cluster, calendar: &mut Calendar) -> Vec<Stream> {
    let Some(rebuilds) = setup.rebuilds else { return Vec::new() };
    let (healthy, rebuild) = (rebuilds.healthy_mean.as_secs(), rebuilds.rebuild_mean.as_secs());
    let mut streams = Vec::with_capacity(cluster.len());
    for node in cluster.ids() {
        let mut stream = Stream::new(setup.seed, Purpose::Rebuilds, u64::from(node.0), 0);
        let is_rebuilding = stream.unit() * (healthy + rebuild) < rebuild;
        // Exponential times have no memory: what is left of the first state is as long as a whole one.
        let mean = if is_rebuilding { rebuilds.rebuild_mean } else { rebuilds.healthy_mean };
        if is_rebuilding {
            cluster.set_health(node, draw_factor(&rebuilds, &mut stream), rebuilds.ioc_ppm);
        }
        calendar.schedule(SimTime::ZERO + draw_length(mean, &mut stream), Class::Rebuild, Event::Rebuild(node));
        streams.push(stream);
    }
    streams
}

fn draw_factor(rebuilds: &Rebuilds, stream: &mut Stream) -> u32 {
    let (low, high) = rebuilds.factor_ppm;
    // A node whose storage is at full speed does not count as rebuilding.
    (stream.uniform(f64::from(low), f64::from(high)) as u32).min(999_999)
}

fn draw_length(mean: Span, stream: &mut Stream) -> Span {
    Span((libm::round(stream.exponential(mean.as_ms() as f64)) as u64).max(1))
}
