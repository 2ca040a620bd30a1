//! Residua's simulator: what competing GPU-cluster schedulers do to the same stream of jobs.
//!
//! A cluster of nodes with seven resource [dimensions](resources::Dim), a stream of [jobs](workload::Job), and a
//! [scheduler](engine::port::Scheduler) that decides where each task goes. The [engine](engine::Simulation) applies
//! its decisions, shares storage bandwidth and I/O CPU among the tasks of a node, and so finds how fast each job
//! really runs. [Probes](probes) listen and count.
//!
//! # Words
//!
//! - **job**: what arrives, waits, runs and ends; one or more identical *tasks* that start together.
//! - **gang**: a job of more than one task. It runs at the pace of its slowest task.
//! - **node**: one machine. Its *nominal* capacity is what was bought, its *effective* capacity what it can give now.
//! - **residual**: what is left on a node; its *shape* is the residual in all dimensions, each ÷ nominal.
//! - **stranded**: free GPU on a node where the typical task does not fit.
//! - **stall**: GPU time that is allocated but starved of data: GPU × (1 − rate).
//! - **productive**: GPU time that advances work: GPU × rate.
//! - **backfill**: starting a later job because an earlier one does not fit yet.
//! - **requeue**: taking a running job off its nodes and back to the front of the queue.
//!
//! # What it does not do
//!
//! No wall clock, no threads, no files, no web. GPU types differ in size, not in speed. Below saturation storage has
//! no queueing delay (a fluid model). There is no migration and no preemption by other jobs.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod cluster;
pub mod compare;
pub mod economics;
pub mod engine;
pub mod error;
pub mod probes;
pub mod replay;
pub mod resources;
pub mod rng;
pub mod scenario;
pub mod schedulers;
pub mod stage;
pub mod text;
pub mod units;
pub mod workload;
