//! What is between simulator and screen: sessions, glyphs, charts.

mod drawings;
mod raster;
mod sessions;
