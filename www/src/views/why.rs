//! Who waits in a lane at a moment, and why: what each job needs, and what is left where it nearly fits.

use leptos::html;
use leptos::prelude::*;
use residua::resources::Dim;
use residua::stage::why::{Lack, Near, Reason, Waiting, WaitingJobs};

use super::grid::dim_name;
use super::lane::class_name;
use crate::clock::hours_minutes;
use crate::i18n::{Text, use_text};
use crate::lab::{Why, use_lab};
use crate::numbers::{Numbers, use_numbers};
use crate::settings::scheduler_title;

/// The dialog with the answer; open while there is a question.
#[component]
pub fn WhyDialog() -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let is_asked = lab.why.with(Option::is_some);
        let Some(dialog) = dialog.get() else { return };
        match (is_asked, dialog.open()) {
            (true, false) => _ = dialog.show_modal(),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    let place = move || {
        lab.why.with(|why| {
            let Why { lane, at, .. } = why.as_ref()?;
            let id = lab.settings.with(|settings| settings.schedulers.get(*lane).cloned())?;
            Some(text.tf("why.place", &[("lane", &scheduler_title(&id)), ("time", &hours_minutes(*at))]))
        })
    };
    view! {
        <dialog class="why" node_ref=dialog aria-labelledby="why-title" on:close=move |_| lab.why.set(None)>
            <header class="section-header">
                <h2 id="why-title">{move || text.t("why.title")}</h2>
                <button type="button" class="button" on:click=move |_| lab.why.set(None)>
                    {move || text.t("trace.close")}
                </button>
            </header>
            <p class="note">{place}</p>
            {move || lab.why.get().map(|Why { at, share, answer, .. }| match answer {
                None => view! {
                    <p role="status" data-testid="why-looking">
                        {text.tf(
                            "why.looking",
                            &[("time", &hours_minutes(at)), ("share", &numbers.percent(share.min(1.0), 0))],
                        )}
                    </p>
                }.into_any(),
                Some(waiting) => view! { <Answer waiting=waiting/> }.into_any(),
            })}
        </dialog>
    }
}

#[component]
fn Answer(waiting: Waiting) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let Waiting { free_gpus, count, looked_at, by_shape, age, groups, .. } = waiting;
    let whole = move |value: u32| numbers.whole(f64::from(value));
    view! {
        <div data-testid="why-answer" data-count=count.to_string() data-shape=by_shape.to_string()>
            <p>
                {move || {
                    let free = text.count("grid.free", free_gpus, &numbers.short(free_gpus, 1));
                    text.tf("why.free", &[("free", &free), ("jobs", &whole(count))])
                }}
                " "
                {move || (by_shape > 0).then(|| text.count("why.shape", f64::from(by_shape), &whole(by_shape)))}
            </p>
            {move || (age > 0.0).then(|| view! {
                <p class="note">{text.tf("why.age", &[("age", &numbers.duration(age))])}</p>
            })}
            <ul class="why-jobs">
                {groups.into_iter().map(|group| view! { <Group group=group/> }).collect_view()}
            </ul>
            {move || (count > looked_at).then(|| view! {
                <p class="note">{text.count("why.more", f64::from(count - looked_at), &whole(count - looked_at))}</p>
            })}
        </div>
    }
}

#[component]
fn Group(group: WaitingJobs) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let WaitingJobs { count, job, class, tasks, asks, waited, reason } = group;
    let name = move || {
        let values = [
            ("n", numbers.whole(f64::from(count))),
            ("class", class_name(text, &class)),
            ("tasks", numbers.whole(f64::from(tasks))),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        if tasks > 1 { text.tf("why.gangs", &values) } else { text.tf("why.jobs", &values) }
    };
    let first = move || {
        let asked = asks[Dim::Gpu.index()];
        let gpus = text.count("count.gpus", asked, &numbers.short(asked, 2));
        let values = [("gpus", gpus), ("time", numbers.duration(waited * 3600.0))];
        let key = if count > 1 { "why.first" } else { "why.only" };
        text.tf(key, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
    };
    view! {
        <li data-job=job.to_string() data-count=count.to_string()>
            <p class="why-job"><b>{name}</b><span class="note">{first}</span></p>
            <p>{move || told(text, numbers, &reason, tasks)}</p>
        </li>
    }
}

/// A reason in words.
fn told(text: Text, numbers: Numbers, reason: &Reason, tasks: u16) -> String {
    match reason {
        Reason::FitsNowhere { nearest: None } => text.t("why.allowed_nowhere"),
        Reason::FitsNowhere { nearest: Some(Near { node, rebuilding, lacks }) } => {
            let lacks: Vec<String> = lacks.iter().map(|lack| lacked(text, numbers, lack, *rebuilding)).collect();
            text.tf("why.nowhere", &[("node", &node.to_string()), ("lacks", &lacks.join("; "))])
        }
        Reason::TooFewTogether { room } => text.tf(
            "why.together",
            &[("tasks", &numbers.whole(f64::from(tasks))), ("room", &numbers.whole(f64::from(*room)))],
        ),
        Reason::Kept => text.t("why.kept"),
        Reason::Cordoned => text.t("why.cordoned"),
        Reason::Behind => text.t("why.behind"),
    }
}

/// What a node lacks in one dimension, in words.
fn lacked(text: Text, numbers: Numbers, lack: &Lack, rebuilding: bool) -> String {
    let amount = |value: f64| numbers.short(value.max(0.0), 2);
    let values = [
        ("dim", dim_name(text, lack.dim)),
        ("needed", amount(lack.needed)),
        ("available", amount(lack.available)),
        ("nominal", amount(lack.nominal)),
        ("unit", text.count(&format!("unit.{}", lack.dim.name()), lack.nominal, &amount(lack.nominal))),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let is_of_storage = matches!(lack.dim, Dim::Sto | Dim::Ioc);
    if rebuilding && is_of_storage { text.tf("why.lack_rebuilding", &values) } else { text.tf("why.lack", &values) }
}
