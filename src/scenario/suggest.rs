//! "Did you mean": the known name nearest to what was written.

/// The known name nearest to `written`, if one is near enough to be meant. Names are dotted paths; a right last part
/// in the wrong section is near.
pub(super) fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Below this likeness a hint misleads more than it helps (found by trying typical slips).
    const NEAR: f64 = 0.6;
    // Distances are quadratic in length, and no known name is this long.
    if written.len() > 200 {
        return None;
    }
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in known {
        let whole = strsim::normalized_damerau_levenshtein(&written.to_lowercase(), &name.to_lowercase());
        // A little less, so that a likeness in every part wins.
        let part = strsim::normalized_damerau_levenshtein(&last(written), &last(name)) * 0.9;
        let likeness = whole.max(part);
        if likeness >= NEAR && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}

/// "Did you mean `x`?", or `otherwise`.
pub(super) fn hint<'a>(written: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    nearest(written, known).map_or_else(|| otherwise.to_owned(), |name| format!("Did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typical_slips_find_their_name() {
        let known = ["load", "nodes", "rebuilds.degraded_share", "queue.window", "telemetry.noise"];
        let find = |written| nearest(written, known);
        assert_eq!(find("laod"), Some("load"));
        assert_eq!(find("node"), Some("nodes"));
        assert_eq!(find("degraded_share"), Some("rebuilds.degraded_share"));
        assert_eq!(find("rebuild.degradedshare"), Some("rebuilds.degraded_share"));
        assert_eq!(find("queue.windw"), Some("queue.window"));
        assert_eq!(find("colour"), None);
        assert_eq!(find(""), None);
    }
}
