//! The scenarios that come with the program.

/// A scenario file that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name of the file without its ending, e.g. `c-storage-stress`.
    pub id: &'static str,
    /// Name for people; the same as the file's `title`.
    pub title: &'static str,
    /// The file.
    pub text: &'static str,
}

/// All of them, in the order in which they teach.
pub const PRESETS: &[Preset] = &[
    Preset { id: "a-balanced", title: "A: balanced", text: include_str!("../../scenarios/a-balanced.toml") },
    Preset { id: "b-bursty", title: "B: bursty", text: include_str!("../../scenarios/b-bursty.toml") },
    Preset {
        id: "c-storage-stress",
        title: "C: storage stress",
        text: include_str!("../../scenarios/c-storage-stress.toml"),
    },
    Preset { id: "d-breathing", title: "D: breathing", text: include_str!("../../scenarios/d-breathing.toml") },
];

/// The shared model: every key with its default value and its source. A scenario file says what differs from it.
pub const MODEL: &str = include_str!("../../scenarios/model.toml");

/// What a run on a trace starts from when no scenario is named.
pub const TRACE: &str = include_str!("../../scenarios/trace.toml");

/// The preset of that name: its id, its letter (`c`), or its file's name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Preset> {
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.strip_suffix(".toml").unwrap_or(stem);
    PRESETS.iter().find(|preset| {
        let letter = preset.id.split('-').next().unwrap_or(preset.id);
        preset.id.eq_ignore_ascii_case(stem) || letter.eq_ignore_ascii_case(stem)
    })
}
