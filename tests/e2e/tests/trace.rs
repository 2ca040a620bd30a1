//! A recorded trace dropped on the page, seen in a real browser.

use anyhow::{Result, ensure};
use residua_e2e::{Lab, View, drive};

const NODES: &str = include_str!("../../data/openb/nodes.csv");
const PODS: &str = include_str!("../../data/openb/pods.csv");
const FAULTY_PODS: &str = include_str!("../../data/openb/pods_faulty.csv");

/// Two lanes are enough to see that the trace is run.
const LINK: &str = "lab#v=1&s=c-storage-stress&p=scalar-5d,ragp-io&seed=7&nodes=16";

/// Waits for the report on the files to say so.
async fn until_report(lab: &Lab, state: &str) -> Result<()> {
    let script = format!("document.querySelector(\"[data-testid='trace-report']\")?.dataset.state === '{state}'");
    lab.until(&format!("the files are {state}"), &script).await
}

#[test]
fn two_dropped_files_run_in_all_lanes() {
    drive("trace", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/{LINK}")).await?;
        lab.until_ready().await?;
        // One at a time, the pods first.
        lab.drop_files(&[("pods.csv", PODS)]).await?;
        let status =
            "document.querySelector('dialog.trace [role=status]').textContent.includes('node list is still')";
        lab.until("the page asks for the node list", status).await?;
        lab.drop_files(&[("nodes.csv", NODES)]).await?;
        until_report(&lab, "ready").await?;
        lab.expect_accessible().await?;
        lab.shot("trace").await?;
        lab.click("trace-run").await?;
        lab.until("the trace is named", "!!document.querySelector('.trace-running')").await?;
        // Before the end of the run: until then "done" may still be said of the run before.
        lab.location("the address names the trace", "location.hash.includes('trace=')").await?;
        lab.until_done().await?;
        // Where the play head starts, measuring has begun.
        let kpi = "document.querySelector('[data-testid=kpi][data-metric=f_lost]')";
        let is_measured =
            format!("Number.isFinite(parseFloat({kpi}.dataset.value)) && /\\d/.test({kpi}.textContent)");
        lab.until("a measure shows a number", &is_measured).await?;
        lab.expect_clean().await
    });
}

#[test]
fn faults_are_told_in_spanish_and_can_be_dropped() {
    drive("trace-es", View::DESKTOP, |lab| async move {
        lab.open(&format!("es/{LINK}")).await?;
        lab.until_ready().await?;
        lab.drop_files(&[("nodos.csv", NODES), ("pods.csv", FAULTY_PODS), ("carta.txt", "Querida lectora:\n")])
            .await?;
        until_report(&lab, "refused").await?;
        let left_out = lab.text_of("dialog.trace .field-error").await?;
        ensure!(left_out.contains("carta.txt"), "what is no list is left out: {left_out}");
        let report = "[data-testid='trace-report']";
        let english = format!("{report} [lang='en']");
        ensure!(lab.text_of(&english).await?.is_empty(), "in English: {}", lab.text_of(&english).await?);
        let found = lab.text_of(report).await?;
        ensure!(found.contains("hace falta un número entero de"), "{found}");
        lab.expect_accessible().await?;
        lab.click("trace-drop").await?;
        until_report(&lab, "ready").await?;
        ensure!(lab.text_of(&english).await?.is_empty(), "in English: {}", lab.text_of(&english).await?);
        lab.expect_clean().await
    });
}

#[test]
fn a_trace_without_storage_says_that_nothing_rebuilds() {
    drive("trace-silent", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/{LINK}&deg=0.3")).await?;
        lab.until_ready().await?;
        lab.drop_files(&[("nodes.csv", NODES), ("pods.csv", PODS)]).await?;
        until_report(&lab, "ready").await?;
        lab.click("trace-assume").await?;
        lab.until(
            "the report is without assumptions",
            "!document.querySelector('[data-testid=trace-assume]').checked",
        )
        .await?;
        lab.click("trace-run").await?;
        lab.location("the address names the trace", "location.hash.includes('trace=')").await?;
        lab.location("and that nothing is assumed", "location.hash.includes('assume=off')").await?;
        let rebuilding = "document.querySelector('[data-field=deg]')";
        let is_silent = format!("{rebuilding}.disabled && {rebuilding}.value === '0'");
        lab.until("the share of rebuilding nodes is 0 and cannot be changed", &is_silent).await?;
        let why = lab.text_of("#field-deg-silent").await?;
        ensure!(why.contains("no storage to rebuild"), "why it cannot be changed: {why:?}");
        lab.until_done().await?;
        lab.expect_accessible().await?;
        lab.shot("trace-silent").await?;
        lab.expect_clean().await
    });
}
