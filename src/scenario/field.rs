//! How one value of a scenario is read from TOML, checked, and shown again: one implementation a type of value.

use std::collections::BTreeMap;

use toml::Value;

use crate::engine::setup::{OutOfMemory, Sharing};
use crate::resources::{Dim, DimMask};
use crate::scenario::Discipline;

/// Why a value was refused.
pub(super) struct Refusal {
    /// What is allowed instead.
    pub allowed: String,
    /// What to do.
    pub remedy: String,
}

/// What a field needs to know of its key.
pub(super) struct Bounds {
    /// Smallest and largest number.
    pub range: (f64, f64),
    /// Unit of the number.
    pub unit: &'static str,
}

impl Bounds {
    /// `0.05 to 1.5 (share of all GPUs)`.
    pub fn text(&self) -> String {
        let (low, high) = self.range;
        if self.unit.is_empty() { format!("{low} to {high}") } else { format!("{low} to {high} ({})", self.unit) }
    }

    fn refuse(&self, remedy: &str) -> Refusal {
        Refusal { allowed: self.text(), remedy: remedy.to_owned() }
    }
}

/// What kind of value a key takes; a page chooses its control by it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Any number in the range.
    Number,
    /// A whole number in the range.
    Count,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Words(Vec<String>),
    /// Any text.
    Text,
    /// A list of dimensions, or `"own"` for those of the scheduler's name.
    Dims,
    /// A list of pairs `[tasks, probability]`.
    Gang,
}

/// A value of a scenario that has a key.
pub(super) trait Field {
    /// Takes the value over if it is allowed; else stays as it is.
    fn assign(&mut self, value: &Value, bounds: &Bounds) -> Result<(), Refusal>;

    /// The value as it would be written.
    fn show(&self) -> Value;

    /// What kind of value it is.
    fn form(&self) -> Form;

    /// What is allowed, for people.
    fn allowed(&self, bounds: &Bounds) -> String {
        match self.form() {
            Form::Number | Form::Count => bounds.text(),
            Form::Flag => "true or false".to_owned(),
            Form::Words(words) => words.join(" or "),
            Form::Text => "text".to_owned(),
            Form::Dims => DIMS_ALLOWED.to_owned(),
            Form::Gang => GANG_ALLOWED.to_owned(),
        }
    }

    /// Whether it was never given: only keys without a default start so.
    fn is_missing(&self) -> bool {
        false
    }
}

impl Field for f64 {
    fn assign(&mut self, value: &Value, bounds: &Bounds) -> Result<(), Refusal> {
        let number = match value {
            Value::Float(number) => *number,
            Value::Integer(number) => *number as f64,
            Value::String(_) => return Err(bounds.refuse("Write a number, in a file without quotes")),
            _ => return Err(bounds.refuse("Write a number")),
        };
        // NaN fails both comparisons.
        if !(number >= bounds.range.0 && number <= bounds.range.1) {
            return Err(bounds.refuse("Choose a value in this range"));
        }
        *self = number;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::Float(*self)
    }

    fn form(&self) -> Form {
        Form::Number
    }

    fn is_missing(&self) -> bool {
        self.is_nan()
    }
}

impl Field for u32 {
    fn assign(&mut self, value: &Value, bounds: &Bounds) -> Result<(), Refusal> {
        let number = match value {
            Value::Integer(number) => number,
            Value::String(_) => return Err(bounds.refuse("Write a whole number, in a file without quotes")),
            _ => return Err(bounds.refuse("Write a whole number in this range")),
        };
        if (*number as f64) < bounds.range.0 || (*number as f64) > bounds.range.1 {
            return Err(bounds.refuse("Choose a whole number in this range"));
        }
        *self = u32::try_from(*number).map_err(|_| bounds.refuse("Choose a whole number in this range"))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::Integer(i64::from(*self))
    }

    fn form(&self) -> Form {
        Form::Count
    }
}

impl Field for bool {
    fn assign(&mut self, value: &Value, _: &Bounds) -> Result<(), Refusal> {
        *self = value.as_bool().ok_or_else(|| Refusal {
            allowed: "true or false".to_owned(),
            remedy: "Write true or false, in a file without quotes".to_owned(),
        })?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::Boolean(*self)
    }

    fn form(&self) -> Form {
        Form::Flag
    }
}

impl Field for String {
    fn assign(&mut self, value: &Value, _: &Bounds) -> Result<(), Refusal> {
        const MOST: usize = 4000;
        let refuse =
            |remedy: &str| Refusal { allowed: format!("text of at most {MOST} bytes"), remedy: remedy.to_owned() };
        let text = value.as_str().ok_or_else(|| refuse("Write it in quotes"))?;
        if text.len() > MOST {
            return Err(refuse("Shorten it"));
        }
        text.clone_into(self);
        Ok(())
    }

    fn show(&self) -> Value {
        Value::String(self.clone())
    }

    fn form(&self) -> Form {
        Form::Text
    }
}

/// A value that is one of a few words.
trait Word: Copy + PartialEq + 'static {
    const ALL: &'static [(&'static str, Self)];
}

impl Word for Sharing {
    const ALL: &'static [(&'static str, Self)] = &[("max-min", Self::MaxMin), ("proportional", Self::Proportional)];
}

impl Word for OutOfMemory {
    const ALL: &'static [(&'static str, Self)] = &[("requeue", Self::Requeue), ("throttle", Self::Throttle)];
}

impl Word for Discipline {
    const ALL: &'static [(&'static str, Self)] = &[("backfill", Self::Backfill), ("strict", Self::Strict)];
}

fn words<W: Word>() -> Vec<String> {
    W::ALL.iter().map(|(word, _)| (*word).to_owned()).collect()
}

impl<W: Word> Field for W {
    fn assign(&mut self, value: &Value, _: &Bounds) -> Result<(), Refusal> {
        let found = value.as_str().and_then(|text| W::ALL.iter().find(|(word, _)| *word == text));
        let (_, choice) = found.ok_or_else(|| Refusal {
            allowed: words::<W>().join(" or "),
            remedy: "Choose one of these words".to_owned(),
        })?;
        *self = *choice;
        Ok(())
    }

    fn show(&self) -> Value {
        let word = W::ALL.iter().find(|(_, choice)| choice == self).map_or("", |(word, _)| word);
        Value::String(word.to_owned())
    }

    fn form(&self) -> Form {
        Form::Words(words::<W>())
    }
}

const DIMS_ALLOWED: &str = "\"own\", or some of cpu, ram, gpu, hbm, net, sto, ioc";

impl Field for Option<DimMask> {
    /// A list of names, or one text with commas; `"own"` is `None`.
    fn assign(&mut self, value: &Value, _: &Bounds) -> Result<(), Refusal> {
        let refuse = |remedy: String| Refusal { allowed: DIMS_ALLOWED.to_owned(), remedy };
        let names: Vec<&str> = match value {
            Value::String(text) if text == "own" => {
                *self = None;
                return Ok(());
            }
            Value::String(text) => text.split(',').map(str::trim).collect(),
            Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().ok_or_else(|| refuse("Write each name in quotes".to_owned())))
                .collect::<Result<_, _>>()?,
            _ => return Err(refuse("Write a list of names".to_owned())),
        };
        let mut dims = Vec::new();
        for name in names {
            dims.push(Dim::from_name(name).ok_or_else(|| refuse(format!("`{name}` is no dimension")))?);
        }
        if dims.is_empty() {
            return Err(refuse("Name at least one dimension".to_owned()));
        }
        *self = Some(DimMask::of(&dims));
        Ok(())
    }

    fn show(&self) -> Value {
        match self {
            None => Value::String("own".to_owned()),
            Some(mask) => Value::Array(mask.iter().map(|dim| Value::String(dim.name().to_owned())).collect()),
        }
    }

    fn form(&self) -> Form {
        Form::Dims
    }
}

const GANG_ALLOWED: &str = "pairs [tasks 1 to 64, probability 0 to 1] whose probabilities sum to 1";

impl Field for Vec<(u16, f64)> {
    fn assign(&mut self, value: &Value, _: &Bounds) -> Result<(), Refusal> {
        let refuse = |remedy: String| Refusal { allowed: GANG_ALLOWED.to_owned(), remedy };
        let pair = |item: &Value| -> Option<(u16, f64)> {
            let [tasks, probability] = item.as_array()?.as_slice() else { return None };
            let tasks = u16::try_from(tasks.as_integer()?).ok().filter(|tasks| (1..=64).contains(tasks))?;
            let probability = match probability {
                Value::Float(number) => *number,
                Value::Integer(number) => *number as f64,
                _ => return None,
            };
            (0.0..=1.0).contains(&probability).then_some((tasks, probability))
        };
        let items = value.as_array().ok_or_else(|| refuse("Write e.g. [[1, 0.5], [2, 0.5]]".to_owned()))?;
        if items.is_empty() {
            return Err(refuse("Give at least one pair, e.g. [[1, 1.0]]".to_owned()));
        }
        let mut by_tasks = BTreeMap::new();
        for item in items {
            let (tasks, probability) = pair(item).ok_or_else(|| refuse(format!("`{item}` is no such pair")))?;
            if by_tasks.insert(tasks, probability).is_some() {
                return Err(refuse(format!("{tasks} tasks are named twice")));
            }
        }
        let sum: f64 = by_tasks.values().sum();
        if (sum - 1.0).abs() > 1e-6 {
            return Err(refuse(format!("These sum to {sum:.4}; change one of them")));
        }
        *self = by_tasks.into_iter().collect();
        Ok(())
    }

    fn show(&self) -> Value {
        let pair = |(tasks, probability): &(u16, f64)| {
            Value::Array(vec![Value::Integer(i64::from(*tasks)), Value::Float(*probability)])
        };
        Value::Array(self.iter().map(pair).collect())
    }

    fn form(&self) -> Form {
        Form::Gang
    }
}
