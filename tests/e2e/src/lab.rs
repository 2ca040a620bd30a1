//! One browser with one page, and what one can do and ask there.

use std::{
    env, fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use fantoccini::{
    Client, ClientBuilder,
    actions::{InputSource, KeyAction, KeyActions},
    wd::WebDriverCompatibleCommand,
};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};
use xtask::{
    browser::{Browser, HEADLESS},
    serve::{Asked, Server, Site},
};

use crate::{driver::Driver, outside::Outside};

/// Long enough for four simulations on a slow machine; a page that is stuck
/// still ends the test.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a question is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// Rules that axe-core checks: WCAG 2.2, levels A and AA.
const AXE_RULES: [&str; 5] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/// The colours that the reader's system prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Before what eyes the page appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// Preferred colours.
    pub scheme: Scheme,
    /// The browser's language, e.g. `es`.
    pub language: &'static str,
    /// Whether the browser runs WASM with SIMD.
    pub simd: bool,
}

impl View {
    /// A laptop with light colours and an English browser.
    pub const DESKTOP: Self = Self { width: 1280, height: 800, scheme: Scheme::Light, language: "en", simd: true };

    /// A phone held upright.
    pub const PHONE: Self = Self { width: 390, height: 844, ..Self::DESKTOP };
}

/// A browser that shows the page.
#[derive(Debug, Clone)]
pub struct Lab {
    client: Client,
    name: Arc<str>,
    view: View,
    server: Url,
    asked: Asked,
    outside: Outside,
    /// What the browser's log has given so far: reading it empties it.
    logged: Arc<Mutex<Logged>>,
    // Ends when the last clone does.
    _driver: Arc<Driver>,
}

#[derive(Debug, Default)]
struct Logged {
    errors: Vec<String>,
    requests: Vec<String>,
    documents: Vec<String>,
}

impl Lab {
    /// Starts server, driver and browser.
    pub(crate) async fn start(name: &str, view: View) -> Result<Self> {
        let dist = env::var_os("RESIDUA_DIST").context("RESIDUA_DIST is not set")?;
        let base = env::var("RESIDUA_PUBLIC_PATH").unwrap_or_else(|_| "/residua/".into());
        let asked = Asked::default();
        let server = Server::bind(Site::new(dist, &base), 0)?.noting(&asked);
        let address = server.url()?.parse()?;
        server.spawn();

        let browser = Browser::find().context(
            "no browser with its driver was found: run cargo xtask setup, \
             or set CHROME and CHROMEDRIVER",
        )?;
        let outside = Outside::start()?;
        let driver = Driver::start(&browser)?;
        let mut arguments: Vec<String> = HEADLESS.map(str::to_owned).to_vec();
        arguments.push(format!("--accept-lang={}", view.language));
        arguments.push(format!("--proxy-server={}", outside.address()));
        if !view.simd {
            // Chromium has no flag for this alone; where SIMD is made of these instructions, it goes with them.
            arguments.push("--js-flags=--no-enable-sse4-1".into());
        }
        let capabilities = json!({
            "goog:chromeOptions": { "binary": browser.chrome, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else {
            bail!("capabilities are an object");
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.url())
            .await
            .context("the driver could not start the browser")?;
        let lab = Self {
            client,
            name: name.into(),
            view,
            server: address,
            asked,
            outside,
            logged: Arc::default(),
            _driver: Arc::new(driver),
        };
        lab.apply_view().await?;
        if !view.simd && cfg!(not(target_arch = "x86_64")) {
            // Elsewhere it can only be said.
            lab.before_all("WebAssembly.validate = () => false;").await?;
        }
        Ok(lab)
    }

    /// Ends the browser in good order, so that it leaves no process behind.
    pub(crate) async fn stop(&self) {
        if let Err(error) = self.client.clone().close().await {
            println!("{}: the browser did not end: {error}", self.name);
        }
    }

    /// Leaves what a person would want to see of a failed test.
    pub(crate) async fn describe_failure(&self) {
        let shot = self.shot(&format!("{}-failed", self.name)).await;
        println!("{}: screenshot {shot:?}", self.name);
        println!("{}: address {:?}", self.name, self.client.current_url().await);
        println!("{}: errors {:#?}", self.name, self.console_errors().await);
    }

    /// Opens a path of the page, e.g. `en/lab#seed=42`, as from an outside link.
    pub async fn open(&self, path: &str) -> Result<()> {
        // From elsewhere: a changed fragment alone would not load the page anew.
        self.client.goto("about:blank").await?;
        self.client.goto(&self.address(path)?).await?;
        Ok(())
    }

    /// The full address of a path of the page.
    pub fn address(&self, path: &str) -> Result<String> {
        Ok(self.server.join(path)?.into())
    }

    /// The address that the browser shows, once the page has written it: it does so a moment after what it says.
    /// `holds` is a JavaScript expression about `location` that is true from then on.
    pub async fn location(&self, what: &str, holds: &str) -> Result<Url> {
        self.until(what, holds).await?;
        // Asked of the page: the driver may still be at the document's first one.
        let address = self.js("return location.href").await?;
        Ok(address.as_str().context("no address")?.parse()?)
    }

    /// Loads the page again, as the reader's reload button does.
    pub async fn reload(&self) -> Result<()> {
        // What the old document still shows must not pass for the new one's.
        self.js("window.isOld = true").await?;
        self.client.refresh().await?;
        self.until("the page is loaded anew", "!window.isOld && document.readyState === 'complete'").await
    }

    /// Opens a path in a new tab of the same browser and goes on there.
    pub async fn open_tab(&self, path: &str) -> Result<()> {
        let tab = self.client.new_window(true).await?;
        self.client.switch_to_window(tab.handle).await?;
        self.apply_view().await?;
        self.open(path).await
    }

    /// Runs JavaScript in every document that is opened from now on, before its own.
    pub async fn before_all(&self, script: &str) -> Result<()> {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await
    }

    /// Runs JavaScript in the page: a function's body.
    pub async fn js(&self, script: &str) -> Result<Value> {
        let value = self.client.execute(script, Vec::new()).await;
        value.with_context(|| format!("in the page: {script}"))
    }

    /// Asks until a JavaScript expression is true; `what` says what is waited for.
    pub async fn until(&self, what: &str, expression: &str) -> Result<()> {
        let script = format!("return !!({expression})");
        let start = Instant::now();
        loop {
            // While the page loads there may be nothing to ask yet.
            let answer = self.js(&script).await;
            if matches!(answer, Ok(Value::Bool(true))) {
                return Ok(());
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "waited {} s in vain until {what}: {expression} gives {answer:?}",
                PATIENCE.as_secs(),
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until the page is there and can be used.
    pub async fn until_ready(&self) -> Result<()> {
        let state = state_of("lab");
        let settled = format!("['ready', 'running', 'done', 'error'].includes({state})");
        self.until("the Lab is ready", &settled).await
    }

    /// Waits until every lane's simulation has come to its end.
    pub async fn until_done(&self) -> Result<()> {
        let state = state_of("lab");
        let ended = format!("['done', 'error'].includes({state})");
        self.until("all lanes have ended", &ended).await?;
        let state = self.js(&format!("return {state}")).await?;
        ensure!(state == "done", "the Lab ended as {state}");
        Ok(())
    }

    /// Drops files, each a name and its contents, on the page, or on the dialog that is open.
    pub async fn drop_files(&self, files: &[(&str, &str)]) -> Result<()> {
        let files: Vec<Value> = files.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect();
        let script = format!(
            "const carried = new DataTransfer();
            for (const {{ name, text }} of {}) carried.items.add(new File([text], name, {{ type: 'text/csv' }}));
            const target = document.querySelector('dialog[open]') ?? document.body;
            return ['dragenter', 'dragover', 'drop'].map(kind => {{
                const event = new DragEvent(kind, {{ bubbles: true, cancelable: true, dataTransfer: carried }});
                target.dispatchEvent(event);
                return event.defaultPrevented;
            }});",
            Value::from(files),
        );
        let taken = self.js(&script).await?;
        ensure!(taken[1] == true && taken[2] == true, "the browser would open the files itself: {taken}");
        Ok(())
    }

    /// All text of the first element that the selector finds, also what is not shown; empty without one.
    pub async fn text_of(&self, selector: &str) -> Result<String> {
        let script = format!("return document.querySelector({})?.textContent ?? ''", Value::from(selector));
        self.js(&script).await?.as_str().map(str::to_owned).context("no text")
    }

    /// The text of the first element with this test id, as it is shown.
    pub async fn text(&self, id: &str) -> Result<String> {
        let script = format!("return {}.innerText", element(id));
        let text = self.js(&script).await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// An attribute of the first element with this test id.
    pub async fn attribute(&self, id: &str, name: &str) -> Result<Option<String>> {
        let script = format!("return {}.getAttribute('{name}')", element(id));
        Ok(self.js(&script).await?.as_str().map(str::to_owned))
    }

    /// Clicks the first element with this test id, as a pointer does.
    pub async fn click(&self, id: &str) -> Result<()> {
        let selector = format!("[data-testid='{id}']");
        let element = self.client.find(fantoccini::Locator::Css(&selector)).await;
        element
            .with_context(|| format!("there is no {id}"))?
            .click()
            .await
            .with_context(|| format!("{id} cannot be clicked"))
    }

    /// Presses and releases a key; it goes to whatever has the focus.
    pub async fn key(&self, key: char) -> Result<()> {
        let press = KeyActions::new("keyboard".into())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        self.client.perform_actions(press).await?;
        Ok(())
    }

    /// Saves what is seen as `target/e2e/{name}.png`.
    pub async fn shot(&self, name: &str) -> Result<PathBuf> {
        let folder =
            env::var_os("RESIDUA_SHOTS").map_or_else(|| xtask::tools::root().join("target/e2e"), PathBuf::from);
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{name}.png"));
        fs::write(&file, self.client.screenshot().await?)?;
        Ok(file)
    }

    /// What the browser has complained about so far.
    ///
    /// Not what a deep link brings with it: a static host answers it with
    /// `404.html`, so the browser reports a 404 for the page's own address.
    pub async fn console_errors(&self) -> Result<Vec<String>> {
        self.read_logs().await?;
        let logged = self.logged.lock().expect("log");
        let is_deep_link = |error: &str| {
            let address = error.split([' ', '#']).next().unwrap_or_default();
            error.contains("a status of 404") && logged.documents.iter().any(|page| page == address)
        };
        let errors = logged.errors.iter().filter(|error| !is_deep_link(error));
        Ok(errors.cloned().collect())
    }

    /// What the page's server was asked for so far, by the page and by workers: paths, each with its query.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("record").clone()
    }

    /// Requests to anywhere but the page's own server, by the page or a worker.
    pub async fn foreign_requests(&self) -> Result<Vec<String>> {
        self.read_logs().await?;
        let home = self.server.origin();
        let is_foreign = |address: &&String| {
            Url::parse(address).is_ok_and(|address| {
                // data: and about: are no requests; blob: has its maker's origin.
                !matches!(address.scheme(), "data" | "about" | "chrome" | "chrome-extension")
                    && address.origin() != home
            })
        };
        let logged = self.logged.lock().expect("log");
        let seen = logged.requests.iter().filter(is_foreign).cloned();
        Ok(seen.chain(self.outside.asked()).collect())
    }

    /// Fails where the browser has complained or another server was asked.
    pub async fn expect_clean(&self) -> Result<()> {
        let errors = self.console_errors().await?;
        ensure!(errors.is_empty(), "errors in the console: {errors:#?}");
        let foreign = self.foreign_requests().await?;
        ensure!(foreign.is_empty(), "foreign requests: {foreign:#?}");
        let requests = self.logged.lock().expect("log").requests.len();
        // Otherwise the log, not the page, is at fault, and proves nothing.
        ensure!(requests > 0, "the browser's log has no request at all");
        Ok(())
    }

    /// Fails where axe-core finds a fault by WCAG 2.2 A or AA.
    pub async fn expect_accessible(&self) -> Result<()> {
        let file = env::var_os("RESIDUA_AXE").context("RESIDUA_AXE is not set")?;
        let axe = fs::read_to_string(&file).with_context(|| format!("reading {}", file.to_string_lossy()))?;
        self.js(&axe).await?;
        let script = "const [rules, finish] = arguments;
            axe.run(document, { runOnly: { type: 'tag', values: rules } }).then(
                found => finish({
                    checked: found.passes.length,
                    faults: found.violations.flatMap(rule => rule.nodes.map(node =>
                        `${rule.id}: ${node.target.join(' ')}: ${node.failureSummary}`)),
                }),
                error => finish({ checked: 0, faults: [String(error)] }));";
        let found = self.client.execute_async(script, vec![json!(AXE_RULES)]).await?;
        let faults = found["faults"].as_array().context("axe gave no answer")?;
        ensure!(faults.is_empty(), "axe found {} faults: {faults:#?}", faults.len());
        ensure!(found["checked"] != 0, "axe checked nothing");
        Ok(())
    }

    /// By how many pixels the page is wider than the window.
    pub async fn overflow(&self) -> Result<i64> {
        let script = "const page = document.scrollingElement;
            return page.scrollWidth - page.clientWidth;";
        self.js(script).await?.as_i64().context("no width")
    }

    /// The elements that reach beyond the window's right edge, for a message.
    pub async fn widest(&self) -> Result<Value> {
        self.js("return [...document.querySelectorAll('body *')]
                .filter(element => element.getBoundingClientRect().right > innerWidth + 1)
                .slice(0, 10)
                .map(element => element.cloneNode(false).outerHTML);")
            .await
    }

    /// Size and colours are set in the browser's own protocol: a window of a
    /// headless browser cannot be as narrow as a phone.
    async fn apply_view(&self) -> Result<()> {
        let View { width, height, scheme, .. } = self.view;
        let scheme = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        )
        .await?;
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        )
        .await
    }

    async fn devtools(&self, method: &str, parameters: Value) -> Result<()> {
        let body = json!({ "cmd": method, "params": parameters });
        self.client
            .issue_cmd(Extension { path: "goog/cdp/execute", body })
            .await
            .with_context(|| format!("the browser refused {method}"))?;
        Ok(())
    }

    async fn read_logs(&self) -> Result<()> {
        let complaints = self.log("browser").await?;
        let events = self.log("performance").await?;
        let mut logged = self.logged.lock().expect("log");
        for entry in complaints {
            if entry["level"] == "SEVERE" {
                let message = entry["message"].as_str().unwrap_or_default();
                logged.errors.push(message.to_owned());
            }
        }
        for entry in events {
            let text = entry["message"].as_str().unwrap_or_default();
            let event: Value = serde_json::from_str(text)?;
            let event = &event["message"];
            if event["method"] == "Network.requestWillBeSent" {
                let parameters = &event["params"];
                let address = parameters["request"]["url"].as_str().unwrap_or_default();
                if parameters["type"] == "Document" {
                    logged.documents.push(address.to_owned());
                }
                logged.requests.push(address.to_owned());
            }
        }
        Ok(())
    }

    async fn log(&self, kind: &str) -> Result<Vec<Value>> {
        let command = Extension { path: "se/log", body: json!({ "type": kind }) };
        let entries = self.client.issue_cmd(command).await;
        let entries = entries.with_context(|| format!("reading the {kind} log"))?;
        Ok(entries.as_array().cloned().unwrap_or_default())
    }
}

/// JavaScript for the first element with this test id.
fn element(id: &str) -> String {
    format!("document.querySelector(\"[data-testid='{id}']\")")
}

/// JavaScript for the state that an element says it is in.
fn state_of(id: &str) -> String {
    format!("{}?.dataset.state", element(id))
}

/// A command of chromedriver's own, beyond the WebDriver standard.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/{}", self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
