//! What a reader of the Lab can count on, seen in a real browser under a
//! sub-path, as the page is published.

use anyhow::{Context, Result, ensure};
use residua_e2e::{Lab, Scheme, View, drive, residua};
use serde_json::{Map, Value, json};

const SCENARIO: &str = "c-storage-stress";
const SCHEDULERS: [&str; 4] = ["scalar-5d", "tetris-5d", "ragp-5d", "ragp-io"];

/// The fragment of a link to the four schedulers under storage stress.
fn link(seed: u64) -> String {
    format!("#v=1&s={SCENARIO}&p={}&seed={seed}", SCHEDULERS.join(","))
}

/// A smaller run for what does not depend on its size.
fn small_link() -> String {
    format!("{}&nodes=16", link(7))
}

/// The measures that each lane shows at its end, by scheduler.
async fn finals(lab: &Lab) -> Result<Map<String, Value>> {
    let script = "return Object.fromEntries(
        [...document.querySelectorAll(\"[data-testid='lane']\")].map(lane => [
            lane.dataset.scheduler,
            JSON.parse(lane.querySelector(\"[data-testid='final']\").dataset.metrics),
        ]));";
    let lanes = lab.js(script).await?;
    lanes.as_object().cloned().context("there are no lanes")
}

/// JavaScript: for each number of each lane its scheduler, measure, value on screen and value in the run.
const KPIS: &str = "[...document.querySelectorAll(\"[data-testid='lane']\")].flatMap(lane => {
    const run = JSON.parse(lane.querySelector(\"[data-testid='final']\").dataset.metrics);
    return [...lane.querySelectorAll(\"[data-testid='kpi']\")]
        .filter(kpi => typeof run[kpi.dataset.metric] === 'number')
        .map(kpi => [lane.dataset.scheduler, kpi.dataset.metric, Number(kpi.dataset.value), run[kpi.dataset.metric]]);
})";

/// Moves the playhead to the end of the run.
async fn scrub_to_the_end(lab: &Lab) -> Result<()> {
    lab.js("const scrubber = document.querySelector(\"[data-testid='scrubber']\");
        scrubber.value = scrubber.max;
        scrubber.dispatchEvent(new Event('input', { bubbles: true }));
        scrubber.dispatchEvent(new Event('change', { bubbles: true }));")
        .await?;
    Ok(())
}

#[test]
fn four_lanes_run_to_the_end_and_show_the_numbers_of_the_command() {
    drive("numbers", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}", link(42))).await?;
        lab.until_done().await?;
        lab.shot("lab").await?;

        expect_the_commands_numbers(&lab).await?;
        scrub_to_the_end(&lab).await?;
        // The page draws at its next frame; then each number on screen is the run's.
        let all = format!("({KPIS}).every(([, , shown, final]) => shown === final)");
        let settled = lab.until("the screen shows the end of the run", &all).await;
        let kpis = lab.js(&format!("return {KPIS}")).await?;
        settled.with_context(|| format!("lane, measure, on screen, in the run: {kpis}"))?;
        let count = kpis.as_array().map_or(0, Vec::len);
        ensure!(count >= 4 * SCHEDULERS.len(), "only {count} numbers are on screen: {kpis}");
        lab.expect_clean().await
    });
}

/// Fails where a lane of `link(42)` has come to another number than the native command.
async fn expect_the_commands_numbers(lab: &Lab) -> Result<()> {
    let schedulers = SCHEDULERS.join(",");
    let native = residua(&["run", SCENARIO, "--schedulers", &schedulers, "--seed", "42", "--json"])?;
    let page = finals(lab).await?;
    ensure!(page.len() == SCHEDULERS.len(), "lanes: {:?}", page.keys());
    for scheduler in SCHEDULERS {
        let expected = metrics(&native, scheduler)?;
        let found = page[scheduler].as_object().context("no measures")?;
        ensure!(!expected.is_empty(), "the command gives no measures for {scheduler}");
        for (metric, value) in expected {
            ensure!(
                found.get(metric).is_some_and(|found| same(found, value)),
                "{scheduler}: {metric} is {value} in the command, {:?} on the page",
                found.get(metric),
            );
        }
    }
    Ok(())
}

/// One scheduler's measures in what the command prints.
fn metrics<'json>(native: &'json Value, scheduler: &str) -> Result<&'json Map<String, Value>> {
    let runs = native["runs"].as_array().context("the command lists no runs")?;
    let run = runs.iter().find(|run| run["scheduler"] == scheduler);
    run.and_then(|run| run["metrics"].as_object()).with_context(|| format!("the command has no run of {scheduler}"))
}

/// Whether two JSON values hold the same numbers, to the last bit. (JavaScript writes 0 where Rust writes 0.0.)
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Number(_), Value::Number(_)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

#[test]
fn a_link_restores_the_same_numbers_after_a_reload_and_in_a_new_tab() {
    drive("link", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}", small_link())).await?;
        lab.until_done().await?;
        let first = finals(&lab).await?;
        scrub_to_the_end(&lab).await?;
        // The page's own writing, not the address that was opened: it holds the moment too.
        let address = lab.location("the address holds the moment", "/[#&]t=/.test(location.hash)").await?;

        lab.reload().await?;
        lab.until_done().await?;
        ensure!(finals(&lab).await? == first, "a reload changed the numbers");

        let fragment = address.fragment().context("the address has no fragment")?;
        lab.open_tab(&format!("es/lab#{fragment}")).await?;
        lab.until_done().await?;
        ensure!(finals(&lab).await? == first, "a new tab changed the numbers");
        lab.expect_clean().await
    });
}

#[test]
fn another_seed_gives_other_numbers() {
    drive("seed", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}&nodes=16", link(1))).await?;
        lab.until_done().await?;
        let first = finals(&lab).await?;
        lab.open(&format!("en/lab{}&nodes=16", link(2))).await?;
        lab.until_done().await?;
        ensure!(finals(&lab).await? != first, "the seed has no effect");
        lab.expect_clean().await
    });
}

#[test]
fn the_page_speaks_both_languages_and_keeps_the_run_when_switching() {
    drive("languages", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}", small_link())).await?;
        lab.until_done().await?;
        let english = lab.text("lab").await?;
        ensure!(lab.js("return document.documentElement.lang").await? == "en");
        let numbers = finals(&lab).await?;

        lab.click("lang-switch").await?;
        lab.until("the page is in Spanish", "document.documentElement.lang === 'es'").await?;
        lab.until_done().await?;
        lab.location("the address is Spanish", "location.pathname.endsWith('/es/lab')").await?;
        ensure!(lab.text("lab").await? != english, "the text is still English");
        ensure!(finals(&lab).await? == numbers, "the language changed the numbers");
        lab.expect_clean().await
    });
}

#[test]
fn the_root_leads_to_the_lab_in_the_browsers_language() {
    for language in ["en", "es"] {
        let view = View { language, ..View::DESKTOP };
        drive("root", view, move |lab| async move {
            lab.open("").await?;
            lab.until_ready().await?;
            let expected = format!("location.pathname.endsWith('/{language}/lab')");
            lab.location("the address names the language", &expected).await?;
            lab.expect_clean().await
        });
    }
}

#[test]
fn axe_finds_no_fault_in_either_theme_and_language() {
    for scheme in [Scheme::Light, Scheme::Dark] {
        drive("axe", View { scheme, ..View::DESKTOP }, move |lab| async move {
            for language in ["en", "es"] {
                lab.open(&format!("{language}/lab{}", small_link())).await?;
                lab.until_done().await?;
                lab.shot(&format!("lab-{language}-{scheme:?}").to_lowercase()).await?;
                let found = lab.expect_accessible().await;
                found.with_context(|| format!("{language}, {scheme:?}"))?;
            }
            Ok(())
        });
    }
}

#[test]
fn a_phone_shows_the_lab_without_sideways_scrolling() {
    drive("phone", View::PHONE, |lab| async move {
        for language in ["en", "es"] {
            lab.open(&format!("{language}/lab{}", small_link())).await?;
            lab.until_done().await?;
            lab.shot(&format!("phone-{language}")).await?;
            let overflow = lab.overflow().await?;
            ensure!(overflow <= 0, "{language}: {overflow} px too wide: {:#?}", lab.widest().await?);
            lab.expect_accessible().await?;
        }
        lab.expect_clean().await
    });
}

#[test]
fn nothing_is_cut_off_or_sticks_out() {
    for width in [390, 768, 1024, 1280, 1920] {
        drive("layout", View { width, ..View::DESKTOP }, move |lab| async move {
            for language in ["en", "es"] {
                lab.open(&format!("{language}/lab{}", link(42))).await?;
                lab.until_done().await?;
                lab.shot(&format!("layout-{width}-{language}")).await?;
                let overflow = lab.overflow().await?;
                ensure!(overflow <= 0, "{language}, {width} px: {overflow} px too wide: {:#?}", lab.widest().await?);
                let faults = lab.js(STICKS_OUT).await?;
                ensure!(faults == json!([]), "{language}, {width} px: {faults:#}");
            }
            Ok(())
        });
    }
}

/// JavaScript: what reaches out of its lane or panel, and inputs too narrow for what they hold.
const STICKS_OUT: &str = "
    const name = element => element.cloneNode(false).outerHTML.slice(0, 160);
    const scrolls = (element, box) => {
        for (let outer = element.parentElement; outer && outer !== box; outer = outer.parentElement) {
            if (getComputedStyle(outer).overflowX !== 'visible') return true;
        }
        return false;
    };
    const faults = [];
    for (const box of document.querySelectorAll('article, aside, section')) {
        const edge = box.getBoundingClientRect().right + 1;
        for (const element of box.querySelectorAll('*')) {
            const place = element.getBoundingClientRect();
            const isSeen = place.width > 1 && element.checkVisibility();
            if (isSeen && place.right > edge && !scrolls(element, box)) {
                faults.push(`${name(element)} reaches ${Math.round(place.right - edge)} px out of ${name(box)}`);
            }
        }
    }
    for (const input of document.querySelectorAll('input:not([type=range]), output')) {
        if (input.checkVisibility() && input.clientWidth > 1 && input.scrollWidth > input.clientWidth + 1) {
            faults.push(`${name(input)} is too narrow for ${input.value}`);
        }
    }
    return faults.slice(0, 12);";

#[test]
fn the_space_bar_plays_and_pauses() {
    drive("keyboard", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}", small_link())).await?;
        lab.until_done().await?;
        let pressed = lab.attribute("play", "aria-pressed").await?;
        let before = pressed.context("play has no aria-pressed")?;
        let after = if before == "true" { "false" } else { "true" };
        let state = "document.querySelector(\"[data-testid='play']\").getAttribute('aria-pressed')";
        for expected in [after, &before] {
            lab.key(' ').await?;
            lab.until("Space has toggled play", &format!("{state} === '{expected}'")).await?;
        }
        lab.expect_clean().await
    });
}

#[test]
fn a_bad_link_is_explained_and_still_works() {
    drive("bad-link", View::DESKTOP, |lab| async move {
        lab.open("en/lab#v=1&seed=abc&nodes=-5&load=99").await?;
        lab.until_ready().await?;
        let shown = "document.querySelector(\"[data-testid='notice']\")?.checkVisibility()";
        lab.until("the problems are shown", shown).await?;
        let notice = lab.text("notice").await?;
        for word in ["seed", "abc", "nodes", "-5", "load", "99"] {
            ensure!(notice.contains(word), "the notice does not name {word}: {notice}");
        }
        let role = lab.attribute("notice", "role").await?;
        ensure!(matches!(role.as_deref(), Some("alert" | "status")), "its role is {role:?}");
        lab.shot("bad-link").await?;
        lab.expect_accessible().await?;
        lab.until_done().await?;
        lab.expect_clean().await
    });
}

#[test]
fn a_deep_link_works_where_the_host_answers_with_its_404_page() {
    drive("deep-link", View::DESKTOP, |lab| async move {
        let path = format!("es/lab{}", small_link());
        lab.open(&path).await?;
        lab.until_ready().await?;
        let status = "return performance.getEntriesByType('navigation')[0].responseStatus";
        ensure!(lab.js(status).await? == 404, "the host did not answer with 404.html");
        ensure!(lab.js("return document.documentElement.lang").await? == "es");
        lab.location("the address stays", "location.pathname === '/residua/es/lab'").await?;
        lab.until_done().await?;
        lab.expect_clean().await
    });
}

#[test]
fn workers_use_simd_where_the_browser_has_it_and_give_the_same_numbers_where_not() {
    for (simd, wanted) in [(true, "residua-worker-simd"), (false, "residua-worker")] {
        drive(wanted, View { simd, ..View::DESKTOP }, move |lab| async move {
            lab.open(&format!("en/lab{}", link(42))).await?;
            lab.until_done().await?;
            expect_the_commands_numbers(&lab).await?;

            // Of the two builds only the one that is run is fetched.
            let stem = lab.js(&format!("return document.querySelector('meta[name={wanted}]').content")).await?;
            let stem = stem.as_str().context("the head names no worker")?;
            let mut fetched = lab.asked();
            fetched.retain(|path| path.contains("/worker"));
            fetched.iter_mut().for_each(|path| path.truncate(path.find('?').unwrap_or(path.len())));
            fetched.sort();
            fetched.dedup();
            let expected = [".js", "_bg.wasm"].map(|ending| format!("/residua/{stem}{ending}"));
            ensure!(fetched == expected, "{fetched:#?} were fetched instead of {expected:#?}");

            // What it says of itself, as the compiler has noted it.
            let features = lab
                .js(&format!(
                    "return fetch('{}').then(answer => answer.arrayBuffer()).then(WebAssembly.compile).then(module =>
                        WebAssembly.Module.customSections(module, 'target_features')
                            .map(section => new TextDecoder().decode(section)).join());",
                    expected[1],
                ))
                .await?;
            let features = features.as_str().context("no features")?;
            ensure!(features.contains("sign-ext"), "the worker says nothing of what it needs: {features:?}");
            ensure!(features.contains("simd128") == simd, "{stem}: {features:?}");
            lab.expect_clean().await
        });
    }
}

/// JavaScript: workers of which the second says, once it is up, that it has panicked.
const PANICKING: &str = "
    const Real = Worker;
    let made = 0;
    window.Worker = class extends Real {
        constructor(...all) {
            super(...all);
            made += 1;
            if (made !== 2) return;
            const message = 'panicked at src/engine.rs:1:1: index out of bounds';
            this.addEventListener('message', () => this.onmessage?.({ data: { reply: 'failed', message } }), { once: true });
        }
    };";

#[test]
fn a_panic_is_said_in_spanish_with_its_own_words_apart() {
    drive("panic", View::DESKTOP, |lab| async move {
        lab.before_all(PANICKING).await?;
        lab.open(&format!("es/lab{}", small_link())).await?;
        lab.until("a lane has failed", "!!document.querySelector('.failure')").await?;
        let told = lab.js("return document.querySelector('.failure').innerText").await?;
        let told = told.as_str().context("no text")?;
        ensure!(told.contains("Se detuvo de forma inesperada"), "{told}");
        let raw = "return document.querySelector('.failure [lang=en]').textContent";
        ensure!(lab.js(raw).await? == "panicked at src/engine.rs:1:1: index out of bounds");
        lab.expect_accessible().await?;
        lab.shot("panic").await?;
        // The next worker of that lane is the fifth made, and sound.
        lab.click("restart").await?;
        lab.until("the lane runs again", "!document.querySelector('.failure')").await?;
        lab.until_done().await?;
        lab.expect_clean().await
    });
}
