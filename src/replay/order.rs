//! Orders of our own: shuffled pods, demand brought to 130 % of the cluster's GPUs, and a random order of nodes.
//!
//! The published orders come from a generator of another language's library and are read from files instead
//! ([`crate::workload::openb::packing::read_order`]). These follow the same recipe with our streams.

use crate::replay::Experiment;
use crate::rng::{Purpose, Stream};
use crate::workload::openb::packing::Rows;

/// Demand is brought to so much of the cluster's GPUs, in percent.
const INFLATION_PCT: i64 = 130;

/// The order of `seed`.
#[must_use]
pub fn draw(experiment: &Experiment, seed: u64) -> Rows {
    let stream = |position: u64| Stream::new(seed, Purpose::Order, position, 0);
    let pods = &experiment.lists().pods;
    let mut by_name: Vec<u32> = (0..pods.len() as u32).collect();
    by_name.sort_by(|a, b| pods[*a as usize].name.cmp(&pods[*b as usize].name));
    let mut arrivals = by_name.clone();
    shuffle(&mut arrivals, &mut stream(0));

    let gpu = |row: u32| i64::from(pods[row as usize].ask.gpus) * i64::from(pods[row as usize].ask.share);
    let mut demand: i64 = arrivals.iter().map(|row| gpu(*row)).sum();
    let wanted = experiment.capacity_milli() * INFLATION_PCT / 100;
    let mut draws = stream(1);
    while demand > wanted {
        let row = arrivals.remove(draws.below(arrivals.len()));
        demand -= gpu(row);
    }
    // Copies come at the end, unshuffled, and the first that would be one share of a GPU too many ends it – also
    // where the list was cut above, in which case nothing is added.
    let was_cut = arrivals.len() < pods.len();
    while !was_cut {
        let row = by_name[draws.below(by_name.len())];
        if demand + i64::from(pods[row as usize].ask.share) > wanted {
            break;
        }
        demand += gpu(row);
        arrivals.push(row);
    }

    let mut nodes: Vec<u32> = experiment.lists().nodes.iter().map(|(row, _)| *row).collect();
    shuffle(&mut nodes, &mut stream(2));
    Rows { nodes, pods: arrivals }
}

/// Fisher–Yates.
fn shuffle(rows: &mut [u32], stream: &mut Stream) {
    for last in (1..rows.len()).rev() {
        rows.swap(last, stream.below(last + 1));
    }
}
