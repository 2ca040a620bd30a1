//! Between simulator and screen, and still pure: no web, no clock.
//!
//! A [`session`] runs one simulation ahead and writes down what is to be seen as a [`reel`] of frames in flat words;
//! the page only plays it. [`glyph`], [`tile`] and [`charts`] turn frames into lists of [`marks`] to draw, which the
//! page paints on a canvas and [`svg`] writes as text for tests and exports.
//!
//! A replay has a brain of its own, [`packing`], which tells the page curves and where pods went; [`board`] puts the
//! cluster together from that, [`figure`] and [`devices`] draw it, [`ranking`] lists it.
//!
//! It does not decide what a number is called or how it is written: labels come from the caller, in the reader's
//! language.

pub mod board;
pub mod charts;
pub mod devices;
pub mod figure;
pub mod glyph;
mod look;
pub mod marks;
pub mod packing;
pub mod palette;
pub mod plot;
pub mod ranking;
pub mod reel;
pub mod replay;
mod running;
pub mod session;
pub mod svg;
pub mod tile;
pub mod why;
