//! The state of the page in the fragment of its address, and back.
//!
//! In the fragment, because a server never sees it and never limits its length. Values from a link are checked like
//! any other input: what is out of range is moved to the nearest allowed value, what cannot be read is left at its
//! default, and both are said.

use crate::fragment;
use crate::numbers::CURRENCIES;
use crate::settings::{Field, MOST_LANES, Settings, is_scheduler, preset_id};

/// Version of the form of links.
const VERSION: &str = "1";

/// Where the calculator's share of waste comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum WasteSource {
    /// Typed in.
    Typed,
    /// Lost share of the lane at this position.
    Lost(usize),
    /// Stall of the lane at this position, as a share of the whole fleet.
    Stalled(usize),
}

/// What the calculator is set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Calculation {
    /// Money a GPU-hour.
    pub price: f64,
    pub currency: &'static str,
    /// GPUs of the fleet.
    pub fleet: f64,
    /// Wasted share, when typed in.
    pub share: f64,
    pub source: WasteSource,
    /// Paid hours a year.
    pub hours: f64,
}

impl Default for Calculation {
    fn default() -> Self {
        Self { price: 3.0, currency: "USD", fleet: 1000.0, share: 0.1, source: WasteSource::Typed, hours: 8760.0 }
    }
}

/// Everything that a link restores.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Link {
    pub settings: Settings,
    pub calculation: Calculation,
    /// Play head, in simulated milliseconds.
    pub time: Option<u64>,
    /// The trace that the link was made with.
    pub trace: Option<LinkedTrace>,
}

/// What a link says of a trace. Its files are not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedTrace {
    /// Stands for the contents of its files.
    pub hash: String,
    /// Whether what it lacks was assumed.
    pub assume: bool,
}

/// Something in a link that could not be taken as it stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// A number outside its range, and what it became.
    OutOfRange { field: Field, written: String, used: f64 },
    /// No number at all.
    Unreadable { field: Field, written: String },
    /// No such scenario.
    UnknownScenario(String),
    /// No such scheduler.
    UnknownScheduler(String),
    /// More lanes than there is room for.
    TooManyLanes(usize),
    /// A key this version does not know, or a value that is none.
    Unknown { key: String, written: String },
    /// A key that stands more than once; its first value is used.
    Repeated(String),
    /// Made by another version.
    OtherVersion(String),
    /// A time after the end of the run, in simulated milliseconds.
    PastTheEnd { written: u64, end: u64 },
    /// The link was made with a trace, which a link does not carry.
    WithoutTrace,
}

/// Reads a fragment, with or without its `#`.
pub fn parse(fragment: &str) -> (Link, Vec<Trouble>) {
    let mut troubles = Vec::new();
    let (pairs, repeated) = fragment::pairs(fragment);
    troubles.extend(repeated.into_iter().map(Trouble::Repeated));
    let value = |wanted: &str| pairs.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str());

    if let Some(version) = value("v").filter(|version| *version != VERSION) {
        troubles.push(Trouble::OtherVersion(version.to_owned()));
    }
    // The scenario comes first: it decides what every other setting is by default.
    let mut link = Link::default();
    if let Some(name) = value("s") {
        match preset_id(name) {
            Some(id) => link.settings = Settings::of_scenario(id),
            None => troubles.push(Trouble::UnknownScenario(name.to_owned())),
        }
    }
    let assume = match value("assume") {
        Some("on") => Some(true),
        Some("off") => Some(false),
        _ => None,
    };
    for (key, value) in &pairs {
        match key.as_str() {
            "v" | "s" => {}
            "p" => lanes(value, &mut link.settings, &mut troubles),
            "t" => match value.parse() {
                Ok(time) => link.time = Some(time),
                Err(_) => troubles.push(Trouble::Unknown { key: key.clone(), written: value.clone() }),
            },
            "cur" => match CURRENCIES.into_iter().find(|currency| currency == value) {
                Some(currency) => link.calculation.currency = currency,
                None => troubles.push(Trouble::Unknown { key: key.clone(), written: value.clone() }),
            },
            "from" => match source(value) {
                Some(source) => link.calculation.source = source,
                None => troubles.push(Trouble::Unknown { key: key.clone(), written: value.clone() }),
            },
            "trace" if is_hash(value) => {
                link.trace = Some(LinkedTrace { hash: value.clone(), assume: assume.unwrap_or(true) });
                troubles.push(Trouble::WithoutTrace);
            }
            // Without a trace there is nothing to assume.
            "assume" if assume.is_some() => {}
            _ => match Field::ALL.into_iter().find(|field| field.key() == key) {
                Some(field) => number(field, value, &mut link, &mut troubles),
                None => troubles.push(Trouble::Unknown { key: key.clone(), written: value.clone() }),
            },
        }
    }
    if let WasteSource::Lost(lane) | WasteSource::Stalled(lane) = link.calculation.source
        && lane >= link.settings.schedulers.len()
    {
        link.calculation.source = WasteSource::Typed;
        let written = value("from").unwrap_or_default().to_owned();
        troubles.push(Trouble::Unknown { key: "from".to_owned(), written });
    }
    // What bears on the run comes before what means nothing.
    troubles.sort_by_key(|trouble| matches!(trouble, Trouble::Unknown { .. }));
    (link, troubles)
}

/// Writes the fragment, without its `#`.
pub fn format(link: &Link) -> String {
    let Link { settings, calculation, time, trace } = link;
    let mut parts = vec![
        format!("v={VERSION}"),
        format!("s={}", settings.scenario),
        format!("p={}", settings.schedulers.join(",")),
    ];
    for field in Field::OF_RUN {
        // Sampling is the exception, and only named where it is on.
        if field != Field::Sample || settings.sample > 0 {
            // `Display` of a double is the shortest text that reads back as the same double.
            parts.push(format!("{}={}", field.key(), settings.number(field)));
        }
    }
    // The calculator is only named where it was changed.
    let usual = Calculation::default();
    for (field, value, usual) in [
        (Field::Price, calculation.price, usual.price),
        (Field::Fleet, calculation.fleet, usual.fleet),
        (Field::Waste, calculation.share, usual.share),
        (Field::Hours, calculation.hours, usual.hours),
    ] {
        if value != usual {
            parts.push(format!("{}={value}", field.key()));
        }
    }
    if calculation.currency != usual.currency {
        parts.push(format!("cur={}", calculation.currency));
    }
    match calculation.source {
        WasteSource::Typed => {}
        WasteSource::Lost(lane) => parts.push(format!("from=lost{}", lane + 1)),
        WasteSource::Stalled(lane) => parts.push(format!("from=stall{}", lane + 1)),
    }
    if let Some(LinkedTrace { hash, assume }) = trace {
        parts.push(format!("trace={hash}"));
        // Only named where it is not as usual.
        if !assume {
            parts.push("assume=off".to_owned());
        }
    }
    if let Some(time) = time {
        parts.push(format!("t={time}"));
    }
    parts.join("&")
}

/// Whether it can stand for the contents of a trace: sixteen hexadecimal digits.
fn is_hash(value: &str) -> bool {
    value.len() == 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn lanes(value: &str, settings: &mut Settings, troubles: &mut Vec<Trouble>) {
    let mut known = Vec::new();
    for id in value.split(',').filter(|id| !id.is_empty()) {
        if is_scheduler(id) {
            known.push(id.to_owned());
        } else {
            troubles.push(Trouble::UnknownScheduler(id.to_owned()));
        }
    }
    if known.len() > MOST_LANES {
        troubles.push(Trouble::TooManyLanes(known.len()));
        known.truncate(MOST_LANES);
    }
    if !known.is_empty() {
        settings.schedulers = known;
    }
}

fn number(field: Field, written: &str, link: &mut Link, troubles: &mut Vec<Trouble>) {
    // A link is not written by hand in a language: a dot is a dot.
    let Some(value) = written.parse::<f64>().ok().filter(|value| value.is_finite()) else {
        troubles.push(Trouble::Unreadable { field, written: written.to_owned() });
        return;
    };
    let used = field.nearest(value);
    if used != value {
        troubles.push(Trouble::OutOfRange { field, written: written.to_owned(), used });
    }
    let calculation = &mut link.calculation;
    match field {
        Field::Price => calculation.price = used,
        Field::Fleet => calculation.fleet = used,
        Field::Waste => calculation.share = used,
        Field::Hours => calculation.hours = used,
        _ => link.settings.set_number(field, used),
    }
}

fn source(value: &str) -> Option<WasteSource> {
    let lane = |text: &str| text.parse::<usize>().ok().filter(|lane| (1..=MOST_LANES).contains(lane));
    if let Some(text) = value.strip_prefix("lost") {
        return Some(WasteSource::Lost(lane(text)? - 1));
    }
    Some(WasteSource::Stalled(lane(value.strip_prefix("stall")?)? - 1))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn what_is_written_is_read_back() {
        let mut link = Link::default();
        link.settings.seed = 9_007_199_254_740_991;
        link.settings.load = 0.1 + 0.2;
        link.settings.sample = 30;
        link.settings.schedulers = vec!["ragp-io".to_owned(), "scalar-5d".to_owned()];
        link.calculation.currency = "EUR";
        link.calculation.price = 2.35;
        link.calculation.source = WasteSource::Lost(1);
        link.time = Some(43_200_000);
        let (read, troubles) = parse(&format!("#{}", format(&link)));
        assert_eq!(troubles, []);
        assert_eq!(read, link);
    }

    #[wasm_bindgen_test]
    fn whether_a_trace_runs_with_assumptions_is_read_back() {
        for assume in [true, false] {
            let trace = Some(LinkedTrace { hash: "0123456789abcdef".to_owned(), assume });
            let link = Link { trace, ..Link::default() };
            let written = format(&link);
            assert_eq!(written.contains("assume"), !assume, "{written}");
            assert_eq!(parse(&written), (link, vec![Trouble::WithoutTrace]));
        }
        // In any order, and never unsaid.
        let (link, troubles) = parse("assume=off&trace=0123456789abcdef");
        let hash = || "0123456789abcdef".to_owned();
        assert_eq!(link.trace, Some(LinkedTrace { hash: hash(), assume: false }));
        assert_eq!(troubles, [Trouble::WithoutTrace]);
        let (link, troubles) = parse("trace=0123456789abcdef&assume=perhaps");
        assert_eq!(link.trace, Some(LinkedTrace { hash: hash(), assume: true }));
        let unknown = Trouble::Unknown { key: "assume".to_owned(), written: "perhaps".to_owned() };
        assert_eq!(troubles, [Trouble::WithoutTrace, unknown]);
    }

    #[wasm_bindgen_test]
    fn no_fragment_is_the_first_visit() {
        assert_eq!(parse(""), (Link::default(), vec![]));
        assert_eq!(parse("#"), (Link::default(), vec![]));
    }

    #[wasm_bindgen_test]
    fn what_is_out_of_range_is_moved_and_said() {
        let (link, troubles) = parse("load=99&nodes=7.6&deg=-1");
        assert_eq!(link.settings.load, Field::Load.range().1);
        assert_eq!(link.settings.nodes, 8);
        assert_eq!(link.settings.degraded, 0.0);
        assert_eq!(troubles.len(), 3);
        assert!(troubles.iter().all(|trouble| matches!(trouble, Trouble::OutOfRange { .. })));
    }

    #[wasm_bindgen_test]
    fn what_cannot_be_read_stays_at_its_default_and_is_said() {
        let (link, troubles) = parse("s=zzz&p=nobody,ragp-io&seed=NaN&t=soon&what=is&from=lost9&cur=XXX&v=7");
        assert_eq!(link.settings.scenario, Settings::default().scenario);
        assert_eq!(link.settings.schedulers, ["ragp-io"]);
        assert_eq!(link.settings.seed, 42);
        assert_eq!(troubles.len(), 8);
    }

    #[wasm_bindgen_test]
    fn of_a_key_that_stands_twice_the_first_is_used_and_it_is_said() {
        let (link, troubles) = parse("s=a&nodes=8&nodes=16&s=b&s=c");
        assert_eq!((link.settings.scenario.as_str(), link.settings.nodes), ("a-balanced", 8));
        assert_eq!(troubles, ["nodes", "s"].map(|key| Trouble::Repeated(key.to_owned())));
    }

    #[wasm_bindgen_test]
    fn what_stands_for_a_trace_is_checked() {
        // Written back as it is, this would be another setting.
        for written in ["x%26nodes%3D9999", "abc", "0123456789abcdeg", ""] {
            let (link, troubles) = parse(&format!("trace={written}"));
            assert_eq!(link.trace, None, "{written}");
            assert_eq!(troubles.len(), 1, "{written}: {troubles:?}");
        }
    }

    #[wasm_bindgen_test]
    fn a_lane_that_is_not_there_is_no_source_of_waste() {
        let (link, troubles) = parse("p=ragp-io,scalar-5d&from=lost4");
        assert_eq!(link.calculation.source, WasteSource::Typed);
        assert_eq!(troubles, [Trouble::Unknown { key: "from".to_owned(), written: "lost4".to_owned() }]);
    }

    #[wasm_bindgen_test]
    fn damage_never_panics() {
        // Every way to cut a link short, and to overwrite one of its characters.
        let whole = format(&Link { time: Some(1), ..Link::default() });
        for end in 0..whole.len() {
            let (link, _) = parse(&whole[..end]);
            assert!(Field::Load.allows(link.settings.load));
        }
        for at in 0..whole.len() {
            for with in ["%", "=", "&", ",", "-", "9", "\u{fc}"] {
                let (link, _) = parse(&format!("{}{with}{}", &whole[..at], &whole[at + 1..]));
                for field in Field::OF_RUN {
                    assert!(field.allows(link.settings.number(field)), "{field:?}");
                }
                assert!((1..=MOST_LANES).contains(&link.settings.schedulers.len()));
            }
        }
    }

    #[wasm_bindgen_test]
    fn a_preset_is_found_by_its_letter_too() {
        let (link, troubles) = parse("s=c");
        assert_eq!(troubles, []);
        assert_eq!(link.settings.scenario, "c-storage-stress");
    }
}
