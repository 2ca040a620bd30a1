//! The fragment of an address as keys and values: `#key=value&key=value`, each percent-encoded.

use std::collections::BTreeSet;

/// Keys and values of a fragment, with or without its `#`, in their order, each key once: with the value that it has
/// first. Beside them the keys that stand more than once. What is wrongly encoded is left as it stands.
pub fn pairs(fragment: &str) -> (Vec<(String, String)>, BTreeSet<String>) {
    let (mut pairs, mut known, mut repeated) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for pair in fragment.trim_start_matches('#').split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = decoded(key);
        if known.insert(key.clone()) {
            pairs.push((key, decoded(value)));
        } else {
            repeated.insert(key);
        }
    }
    (pairs, repeated)
}

fn decoded(text: &str) -> String {
    js_sys::decode_uri_component(text).map_or_else(|_| text.to_owned(), String::from)
}

/// A value as it may stand in a fragment.
pub fn encoded(text: &str) -> String {
    js_sys::encode_uri_component(text).into()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn keys_and_values_are_taken_apart() {
        let (found, repeated) = pairs(&format!("#a=1&&b={}&c&%=%", encoded("x&y=z")));
        assert_eq!(repeated, BTreeSet::new());
        let expected = [("a", "1"), ("b", "x&y=z"), ("c", ""), ("%", "%")];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[wasm_bindgen_test]
    fn a_key_that_stands_twice_has_its_first_value_and_is_named_once() {
        let (found, repeated) = pairs("a=1&b=2&a=3&%61=4&b=2");
        assert_eq!(found, [("a", "1"), ("b", "2")].map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(repeated.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
