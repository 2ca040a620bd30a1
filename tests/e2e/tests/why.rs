//! Why jobs wait, asked of a lane in a real browser.

use anyhow::{Result, ensure};
use residua_e2e::{Lab, Scheme, View, drive};
use serde_json::Value;

/// A cluster so full that somebody waits in both lanes, the play head in the middle.
const LINK: &str = "lab#v=1&s=c-storage-stress&p=scalar-5d,ragp-io&seed=7&nodes=24&load=1.1&t=72000000";

/// Asks the first lane and waits for the answer.
async fn ask(lab: &Lab) -> Result<Value> {
    // Out from under the bar with the play head.
    lab.js("document.querySelector(\"[data-testid='why']\").scrollIntoView({ block: 'center' })").await?;
    lab.click("why").await?;
    lab.until("it is answered", "document.querySelector(\"dialog[open] [data-testid='why-answer']\") !== null")
        .await?;
    let script = "const answer = document.querySelector(\"[data-testid='why-answer']\");
        return {
            count: Number(answer.dataset.count),
            shape: Number(answer.dataset.shape),
            jobs: [...answer.querySelectorAll('li')].map(job => job.innerText),
            queue: Number(document.querySelector(\"[data-testid='waiting']\").dataset.value),
        };";
    lab.js(script).await
}

#[test]
fn who_waits_is_told_what_is_missing() {
    drive("why", View::DESKTOP, |lab| async move {
        lab.open(&format!("en/{LINK}")).await?;
        lab.until_done().await?;
        let told = ask(&lab).await?;
        ensure!(told["count"] == told["queue"], "as many as the queue shows: {told}");
        let jobs = told["jobs"].as_array().cloned().unwrap_or_default();
        ensure!(!jobs.is_empty(), "{told}");
        let needed = |job: &Value| job.as_str().is_some_and(|job| job.contains("needs") && job.contains(" of "));
        ensure!(jobs.iter().any(needed), "what it needs and what is left: {told}");
        lab.expect_accessible().await?;
        lab.shot("why").await?;
        // Escape closes it, and the focus is where it was.
        lab.key('\u{e00c}').await?;
        lab.until("it is closed", "document.querySelector('dialog.why[open]') === null").await?;
        ensure!(lab.js("return document.activeElement?.dataset.testid").await? == "why", "the focus comes back");
        lab.expect_clean().await
    });
}

#[test]
fn it_is_told_in_spanish_on_a_phone() {
    drive("why-es", View { scheme: Scheme::Dark, ..View::PHONE }, |lab| async move {
        lab.open(&format!("es/{LINK}")).await?;
        lab.until_done().await?;
        let script = "return [...document.querySelectorAll(\"[data-testid='why']\")].findIndex(b => b.offsetParent)";
        ensure!(lab.js(script).await? != -1, "the lane that is shown can be asked");
        lab.js("[...document.querySelectorAll(\"[data-testid='why']\")].find(b => b.offsetParent).click()").await?;
        lab.until("it is answered", "document.querySelector(\"[data-testid='why-answer']\") !== null").await?;
        let text = lab.text_of("dialog.why").await?;
        ensure!(text.contains("Quién espera y por qué") && text.contains("GPU libres"), "{text}");
        ensure!(lab.overflow().await? <= 0, "{}", lab.widest().await?);
        lab.expect_accessible().await?;
        lab.shot("why-es").await?;
        lab.expect_clean().await
    });
}
