//! The fragment of an address as keys and values: `#key=value&key=value`, each percent-encoded.

/// Keys and values of a fragment, with or without its `#`, in their order. What is wrongly encoded is left as it stands.
pub fn pairs(fragment: &str) -> Vec<(String, String)> {
    let pairs = fragment.trim_start_matches('#').split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key), decoded(value))
        })
        .collect()
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
        let found = pairs(&format!("#a=1&&b={}&c&%=%", encoded("x&y=z")));
        let expected = [("a", "1"), ("b", "x&y=z"), ("c", ""), ("%", "%")];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
