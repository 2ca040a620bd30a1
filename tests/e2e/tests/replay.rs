//! A published experiment run again in a real browser: the numbers on the screen are those of the command.

use std::io::Write;
use std::path::PathBuf;
use std::{env, fs, io};

use anyhow::{Context, Result, ensure};
use residua_e2e::{Lab, Scheme, View, drive, residua};
use serde_json::Value;

const NODES: &str = include_str!("../../data/openb/nodes.csv");
const PODS: &str = include_str!("../../data/openb/pods.csv");
const FAULTY_PODS: &str = include_str!("../../data/openb/pods_faulty.csv");

/// A file of the tests' own data, for the command.
fn sample(name: &str) -> Result<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data/openb").join(name);
    path.to_str().map(str::to_owned).context("a path in UTF-8")
}

async fn until_state(lab: &Lab, state: &str) -> Result<()> {
    let script = format!("document.querySelector(\"[data-testid='replay']\")?.dataset.state === '{state}'");
    lab.until(&format!("the replay is {state}"), &script).await
}

/// Waits until the address says so; it is rewritten a moment after the state has changed.
async fn until_address(lab: &Lab, part: &str) -> Result<()> {
    lab.until(&format!("the address has {part}"), &format!("location.hash.includes('{part}')")).await
}

/// Opens a place of the replay and has the sample's files run to the end.
async fn replayed(lab: &Lab, path: &str) -> Result<()> {
    lab.open(path).await?;
    until_state(lab, "empty").await?;
    lab.drop_files(&[("openb_pod_list_sample.csv", PODS), ("nodes.csv", NODES)]).await?;
    until_state(lab, "done").await
}

/// JavaScript: by policy, what stands in a figure's list at the percentage that it names.
fn shown(figure: &str) -> String {
    format!(
        "Object.fromEntries([...document.querySelectorAll(\"[data-testid='values-{figure}'] li\")]
            .map(item => [item.dataset.policy, Number(item.dataset.value)]))"
    )
}

/// Puts the cursor of both figures at a percentage, by keyboard: Home, then so many steps.
async fn cursor_to(lab: &Lab, percent: u32) -> Result<()> {
    let script = format!(
        "const area = document.querySelector(\"[data-testid='figure-alloc'] [role='slider']\");
        area.focus();
        const press = (key, shiftKey) =>
            area.dispatchEvent(new KeyboardEvent('keydown', {{ key, shiftKey, bubbles: true, cancelable: true }}));
        press('Home');
        for (let n = 0; n < {}; n++) press('ArrowRight', true);
        for (let n = 0; n < {}; n++) press('ArrowRight', false);",
        percent / 10,
        percent % 10,
    );
    lab.js(&script).await?;
    let there = format!("document.querySelector(\"[data-testid='values-frag']\").dataset.percent === '{percent}'");
    lab.until(&format!("the cursor is at {percent} %"), &there).await
}

/// Compares the lists of both figures with what the command says of these runs, at a percentage of its curves.
async fn same_as_command(lab: &Lab, runs: &Value, percent: u32) -> Result<usize> {
    cursor_to(lab, percent).await?;
    let alloc = lab.js(&format!("return {}", shown("alloc"))).await?;
    let frag = lab.js(&format!("return {}", shown("frag"))).await?;
    let mut compared = 0;
    for run in runs.as_array().context("runs")? {
        let id = run["id"].as_str().context("an id")?;
        let Some(point) =
            run["curve"].as_array().context("a curve")?.iter().find(|point| point["arrived_pct"] == percent)
        else {
            continue;
        };
        let near = |ours: &Value, theirs: &Value| {
            let (Some(ours), Some(theirs)) = (ours.as_f64(), theirs.as_f64()) else { return false };
            // The command rounds the fragmented share to four decimals.
            (ours - theirs).abs() <= 0.000_051
        };
        ensure!(near(&alloc[id], &point["alloc"]), "{id} at {percent} %: {} and {}", alloc[id], point["alloc"]);
        ensure!(
            near(&frag[id], &point["frag_ratio"]),
            "{id} at {percent} %: {} and {}",
            frag[id],
            point["frag_ratio"]
        );
        compared += 1;
    }
    Ok(compared)
}

/// Three percentages at which something arrived: whatever the policy, the same pods arrive. The last is the end.
fn percents(runs: &Value) -> Result<Vec<u32>> {
    let curve = runs[0]["curve"].as_array().context("a curve")?;
    let at = |index: usize| curve[index]["arrived_pct"].as_u64().context("a percentage");
    let last = curve.len().checked_sub(1).context("an empty curve")?;
    [last / 3, last * 2 / 3, last].into_iter().map(|index| Ok(u32::try_from(at(index)?)?)).collect()
}

#[test]
fn all_policies_show_the_numbers_of_the_command() {
    drive("replay", View::DESKTOP, |lab| async move {
        lab.open("en/replay#o=3&x=1").await?;
        until_state(&lab, "empty").await?;
        lab.expect_accessible().await?;
        // One at a time, the pods first.
        lab.drop_files(&[("openb_pod_list_sample.csv", PODS)]).await?;
        let asks =
            "document.querySelector(\"[data-testid='replay-status']\").textContent.includes('node list is still')";
        lab.until("the page asks for the node list", asks).await?;
        lab.drop_files(&[("nodes.csv", NODES)]).await?;
        until_state(&lab, "done").await?;
        let (nodes, pods) = (sample("nodes.csv")?, sample("pods.csv")?);
        let fixed =
            residua(&["replay", "--nodes", &nodes, "--pods", &pods, "--policy", "all", "--seed", "3", "--json"])?;
        let mut compared = 0;
        for percent in percents(&fixed)? {
            compared += same_as_command(&lab, &fixed, percent).await?;
        }
        ensure!(compared == 30, "{compared} of 30 values could be compared");
        lab.shot("replay").await?;
        lab.expect_accessible().await?;
        lab.expect_clean().await
    });
}

#[test]
fn both_kinds_of_ties_are_ranked() {
    drive("replay-ties", View::DESKTOP, |lab| async move {
        replayed(&lab, "en/replay#o=3&x=1").await?;
        let (nodes, pods) = (sample("nodes.csv")?, sample("pods.csv")?);
        let arguments = ["replay", "--nodes", &nodes, "--pods", &pods, "--policy", "all", "--seed", "3", "--json"];
        // Both kinds of ties: the ranking has them all, and the figures follow the switch.
        lab.click("replay-both").await?;
        until_address(&lab, "both=1").await?;
        let cells = "[...document.querySelectorAll(\"[data-testid='ranking-row'] [data-of='random-rank']\")]";
        let ranked = format!("{cells}.length === 10 && {cells}.every(cell => /\\d/.test(cell.textContent))");
        lab.until("all policies are ranked with random ties", &ranked).await?;
        // The switch is above: at the edge of the window the bar would lie on it.
        lab.js("scrollTo(0, 0)").await?;
        lab.click("ties-random").await?;
        until_address(&lab, "ties=random").await?;
        let random = residua(&[&arguments[..], &["--ties", "random"]].concat())?;
        for percent in percents(&random)? {
            same_as_command(&lab, &random, percent).await?;
        }
        lab.expect_clean().await
    });
}

#[test]
fn a_link_restores_the_settings_and_says_which_file_it_needs() {
    drive("replay-link", View { scheme: Scheme::Dark, ..View::DESKTOP }, |lab| async move {
        lab.open("es/replay#v=1&w=sample:0123456789abcdef&ties=random&n=BestFit&t=500&o=99&q=1").await?;
        until_state(&lab, "empty").await?;
        let missing = lab.text_of("[data-testid='replay-missing']").await?;
        ensure!(missing.contains("«sample»"), "{missing}");
        let notice = lab.text_of("[data-testid='replay-notice']").await?;
        for trouble in ["t=500", "o=99", "q=1"] {
            ensure!(notice.contains(trouble), "{trouble} in {notice}");
        }
        lab.drop_files(&[("openb_pod_list_sample.csv", PODS), ("nodes.csv", NODES)]).await?;
        until_state(&lab, "done").await?;
        until_address(&lab, "o=10").await?;
        let pressed =
            "document.querySelector(\"[data-testid='ties-random']\").getAttribute('aria-pressed') === 'true'";
        lab.until("ties are broken at random", pressed).await?;
        let policy = "document.querySelector(\"[data-testid='floor-policy']\").value === 'best-fit-paper'";
        lab.until("BestFit's nodes are shown", policy).await?;
        lab.expect_accessible().await?;
        // From here to the Lab and back nothing is lost.
        lab.click("go-lab").await?;
        lab.until_ready().await?;
        lab.until("the address is the Lab's", "location.pathname.endsWith('/es/lab')").await?;
        lab.click("go-replay").await?;
        until_state(&lab, "done").await?;
        until_address(&lab, "ties=random").await?;
        // A reload loses the files, and says so.
        lab.reload().await?;
        until_state(&lab, "empty").await?;
        let missing = lab.text_of("[data-testid='replay-missing']").await?;
        ensure!(missing.contains("«sample»"), "{missing}");
        lab.expect_clean().await
    });
}

#[test]
fn faults_and_strays_are_told_in_spanish() {
    drive("replay-faults", View::DESKTOP, |lab| async move {
        lab.open("es/replay").await?;
        until_state(&lab, "empty").await?;
        let order = "nodes 0 1 2 3 4 77\npods 0 uno\n";
        let means =
            "workload,policy,arrived_pct,alloc_mean,alloc_sd,frag_ratio_mean,frag_ratio_sd\ns,FGD,100,mucho,1,1,1\n";
        lab.drop_files(&[
            ("nodos.csv", NODES),
            ("pods.csv", PODS),
            ("orden_1.txt", order),
            ("medias.csv", means),
            ("carta.txt", "Querida lectora:\n"),
        ])
        .await?;
        until_state(&lab, "refused").await?;
        let left_out = lab.text_of("[data-testid='replay-left-out']").await?;
        ensure!(left_out.contains("carta.txt"), "{left_out}");
        let report = "[data-testid='replay-report']";
        let found = lab.text_of(report).await?;
        for part in [
            "orden_1.txt",
            "uno",
            "77",
            "medias.csv",
            "alloc_mean",
            "mucho",
            "hace falta un número de 0 a 100, en tanto por ciento",
        ] {
            ensure!(found.contains(part), "{part} in {found}");
        }
        let english = lab.text_of(&format!("{report} [lang='en']")).await?;
        ensure!(english.is_empty(), "in English: {english}");
        lab.expect_accessible().await?;
        // Better ones of the same kinds, and everything else is still there.
        let means = means.replace("mucho", "90").replace("\ns,", "\npods,");
        lab.drop_files(&[("orden_1.txt", "nodes 4 3 2 1 0\npods 0 1 2 3\n"), ("medias.csv", &means)]).await?;
        until_state(&lab, "done").await?;
        // What is finished stays when later files have faults, and goes on.
        lab.drop_files(&[("pods.csv", FAULTY_PODS)]).await?;
        until_state(&lab, "refused").await?;
        let report = lab.text_of("[data-testid='replay-report']").await?;
        ensure!(report.contains("sigue siendo de los archivos anteriores"), "{report}");
        let shown = lab.text_of("[data-testid='values-alloc']").await?;
        ensure!(shown.contains("FGD"), "the replay is gone: {shown}");
        lab.expect_accessible().await?;
        lab.click("ties-random").await?;
        until_address(&lab, "ties=random").await?;
        lab.click("replay-back").await?;
        until_state(&lab, "done").await?;
        ensure!(lab.js("return document.activeElement.id").await? == "main", "the focus is lost");
        lab.expect_clean().await
    });
}

#[test]
fn a_worker_that_breaks_is_said_and_replaced() {
    drive("replay-broken", View::DESKTOP, |lab| async move {
        lab.open("en/replay").await?;
        until_state(&lab, "empty").await?;
        // The page's workers are kept where the test can reach them.
        lab.js("window.hired = [];
            window.Worker = class extends Worker { constructor(...all) { super(...all); window.hired.push(this); } };")
            .await?;
        lab.drop_files(&[("pods.csv", PODS), ("nodes.csv", NODES)]).await?;
        until_state(&lab, "done").await?;
        lab.js("window.hired[0].postMessage('nonsense')").await?;
        until_state(&lab, "error").await?;
        lab.expect_accessible().await?;
        let before = lab.js("return window.hired.length").await?;
        lab.click("replay-restart").await?;
        until_state(&lab, "done").await?;
        ensure!(lab.js("return document.activeElement.id").await? == "main", "the focus is lost");
        lab.click("ties-random").await?;
        until_address(&lab, "ties=random").await?;
        until_state(&lab, "done").await?;
        let after = lab.js("return window.hired.length").await?;
        ensure!(after.as_u64() > before.as_u64(), "no new worker: {before}, {after}");
        let foreign = lab.foreign_requests().await?;
        ensure!(foreign.is_empty(), "foreign requests: {foreign:#?}");
        Ok(())
    });
}

#[test]
fn files_dropped_on_a_worker_that_breaks_are_looked_at_again() {
    drive("replay-first-drop", View::DESKTOP, |lab| async move {
        lab.open("es/replay").await?;
        until_state(&lab, "empty").await?;
        // The first worker says, once it is up, that it has panicked.
        lab.js("const Real = Worker;
            let made = 0;
            window.Worker = class extends Real {
                constructor(...all) {
                    super(...all);
                    made += 1;
                    if (made !== 1) return;
                    const data = { reply: 'failed', message: 'panicked at src/replay.rs:1:1: out of bounds' };
                    const hear = event => {
                        event.stopImmediatePropagation();
                        this.onmessage?.({ data });
                    };
                    this.addEventListener('message', hear, { once: true });
                }
            };")
            .await?;
        lab.drop_files(&[("pods.csv", PODS), ("nodes.csv", NODES)]).await?;
        until_state(&lab, "error").await?;
        let told = lab.text("replay-failure").await?;
        ensure!(told.contains("Se detuvo de forma inesperada"), "{told}");
        let raw = lab.text_of("[data-testid='replay-failure'] [lang=en]").await?;
        ensure!(raw == "panicked at src/replay.rs:1:1: out of bounds", "{raw}");
        lab.expect_accessible().await?;
        lab.click("replay-restart").await?;
        until_state(&lab, "done").await?;
        lab.expect_clean().await
    });
}

#[test]
fn a_stray_file_leaves_the_runs_alone() {
    drive("replay-stray", View::DESKTOP, |lab| async move {
        replayed(&lab, "en/replay").await?;
        lab.js("window.states = [];
            const replay = document.querySelector(\"[data-testid='replay']\");
            new MutationObserver(() => window.states.push(replay.dataset.state))
                .observe(replay, { attributeFilter: ['data-state'] });")
            .await?;
        lab.drop_files(&[("letter.txt", "Dear reader,\n")]).await?;
        let left_out =
            "document.querySelector(\"[data-testid='replay-left-out']\")?.textContent.includes('letter.txt')";
        lab.until("the stray is left out", left_out).await?;
        // Long enough for a reading and the runs to begin.
        tokio::time::sleep(std::time::Duration::from_millis(1000)).await;
        let states = lab.js("return window.states").await?;
        ensure!(states == Value::Array(Vec::new()), "the runs have begun again: {states}");
        // What belongs to the experiment is read.
        lab.drop_files(&[("pods.csv", PODS)]).await?;
        lab.until("the files are read again", "window.states.includes('reading')").await?;
        until_state(&lab, "done").await?;
        lab.expect_clean().await
    });
}

#[test]
fn a_phone_shows_all_of_it_without_scrolling_sideways() {
    // 320 pixels, and as many as a scroll bar takes.
    for (name, width) in [("replay-phone", 390), ("replay-narrow", 335)] {
        drive(name, View { width, ..View::PHONE }, move |lab| async move {
            for lang in ["en", "es"] {
                lab.open(&format!("{lang}/replay#both=1&x=1")).await?;
                until_state(&lab, "empty").await?;
                ensure!(lab.overflow().await? <= 0, "empty, {lang}: {}", lab.widest().await?);
                lab.drop_files(&[("openb_pod_list_sample.csv", PODS), ("nodes.csv", NODES)]).await?;
                until_state(&lab, "done").await?;
                ensure!(lab.overflow().await? <= 0, "{lang}: {}", lab.widest().await?);
            }
            lab.shot(name).await?;
            lab.expect_accessible().await?;
            lab.expect_clean().await
        });
    }
}

#[test]
fn the_nodes_can_be_walked_by_keyboard() {
    drive("replay-floor", View::DESKTOP, |lab| async move {
        replayed(&lab, "en/replay#t=60").await?;
        lab.js("document.querySelector(\"[data-testid='floor-grid']\").focus()").await?;
        lab.key('\u{e014}').await?;
        let card = "document.querySelector(\"[data-testid='floor-card']\")";
        lab.until("a node says its name", &format!("{card}?.textContent.includes('sample-node-0')")).await?;
        lab.key('\u{e014}').await?;
        lab.until("the next one says its", &format!("{card}?.textContent.includes('sample-node-1')")).await?;
        lab.key('\u{e00c}').await?;
        lab.until("Escape closes it", &format!("!{card}")).await?;
        // The table says of all devices what the canvas shows: there are 21.
        let total = lab.text_of("[data-testid='stock'] .total").await?;
        let script = "return [...document.querySelectorAll(\"[data-testid='stock'] .total td\")]
            .slice(1, 4).reduce((sum, cell) => sum + Number(cell.textContent), 0)";
        ensure!(lab.js(script).await? == 21, "{total}");
        lab.expect_clean().await
    });
}

/// The text of a published file: in the folder that `RESIDUA_OPENB` names, else in `../shared/data/openb`. `None` if it
/// is not there.
fn published(name: &str) -> Option<String> {
    let root = xtask::tools::root();
    let folder = env::var_os("RESIDUA_OPENB").map_or_else(|| root.join("../shared/data/openb"), PathBuf::from);
    fs::read_to_string(folder.join(name)).ok()
}

#[test]
fn the_published_run_comes_out_again() {
    let names = [
        "openb_node_list_gpu_node.csv",
        "openb_pod_list_default.csv",
        "replay/replay_default_42.txt",
        "expected_per_seed.csv",
    ];
    let texts: Option<Vec<String>> = names.iter().map(|name| published(name)).collect();
    let Some(texts) = texts else {
        // Not println!, which the test harness swallows when a test passes.
        _ = writeln!(
            io::stderr(),
            "left out: the_published_run_comes_out_again. Set RESIDUA_OPENB to the folder of the published traces"
        );
        return;
    };
    drive("replay-published", View::DESKTOP, |lab| async move {
        lab.open("en/replay").await?;
        until_state(&lab, "empty").await?;
        let files: Vec<(&str, &str)> = names
            .iter()
            .map(|name| name.rsplit('/').next().unwrap_or(name))
            .zip(texts.iter().map(String::as_str))
            .collect();
        lab.drop_files(&files).await?;
        until_state(&lab, "done").await?;
        let script = "return [...document.querySelectorAll(\"[data-testid='difference']\")]
            .map(row => [row.dataset.policy, Number(row.dataset.alloc), Number(row.dataset.frag), row.innerText])";
        let rows = lab.js(script).await?;
        let rows = rows.as_array().context("rows")?;
        ensure!(rows.len() == 6, "{rows:?}");
        for row in rows.iter().filter(|row| row[0] != "random-paper") {
            let (alloc, frag) = (row[1].as_f64().context("allocated")?, row[2].as_f64().context("fragmented")?);
            ensure!(alloc <= 0.011 && frag <= 0.011, "{row}");
        }
        lab.shot("replay-published").await?;
        lab.expect_accessible().await?;
        ensure!(lab.overflow().await? <= 0, "{}", lab.widest().await?);
        lab.expect_clean().await
    });
}
