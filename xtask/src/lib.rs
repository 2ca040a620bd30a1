//! What `cargo xtask` and the end-to-end tests share: where things are, which
//! browser to use, and a small static file server that behaves as GitHub Pages
//! does.
//!
//! It knows nothing of the simulator and does not build it.

// Tools measure real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

pub mod browser;
pub mod serve;
pub mod tools;
