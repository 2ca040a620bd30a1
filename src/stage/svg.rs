//! Marks as SVG text: for tests, which compare it, and for exports, in which text stays text.

use core::fmt::Write as _;

use crate::stage::marks::{Anchor, Colour, HATCH_PITCH, HATCH_WIDTH, Mark, Paint, Point, Stroke};

/// A complete SVG document of `width` × `height` pixels with `title` as its name.
#[must_use]
pub fn document(width: f64, height: f64, title: &str, background: Colour, marks: &[Mark]) -> String {
    let (width, height) = (number(width), number(height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" role=\"img\">\n<title>{}</title>\n",
        escaped(title)
    );
    let hatches = hatches(marks);
    if !hatches.is_empty() {
        out.push_str("<defs>\n");
        for (i, (line, ground)) in hatches.iter().enumerate() {
            let pitch = number(HATCH_PITCH);
            let _ = writeln!(
                out,
                "<pattern id=\"hatch{i}\" width=\"{pitch}\" height=\"{pitch}\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate(45)\"><rect width=\"{pitch}\" height=\"{pitch}\" fill=\"{}\"/>\
                 <path d=\"M0 0V{pitch}\" stroke=\"{}\" stroke-width=\"{}\"/></pattern>",
                ground.css(),
                line.css(),
                number(2.0 * HATCH_WIDTH),
            );
        }
        out.push_str("</defs>\n");
    }
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>", background.css());
    for mark in marks {
        write_mark(&mut out, mark, &hatches);
    }
    out.push_str("</svg>\n");
    out
}

/// The hatches in use, each once.
fn hatches(marks: &[Mark]) -> Vec<(Colour, Colour)> {
    let mut found = Vec::new();
    for mark in marks {
        let fill = match mark {
            Mark::Polygon { fill, .. } | Mark::Circle { fill, .. } | Mark::Rect { fill, .. } => *fill,
            Mark::Ring { fill, .. } | Mark::Pie { fill, .. } => Some(*fill),
            Mark::Line { .. } | Mark::Text { .. } => None,
        };
        if let Some(Paint::Hatch { line, ground }) = fill
            && !found.contains(&(line, ground))
        {
            found.push((line, ground));
        }
    }
    found
}

fn write_mark(out: &mut String, mark: &Mark, hatches: &[(Colour, Colour)]) {
    let _ = match mark {
        Mark::Polygon { points, fill, stroke } => {
            writeln!(out, "<path d=\"{}Z\"{}{}/>", path(points), filled(*fill, hatches), stroked(*stroke))
        }
        Mark::Ring { outer, inner, fill } => writeln!(
            out,
            "<path fill-rule=\"evenodd\" d=\"{}Z{}Z\"{}/>",
            path(outer),
            path(inner),
            filled(Some(*fill), hatches)
        ),
        Mark::Line { points, stroke } => {
            writeln!(out, "<path d=\"{}\"{}{}/>", path(points), filled(None, hatches), stroked(Some(*stroke)))
        }
        Mark::Circle { centre, radius, fill, stroke } => writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}/>",
            number(centre[0]),
            number(centre[1]),
            number(*radius),
            filled(*fill, hatches),
            stroked(*stroke)
        ),
        Mark::Pie { centre, radius, share, fill } if *share >= 0.9995 => writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
            number(centre[0]),
            number(centre[1]),
            number(*radius),
            filled(Some(*fill), hatches)
        ),
        Mark::Pie { centre: [x, y], radius, share, fill } => {
            let angle = share * core::f64::consts::TAU;
            writeln!(
                out,
                "<path d=\"M{} {}V{}A{r} {r} 0 {} 1 {} {}Z\"{}/>",
                number(*x),
                number(*y),
                number(y - radius),
                u8::from(*share > 0.5),
                number(x + radius * libm::sin(angle)),
                number(y - radius * libm::cos(angle)),
                filled(Some(*fill), hatches),
                r = number(*radius),
            )
        }
        Mark::Rect { at, size, fill, stroke } => writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}/>",
            number(at[0]),
            number(at[1]),
            number(size[0]),
            number(size[1]),
            filled(*fill, hatches),
            stroked(*stroke)
        ),
        Mark::Text { at, text, size, anchor, colour } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
                number(at[0]),
                number(at[1]),
                number(*size),
                colour.css(),
                escaped(text)
            )
        }
    };
}

fn path(points: &[Point]) -> String {
    let mut out = String::with_capacity(points.len() * 12);
    for (i, [x, y]) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if i == 0 { 'M' } else { 'L' }, number(*x), number(*y));
    }
    out
}

fn filled(fill: Option<Paint>, hatches: &[(Colour, Colour)]) -> String {
    match fill {
        None => " fill=\"none\"".to_owned(),
        Some(Paint::Solid(colour)) => format!(" fill=\"{}\"", colour.css()),
        Some(Paint::Hatch { line, ground }) => {
            let index = hatches.iter().position(|hatch| *hatch == (line, ground)).unwrap_or(0);
            format!(" fill=\"url(#hatch{index})\"")
        }
    }
}

fn stroked(stroke: Option<Stroke>) -> String {
    let Some(Stroke { colour, width, dash }) = stroke else { return String::new() };
    let mut out = format!(" stroke=\"{}\" stroke-width=\"{}\"", colour.css(), number(width));
    if !dash.is_empty() {
        let dash: Vec<_> = dash.iter().map(|length| number(*length)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
    out
}

/// Two decimals at most, none if they are zero; what cannot be drawn becomes 0.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out_of_the_document() {
        let text = Mark::Text {
            at: [1.0, f64::NAN],
            text: "<script>&\"".into(),
            size: 9.0,
            anchor: Anchor::End,
            colour: Colour::hex(0),
        };
        let svg = document(10.0, 10.5, "a<b", Colour::hex(0xff_ffff), &[text]);
        assert!(svg.contains("&lt;script&gt;&amp;&quot;"));
        assert!(svg.contains("<title>a&lt;b</title>"));
        assert!(svg.contains("height=\"10.5\""));
        assert!(svg.contains("y=\"0\""));
    }

    #[test]
    fn a_full_pie_is_a_disc_since_an_arc_back_to_its_start_is_nothing() {
        let pie = |share| {
            let mark = Mark::Pie { centre: [5.0, 5.0], radius: 4.0, share, fill: Paint::Solid(Colour::hex(0)) };
            document(10.0, 10.0, "", Colour::hex(0xff_ffff), &[mark])
        };
        assert!(pie(1.0).contains("<circle"));
        assert!(pie(0.25).contains("A4 4 0 0 1 9 5Z"));
        assert!(pie(0.75).contains("A4 4 0 1 1 1 5Z"));
    }

    #[test]
    fn each_hatch_is_defined_once() {
        let hatch = Paint::Hatch { line: Colour::hex(1), ground: Colour::hex(2) };
        let ring = Mark::Ring { outer: vec![[0.0, 0.0]], inner: vec![], fill: hatch };
        let svg = document(1.0, 1.0, "", Colour::hex(0), &[ring.clone(), ring]);
        assert_eq!(svg.matches("<pattern").count(), 1);
        assert_eq!(svg.matches("url(#hatch0)").count(), 2);
    }
}
