//! Colours of the stage, for light and dark surroundings, and what each scheduler's line looks like.
//!
//! Every mark that carries meaning has a contrast of at least 3:1 with what it lies on (WCAG 2.2, 1.4.11); a test
//! holds the tables below to that. Hues are Okabe and Ito's where they reach it, and no state or scheduler is told by
//! hue alone.

use crate::stage::marks::Colour;

/// The colours of one theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// What everything lies on.
    pub background: Colour,
    /// Inside of the nominal outline: what was bought.
    pub nominal_fill: Colour,
    /// The nominal outline.
    pub nominal_line: Colour,
    /// What is left.
    pub residual_fill: Colour,
    /// Outline of what is left, from 40 px.
    pub residual_line: Colour,
    /// The axes, drawn over what is left.
    pub ray: Colour,
    /// What will be lost to growth.
    pub forecast_fill: Colour,
    /// Hatch over capacity lost to a rebuild.
    pub hatch_line: Colour,
    /// Ground of that hatch.
    pub hatch_ground: Colour,
    /// Outline of effective capacity.
    pub effective_line: Colour,
    /// Pins and the stall ring.
    pub alarm: Colour,
    /// What lies under alarms, bars and arrowheads so that they stand out.
    pub paper: Colour,
    /// Bars, arrowheads and dashes of blocked nodes.
    pub ink: Colour,
    /// Axis names and chart labels.
    pub text: Colour,
    /// Chart axes.
    pub axis: Colour,
    /// Lines of a chart's grid: decoration, deliberately faint.
    pub grid: Colour,
    /// A reported range behind the curves: decoration with its own label, deliberately faint.
    pub band: Colour,
    /// The cursor of a chart.
    pub cursor: Colour,
    /// A tile whose shortest axis is empty.
    pub tile_empty: Colour,
    /// A tile with everything free.
    pub tile_full: Colour,
    /// Colours of lines, by [`Hue`].
    hues: [Colour; 8],
    /// Lies under lines of the hues that do not reach 3:1 by themselves.
    casing: Colour,
}

/// Colours told apart by most people; an index into a palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// Blue.
    Blue,
    /// Sky blue.
    Sky,
    /// Orange.
    Orange,
    /// Green.
    Green,
    /// Purple.
    Purple,
    /// Grey.
    Grey,
    /// Vermillion.
    Vermillion,
    /// The ink of the theme.
    Ink,
}

impl Palette {
    /// On white.
    pub const LIGHT: Self = Self {
        background: Colour::hex(0xff_ffff),
        nominal_fill: Colour::hex(0xf3_f4f6),
        nominal_line: Colour::hex(0x6b_7280),
        residual_fill: Colour::hex(0x00_72b2).with_alpha(217),
        residual_line: Colour::hex(0x00_3b5c),
        ray: Colour::hex(0xff_ffff).with_alpha(179),
        forecast_fill: Colour::hex(0xa9_d3ee),
        hatch_line: Colour::hex(0xb4_5309),
        hatch_ground: Colour::hex(0xff_ffff),
        effective_line: Colour::hex(0x92_400e),
        alarm: Colour::hex(0xd5_5e00),
        paper: Colour::hex(0xff_ffff),
        ink: Colour::hex(0x11_1827),
        text: Colour::hex(0x37_4151),
        axis: Colour::hex(0x6b_7280),
        grid: Colour::hex(0xe5_e7eb),
        band: Colour::hex(0x6b_7280).with_alpha(46),
        cursor: Colour::hex(0x11_1827),
        tile_empty: Colour::hex(0xf3_f6fa),
        tile_full: Colour::hex(0x0b_5a96),
        hues: [
            Colour::hex(0x00_72b2),
            Colour::hex(0x56_b4e9),
            Colour::hex(0xe6_9f00),
            Colour::hex(0x00_9e73),
            Colour::hex(0xcc_79a7),
            Colour::hex(0x6b_7280),
            Colour::hex(0xd5_5e00),
            Colour::hex(0x11_1827),
        ],
        casing: Colour::hex(0x11_1827),
    };

    /// On near-black.
    pub const DARK: Self = Self {
        background: Colour::hex(0x0f_172a),
        nominal_fill: Colour::hex(0x1e_293b),
        nominal_line: Colour::hex(0x94_a3b8),
        residual_fill: Colour::hex(0x74_c3f7).with_alpha(240),
        residual_line: Colour::hex(0xd6_ecfb),
        ray: Colour::hex(0x0f_172a).with_alpha(179),
        forecast_fill: Colour::hex(0x28_6390),
        hatch_line: Colour::hex(0xe6_9f00),
        hatch_ground: Colour::hex(0x0f_172a),
        effective_line: Colour::hex(0xf0_b429),
        alarm: Colour::hex(0xe0_660a),
        paper: Colour::hex(0x0f_172a),
        ink: Colour::hex(0xf8_fafc),
        text: Colour::hex(0xcb_d5e1),
        axis: Colour::hex(0x94_a3b8),
        grid: Colour::hex(0x33_4155),
        band: Colour::hex(0x94_a3b8).with_alpha(51),
        cursor: Colour::hex(0xf8_fafc),
        tile_empty: Colour::hex(0x1e_293b),
        tile_full: Colour::hex(0x7c_c4f5),
        hues: [
            Colour::hex(0x38_9fe0),
            Colour::hex(0x8f_d0f7),
            Colour::hex(0xe6_9f00),
            Colour::hex(0x1f_c79a),
            Colour::hex(0xdd_93bd),
            Colour::hex(0x94_a3b8),
            Colour::hex(0xff_8a3d),
            Colour::hex(0xf8_fafc),
        ],
        casing: Colour::hex(0x0f_172a),
    };

    /// A hue in this theme.
    #[must_use]
    pub const fn hue(&self, hue: Hue) -> Colour {
        self.hues[hue as usize]
    }

    /// What must be drawn under a line of this colour, wider, so that it stands out; `None` if it does by itself.
    #[must_use]
    pub fn casing(&self, colour: Colour) -> Option<Colour> {
        (colour.contrast(self.background) < 3.0).then_some(self.casing)
    }
}

/// The sign at the end of a line, which tells lines apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// ● or ○.
    Disc,
    /// ■ or □.
    Square,
    /// ◆ or ◇.
    Diamond,
    /// ▲ or △.
    Triangle,
}

/// What the line of a scheduler looks like: colour, dashes and end sign together are its identity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineStyle {
    /// Colour.
    pub hue: Hue,
    /// Lengths of dash and gap in turn, in pixels; empty: solid.
    pub dash: &'static [f64],
    /// End sign.
    pub sign: Sign,
    /// Whether the end sign is filled.
    pub filled: bool,
}

/// The look of a scheduler by its roster id, e.g. `ragp-io`. A family has one colour and sign; those that see all
/// seven dimensions have a filled sign. Ids unknown here are purple with a dash of their own.
#[must_use]
pub fn line_style(scheduler: &str) -> LineStyle {
    let seven = scheduler.ends_with("-7d") || scheduler.ends_with("-io");
    let family = scheduler.rsplit_once('-').map_or(scheduler, |(family, _)| family);
    let (hue, five_dash, seven_dash, sign): (_, &[f64], &[f64], _) = match family {
        "ragp" if seven => (Hue::Blue, &[], &[], Sign::Disc),
        "ragp" => (Hue::Sky, &[8.0, 3.0, 2.0, 3.0], &[], Sign::Diamond),
        "tetris" => (Hue::Orange, &[6.0, 4.0], &[10.0, 3.0], Sign::Square),
        "fgd" => (Hue::Green, &[12.0, 5.0], &[18.0, 4.0], Sign::Triangle),
        "scalar" => (Hue::Grey, &[2.0, 3.0], &[4.0, 3.0], Sign::Disc),
        "best-fit" => (Hue::Vermillion, &[5.0, 2.0], &[9.0, 2.0, 4.0, 2.0], Sign::Diamond),
        "first-fit" => (Hue::Ink, &[3.0, 2.0, 8.0, 2.0], &[2.0, 2.0, 12.0, 2.0], Sign::Square),
        _ => (Hue::Purple, &[2.0, 2.0, 2.0, 6.0], &[6.0, 2.0, 2.0, 2.0, 2.0, 2.0], Sign::Triangle),
    };
    LineStyle { hue, dash: if seven { seven_dash } else { five_dash }, sign, filled: seven }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEMES: [(&str, Palette); 2] = [("light", Palette::LIGHT), ("dark", Palette::DARK)];

    #[test]
    fn every_mark_that_carries_meaning_stands_out_from_what_it_lies_on() {
        for (theme, p) in THEMES {
            let residual = p.residual_fill.over(p.nominal_fill);
            let pairs = [
                ("nominal outline on background", p.nominal_line, p.background),
                ("residual on nominal", residual, p.nominal_fill),
                ("forecast against what will be lost", p.residual_fill, p.forecast_fill),
                ("outline of what will be lost on nominal", p.residual_line, p.nominal_fill),
                ("hatch on its ground", p.hatch_line, p.hatch_ground),
                ("effective outline on nominal", p.effective_line, p.nominal_fill),
                ("alarm on its paper", p.alarm, p.paper),
                ("bar on its paper", p.ink, p.paper),
                ("dashes on nominal", p.ink, p.nominal_fill),
                ("cursor on background", p.cursor, p.background),
                ("chart axis on background", p.axis, p.background),
                ("fullest tile against the emptiest", p.tile_full, p.tile_empty),
                ("tile outline on background", p.nominal_line, p.background),
                ("triangle on a tile's paper", p.effective_line, p.paper),
            ];
            for (what, mark, ground) in pairs {
                let contrast = mark.contrast(ground);
                assert!(contrast >= 3.0, "{theme}: {what}: {contrast:.2}");
            }
            assert!(p.text.contrast(p.background) >= 4.5, "{theme}: text");
        }
    }

    #[test]
    fn a_line_too_faint_for_its_ground_gets_a_casing_that_is_not() {
        for (theme, p) in THEMES {
            for colour in p.hues {
                let visible = p.casing(colour).unwrap_or(colour);
                assert!(visible.contrast(p.background) >= 3.0, "{theme}: {}", colour.css());
            }
        }
    }

    #[test]
    fn schedulers_are_told_apart_without_colour() {
        let styles: Vec<_> =
            crate::schedulers::entries().map(|entry| (entry.id(), line_style(&entry.id()))).collect();
        for (i, (a, first)) in styles.iter().enumerate() {
            for (b, second) in &styles[i + 1..] {
                assert_ne!(first.dash, second.dash, "{a} and {b}");
            }
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((Colour::hex(0).contrast(Colour::hex(0xff_ffff)) - 21.0).abs() < 1e-9);
        // 5.2 is what the design measured for this blue.
        assert!((Colour::hex(0x00_72b2).contrast(Colour::hex(0xff_ffff)) - 5.2).abs() < 0.05);
    }
}
