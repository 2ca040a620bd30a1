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

/// JavaScript: for each number of each lane its scheduler, measure, value on screen and in the run, and the words on
/// screen and those that the browser writes of the run's value in the language of the page.
const KPIS: &str = "(() => {
    const lang = document.documentElement.lang;
    const own = navigator.languages.find(tag => tag.length > 2 && tag.startsWith(lang));
    const locale = own ?? { en: 'en-US', es: 'es-ES' }[lang];
    const write = (value, digits, style = {}) => new Intl.NumberFormat(
        locale, { minimumFractionDigits: digits, maximumFractionDigits: digits, ...style }).format(value);
    const share = value => write(value, 1, { style: 'percent' });
    const time = value => {
        if (Math.round(value) < 60) return `${write(value, 0)}\u{a0}s`;
        if (Math.round(value / 60) < 100) return `${write(value / 60, 0)}\u{a0}min`;
        return `${write(value / 3600, 1)}\u{a0}h`;
    };
    const words = {
        f_lost: share,
        waste_per_hour: value => write(value, 0, { style: 'currency', currency: 'USD' }),
        productive_gpu_h: value => write(value, 0),
        f_shape: value => write(value, 3),
        stall: share,
        wait_p99: time,
    };
    return [...document.querySelectorAll(\"[data-testid='lane']\")].flatMap(lane => {
        const run = JSON.parse(lane.querySelector(\"[data-testid='final']\").dataset.metrics);
        // 24 hours are measured, and a GPU-hour costs $3.
        run.waste_per_hour = run.f_lost * (run.ledger.capacity / 24) * 3;
        return [...lane.querySelectorAll(\"[data-testid='kpi']\")].map(kpi => {
            const { metric, value } = kpi.dataset;
            const final = run[metric];
            return [lane.dataset.scheduler, metric, Number(value), final, kpi.textContent, words[metric](final)];
        });
    });
})()";

/// JavaScript: of each lane how many jobs wait, and the difference to the first lane: as shown, and as it is.
const WAITING: &str = "(() => {
    const waiting = [...document.querySelectorAll(\"[data-testid='waiting']\")].map(count => Number(count.dataset.value));
    const shown = [...document.querySelectorAll(\"[data-testid='waiting-difference']\")].map(text => text.textContent);
    return waiting.map((count, lane) => {
        const difference = count - waiting[0];
        const sign = difference === 0 ? '±' : difference < 0 ? '−' : '+';
        return [count, shown[lane], lane === 0 ? '' : sign + Math.abs(difference)];
    });
})()";

/// Moves the playhead to a share of the run.
async fn scrub(lab: &Lab, share: f64) -> Result<()> {
    let script = format!(
        "const scrubber = document.querySelector(\"[data-testid='scrubber']\");
        scrubber.value = Math.round(scrubber.max * {share});
        scrubber.dispatchEvent(new Event('input', {{ bubbles: true }}));
        scrubber.dispatchEvent(new Event('change', {{ bubbles: true }}));"
    );
    lab.js(&script).await?;
    Ok(())
}

/// Moves the playhead to the end of the run.
async fn scrub_to_the_end(lab: &Lab) -> Result<()> {
    scrub(lab, 1.0).await
}

/// Does to an input or a choice what a reader does: gives it a value and leaves it.
async fn set(lab: &Lab, selector: &str, value: &str) -> Result<()> {
    let script = format!(
        "const input = document.querySelector({});
        input.value = {};
        input.dispatchEvent(new Event('input', {{ bubbles: true }}));
        input.dispatchEvent(new Event('change', {{ bubbles: true }}));",
        Value::from(selector),
        Value::from(value),
    );
    lab.js(&script).await?;
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
        expect_the_runs_numbers(&lab).await?;
        lab.click("lang-switch").await?;
        lab.until("the page is in Spanish", "document.documentElement.lang === 'es'").await?;
        expect_the_runs_numbers(&lab).await?;

        // In the middle, where queues differ.
        scrub(&lab, 0.6).await?;
        let differ = format!("({WAITING}).every(([, shown, is]) => shown === is)");
        let settled = lab.until("the queues are compared with the first lane's", &differ).await;
        let queues = lab.js(&format!("return {WAITING}")).await?;
        settled.with_context(|| format!("jobs that wait, difference shown, difference: {queues}"))?;
        ensure!(queues.as_array().map_or(0, Vec::len) == SCHEDULERS.len(), "{queues}");
        lab.expect_clean().await
    });
}

/// Fails where a number on screen is not the run's, or not written as the browser writes it.
async fn expect_the_runs_numbers(lab: &Lab) -> Result<()> {
    // The page draws at its next frame.
    let all = format!("({KPIS}).every(([, , value, final, shown, words]) => value === final && shown === words)");
    let settled = lab.until("the screen shows the end of the run", &all).await;
    let kpis = lab.js(&format!("return {KPIS}")).await?;
    settled.with_context(|| format!("lane, measure, value, in the run, on screen, as it is written: {kpis}"))?;
    let count = kpis.as_array().map_or(0, Vec::len);
    ensure!(count == 6 * SCHEDULERS.len(), "{count} numbers are on screen: {kpis}");
    Ok(())
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

/// JavaScript: the play head, and what the calculator is set to.
const SET: &str = "JSON.stringify([
    \"[data-testid='scrubber']\", \"[data-field='price']\", \"[data-field='fleet']\", 'select.currency',
    \"[data-testid='waste-source']\",
].map(selector => document.querySelector(selector)?.value))";

#[test]
fn a_link_restores_the_same_numbers_after_a_reload_and_in_a_new_tab() {
    drive("link", View::DESKTOP, |lab| async move {
        // At a moment: else it would begin to play.
        let opened = "t=36000000";
        lab.open(&format!("en/lab{}&price=2.35&cur=EUR&from=lost2&fleet=500&{opened}", small_link())).await?;
        lab.until_done().await?;
        let first = finals(&lab).await?;
        scrub(&lab, 0.6).await?;
        // The page's own writing, not the address that was opened: it holds the new moment.
        let moved = format!("/[#&]t=/.test(location.hash) && !location.hash.includes('{opened}')");
        let address = lab.location("the address holds the moment", &moved).await?;
        let head = lab.js("return document.querySelector(\"[data-testid='scrubber']\").value").await?;
        let head = head.as_str().context("no play head")?.to_owned();
        // The list of lanes counts from 0, the link from 1.
        let is_set = |price: &str| format!("{SET} === '{}'", json!([head, price, "500", "EUR", "lost1"]));
        lab.until("the link is taken", &is_set("2.35")).await?;

        lab.reload().await?;
        lab.until_done().await?;
        ensure!(finals(&lab).await? == first, "a reload changed the numbers");
        lab.until("a reload restores play head and calculator", &is_set("2.35")).await?;

        let fragment = address.fragment().context("the address has no fragment")?;
        lab.open_tab(&format!("es/lab#{fragment}")).await?;
        lab.until_done().await?;
        ensure!(finals(&lab).await? == first, "a new tab changed the numbers");
        lab.until("a new tab restores play head and calculator", &is_set("2,35")).await?;
        lab.expect_clean().await
    });
}

/// JavaScript: what the calculator shows, and what it shows it of.
const MONEY: &str = "(() => {
    const cells = id => [...document.querySelectorAll(`[data-testid='${id}']`)];
    const formula = document.querySelector(\"[data-testid='formula']\").textContent;
    return {
        paid: cells('spend').map(cell => cell.textContent),
        wasted: cells('waste').map(cell => cell.textContent),
        formula,
        values: [...cells('spend'), ...cells('waste')].map(cell => Number(cell.dataset.value)),
    };
})()";

#[test]
fn the_calculator_computes_follows_a_lane_and_refuses_nonsense() {
    drive("calculator", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}&t=72000000", small_link())).await?;
        lab.until_done().await?;
        let money = lab.js(&format!("return {MONEY}")).await?;
        ensure!(money["paid"] == json!(["$3,000", "$72,000", "$26,280,000"]), "{money}");
        ensure!(money["wasted"] == json!(["$300", "$7,200", "$2,628,000"]), "{money}");
        let formula = money["formula"].as_str().context("no formula")?;
        ensure!(formula == "1,000 GPUs × $3.00 × 8,760 h × 10% = $2,628,000 a year", "{formula}");

        // The second lane's lost share, now and at the end.
        set(&lab, "[data-testid='waste-source']", "lost1").await?;
        lab.until("the share is the lane's", "!!document.querySelector(\"[data-testid='live-share']\")").await?;
        let shares = "(() => {
            const lane = document.querySelectorAll(\"[data-testid='lane']\")[1];
            const value = document.querySelector(\"[data-testid='live-share']\").dataset.value;
            return [
                Number(value),
                Number(lane.querySelector(\"[data-metric='f_lost']\").dataset.value),
                JSON.parse(lane.querySelector(\"[data-testid='final']\").dataset.metrics).f_lost,
                Number(document.querySelector(\"[data-testid='waste']\").dataset.value),
            ];
        })()";
        let near = "Math.abs(wasted / (1000 * 3 * share) - 1) < 1e-12";
        let follows = format!("(([share, lane, , wasted]) => share > 0 && share === lane && {near})({shares})");
        lab.until("the wasted money is fleet × price × the lane's share", &follows).await?;
        let before = lab.js(&format!("return {shares}")).await?;
        scrub_to_the_end(&lab).await?;
        let ended = format!("(([share, lane, run, wasted]) => share === lane && share === run && {near})({shares})");
        lab.until("the share is the run's", &ended).await?;
        let after = lab.js(&format!("return {shares}")).await?;
        ensure!(before[0] != after[0], "the share does not follow the play head: {before}, {after}");

        // What is no number is said, and changes nothing.
        let moved = "!location.hash.includes('t=72000000') && location.hash.includes('from=lost2')";
        lab.location("the address has followed", moved).await?;
        let before = lab.js(&format!("return [{MONEY}, location.hash]")).await?;
        let runs = finals(&lab).await?;
        set(&lab, "[data-field='price']", "nonsense").await?;
        let refused = "document.querySelector(\"[data-field='price']\").getAttribute('aria-invalid') === 'true'";
        lab.until("the price is refused", refused).await?;
        let error = lab.text_of("#field-price-error").await?;
        for part in ["nonsense", "0 to 10,000,000"] {
            ensure!(error.contains(part), "{part} in {error}");
        }
        lab.expect_accessible().await?;
        // Longer than the address waits to be rewritten.
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        ensure!(lab.js(&format!("return [{MONEY}, location.hash]")).await? == before, "something else has changed");
        ensure!(finals(&lab).await? == runs, "the runs have changed");

        set(&lab, "[data-field='price']", "2.5").await?;
        let paid = format!("{MONEY}.paid[0] === '$2,500'");
        lab.until("a number is taken", &paid).await?;
        ensure!(lab.text_of("#field-price-error").await?.is_empty(), "the error stays");
        lab.expect_clean().await
    });
}

/// JavaScript: what is said of a link that was to be copied.
const SAID_OF_COPY: &str = "document.querySelector(\"[data-testid='copy-said']\").textContent";

#[test]
fn copying_a_link_says_how_it_went() {
    drive("copy", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/lab{}", small_link())).await?;
        lab.until_done().await?;
        // A clipboard that answers when the test wants it to.
        lab.js("const clipboard = { writeText: text => {
                window.copied = text;
                return new Promise((resolve, reject) => { window.answer = { resolve, reject }; });
            } };
            Object.defineProperty(navigator, 'clipboard', { configurable: true, value: clipboard });")
            .await?;
        lab.click("copy-link").await?;
        lab.until("the clipboard was asked", "!!window.answer").await?;
        ensure!(lab.js(&format!("return {SAID_OF_COPY}")).await? == "", "it is said before it is known");
        lab.js("window.answer.resolve()").await?;
        lab.until("it is said that it worked", &format!("{SAID_OF_COPY} === 'Link copied'")).await?;
        ensure!(lab.js("return /[#&]t=\\d/.test(window.copied)").await? == true, "the moment is not in the link");

        lab.click("copy-link").await?;
        lab.js("window.answer.reject(new Error('not allowed'))").await?;
        lab.until("it is said where else the link is", &format!("{SAID_OF_COPY}.includes('address bar')")).await?;
        let width = lab.js("return document.querySelector(\"[data-testid='copy-said']\").offsetWidth").await?;
        ensure!(width.as_u64() > Some(50), "it cannot be seen: {width} px");
        ensure!(lab.js("return location.href === window.copied").await? == true, "the address bar has another link");
        lab.expect_accessible().await?;
        lab.shot("copy-refused").await?;

        lab.click("lang-switch").await?;
        lab.until("the page is in Spanish", "document.documentElement.lang === 'es'").await?;
        lab.js("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined })").await?;
        lab.click("copy-link").await?;
        let spanish = format!("{SAID_OF_COPY}.includes('barra de direcciones')");
        lab.until("the same without a clipboard", &spanish).await?;
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
        for heading in ["Side by side", "The run"] {
            ensure!(english.contains(heading), "{heading} in {english}");
        }
        ensure!(lab.js("return document.documentElement.lang").await? == "en");
        let numbers = finals(&lab).await?;

        lab.click("lang-switch").await?;
        lab.until("the page is in Spanish", "document.documentElement.lang === 'es'").await?;
        lab.until_done().await?;
        lab.location("the address is Spanish", "location.pathname.endsWith('/es/lab')").await?;
        let spanish = lab.text("lab").await?;
        for (heading, before) in [("Lado a lado", "Side by side"), ("La simulación", "The run")] {
            ensure!(spanish.contains(heading) && !spanish.contains(before), "{heading} in {spanish}");
        }
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
        lab.click("notice-close").await?;
        lab.until("the notice is gone", "!document.querySelector(\"[data-testid='notice']\")").await?;
        ensure!(lab.js("return document.activeElement.id").await? == "main", "the focus is lost");
        lab.until_done().await?;
        lab.expect_clean().await
    });
}

#[test]
fn of_a_link_full_of_errors_the_first_are_said() {
    drive("junk-link", View::PHONE, |lab| async move {
        let junk: String =
            (0..3000).map(|n| format!("&junk{n}={}", "x".repeat(if n == 0 { 5000 } else { 3 }))).collect();
        lab.open(&format!("es/lab#v=1&nodes=16&nodes=32{junk}")).await?;
        lab.until_ready().await?;
        let notice = lab.text("notice").await?;
        for words in ["«nodes» aparece más de una vez", "junk1=xxx", "y 2995 más"] {
            ensure!(notice.contains(words), "the notice does not say {words}: {notice}");
        }
        ensure!(notice.len() < 1000, "{} bytes", notice.len());
        ensure!(lab.overflow().await? <= 0, "{}", lab.widest().await?);
        lab.until("the first of two values is used", "location.hash.includes('nodes=16')").await?;
        lab.expect_accessible().await?;
        lab.expect_clean().await
    });
}

#[test]
fn a_browser_that_cannot_draw_is_told_so() {
    drive("no-canvas", View::PHONE, |lab| async move {
        lab.before_all("HTMLCanvasElement.prototype.getContext = () => null").await?;
        for (path, ready) in [("en/lab", "lab"), ("es/replay", "replay")] {
            lab.open(path).await?;
            lab.until("the place is there", &format!("!!document.querySelector(\"[data-testid='{ready}']\")"))
                .await?;
            let told = lab.text("no-drawing").await?;
            ensure!(told.contains("canvas"), "{told}");
        }
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
        let is_kept = "return document.activeElement.matches('[data-testid=lane] .picker')";
        ensure!(lab.js(is_kept).await? == true, "the focus is lost");
        lab.until_done().await?;
        lab.expect_clean().await
    });
}
