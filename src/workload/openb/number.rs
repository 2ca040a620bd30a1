//! Whole numbers from fields, with a reason when they are not.

use super::finding::Kind;

/// More GPUs than any machine has; keeps what is derived from their number (thousandths of a GPU, Mbit/s, MiB) inside
/// 32 bits.
pub(super) const MOST_GPUS: i64 = 1_000;

/// The whole number in `text`, from 0 to `most`.
///
/// `12.0` counts as 12: spreadsheet and data-frame tools write it so once a column has gaps.
pub(super) fn whole(text: &str, most: i64, unit: &str) -> Result<i64, (Kind, String)> {
    let too_large = || (Kind::TooLarge, format!("at most {most} {unit} is believable here"));
    if text.is_empty() {
        return Err((Kind::MissingValue, format!("a whole number of {unit} is needed")));
    }
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        _ => text,
    };
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // Nothing but digits: the only way to fail is to be too long.
        return digits.parse().ok().filter(|value| *value <= most).ok_or_else(too_large);
    }
    Err(match text.parse::<f64>() {
        Ok(value) if value < 0.0 => (Kind::Negative, format!("{unit} cannot be negative")),
        Ok(value) if value > most as f64 => too_large(),
        _ => (Kind::NotANumber, format!("a whole number of {unit} is needed")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_nothing_else() {
        let kind = |text| whole(text, 1000, "cores").map_err(|(kind, _)| kind);
        assert_eq!(kind("0"), Ok(0));
        assert_eq!(kind("1000"), Ok(1000));
        assert_eq!(kind("007"), Ok(7));
        assert_eq!(kind("12.0"), Ok(12));
        assert_eq!(kind("12."), Ok(12));
        assert_eq!(kind(""), Err(Kind::MissingValue));
        for text in ["-1", "-0.5", "-99999999999999999999999", "-inf"] {
            assert_eq!(kind(text), Err(Kind::Negative), "{text}");
        }
        for text in ["1001", "99999999999999999999999", "1e9", "inf"] {
            assert_eq!(kind(text), Err(Kind::TooLarge), "{text}");
        }
        for text in ["0.5", "1e2", "x", "1 000", "1,5", "NaN", "0x10", ".", "٣", "--1"] {
            assert_eq!(kind(text), Err(Kind::NotANumber), "{text}");
        }
    }
}
