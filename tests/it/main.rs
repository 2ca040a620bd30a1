//! Tests of the simulator through its public doors, in one binary.

mod command;
mod digests;
mod economics;
mod inquiry;
mod openb;
mod promises;
mod published;
mod published_files;
mod recorded;
mod replay;
mod scenario;
mod schedules;
mod search;
mod small;
mod stage;
mod theory;
mod tidy;
