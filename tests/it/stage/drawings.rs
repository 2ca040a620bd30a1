//! Glyphs, tiles and charts, as committed drawings and by what must be true of them.

use std::path::PathBuf;
use std::{env, fs};

use residua::resources::{DIMS, Dim, DimMask};
use residua::stage::charts::{Chart, Series};
use residua::stage::marks::{Anchor, Mark};
use residua::stage::palette::{Palette, line_style};
use residua::stage::reel::{NodeFrame, NodeState};
use residua::stage::{glyph, svg, tile};

use super::raster::{difference, grey};

/// Shares in the order of the glyph's axes, as vectors have them.
fn vector(axes: [f32; DIMS]) -> [f32; DIMS] {
    let mut shares = [0.0; DIMS];
    for (dim, share) in glyph::AXES.into_iter().zip(axes) {
        shares[dim.index()] = share;
    }
    shares
}

/// A node in each state: SM, HBM, RAM, CPU, I/O CPU, storage, network.
fn nodes() -> Vec<NodeFrame> {
    let rebuilding = [1.0, 1.0, 1.0, 1.0, 0.5, 0.35, 1.0];
    let node = |state, residual| NodeFrame {
        residual: vector(residual),
        effective: [1.0; DIMS],
        forecast: None,
        stall: 0.0,
        fits: 0.5,
        state,
        gpus_free: 4.0,
        jobs: 3,
        reserved: false,
        rebuilding: false,
        dims: DimMask::SEVEN,
    };
    NodeState::ALL
        .into_iter()
        .map(|state| match state {
            NodeState::Healthy => node(state, [0.5, 0.55, 0.6, 0.5, 0.6, 0.65, 0.6]),
            NodeState::Pinched => node(state, [0.6, 0.6, 0.5, 0.55, 0.5, 0.06, 0.6]),
            NodeState::Degraded => NodeFrame {
                effective: vector(rebuilding),
                rebuilding: true,
                ..node(state, [0.5, 0.55, 0.6, 0.5, 0.22, 0.12, 0.6])
            },
            NodeState::Stalled => NodeFrame {
                effective: vector(rebuilding),
                rebuilding: true,
                stall: 0.45,
                ..node(state, [0.1, 0.2, 0.5, 0.5, 0.05, 0.0, 0.4])
            },
            NodeState::Breathing => NodeFrame {
                forecast: Some(vector([0.5, 0.2, 0.6, 0.5, 0.5, 0.25, 0.6])),
                ..node(state, [0.5, 0.6, 0.6, 0.5, 0.6, 0.55, 0.6])
            },
            NodeState::Blocked => NodeFrame { reserved: true, ..node(state, [0.7, 0.75, 0.6, 0.05, 0.04, 0.5, 0.6]) },
            NodeState::Packed => node(state, [0.0, 0.05, 0.1, 0.08, 0.1, 0.1, 0.1]),
            NodeState::Offline => NodeFrame { effective: [0.0; DIMS], ..node(state, [0.0; DIMS]) },
        })
        .collect()
}

/// Compares a drawing with the committed one.
fn check(name: &str, drawing: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("RESIDUA_BLESS").is_some() {
        fs::write(&path, drawing).unwrap();
        return;
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == drawing,
        "{name} is drawn differently. On purpose? Look at it after RESIDUA_BLESS=1 cargo test, and commit it"
    );
}

/// All states beside each other, each under its name.
fn sheet(size: f64, palette: &Palette, draw: impl Fn(&NodeFrame) -> Vec<Mark>) -> String {
    let pitch = (size + 8.0).max(64.0);
    let mut marks = Vec::new();
    for (column, node) in nodes().iter().enumerate() {
        let left = column as f64 * pitch;
        marks.push(Mark::Text {
            at: [left + pitch / 2.0, 12.0],
            text: node.state.name().to_owned(),
            size: 10.0,
            anchor: Anchor::Middle,
            colour: palette.text,
        });
        marks.extend(draw(node).into_iter().map(|mark| mark.moved([left + (pitch - size) / 2.0, 18.0])));
    }
    let title = format!("The eight states of a node at {size} px");
    svg::document(pitch * nodes().len() as f64, size + 24.0, &title, palette.background, &marks)
}

#[test]
fn glyphs_are_drawn_as_committed() {
    for (theme, palette) in [("", Palette::LIGHT), ("-dark", Palette::DARK)] {
        for size in [24.0, 48.0, 120.0] {
            check(
                &format!("glyphs-{size}{theme}.svg"),
                &sheet(size, &palette, |node| glyph::marks(node, size, &palette)),
            );
        }
        check(&format!("tiles{theme}.svg"), &sheet(14.0, &palette, |node| tile::marks(node, 14.0, &palette)));
    }
}

#[test]
fn a_chart_is_drawn_as_committed() {
    let wave = |shift: f64| -> Vec<f64> {
        // A curve with a gap and a lonely peak.
        (0..=1800)
            .map(|k| match k {
                300..400 => f64::NAN,
                1234 => 0.19,
                _ => 0.05 + 0.02 * shift + f64::from(k % 97) * 0.0003,
            })
            .collect()
    };
    let ids = ["scalar-5d", "tetris-5d", "ragp-5d", "ragp-io"];
    let values: Vec<Vec<f64>> = (0..4).map(|lane| wave(f64::from(lane))).collect();
    let series: Vec<Series<'_>> =
        ids.iter().zip(&values).map(|(id, values)| Series { values, style: line_style(id) }).collect();
    let chart = Chart {
        size: [560.0, 180.0],
        hours: 30.0,
        step: 1.0 / 60.0,
        series: &series,
        warm_up: 6.0,
        least_top: 0.0,
        write_value: &|value| format!("{value:.2}"),
        write_hour: &|hour| format!("{hour} h"),
    };
    for (name, palette) in [("chart.svg", Palette::LIGHT), ("chart-dark.svg", Palette::DARK)] {
        check(name, &svg::document(560.0, 180.0, "A chart", palette.background, &chart.marks(&palette)));
    }
}

#[test]
fn states_look_different_at_24_px() {
    for (theme, palette) in [("light", Palette::LIGHT), ("dark", Palette::DARK)] {
        let drawings: Vec<_> = nodes()
            .iter()
            .map(|node| (node.state, grey(&glyph::marks(node, 24.0, &palette), 24, palette.background)))
            .collect();
        let mut worst = (1.0, String::new());
        for (i, (a, first)) in drawings.iter().enumerate() {
            for (b, second) in &drawings[i + 1..] {
                let share = difference(first, second, 32.0);
                if share < worst.0 {
                    worst = (share, format!("{a:?} and {b:?}"));
                }
            }
        }
        println!("{theme}: {} differ in {:.1} % of the pixels", worst.1, worst.0 * 100.0);
        assert!(worst.0 >= 0.08, "{theme}: {} differ in {:.1} % of the pixels only", worst.1, worst.0 * 100.0);
    }
}

#[test]
fn signs_of_tiles_differ_at_the_smallest_size() {
    for palette in [Palette::LIGHT, Palette::DARK] {
        // The same tone for all, so that only the signs tell them apart.
        let tiles: Vec<_> = nodes()
            .into_iter()
            .map(|node| {
                let size = tile::SMALLEST as usize;
                let mut pixels = tile::Pixels::new(size, size, palette.background);
                let state = node.state;
                pixels.draw(&NodeFrame { residual: [0.5; DIMS], ..node }, 0, 0, size, &palette);
                (state, pixels.bytes)
            })
            .collect();
        for (i, (a, first)) in tiles.iter().enumerate() {
            for (b, second) in &tiles[i + 1..] {
                assert_ne!(first, second, "{a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn drawing_pixels_outside_of_the_surface_is_no_trouble() {
    let mut pixels = tile::Pixels::new(10, 10, Palette::LIGHT.background);
    for (left, top, size) in [(8, 8, 14), (20, 0, 14), (0, 20, 14), (0, 0, 0), (0, 0, 1)] {
        for node in nodes() {
            pixels.draw(&node, left, top, size, &Palette::LIGHT);
        }
    }
    assert_eq!(pixels.bytes.len(), 400);
}

#[test]
fn axes_are_clockwise_from_twelve_compute_host_data_path() {
    let names: Vec<_> = glyph::AXES.iter().map(|dim| dim.name()).collect();
    assert_eq!(names, ["gpu", "hbm", "ram", "cpu", "ioc", "sto", "net"]);
    // A node with nothing left but storage: the far corner is at the left, below the middle.
    let mut residual = [0.0; DIMS];
    residual[Dim::Sto.index()] = 1.0;
    let node = NodeFrame { residual, ..nodes().remove(0) };
    let marks = glyph::marks(&node, 120.0, &Palette::LIGHT);
    let mut corners = marks.iter().filter_map(|mark| match mark {
        Mark::Polygon { points, .. } => Some(points),
        _ => None,
    });
    let residual = corners.next_back().unwrap();
    let far = residual.iter().min_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
    assert!(far[0] < 25.0 && far[1] > 60.0, "{far:?}");
    // And the axes run clockwise: each corner lies clockwise of the one before.
    for (k, a) in residual.iter().enumerate() {
        let b = residual[(k + 1) % DIMS];
        assert!((a[0] - 60.0) * (b[1] - 60.0) - (a[1] - 60.0) * (b[0] - 60.0) > 0.0);
    }
}

#[test]
fn radius_is_linear_in_the_residual_and_never_zero() {
    let radius = |share: f32| {
        let node = NodeFrame { residual: [share; DIMS], ..nodes().remove(0) };
        let marks = glyph::marks(&node, 24.0, &Palette::LIGHT);
        let Some(Mark::Polygon { points, .. }) = marks.last() else { panic!("{marks:?}") };
        12.0 - points[0][1]
    };
    let (none, half, all) = (radius(0.0), radius(0.5), radius(1.0));
    assert!((none / all - glyph::INNER).abs() < 1e-6);
    assert!((half - (none + all) / 2.0).abs() < 1e-6);
}

#[test]
fn a_node_draws_only_the_dimensions_it_has() {
    let dims = DimMask::of(&[Dim::Cpu, Dim::Ram, Dim::Gpu]);
    for node in nodes() {
        let node = NodeFrame { dims, ..node };
        for size in [24.0, 48.0, 120.0] {
            for mark in glyph::marks(&node, size, &Palette::LIGHT) {
                if let Mark::Text { text, .. } = mark {
                    assert!(["SM", "RAM", "CPU"].contains(&text.as_str()), "{text}");
                }
            }
        }
    }
}
