//! What is between simulator and screen: sessions, glyphs, charts.

mod drawings;
mod packing;
mod raster;
mod sessions;
mod why;
