//! The simulator in a page.

use residua_web_tests::differences;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn digests_are_those_of_the_native_simulator() {
    assert_eq!(differences(), Vec::<String>::new());
}
