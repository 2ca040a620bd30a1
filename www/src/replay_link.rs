//! The state of the replay in the fragment of its address, and back. Values are checked as those of the Lab are: what
//! is out of range is moved, what cannot be read stays as it was, and both are said.

use crate::fragment;
use residua::replay::find;
use residua::schedulers::{Arena, Entry, replay_entries};

/// Version of the form of links.
const VERSION: &str = "1";

/// Orders of our own are drawn from the seeds 1 to this.
pub const MOST_SEED: u64 = 10;

/// Demand arrived goes up to so many percent.
pub const MOST_PERCENT: u32 = 130;

/// Which orders of arrival are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one drawn from this seed.
    Seed(u64),
    /// All seeds, and their means.
    All,
    /// The one of the file.
    File,
}

/// What the replay is set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Roster ids of the policies that are switched off.
    pub off: Vec<String>,
    /// Whether the Lab's schedulers run too.
    pub extra: bool,
    /// Whether figures and nodes show ties broken at random.
    pub random_ties: bool,
    /// Whether the other kind of ties runs as well, for the ranking.
    pub both: bool,
    /// The orders.
    pub choice: Choice,
    /// Roster id of the policy whose nodes are shown.
    pub shown: String,
    /// Percent arrived at which nodes are shown; `None`: as far as the run is.
    pub moment: Option<u32>,
    /// Whether figures show only where policies part.
    pub close: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            off: Vec::new(),
            extra: false,
            random_ties: false,
            both: false,
            choice: Choice::Seed(1),
            shown: "fgd-paper".to_owned(),
            moment: None,
            close: false,
        }
    }
}

impl Settings {
    /// The policies on offer.
    pub fn offered(&self) -> Vec<Entry> {
        replay_entries().filter(|entry| self.extra || entry.card.arena == Arena::Replay).collect()
    }

    /// The policies that run.
    pub fn policies(&self) -> Vec<Entry> {
        self.offered().into_iter().filter(|entry| !self.off.contains(&entry.id())).collect()
    }
}

/// The files that a link was made with: the workload's name, and what stands for their contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    pub workload: String,
    pub hash: u64,
}

/// Everything that a link restores.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Link {
    pub settings: Settings,
    pub made: Option<Made>,
}

/// Something in a link that could not be taken as it stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// A number outside its range: key, what was written, least, most, what is used.
    OutOfRange { key: String, written: String, least: u64, most: u64, used: u64 },
    /// No such policy.
    UnknownPolicy(String),
    /// A key this version does not know, or a value that is none.
    Unknown { key: String, written: String },
    /// A key that stands more than once; its first value is used.
    Repeated(String),
    /// Made by another version.
    OtherVersion(String),
}

/// Reads a fragment, with or without its `#`.
pub fn parse(fragment: &str) -> (Link, Vec<Trouble>) {
    let mut troubles = Vec::new();
    let mut link = Link::default();
    let (pairs, repeated) = fragment::pairs(fragment);
    troubles.extend(repeated.into_iter().map(Trouble::Repeated));
    let value = |wanted: &str| pairs.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str());
    // First, because it decides which policies there are.
    link.settings.extra = value("x") == Some("1");
    for (key, value) in &pairs {
        let unknown = || Trouble::Unknown { key: key.clone(), written: value.clone() };
        let settings = &mut link.settings;
        match (key.as_str(), value.as_str()) {
            ("v", VERSION) | ("x", "0" | "1") => {}
            ("v", other) => troubles.push(Trouble::OtherVersion(other.to_owned())),
            ("p", list) => policies(list, settings, &mut troubles),
            ("ties", "fixed") => settings.random_ties = false,
            ("ties", "random") => settings.random_ties = true,
            ("both", "0" | "1") => settings.both = value == "1",
            ("o", "all") => settings.choice = Choice::All,
            ("o", "file") => settings.choice = Choice::File,
            ("o", written) => match ranged(key, written, 1, MOST_SEED, &mut troubles) {
                Some(seed) => settings.choice = Choice::Seed(seed),
                None => troubles.push(unknown()),
            },
            ("n", name) => match find(name).map(|entry| entry.id()) {
                Some(id) => settings.shown = id,
                None => troubles.push(Trouble::UnknownPolicy(name.to_owned())),
            },
            ("t", written) => match ranged(key, written, 0, MOST_PERCENT.into(), &mut troubles) {
                Some(percent) => settings.moment = Some(percent as u32),
                None => troubles.push(unknown()),
            },
            ("z", "0" | "1") => settings.close = value == "1",
            ("w", written) => match made(written) {
                Some(made) => link.made = Some(made),
                None => troubles.push(unknown()),
            },
            _ => troubles.push(unknown()),
        }
    }
    let settings = &mut link.settings;
    if !settings.policies().iter().any(|entry| entry.id() == settings.shown) {
        settings.shown = settings.policies().last().map_or_else(String::new, Entry::id);
    }
    // What bears on the run comes before what means nothing.
    troubles.sort_by_key(|trouble| matches!(trouble, Trouble::Unknown { .. }));
    (link, troubles)
}

/// The fragment that [`parse`] reads back to `link`, without its `#`.
pub fn format(link: &Link) -> String {
    let (settings, usual) = (&link.settings, Settings::default());
    let mut parts = vec![format!("v={VERSION}")];
    if let Some(made) = &link.made {
        parts.push(format!("w={}:{:016x}", fragment::encoded(&made.workload), made.hash));
    }
    if settings.extra {
        parts.push("x=1".to_owned());
    }
    if !settings.off.is_empty() {
        let on: Vec<String> = settings.policies().iter().map(Entry::id).collect();
        parts.push(format!("p={}", on.join(",")));
    }
    if settings.random_ties {
        parts.push("ties=random".to_owned());
    }
    if settings.both {
        parts.push("both=1".to_owned());
    }
    match settings.choice {
        Choice::Seed(1) => {}
        Choice::Seed(seed) => parts.push(format!("o={seed}")),
        Choice::All => parts.push("o=all".to_owned()),
        Choice::File => parts.push("o=file".to_owned()),
    }
    if settings.shown != usual.shown {
        parts.push(format!("n={}", settings.shown));
    }
    if let Some(percent) = settings.moment {
        parts.push(format!("t={percent}"));
    }
    if settings.close {
        parts.push("z=1".to_owned());
    }
    parts.join("&")
}

/// A whole number, moved into its range; `None` if it is none.
fn ranged(key: &str, written: &str, least: u64, most: u64, troubles: &mut Vec<Trouble>) -> Option<u64> {
    let value = written.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let used = (value.round().max(least as f64) as u64).min(most);
    if used as f64 != value {
        let (key, written) = (key.to_owned(), written.to_owned());
        troubles.push(Trouble::OutOfRange { key, written, least, most, used });
    }
    Some(used)
}

/// Switches off all that a list does not name. A list that names nobody known changes nothing.
fn policies(list: &str, settings: &mut Settings, troubles: &mut Vec<Trouble>) {
    let mut on = Vec::new();
    for name in list.split(',').filter(|name| !name.is_empty()) {
        match find(name).map(|entry| entry.id()) {
            Some(id) => on.push(id),
            None => troubles.push(Trouble::UnknownPolicy(name.to_owned())),
        }
    }
    let off: Vec<String> = settings.offered().iter().map(Entry::id).filter(|id| !on.contains(id)).collect();
    if off.len() < settings.offered().len() {
        settings.off = off;
    }
}

/// `default:0123456789abcdef`.
fn made(written: &str) -> Option<Made> {
    let (workload, hash) = written.rsplit_once(':')?;
    let hash = u64::from_str_radix(hash, 16).ok()?;
    // It is only shown; a long one would push everything else away.
    Some(Made { workload: workload.chars().take(60).collect(), hash })
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn full() -> Link {
        Link {
            settings: Settings {
                off: vec!["random-paper".to_owned(), "scalar-3d".to_owned()],
                extra: true,
                random_ties: true,
                both: true,
                choice: Choice::Seed(7),
                shown: "ragp-3d".to_owned(),
                moment: Some(100),
                close: true,
            },
            made: Some(Made { workload: "pods & más".to_owned(), hash: 0xfedc_ba98_7654_3210 }),
        }
    }

    #[wasm_bindgen_test]
    fn what_is_written_is_read_back() {
        for choice in [Choice::Seed(1), Choice::Seed(10), Choice::All, Choice::File] {
            let mut link = full();
            link.settings.choice = choice;
            let (read, troubles) = parse(&format!("#{}", format(&link)));
            assert_eq!(troubles, []);
            assert_eq!(read, link);
        }
        assert_eq!(parse(&format(&Link::default())), (Link::default(), vec![]));
        assert_eq!(parse(""), (Link::default(), vec![]));
    }

    #[wasm_bindgen_test]
    fn what_is_out_of_range_is_moved_and_said() {
        let (link, troubles) = parse("o=11&t=-4");
        assert_eq!(link.settings.choice, Choice::Seed(10));
        assert_eq!(link.settings.moment, Some(0));
        assert_eq!(troubles.len(), 2);
        assert!(troubles.iter().all(|trouble| matches!(trouble, Trouble::OutOfRange { .. })));
        assert_eq!(parse("t=99.6").0.settings.moment, Some(100));
    }

    #[wasm_bindgen_test]
    fn what_cannot_be_read_stays_as_it_was_and_is_said() {
        let (link, troubles) = parse("v=9&o=x&t=soon&ties=maybe&n=nobody&p=me,you&w=x&what=is&both=2&x=7");
        assert_eq!(link, Link::default());
        assert_eq!(troubles.len(), 11);
    }

    #[wasm_bindgen_test]
    fn a_policy_that_does_not_run_is_not_shown() {
        let (link, _) = parse("p=FGD,BestFit&n=DotProd");
        assert!(link.settings.policies().iter().any(|entry| entry.id() == link.settings.shown));
        let (link, _) = parse("n=ragp-3d");
        assert_eq!(link.settings.shown, "fgd-paper", "without the extra rows there is none");
    }

    #[wasm_bindgen_test]
    fn damage_never_panics() {
        let whole = format(&full());
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            _ = parse(&whole[..end]);
        }
        for at in 0..whole.len() {
            for with in ["%", "=", "&", ",", "-", "9", ":", "\u{fc}"] {
                let (link, _) = parse(&format!("{}{with}{}", &whole[..at], &whole[at + 1..]));
                assert!(!link.settings.policies().is_empty());
                assert!(link.settings.moment.is_none_or(|percent| percent <= MOST_PERCENT));
            }
        }
    }
}
