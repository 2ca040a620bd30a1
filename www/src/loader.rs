//! Which of the two builds of the worker this browser gets, and how it starts.
//!
//! `cargo xtask build` compiles the worker with and without SIMD and names both in the page's head. Trunk alone builds
//! one without SIMD, as `worker`, and names none.

use js_sys::{Array, Uint8Array, WebAssembly};
use residua_protocol::BUILD;
use wasm_bindgen::JsValue;
use web_sys::{Blob, BlobPropertyBag, Document, Url, Worker, WorkerOptions};

/// The smallest module that only a browser with SIMD accepts: a function that returns
/// `i8x16.popcnt (i8x16.splat (i32.const 0))`. `popcnt` came last into the standard: a browser with an earlier draft
/// of SIMD refuses it.
const SIMD_MODULE: [u8; 31] = [
    0, 97, 115, 109, 1, 0, 0, 0, // magic and version
    1, 5, 1, 96, 0, 1, 123, // types: [] -> [v128]
    3, 2, 1, 0, // functions: one of that type
    10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11, // code
];

/// What the worker is called where nothing names it: by Trunk alone.
const UNNAMED: &str = "worker";

/// A worker of this build with a name for the browser's tools, and the address of its loader, to be revoked when the
/// worker is gone.
///
/// Only the files of the chosen build are fetched. The loader asks for both by build, so that after a deployment no
/// browser pairs a new page with an old worker from its cache, and says so when one of them cannot be had.
pub fn load(name: &str) -> Result<(Worker, String), JsValue> {
    let document = web_sys::window().and_then(|window| window.document()).ok_or("no document")?;
    let base = document.base_uri()?.ok_or("no base address")?;
    let worker = worker_of(&document, has_simd());
    let address = |ending: &str| -> Result<String, JsValue> {
        let url = Url::new_with_base(&format!("{worker}{ending}?v={BUILD}"), &base)?;
        Ok(js_sys::JSON::stringify(&url.href().into())?.into())
    };
    let source = format!(
        "importScripts({});\n\
         wasm_bindgen({{ module_or_path: {} }}).catch((error) => setTimeout(() => {{ throw error; }}));\n",
        address(".js")?,
        address("_bg.wasm")?,
    );
    let kind = BlobPropertyBag::new();
    kind.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&source.into()), &kind)?;
    let loader = Url::create_object_url_with_blob(&blob)?;
    let options = WorkerOptions::new();
    options.set_name(name);
    Ok((Worker::new_with_options(&loader, &options)?, loader))
}

/// Whether this browser runs WASM with SIMD; a browser that cannot say does not.
fn has_simd() -> bool {
    WebAssembly::validate(&Uint8Array::from(SIMD_MODULE.as_slice())).unwrap_or(false)
}

/// The worker's files without their endings, as the page's head names them.
fn worker_of(document: &Document, with_simd: bool) -> String {
    let meta = if with_simd { "meta[name=residua-worker-simd]" } else { "meta[name=residua-worker]" };
    let named = document.query_selector(meta).ok().flatten().and_then(|meta| meta.get_attribute("content"));
    named.unwrap_or_else(|| UNNAMED.to_owned())
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn the_head_names_a_worker_for_browsers_with_and_without_simd() {
        let document = web_sys::window().unwrap().document().unwrap();
        let both = [worker_of(&document, true), worker_of(&document, false)];
        assert_eq!(both, ["worker", "worker"], "Trunk alone");
        let mut metas = Vec::new();
        for (name, content) in [("residua-worker", "plain-1"), ("residua-worker-simd", "simd-2")] {
            let meta = document.create_element("meta").unwrap();
            meta.set_attribute("name", name).unwrap();
            meta.set_attribute("content", content).unwrap();
            document.document_element().unwrap().append_child(&meta).unwrap();
            metas.push(meta);
        }
        let both = [worker_of(&document, true), worker_of(&document, false)];
        metas.iter().for_each(|meta| meta.remove());
        assert_eq!(both, ["simd-2", "plain-1"]);
    }

    #[wasm_bindgen_test]
    fn simd_is_found_where_it_is_and_a_module_with_an_unknown_instruction_is_not_taken_for_it() {
        // Every Chromium that these tests can run in has it.
        assert!(has_simd());
        let mut unknown = SIMD_MODULE;
        unknown[29] = 0xff;
        assert!(!WebAssembly::validate(&Uint8Array::from(unknown.as_slice())).unwrap());
    }
}
