use super::*;

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect()
}

fn issues(text: &str, overrides: &[(&str, &str)]) -> Vec<Issue> {
    Scenario::parse(text, &set(overrides)).expect_err("this is wrong").0
}

#[test]
fn the_shared_model_gives_every_key() {
    let text = MODEL;
    let table: toml::Table = text.parse().expect("TOML");
    let has = |path: &str| {
        let mut value = &toml::Value::Table(table.clone());
        for part in path.split('.') {
            match value.get(part) {
                Some(inner) => value = inner,
                None => return false,
            }
        }
        true
    };
    for key in schema::KEYS {
        assert!(has(key.path), "{} is not in model.toml", key.path);
    }
    let model = read::model();
    for node_type in &model.node_types {
        for key in schema::NODE_TYPE_KEYS {
            assert!(has(&format!("node_types.{}.{}", node_type.id, key.path)));
        }
    }
    for class in &model.classes {
        for key in schema::CLASS_KEYS {
            assert!(has(&format!("classes.{}.{}", class.id, key.path)));
        }
    }
    Scenario::parse(text, &[]).expect("the model is itself a scenario");
}

#[test]
fn every_preset_is_right_and_named_as_in_its_file() {
    for preset in PRESETS {
        let scenario = Scenario::parse(preset.text, &[]).unwrap_or_else(|issues| panic!("{}:\n{issues}", preset.id));
        assert_eq!(scenario.title, preset.title);
        assert_eq!((scenario.load, scenario.nodes), (0.70, 64));
        let hot = Scenario::preset(preset.id, &set(&[("preset", "hot")])).expect("hot");
        assert_eq!(hot.load, if preset.id.starts_with('b') { 0.75 } else { 0.85 });
        assert_eq!(find(&preset.id[..1]), Some(preset));
        assert_eq!(find(&format!("scenarios/{}.toml", preset.id)), Some(preset));
    }
}

#[test]
fn overrides_come_last() {
    let scenario =
        Scenario::preset("c", &set(&[("load", "0.9"), ("preset", "hot"), ("scheduler.fit_dims", "cpu,gpu")]))
            .expect("right");
    assert_eq!(scenario.load, 0.9);
    assert_eq!(scenario.value("scheduler.fit_dims").as_deref(), Some("[\"cpu\", \"gpu\"]"));
    assert_eq!(scenario.value("sharing").as_deref(), Some("\"max-min\""));
}

#[test]
fn one_share_can_be_changed_alone() {
    let scenario = Scenario::preset("a", &set(&[("classes.train.share", "0.3")])).expect("right");
    let sum: f64 = scenario.classes.iter().map(|class| class.share).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let rag = scenario.classes.iter().find(|class| class.id == "rag_rt").expect("is there");
    assert!((rag.share - 0.25 * 0.7 / 0.75).abs() < 1e-12);

    let uniform = Scenario::preset("a", &set(&[("node_types.G8.share", "1")])).expect("right");
    assert!(uniform.deal_nodes().iter().all(|kind| *kind == 0));
}

#[test]
fn all_problems_at_once_each_with_path_value_range_and_remedy() {
    let text = "
        laod = 0.7
        load = 7
        nodes = 3.5
        sharing = 'fair'
        hours = 2
        warm_up_hours = 6
        [rebuild]
        degraded_share = 0.1
        [classes]
        train.gang = [[1, 0.5], [2, 0.3]]
        batch.share = 0.5
        trian.share = 0.1
        [presets.hot]
        load = 'hot'
    ";
    let found = issues(text, &[("queue.windw", "3"), ("telemetry.noise", "nan")]);
    let paths: Vec<_> = found.iter().map(|issue| issue.path.as_str()).collect();
    for path in [
        "laod",
        "load",
        "nodes",
        "sharing",
        "rebuild.degraded_share",
        "classes.train.gang",
        "classes.trian",
        "presets.hot.load",
        "queue.windw",
        "telemetry.noise",
    ] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    let at = |path: &str| found.iter().find(|issue| issue.path == path).expect("is there");
    assert_eq!(at("laod").remedy, "Did you mean `load`?");
    assert_eq!(at("rebuild.degraded_share").remedy, "Did you mean `rebuilds.degraded_share`?");
    assert!(at("classes.trian").remedy.contains("classes.train"));
    assert_eq!(at("load").value, "7");
    assert_eq!(at("load").allowed, "0.05 to 1.5 (share of all GPUs)");
    assert!(at("load").message().contains("load = 7 – allowed: 0.05 to 1.5"));
    for issue in &found {
        assert!(!issue.allowed.is_empty() && !issue.remedy.is_empty(), "{issue:?}");
    }
}

#[test]
fn contradictions_are_found() {
    let first = |text: &str| issues(text, &[]).remove(0).path;
    assert_eq!(first("hours = 5"), "warm_up_hours");
    assert_eq!(first("[rebuilds]\nfactor_min = 0.9"), "rebuilds.factor_min");
    assert_eq!(first("[bursts]\nfactor = 6"), "bursts.factor");
    assert_eq!(first("[telemetry]\ninterval_seconds = 0.01"), "telemetry.interval_seconds");
    assert_eq!(first("[classes]\ntrain.share = 0.5"), "classes.*.share");
    assert_eq!(first("[node_types]\nG4.share = 0.5"), "node_types.*.share");
    assert_eq!(first("[classes]\ntrain.gpu = 16"), "classes.train.gpu");
    assert_eq!(first("nodes = 2"), "nodes");
    Scenario::parse("nodes = 3", &[]).expect("three nodes hold a gang of four tasks");
    let size = issues("nodes = 20000\nhours = 8760", &[]).remove(0);
    assert_eq!(size.path, "nodes × hours");
    assert!(size.allowed.contains("at most 10 million jobs, and this has about 2818.6 million"), "{size}");
}

/// Jobs are not all that a run costs: few of them may still take years.
#[test]
fn a_run_that_would_not_end_is_refused_whatever_makes_it_long() {
    let vast = [("nodes", "20000"), ("hours", "8760"), ("load", "0.05")];
    let long_jobs = ["rag_rt", "llm_rt", "breath", "train", "batch", "short"]
        .map(|class| (format!("classes.{class}.work_minutes"), "100000"));
    let long_jobs: Vec<(&str, &str)> = long_jobs.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    for (overrides, words, remedy) in [
        (
            vec![("telemetry.interval_seconds", "1"), ("nodes", "64"), ("hours", "8760")],
            "million readings",
            "interval",
        ),
        (
            vec![
                ("rebuilds.degraded_share", "0.9"),
                ("rebuilds.mean_hours", "0.05"),
                ("nodes", "100"),
                ("hours", "8760"),
            ],
            "million starts and ends of rebuilds",
            "rebuilds.mean_hours",
        ),
        (vast.iter().chain(&long_jobs).copied().collect(), "million samples of nodes", "fewer nodes"),
        (vec![("load", "1.5"), ("hours", "2000")], "million samples of waiting jobs", "a load below 1"),
        (
            vec![
                ("growth.steps", "64"),
                ("classes.short.grows", "true"),
                ("classes.short.share", "0.5"),
                ("hours", "1000"),
            ],
            "million growth steps",
            "growth.steps",
        ),
    ] {
        let found = Scenario::preset("a", &set(&overrides)).expect_err(words).0;
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].allowed.contains(words), "{}", found[0]);
        assert!(found[0].remedy.contains(remedy), "{}", found[0]);
        // The advice helps: so many hours are allowed.
        let hours =
            found[0].remedy.strip_prefix("Run at most ").and_then(|rest| rest.split_once(" h")).expect("hours").0;
        let shorter = overrides.iter().copied().filter(|(key, _)| *key != "hours");
        let shorter: Vec<_> = shorter.chain([("hours", hours), ("warm_up_hours", "0")]).collect();
        Scenario::preset("a", &set(&shorter)).unwrap_or_else(|issues| panic!("{hours} h: {issues}"));
    }
    // All that is too much is one problem.
    let all = [("telemetry.interval_seconds", "1"), ("nodes", "20000"), ("hours", "8760")];
    let found = Scenario::preset("c", &set(&all)).expect_err("vast").0;
    assert_eq!(found.len(), 1);
    assert!(
        found[0].allowed.contains("million jobs") && found[0].allowed.contains("million readings"),
        "{}",
        found[0]
    );
    // What the page offers of a thousand nodes is far from it.
    let page = [("nodes", "1024"), ("load", "1.5"), ("rebuilds.degraded_share", "0.5")];
    Scenario::preset("d", &set(&page)).expect("a large run of the page");
}

/// What is asked of one node is added up as `i32`.
#[test]
fn soft_demand_of_a_full_node_stays_in_range() {
    let node = |value: &str| {
        format!(
            "nodes = 1\nload = 1.5\n[node_types]\nG4.share = 0\nS8.share = 0\n[node_types.G8]\nshare = 1\ncpu = 1024\n\
             ram = 65536\ngpu = 64\nhbm = 16384\nnet = 10000\nsto = 1000\nioc = 1024\n[limits]\nsto = 1000\nioc = 1024\n\
             [growth]\nsto = 10\n[classes]\nrag_rt.share = 0\nllm_rt.share = 0\ntrain.share = 0\nbatch.share = 0\n\
             short.share = 0\n[classes.tiny]\nshare = 1\ncpu = 0.1\nram = 0.1\ngpu = {value}\nhbm = 0.1\nnet = 0.1\n\
             sto = 1000\nioc = 1024\nwork_minutes = 60\nwork_sigma = 0\ngrows = true"
        )
    };
    let found = issues(&node("0.05"), &[]);
    let paths: Vec<&str> = found.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["limits.sto", "limits.ioc"], "{found:#?}");
    assert_eq!(found[0].value, "14080000 GB/s on one G8");
    assert!(
        found[0].allowed.starts_with("at most 2147484 GB/s on one node; here 1280 tasks of tiny"),
        "{}",
        found[0]
    );
    assert!(found[0].remedy.contains("classes.tiny.sto"), "{}", found[0]);
    Scenario::parse(&node("0.5"), &[]).expect("128 tasks are few enough");
}

/// A value that would silently do nothing, or something else, is a problem of its key.
#[test]
fn what_would_not_be_kept_is_refused() {
    for (overrides, path, words) in [
        (vec![("limits.sto", "4")], "limits.sto", "rag_rt asks for, 4.2 GB/s"),
        (vec![("limits.hbm_per_gpu", "60")], "limits.hbm_per_gpu", "llm_rt"),
        (vec![("growth.hbm_cap", "20")], "growth.hbm_cap", "breath"),
        (vec![("classes.short.work_sigma", "1.5")], "classes.short.work_sigma", "0 to 1"),
        (vec![("warm_up_hours", "29.9999999")], "warm_up_hours", "at least a minute less"),
        (
            vec![("growth.hbm", "10"), ("growth.hbm_cap", "700")],
            "growth.hbm",
            "a task of breath may start with 80 GiB and grows to 700 GiB; a G8 has 640 GiB",
        ),
    ] {
        let found = Scenario::preset("d", &set(&overrides)).expect_err(path).0;
        assert_eq!(found[0].path, path, "{found:#?}");
        assert!(found[0].allowed.contains(words), "{}", found[0]);
    }
    // Throttled, a job that cannot grow ends all the same.
    let throttled = [("growth.hbm", "10"), ("growth.hbm_cap", "700"), ("out_of_memory", "throttle")];
    Scenario::preset("d", &set(&throttled)).expect("ends");
    Scenario::preset("d", &set(&[("growth.hbm", "10"), ("growth.hbm_cap", "640")])).expect("ends");
}

#[test]
fn a_scheduler_that_plans_with_too_little_is_told_the_class() {
    let scenario = Scenario::preset("c", &set(&[("scheduler.safety", "0.1")])).expect("right by itself");
    let found = scenario.setup("ragp-io", 1).expect_err("nothing would start").0;
    assert_eq!(found[0].path, "scheduler.safety");
    assert!(
        found[0].allowed.contains("at least 0.132: with less, ragp-io never starts a typical task of rag_rt"),
        "{}",
        found[0]
    );
    scenario.setup("ragp-5d", 1).expect("it does not see storage");
    Scenario::preset("c", &set(&[("scheduler.safety", "0.5")])).expect("right").setup("ragp-io", 1).expect("enough");
}

/// Growth that is planned for, or that an evicted task has behind it, must fit as well.
#[test]
fn a_task_that_would_be_planned_larger_than_any_node_is_told() {
    let vast = [("growth.sto", "10"), ("classes.breath.sto", "3")];
    let found = |more: &[(&str, &str)], scheduler: &str| {
        let scenario = Scenario::preset("d", &set(&[&vast[..], more].concat())).expect("right by itself");
        scenario.setup(scheduler, 1).err().map_or_else(Vec::new, |issues| issues.0)
    };
    let evicted = "growth.sto = 10 – allowed: at most 9.666: with more, ragp-io never starts a typical task of breath again \
                   that was evicted full-grown. Lower it or classes.breath.sto, take out_of_memory = \"throttle\", or \
                   compare schedulers that do not see storage";
    let foreseen = "scheduler.foresight = 1 – allowed: at most 0.966: with more, ragp-io never starts a typical task of \
                    breath. Lower it or growth.sto, or compare schedulers that do not see storage";
    let messages = |issues: Vec<Issue>| issues.iter().map(Issue::message).collect::<Vec<_>>();
    assert_eq!(messages(found(&[], "ragp-io")), [evicted]);
    assert_eq!(messages(found(&[("scheduler.foresight", "1")], "ragp-io")), [foreseen, evicted]);
    let throttle = ("out_of_memory", "throttle");
    assert_eq!(messages(found(&[("scheduler.foresight", "1"), throttle], "ragp-io")), [foreseen]);
    // What is allowed is allowed.
    for more in [
        &[("scheduler.foresight", "0.966"), throttle][..],
        &[("scheduler.foresight", "1"), ("growth.sto", "9.666")],
        // Memory that does not grow evicts nobody.
        &[("growth.hbm", "0")],
    ] {
        assert_eq!(found(more, "ragp-io"), [], "{more:?}");
    }
    // θ leaves less of the 32 GB/s, and who sees no storage needs none.
    let safe = found(&[("scheduler.safety", "0.5"), throttle, ("scheduler.foresight", "1")], "ragp-io");
    assert!(safe[0].allowed.starts_with("at most 0.433: "), "{safe:#?}");
    assert_eq!(found(&[("scheduler.foresight", "1")], "ragp-5d"), []);
    // Memory that is planned for may be short, too, also where nobody sees storage.
    let memory = [("growth.hbm", "10"), ("growth.hbm_cap", "16384"), ("classes.breath.hbm", "80"), throttle];
    let memory = found(&[&memory[..], &[("scheduler.foresight", "1")]].concat(), "ragp-5d");
    assert_eq!(
        messages(memory),
        [
            "scheduler.foresight = 1 – allowed: at most 0.7: with more, ragp-5d never starts a typical task of breath. Lower \
          it or growth.hbm"
        ]
    );
}

/// Without readings nothing is noisy, smoothed or held back.
#[test]
fn settings_of_readings_without_readings_are_told() {
    for (key, value, without) in [("noise", "0.4", "0"), ("smoothing", "0.5", "1"), ("dead_band", "0.1", "0")] {
        let path = format!("telemetry.{key}");
        let from_file = issues(&format!("{path} = {value}"), &[]);
        let from_outside = issues("", &[(&path, value)]);
        assert_eq!(from_file, from_outside);
        assert_eq!(
            from_file.iter().map(Issue::message).collect::<Vec<_>>(),
            [format!(
                "{path} = {value} – allowed: {without} while telemetry.interval_seconds is 0: the truth is known at once, \
                 and no readings are taken. Set telemetry.interval_seconds to 1 or more, or leave it out"
            )]
        );
        Scenario::parse("telemetry.interval_seconds = 60", &set(&[(&path, value)])).expect("read every minute");
        Scenario::parse("", &set(&[(&path, without)])).expect("says what is so");
    }
    // Whether readings are taken is not known where the interval was refused.
    let refused = issues("[telemetry]\ninterval_seconds = -5\nnoise = 0.4", &[]);
    assert_eq!(refused.len(), 1, "{refused:#?}");
}

/// What takes any text is not read as a number or a date.
#[test]
fn a_preset_may_be_called_anything() {
    for name in ["2024", "true", "inf", "1e3", "1979-05-27", "[]", "{}", "hot"] {
        let text = format!("[presets.'{name}']\nload = 0.8");
        let scenario = Scenario::parse(&text, &set(&[("preset", name), ("title", name)])).expect(name);
        assert_eq!((scenario.load, scenario.preset.as_str(), scenario.title.as_str()), (0.8, name, name));
        let quoted = format!("\"{name}\"");
        let quoted = [("preset", quoted.as_str()), ("classes.train.title", name)];
        let scenario = Scenario::parse(&text, &set(&quoted)).expect("the same in quotes");
        assert_eq!(scenario.preset, name);
        assert_eq!(scenario.classes.iter().find(|class| class.id == "train").expect("is there").title, name);
    }
    let unknown = issues("[presets.2024]\nload = 0.8", &[("preset", "2025")]);
    assert_eq!(unknown[0].message(), "preset = 2025 – allowed: 2024. Did you mean `2024`?");
}

#[test]
fn odd_keys_are_told_once_and_with_what_to_do() {
    let quoted = issues("\"rebuilds.mean_hours\" = 3\n[rebuilds]\nmean_hours = 4", &[]);
    assert_eq!(quoted.len(), 1, "{quoted:#?}");
    assert!(quoted[0].allowed.contains("without quotes"), "{}", quoted[0]);
    let empty = issues("[classes.foo]\n[node_types.bar]\n[presets.none]", &[]);
    let told = |path: &str| empty.iter().find(|issue| issue.path == path).map(Issue::message).expect(path);
    assert!(told("classes.foo").contains("missing: share, cpu"), "{empty:#?}");
    assert!(told("node_types.bar").contains("missing: share, cpu"), "{empty:#?}");
    assert!(told("presets.none").contains("empty"), "{empty:#?}");
    let many: String = (0..900).map(|number| format!("[classes.c{number}]\nshare = 0\n")).collect();
    let found = issues(&many, &[]);
    assert_eq!(found.iter().filter(|issue| issue.remedy == "Leave some out").count(), 1);
    let many: String = (0..70).map(|number| format!("[presets.p{number}]\nload = 0.5\n")).collect();
    assert_eq!(issues(&many, &[]).len(), 1);
    let long = issues(&format!("{} = 1", "x".repeat(5000)), &[]);
    assert!(long[0].message().len() < 400, "{}", long[0]);
    let title = issues(&format!("title = '{}'", "x".repeat(5000)), &[]);
    assert_eq!(title[0].remedy, "Shorten it");
}

#[test]
fn shares_set_from_outside_may_sum_to_a_little_more_than_one() {
    let all = ["rag_rt", "llm_rt", "train", "batch", "short", "breath"].map(|id| format!("classes.{id}.share"));
    let shares = ["0.1", "0.2", "0.3", "0.3", "0.1000000001"];
    let pairs: Vec<(&str, &str)> = all.iter().map(String::as_str).zip(shares).collect();
    let scenario = Scenario::preset("d", &set(&pairs)).expect("one, to nine digits");
    assert_eq!(scenario.value("classes.breath.share").as_deref(), Some("0.0"));
}

#[test]
fn shares_that_are_off_by_little_still_make_a_whole() {
    let text = "[classes]\nrag_rt.share = 0.2500009";
    let setup = Scenario::parse(text, &[]).expect("right").setup("ragp-io", 1).expect("right");
    assert_eq!(setup.classes.iter().map(|class| class.share_ppm).sum::<u32>(), 1_000_000);
}

#[test]
fn a_syntax_error_has_its_place() {
    let found = issues("load = 0.7\nnodes = = 3", &[]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "line 2, column 9");
}

#[test]
fn a_new_class_needs_what_makes_it() {
    let found = issues("[classes.mine]\nshare = 0.0\ncpu = 4", &[]);
    assert_eq!(found.len(), 1);
    assert!(found[0].allowed.contains("ram, gpu, hbm"), "{}", found[0]);
    let text = "[classes.mine]\nshare = 0.0\ncpu = 4\nram = 8\ngpu = 1\nhbm = 8\nnet = 1\nsto = 1\nioc = 1\n\
                work_minutes = 10\nwork_sigma = 0.5";
    let scenario = Scenario::parse(text, &[]).expect("right");
    assert_eq!(scenario.classes.last().expect("is there").id, "mine");
}

#[test]
fn every_setting_can_be_given_back() {
    let scenario = Scenario::preset("d", &[]).expect("right");
    let settings: Vec<_> = scenario.settings().into_iter().map(|(path, value)| (path, value.to_string())).collect();
    let again = Scenario::preset("d", &settings).expect("right");
    assert_eq!(again.settings(), scenario.settings());
}

#[test]
fn the_cluster_is_dealt_and_loaded_as_specified() {
    let scenario = Scenario::preset("a", &[]).expect("right");
    assert_eq!(scenario.gpus(), 448.0);
    let nodes = scenario.deal_nodes();
    let count = |kind| nodes.iter().filter(|node| **node == kind).count();
    assert_eq!([count(0), count(1), count(2)], [38, 16, 10]);
    assert_eq!(nodes[..8], [0, 1, 0, 2, 0, 0, 1, 0]);
    // Offered GPU-hours an hour, class by class, are the load.
    let offered: f64 = scenario
        .classes
        .iter()
        .map(|class| {
            scenario.rate_per_hour(class, 448.0) * class.asks.gpu * class.mean_tasks() * class.work_minutes / 60.0
        })
        .sum();
    assert!((offered - 0.70 * 448.0).abs() < 1e-9);
}

#[test]
fn the_engine_gets_what_the_model_says() {
    let setup = Scenario::preset("c", &[]).expect("right").setup("ragp-io", 7).expect("right");
    let rebuilds = setup.rebuilds.expect("C has rebuilds");
    assert_eq!(rebuilds.healthy_mean.as_hours(), 17.0);
    assert_eq!(rebuilds.factor_ppm, (300_000, 500_000));
    assert_eq!(setup.horizon.as_hours(), 30.0);
    assert_eq!(setup.exists, DimMask::SEVEN);
    assert_eq!(setup.classes.iter().map(|class| class.share_ppm).sum::<u32>(), 1_000_000);
    assert!(Scenario::preset("a", &[]).expect("right").setup("scalar-5d", 7).expect("right").rebuilds.is_none());

    let unknown = Scenario::preset("c", &[]).expect("right").setup("ragp-oi", 7).expect_err("no such scheduler");
    assert_eq!(unknown.0[0].remedy, "Did you mean `ragp-io`?");
}

#[test]
fn every_key_is_a_knob_with_help() {
    let knobs = knobs();
    for knob in &knobs {
        assert!(!knob.help.is_empty() && !knob.range.is_empty(), "{}", knob.path);
    }
    let load = knobs.iter().find(|knob| knob.path == "load").expect("is there");
    assert_eq!((load.default.as_str(), load.limits), ("0.7", Some((0.05, 1.5))));
}
