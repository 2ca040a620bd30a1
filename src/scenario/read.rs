//! From TOML to a [`Scenario`]: layer upon layer, every problem gathered.
//!
//! A layer is flattened to leaves – dotted path and value – and each leaf finds its key in the schema. So a file, a
//! preset and an override go the same way.

use toml::{Table, Value};

use crate::scenario::field::{Bounds, Field};
use crate::scenario::schema::{CLASS_KEYS, KEYS, Key, NODE_TYPE_KEYS};
use crate::scenario::{ClassSpec, Issue, Issues, MODEL, NodeTypeSpec, Scenario, check, suggest};
use crate::schedulers::{self, Knob};

/// A dotted path and what is written there.
struct Leaf {
    path: Vec<String>,
    value: Value,
}

impl Leaf {
    fn dotted(&self) -> String {
        self.path.join(".")
    }
}

/// More values than any scenario has: 255 classes and 64 node types with all their keys are half of it.
const MOST_VALUES: usize = 10_000;

/// More presets than anybody reads; each is checked.
const MOST_PRESETS: usize = 64;

/// Reads everything and checks it; the cluster that it describes only if it is the one that will run.
pub(super) fn scenario(
    text: &str,
    overrides: &[(String, String)],
    has_own_cluster: bool,
) -> Result<Scenario, Issues> {
    let mut issues = Vec::new();
    let mut scenario = model();
    let known = Known::of(&scenario);

    let mut file = match text.parse::<Table>() {
        Ok(table) => flatten(table),
        Err(error) => {
            issues.push(syntax_issue(text, &error));
            Vec::new()
        }
    };
    if file.len() > MOST_VALUES {
        return Err(Issue::new(
            "file",
            format!("{} values", file.len()),
            format!("at most {MOST_VALUES} values"),
            "This is no scenario file",
        )
        .into());
    }
    let preset_leaves = take_presets(&mut file, &mut issues);
    scenario.given = paths(&file);
    apply(&mut scenario, &file, &mut issues);

    let overrides = override_leaves(overrides, &mut issues);
    // An override may choose the preset, but the preset comes before it.
    for leaf in overrides.iter().filter(|leaf| leaf.dotted() == "preset") {
        if let Some(name) = leaf.value.as_str() {
            name.clone_into(&mut scenario.preset);
        }
    }
    for (name, leaves) in &preset_leaves {
        let settings = leaves.iter().map(|leaf| (leaf.dotted(), leaf.value.to_string())).collect();
        scenario.presets.push((name.clone(), settings));
    }
    check_presets(&scenario, &preset_leaves, &mut issues);
    apply_preset(&mut scenario, &preset_leaves, &mut issues);

    apply(&mut scenario, &overrides, &mut issues);
    rescale(&mut scenario, &overrides);
    find_missing(&scenario, &known, &mut issues);
    check::cross(&scenario, has_own_cluster, &mut issues);
    if issues.is_empty() { Ok(scenario) } else { Err(Issues(issues)) }
}

/// Keys of the file itself that take any text.
const WORDS: [&str; 3] = ["title", "about", "preset"];

/// Paths of settings, without what is only said of them.
fn paths(leaves: &[Leaf]) -> Vec<String> {
    leaves.iter().map(Leaf::dotted).filter(|path| !WORDS.contains(&path.as_str())).collect()
}

/// Whether any text is allowed at that path.
fn is_text(path: &[String]) -> bool {
    match path {
        [key] => WORDS.contains(&key.as_str()),
        [section, _, key] => ["node_types", "classes"].contains(&section.as_str()) && key == "title",
        _ => false,
    }
}

/// The shared model. It is part of the program, and a test holds it complete and right.
pub(super) fn model() -> Scenario {
    let mut scenario = Scenario::blank();
    let leaves = MODEL.parse::<Table>().map(flatten).unwrap_or_default();
    let mut issues = Vec::new();
    // Here new node types and classes are the rule.
    apply(&mut scenario, &leaves, &mut issues);
    debug_assert!(issues.is_empty(), "the shared model is wrong: {}", Issues(issues));
    scenario
}

fn syntax_issue(text: &str, error: &toml::de::Error) -> Issue {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let written = text.lines().nth(line - 1).unwrap_or_default().trim();
    let reason = error.message().lines().next().unwrap_or_default();
    Issue::new(
        format!("line {line}, column {column}"),
        written,
        "TOML",
        format!("It cannot be read here ({reason}); nothing else of the file was checked"),
    )
}

/// Every value with its whole path. An empty table is a leaf too, so that a misspelt section is noticed.
fn flatten(table: Table) -> Vec<Leaf> {
    fn descend(path: &mut Vec<String>, table: Table, leaves: &mut Vec<Leaf>) {
        for (key, value) in table {
            path.push(key);
            match value {
                Value::Table(inner) if !inner.is_empty() => descend(path, inner, leaves),
                value => leaves.push(Leaf { path: path.clone(), value }),
            }
            path.pop();
        }
    }
    let mut leaves = Vec::new();
    descend(&mut Vec::new(), table, &mut leaves);
    leaves
}

/// Parses what stands after `--set`.
fn override_leaves(overrides: &[(String, String)], issues: &mut Vec<Issue>) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for (path, text) in overrides {
        let path: Vec<String> = path.split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            issues.push(Issue::new(
                path.join("."),
                text,
                "a dotted path such as load or rebuilds.mean_hours",
                "Write --set KEY=VALUE; `residua list` names the keys",
            ));
            continue;
        }
        // What is no TOML value is a bare word.
        let word = text.trim();
        // A whole number that is too long for one is a number still.
        let long = || {
            Some(word)
                .filter(|word| word.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
                .and_then(|word| word.parse().ok())
        };
        let value = word.parse::<Value>().ok().or_else(|| long().map(Value::Float));
        // Where any text is allowed, only quotes are TOML: a preset may be called 2024.
        let value = value.filter(|value| value.is_str() || !is_text(&path));
        let value = value.unwrap_or_else(|| Value::String(word.to_owned()));
        match value {
            Value::Table(table) if !table.is_empty() => {
                for leaf in flatten(table) {
                    leaves.push(Leaf { path: path.iter().cloned().chain(leaf.path).collect(), value: leaf.value });
                }
            }
            value => leaves.push(Leaf { path, value }),
        }
    }
    leaves
}

/// Takes `presets.NAME.…` out of a file's leaves.
fn take_presets(file: &mut Vec<Leaf>, issues: &mut Vec<Issue>) -> Vec<(String, Vec<Leaf>)> {
    let mut presets: Vec<(String, Vec<Leaf>)> = Vec::new();
    let mut is_full = false;
    for leaf in core::mem::take(file) {
        match leaf.path.as_slice() {
            [first, name, rest @ ..] if first == "presets" && !rest.is_empty() => {
                let inner = Leaf { path: rest.to_vec(), value: leaf.value };
                match presets.iter().position(|(known, _)| known == name) {
                    Some(position) => presets[position].1.push(inner),
                    None if presets.len() < MOST_PRESETS => presets.push((name.clone(), vec![inner])),
                    None if is_full => {}
                    None => {
                        is_full = true;
                        let allowed = format!("at most {MOST_PRESETS} presets");
                        issues.push(Issue::new(format!("presets.{name}"), "", allowed, "Leave some out"));
                    }
                }
            }
            [first, name] if first == "presets" && leaf.value.as_table().is_some_and(Table::is_empty) => {
                let allowed = "a table of settings; this one is empty";
                issues.push(Issue::new(format!("presets.{name}"), "{}", allowed, "Give it settings, or remove it"));
            }
            [first, ..] if first == "presets" => issues.push(Issue::new(
                leaf.dotted(),
                leaf.value.to_string(),
                "a table of settings",
                "Write e.g. [presets.hot] and below it load = 0.85",
            )),
            _ => file.push(leaf),
        }
    }
    presets
}

/// Finds the problems of every preset, whichever is chosen.
fn check_presets(scenario: &Scenario, presets: &[(String, Vec<Leaf>)], issues: &mut Vec<Issue>) {
    for (name, leaves) in presets {
        let mut found = Vec::new();
        let mut copy = scenario.clone();
        if let Some(leaf) = leaves.iter().find(|leaf| leaf.dotted() == "preset") {
            let value = leaf.value.to_string();
            found.push(Issue::new("preset", value, "no preset inside a preset", "Remove it"));
        }
        apply(&mut copy, leaves, &mut found);
        issues
            .extend(found.into_iter().map(|issue| Issue { path: format!("presets.{name}.{}", issue.path), ..issue }));
    }
}

fn apply_preset(scenario: &mut Scenario, presets: &[(String, Vec<Leaf>)], issues: &mut Vec<Issue>) {
    if scenario.preset.is_empty() {
        return;
    }
    let chosen = scenario.preset.clone();
    let Some((_, leaves)) = presets.iter().find(|(name, _)| *name == chosen) else {
        let names: Vec<_> = presets.iter().map(|(name, _)| name.as_str()).collect();
        let allowed = if names.is_empty() { "no preset: the file has none".to_owned() } else { names.join(" or ") };
        let remedy = suggest::hint(&chosen, names, "Choose one of the file's [presets], or leave it out");
        issues.push(Issue::new("preset", chosen, allowed, remedy));
        return;
    };
    // Its problems were found before.
    apply(scenario, leaves, &mut Vec::new());
    let more: Vec<String> = paths(leaves).into_iter().filter(|path| !scenario.given.contains(path)).collect();
    scenario.given.extend(more);
    rescale(scenario, leaves);
    scenario.preset = chosen;
}

/// Takes every leaf over where it is right; notes an issue where it is not.
fn apply(scenario: &mut Scenario, leaves: &[Leaf], issues: &mut Vec<Issue>) {
    for leaf in leaves {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            // Else a key could be given twice, as a.b and as "a.b".
            parts if parts.iter().any(|part| part.contains('.')) => issues.push(Issue::new(
                leaf.dotted(),
                leaf.value.to_string(),
                "a key without quotes around its dots",
                "Write the dots outside of quotation marks, or none: rebuilds.mean_hours = 3",
            )),
            // Named and empty: what it lacks is found with the others.
            [section @ ("node_types" | "classes"), id] if leaf.value.as_table().is_some_and(Table::is_empty) => {
                let outcome = if *section == "classes" {
                    entry(&mut scenario.classes, id, |item| &item.id, ClassSpec::blank).map(|_| ())
                } else {
                    entry(&mut scenario.node_types, id, |item| &item.id, NodeTypeSpec::blank).map(|_| ())
                };
                if let Err(remedy) = outcome {
                    refuse_id(leaf, id, remedy, issues);
                }
            }
            ["node_types", id, key] => {
                match entry(&mut scenario.node_types, id, |item| &item.id, NodeTypeSpec::blank) {
                    Ok(node_type) => assign_in(NODE_TYPE_KEYS, node_type, key, leaf, issues),
                    Err(remedy) => refuse_id(leaf, id, remedy, issues),
                }
            }
            ["classes", id, key] => match entry(&mut scenario.classes, id, |item| &item.id, ClassSpec::blank) {
                Ok(class) => assign_in(CLASS_KEYS, class, key, leaf, issues),
                Err(remedy) => refuse_id(leaf, id, remedy, issues),
            },
            // No part of a preset, and `--set` reaches into none.
            ["presets", name, ..] => issues.push(Issue::new(
                leaf.dotted(),
                leaf.value.to_string(),
                "presets are written in a scenario file",
                format!("Set the key itself, or choose the preset by --preset {name}"),
            )),
            _ => assign_at_root(scenario, leaf, issues),
        }
    }
}

/// A node type or class that cannot be. Of those that are too many the first is enough, and of each one key.
fn refuse_id(leaf: &Leaf, id: &str, remedy: &str, issues: &mut Vec<Issue>) {
    let path = leaf.path.iter().take(2).cloned().collect::<Vec<_>>().join(".");
    let issue = Issue::new(path, id, ID_ALLOWED, remedy);
    let is_same = |known: &Issue| known.remedy == issue.remedy && (remedy == LEAVE_OUT || known.path == issue.path);
    if !issues.iter().any(|known| known.allowed == issue.allowed && is_same(known)) {
        issues.push(issue);
    }
}

const LEAVE_OUT: &str = "Leave some out";

const ID_ALLOWED: &str = "1 to 32 letters, digits, - and _; at most 64 node types and 255 classes";

/// The item of that id, made if there is none.
fn entry<'a, T>(
    items: &'a mut Vec<T>,
    id: &str,
    id_of: fn(&T) -> &String,
    blank: fn(&str) -> T,
) -> Result<&'a mut T, &'static str> {
    // Both kinds are counted in a byte; node types are also bits of a 64-bit mask, which `check` holds them to.
    const MOST: usize = 255;
    let position = items.iter().position(|item| id_of(item) == id);
    let position = match position {
        Some(position) => position,
        None => {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
            if id.is_empty() || id.len() > 32 || !id.chars().all(plain) {
                return Err("Choose another name");
            }
            if items.len() >= MOST {
                return Err(LEAVE_OUT);
            }
            items.push(blank(id));
            items.len() - 1
        }
    };
    Ok(&mut items[position])
}

fn assign_in<S>(keys: &[Key<S>], owner: &mut S, name: &str, leaf: &Leaf, issues: &mut Vec<Issue>) {
    match keys.iter().find(|key| key.path == name) {
        Some(key) => assign((key.write)(owner), &key.bounds, leaf, issues),
        None => {
            let parent = leaf.path[..leaf.path.len() - 1].join(".");
            let known: Vec<_> = keys.iter().map(|key| format!("{parent}.{}", key.path)).collect();
            let names: Vec<_> = keys.iter().map(|key| key.path).collect();
            issues.push(Issue::new(
                leaf.dotted(),
                leaf.value.to_string(),
                format!("one of the keys {}", names.join(", ")),
                suggest::hint(&leaf.dotted(), known.iter().map(String::as_str), "There is no such key: remove it"),
            ));
        }
    }
}

fn assign(field: &mut dyn Field, bounds: &Bounds, leaf: &Leaf, issues: &mut Vec<Issue>) {
    if let Err(refusal) = field.assign(&leaf.value, bounds) {
        issues.push(Issue::new(leaf.dotted(), leaf.value.to_string(), refusal.allowed, refusal.remedy));
    }
}

fn find_knob(key: &str) -> Option<&'static Knob> {
    schedulers::ROSTER.iter().flat_map(|card| card.knobs).find(|knob| knob.key == key)
}

fn assign_at_root(scenario: &mut Scenario, leaf: &Leaf, issues: &mut Vec<Issue>) {
    let dotted = leaf.dotted();
    if let Some(key) = KEYS.iter().find(|key| key.path == dotted) {
        return assign((key.write)(scenario), &key.bounds, leaf, issues);
    }
    if let Some(knob) = dotted.strip_prefix("scheduler.").and_then(find_knob) {
        let mut value = knob.default;
        let before = issues.len();
        assign(&mut value, &Bounds { range: knob.range, unit: "" }, leaf, issues);
        if issues.len() == before {
            scenario.scheduler.knobs.insert(knob.key.to_owned(), value);
        }
        return;
    }
    issues.extend(unknown(scenario, leaf));
}

/// What is wrong with a path that is no key; nothing if it is an empty section.
fn unknown(scenario: &Scenario, leaf: &Leaf) -> Option<Issue> {
    let dotted = leaf.dotted();
    let value = leaf.value.to_string();
    let known: Vec<String> = scenario.settings().into_iter().map(|(path, _)| path).collect();
    let below = format!("{dotted}.");
    if known.iter().any(|path| path.starts_with(&below)) || dotted == "classes" || dotted == "node_types" {
        if leaf.value.is_table() {
            return None;
        }
        let names: Vec<_> = known.iter().filter_map(|path| path.strip_prefix(&below)).take(6).collect();
        return Some(Issue::new(
            &dotted,
            value,
            format!("a section with keys such as {}", names.join(", ")),
            format!("Set its keys one by one, e.g. {dotted}.{}", names.first().unwrap_or(&"KEY")),
        ));
    }
    if let Some(scalar) = known.iter().find(|path| dotted.starts_with(&format!("{path}."))) {
        return Some(Issue::new(&dotted, value, format!("one value at {scalar}"), format!("Write {scalar} = VALUE")));
    }
    let hint = suggest::hint(
        &dotted,
        known.iter().map(String::as_str),
        "There is no such key: remove it, or see `residua list` for all keys",
    );
    Some(Issue::new(&dotted, value, "the keys of a scenario file; this is none of them", hint))
}

/// Shares may miss 1 by so much: they are written with so many digits.
pub(super) const SHARES_OFF: f64 = 1e-6;

/// Where a layer above the file sets the shares of some node types or classes, the others are scaled to what is left,
/// so that one share can be changed alone.
fn rescale(scenario: &mut Scenario, layer: &[Leaf]) {
    fn fill<T>(layer: &[Leaf], section: &str, items: &mut [T], id: fn(&T) -> &String, share: fn(&mut T) -> &mut f64) {
        let is_set = |item: &T| {
            layer.iter().any(|leaf| {
                leaf.path.len() == 3
                    && leaf.path[0] == section
                    && leaf.path[1] == *id(item)
                    && leaf.path[2] == "share"
            })
        };
        if !items.iter().any(&is_set) {
            return;
        }
        let (mut set, mut rest) = (0.0, 0.0);
        for item in items.iter_mut() {
            *(if is_set(item) { &mut set } else { &mut rest }) += *share(item);
        }
        // NaN, a share that is missing, fails the comparisons too.
        if !(set <= 1.0 + SHARES_OFF && rest > 0.0) {
            return;
        }
        for item in items.iter_mut().filter(|item| !is_set(item)) {
            *share(item) *= (1.0 - set).max(0.0) / rest;
        }
    }
    fill(layer, "node_types", &mut scenario.node_types, |item| &item.id, |item| &mut item.share);
    fill(layer, "classes", &mut scenario.classes, |item| &item.id, |item| &mut item.share);
}

/// Names that the shared model gives.
struct Known {
    node_types: Vec<String>,
    classes: Vec<String>,
}

impl Known {
    fn of(model: &Scenario) -> Self {
        Self {
            node_types: model.node_types.iter().map(|item| item.id.clone()).collect(),
            classes: model.classes.iter().map(|item| item.id.clone()).collect(),
        }
    }
}

/// New node types and classes have no defaults for what makes them.
fn find_missing(scenario: &Scenario, known: &Known, issues: &mut Vec<Issue>) {
    fn missing<S>(keys: &[Key<S>], owner: &S) -> Vec<&'static str> {
        keys.iter().filter(|key| (key.read)(owner).is_missing()).map(|key| key.path).collect()
    }
    let mut report = |section: &str, id: &str, keys: Vec<&str>, known: &[String]| {
        // A key that was given but refused has its issue already.
        let prefix = format!("{section}.{id}.");
        let keys: Vec<_> = keys
            .into_iter()
            .filter(|key| !issues.iter().any(|issue| issue.path.strip_prefix(&prefix) == Some(*key)))
            .collect();
        if keys.is_empty() {
            return;
        }
        let otherwise = "Give these keys, or remove it".to_owned();
        let remedy = suggest::nearest(id, known.iter().map(String::as_str))
            .map_or(otherwise.clone(), |name| format!("Did you mean `{section}.{name}`? {otherwise}"));
        let allowed = format!("a known one, or a new one with all of its keys; missing: {}", keys.join(", "));
        issues.push(Issue::new(format!("{section}.{id}"), "", allowed, remedy));
    };
    for item in &scenario.node_types {
        report("node_types", &item.id, missing(NODE_TYPE_KEYS, item), &known.node_types);
    }
    for item in &scenario.classes {
        report("classes", &item.id, missing(CLASS_KEYS, item), &known.classes);
    }
}
