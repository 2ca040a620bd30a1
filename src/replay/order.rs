//! Orders of our own: shuffled pods, demand brought to 130 % of the cluster's GPUs, and a random order of nodes.
//!
//! The published orders come from a generator of another language's library and are read from files instead
//! ([`crate::workload::openb::packing::read_order`]). These follow the same recipe with our streams.

use crate::error::Error;
use crate::replay::Experiment;
use crate::rng::{Purpose, Stream};
use crate::workload::openb::packing::{Pod, Rows};

/// Demand is brought to so much of the cluster's GPUs, in percent.
pub const INFLATION_PCT: i64 = 130;

/// More arrivals than this fill the memory before they fill the cluster. The published workloads have 8,000 to 17,000.
pub const MOST_ARRIVALS: f64 = 5e6;

/// What a pod asks for, in thousandths of a GPU.
fn gpu_milli(pod: &Pod) -> i64 {
    i64::from(pod.ask.gpus) * i64::from(pod.ask.share)
}

/// What is asked for in the end, in thousandths of a GPU.
fn wanted(experiment: &Experiment) -> i64 {
    experiment.capacity_milli() * INFLATION_PCT / 100
}

/// How many pods would have to arrive beside those of the list, if they are more than [`MOST_ARRIVALS`].
#[must_use]
pub fn too_many(experiment: &Experiment) -> Option<f64> {
    let pods = &experiment.lists().pods;
    let all: i64 = pods.iter().map(gpu_milli).sum();
    let copies = (wanted(experiment) - all) as f64 / (all as f64 / pods.len() as f64);
    (copies > MOST_ARRIVALS).then_some(copies)
}

/// The order of `seed`.
///
/// # Errors
/// [`Error::Setup`] if pods ask for so little that millions of them would have to arrive.
pub fn draw(experiment: &Experiment, seed: u64) -> Result<Rows, Error> {
    if let Some(copies) = too_many(experiment) {
        return Err(Error::Setup(format!(
            "about {copies:.0} pods would have to arrive until {INFLATION_PCT} % of the GPUs are asked for; at most \
             {MOST_ARRIVALS:.0} can: use fewer nodes, or pods that ask for more GPU"
        )));
    }
    let stream = |position: u64| Stream::new(seed, Purpose::Order, position, 0);
    let pods = &experiment.lists().pods;
    let mut by_name: Vec<u32> = (0..pods.len() as u32).collect();
    by_name.sort_by(|a, b| pods[*a as usize].name.cmp(&pods[*b as usize].name));
    let mut arrivals = by_name.clone();
    shuffle(&mut arrivals, &mut stream(0));

    let gpu = |row: u32| gpu_milli(&pods[row as usize]);
    let mut demand: i64 = arrivals.iter().map(|row| gpu(*row)).sum();
    let wanted = wanted(experiment);
    let mut draws = stream(1);
    while demand > wanted {
        let row = arrivals.remove(draws.below(arrivals.len()));
        demand -= gpu(row);
    }
    // Copies come at the end, unshuffled, and the first that would be one share of a GPU too many ends it – also
    // where the list was cut above, in which case nothing is added.
    let was_cut = arrivals.len() < pods.len();
    let mut is_full = was_cut;
    while !is_full {
        let row = by_name[draws.below(by_name.len())];
        is_full = demand + i64::from(pods[row as usize].ask.share) > wanted;
        if !is_full {
            demand += gpu(row);
            arrivals.push(row);
        }
    }

    let mut nodes: Vec<u32> = experiment.lists().nodes.iter().map(|(row, _)| *row).collect();
    shuffle(&mut nodes, &mut stream(2));
    Ok(Rows { nodes, pods: arrivals })
}

/// Fisher–Yates.
fn shuffle(rows: &mut [u32], stream: &mut Stream) {
    for last in (1..rows.len()).rev() {
        rows.swap(last, stream.below(last + 1));
    }
}
