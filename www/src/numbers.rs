//! Numbers as people of a language write and read them.
//!
//! Writing is `Intl.NumberFormat` and nothing else. Reading accepts both separators, because people paste numbers
//! from anywhere: a separator is the decimal one unless the number only makes sense with it as the thousands' one.

use std::cell::RefCell;
use std::collections::HashMap;

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::i18n::Lang;

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Style {
    /// With exactly that many decimals.
    Fixed(u8),
    /// With at most that many decimals.
    UpTo(u8),
    /// The same without thousands' separators: for names, such as seeds.
    Plain(u8),
    /// A share as a percentage with exactly that many decimals.
    Percent(u8),
    /// A share as a percentage with at most that many decimals.
    PercentUpTo(u8),
    /// Money with exactly that many decimals.
    Money(u8),
    /// Money, with as many decimals as it has.
    Price,
}

/// Currencies a price can be in. Changing the language never changes it.
pub const CURRENCIES: [&str; 6] = ["USD", "EUR", "GBP", "MXN", "COP", "ARS"];

/// Writes numbers in the language and currency that are chosen now.
#[derive(Clone, Copy)]
pub struct Numbers {
    pub lang: RwSignal<Lang>,
    pub currency: RwSignal<&'static str>,
}

/// What a number that does not exist looks like.
pub const NOTHING: &str = "–";

impl Numbers {
    /// `1,234`.
    pub fn whole(self, value: f64) -> String {
        self.write(Style::Fixed(0), value)
    }

    /// `0.060` with exactly `digits` decimals.
    pub fn fixed(self, value: f64, digits: u8) -> String {
        self.write(Style::Fixed(digits), value)
    }

    /// `0.7`: at most `digits` decimals.
    pub fn short(self, value: f64, digits: u8) -> String {
        self.write(Style::UpTo(digits), value)
    }

    /// `1234.5`: at most `digits` decimals, no thousands' separators.
    pub fn plain(self, value: f64, digits: u8) -> String {
        self.write(Style::Plain(digits), value)
    }

    /// `15.9 %` of a share of 0.159.
    pub fn percent(self, share: f64, digits: u8) -> String {
        self.write(Style::Percent(digits), share)
    }

    /// `10 %`: at most `digits` decimals.
    pub fn percent_short(self, share: f64, digits: u8) -> String {
        self.write(Style::PercentUpTo(digits), share)
    }

    /// `$3,000` in the currency chosen.
    pub fn money(self, value: f64, digits: u8) -> String {
        self.write(Style::Money(digits), value)
    }

    /// `$2.345`: as many decimals as it has, at least two.
    pub fn price(self, value: f64) -> String {
        self.write(Style::Price, value)
    }

    /// `+1.2` or `−1.2`; what rounds to zero has no sign.
    pub fn signed(self, value: f64, written: impl Fn(f64) -> String) -> String {
        let size = written(value.abs());
        if size == written(0.0) {
            return format!("±{size}");
        }
        if value < 0.0 { format!("−{size}") } else { format!("+{size}") }
    }

    /// Seconds as `48 s`, `4 min` or `1.7 h`.
    pub fn duration(self, seconds: f64) -> String {
        if !seconds.is_finite() {
            return NOTHING.to_owned();
        }
        let (value, digits, unit) = in_unit(seconds);
        format!("{}\u{a0}{unit}", self.fixed(value, digits))
    }

    fn write(self, style: Style, value: f64) -> String {
        if !value.is_finite() {
            return NOTHING.to_owned();
        }
        // Minus zero would be written with its sign.
        let value = if value == 0.0 { 0.0 } else { value };
        let (lang, currency) = (self.lang.get(), self.currency.get());
        FORMATS.with_borrow_mut(|formats| {
            let format =
                formats.entry((lang.code(), currency, style)).or_insert_with(|| format(lang, currency, style));
            format
                .call1(&JsValue::NULL, &value.into())
                .ok()
                .and_then(|text| text.as_string())
                .unwrap_or_else(|| value.to_string())
        })
    }
}

/// A duration in the unit that suits it, and with how many decimals. What decides is the rounded number: 59.7 s are a
/// minute, not 60 seconds.
fn in_unit(seconds: f64) -> (f64, u8, &'static str) {
    let (whole, minutes) = (seconds.round(), (seconds / 60.0).round());
    if whole < 60.0 {
        (whole, 0, "s")
    } else if minutes < 100.0 {
        (minutes, 0, "min")
    } else {
        (seconds / 3600.0, 1, "h")
    }
}

type Formats = HashMap<(&'static str, &'static str, Style), js_sys::Function>;

thread_local! {
    /// Making one costs a thousand times more than using it.
    static FORMATS: RefCell<Formats> = RefCell::default();
}

/// The reader's own variant of the page's language, such as `es-MX`; otherwise the language's usual one.
fn locale(lang: Lang) -> String {
    let tags = web_sys::window().map(|window| window.navigator().languages());
    let own = tags.and_then(|tags| {
        tags.iter().filter_map(|tag| tag.as_string()).find(|tag| Lang::from_tag(tag) == Some(lang) && tag.len() > 2)
    });
    own.unwrap_or_else(|| match lang {
        Lang::En => "en-US".to_owned(),
        Lang::Es => "es-ES".to_owned(),
    })
}

fn format(lang: Lang, currency: &str, style: Style) -> js_sys::Function {
    let options = js_sys::Object::new();
    let set = |key: &str, value: JsValue| {
        // Setting a property of a fresh plain object cannot fail.
        _ = js_sys::Reflect::set(&options, &key.into(), &value);
    };
    let decimals = |least: u8, most: u8| {
        set("minimumFractionDigits", least.into());
        set("maximumFractionDigits", most.into());
    };
    match style {
        Style::Fixed(digits) => decimals(digits, digits),
        Style::UpTo(digits) => decimals(0, digits),
        Style::Plain(digits) => {
            set("useGrouping", false.into());
            decimals(0, digits);
        }
        Style::Percent(digits) => {
            set("style", "percent".into());
            decimals(digits, digits);
        }
        Style::PercentUpTo(digits) => {
            set("style", "percent".into());
            decimals(0, digits);
        }
        Style::Price => {
            set("style", "currency".into());
            set("currency", currency.into());
            decimals(2, 6);
        }
        Style::Money(digits) => {
            set("style", "currency".into());
            set("currency", currency.into());
            decimals(digits, digits);
        }
    }
    let locales = js_sys::Array::of1(&locale(lang).into());
    js_sys::Intl::NumberFormat::new(&locales, &options).format()
}

/// The decimal separator of `lang` as the browser writes it.
pub fn decimal_separator(lang: Lang) -> char {
    let text = format(lang, "USD", Style::Fixed(1))
        .call1(&JsValue::NULL, &0.5.into())
        .ok()
        .and_then(|text| text.dyn_into::<js_sys::JsString>().ok())
        .map(String::from);
    if text.is_some_and(|text| text.contains(',')) { ',' } else { '.' }
}

/// The number that a person wrote, if it is one. `decimal` is the separator usual in the page's language; it decides
/// only what is truly ambiguous, such as `1,000`.
pub fn parse(text: &str, decimal: char) -> Option<f64> {
    let text: String = text
        .trim()
        .trim_end_matches('%')
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '\u{a0}' && *c != '\u{202f}' && *c != '\'')
        .map(|c| if c == '−' { '-' } else { c })
        .collect();
    let dots = text.matches('.').count();
    let commas = text.matches(',').count();
    let point = match (dots, commas) {
        (0, 0) => None,
        (1, 0) => is_decimal(&text, '.', decimal).then_some('.'),
        (0, 1) => is_decimal(&text, ',', decimal).then_some(','),
        (_, 0) | (0, _) => None,
        // Both occur: the last one is the decimal separator, and then it stands only once.
        _ => {
            let last = text.rfind(['.', ',']).and_then(|at| text[at..].chars().next())?;
            if text.matches(last).count() > 1 {
                return None;
            }
            Some(last)
        }
    };
    let (whole, fraction) = match point {
        Some(point) => text.split_once(point)?,
        None => (text.as_str(), ""),
    };
    let negative = whole.starts_with('-');
    let digits = ungrouped(whole.trim_start_matches(['-', '+']))?;
    if digits.is_empty() && fraction.is_empty() || !fraction.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let value: f64 = format!("{digits}.{fraction}0").parse().ok()?;
    Some(if negative { -value } else { value })
}

/// Whether the only `separator` in `text` separates decimals: it does in its own language, and where what follows or
/// what goes before could not be a group of thousands.
fn is_decimal(text: &str, separator: char, decimal: char) -> bool {
    let Some((before, after)) = text.split_once(separator) else {
        return false;
    };
    let before = before.trim_start_matches(['-', '+']);
    separator == decimal || after.len() != 3 || before.is_empty() || before.len() > 3 || before.starts_with('0')
}

/// The digits without thousands' separators; `None` where they do not stand in threes.
fn ungrouped(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(['.', ',']).collect();
    if !groups.iter().all(|group| group.chars().all(|c| c.is_ascii_digit())) {
        return None;
    }
    let in_threes = groups.len() == 1
        || (!groups[0].is_empty() && groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    in_threes.then(|| groups.concat())
}

/// The numbers, from anywhere in a view.
pub fn use_numbers() -> Numbers {
    expect_context::<Numbers>()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn both_separators_are_read_in_both_languages() {
        for decimal in ['.', ','] {
            assert_eq!(parse("0.7", decimal), Some(0.7));
            assert_eq!(parse("0,7", decimal), Some(0.7));
            assert_eq!(parse(" 1.234,5 ", decimal), Some(1234.5));
            assert_eq!(parse("1,234.5", decimal), Some(1234.5));
            assert_eq!(parse("26,280,000", decimal), Some(26_280_000.0));
            assert_eq!(parse("26.280.000", decimal), Some(26_280_000.0));
            assert_eq!(parse("0,125", decimal), Some(0.125));
            assert_eq!(parse("−0.5", decimal), Some(-0.5));
            assert_eq!(parse("15 %", decimal), Some(15.0));
            assert_eq!(parse(".5", decimal), Some(0.5));
            assert_eq!(parse("64", decimal), Some(64.0));
        }
        assert_eq!(parse("1,000", '.'), Some(1000.0));
        assert_eq!(parse("1,000", ','), Some(1.0));
        assert_eq!(parse("1.000", ','), Some(1000.0));
    }

    #[wasm_bindgen_test]
    fn a_duration_is_in_the_unit_of_its_rounded_number() {
        for (seconds, expected) in [
            (0.0, (0.0, 0, "s")),
            (59.4, (59.0, 0, "s")),
            (59.7, (1.0, 0, "min")),
            (60.0, (1.0, 0, "min")),
            (99.4 * 60.0, (99.0, 0, "min")),
            (99.5 * 60.0, (99.5 / 60.0, 1, "h")),
            (7200.0, (2.0, 1, "h")),
        ] {
            assert_eq!(in_unit(seconds), expected, "{seconds} s");
        }
    }

    #[wasm_bindgen_test]
    fn what_is_no_number_is_not_read() {
        for text in ["", "-", "abc", "1e5", "1..2", "1.2.3", "12,34,56", "0x10", "NaN", "1.234.5,6,7", "∞"] {
            assert_eq!(parse(text, '.'), None, "{text}");
        }
    }
}
