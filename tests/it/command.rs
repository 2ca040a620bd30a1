//! The `residua` command from outside: what it prints, and how it ends.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The command, standing at the project's root.
fn residua() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_residua"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn run(arguments: &[&str]) -> Output {
    residua().args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A small run of the four default schedulers.
const SMALL: &[&str] = &["run", "c", "--set", "nodes=12", "--hours", "6", "--warm-up-hours", "1"];

fn json(arguments: &[&str]) -> Value {
    let output = run(&[SMALL, arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// A file of the test's own.
fn file(name: &str, content: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("writable");
    path
}

#[test]
fn json_has_every_part() {
    let all = json(&["--seeds", "2"]);
    assert_eq!(all["scenario"], "c-storage-stress");
    assert_eq!(all["settings"]["nodes"], 12);
    assert_eq!(all["settings"]["classes.train.share"], 0.25);
    let runs = all["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 4 * 2);
    for run in runs {
        assert!(run["scheduler"].is_string() && run["seed"].is_u64());
        let digest = run["digest"].as_str().expect("digest");
        assert!(digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit()));
        let metrics = run["metrics"].as_object().expect("metrics");
        for name in [
            "f_shape",
            "f_strand",
            "strand_total",
            "f_lost",
            "stall",
            "allocated",
            "productive",
            "throughput_rel",
            "health",
            "over_nodes",
            "misadmitted",
            "wait_p50",
            "wait_p99",
            "wait_train_mean",
            "slowdown_p99",
            "inflation_mean",
            "pending_gpu_h",
            "evictions",
            "oscillation",
            "ledger",
        ] {
            assert!(metrics.contains_key(name), "{name} is missing");
        }
        for name in ["f_shape", "f_strand", "f_lost", "stall", "allocated", "productive", "health"] {
            let share = metrics[name].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&share), "{name} = {share}");
        }
        let ledger = &metrics["ledger"];
        assert_eq!(ledger["difference"], 0);
        let parts: f64 = ["productive", "stalled", "redone", "stranded", "held", "spare"]
            .iter()
            .map(|part| ledger[*part].as_f64().expect("a number"))
            .sum();
        assert!((parts - ledger["capacity"].as_f64().expect("a number")).abs() < 1e-6);
    }
    let summary = all["summary"].as_array().expect("summary");
    assert_eq!(summary.len(), 4);
    assert!(summary[0]["metrics"]["f_lost"]["ci95"].is_f64());
    let paired = all["paired"].as_array().expect("paired");
    assert_eq!(paired.len(), 3);
    assert_eq!(paired[0]["baseline"], "scalar-5d");
    // Means and differences are those of the runs.
    let f_lost = |scheduler: &str| -> Vec<f64> {
        let of = |run: &&Value| run["scheduler"] == scheduler;
        runs.iter().filter(of).map(|run| run["metrics"]["f_lost"].as_f64().expect("a number")).collect()
    };
    let (base, io) = (f_lost("scalar-5d"), f_lost("ragp-io"));
    let mean = summary[3]["metrics"]["f_lost"]["mean"].as_f64().expect("a number");
    assert!((mean - (io[0] + io[1]) / 2.0).abs() < 1e-12);
    let difference = paired[2]["metrics"]["f_lost"]["mean"].as_f64().expect("a number");
    assert!((difference - (io[0] - base[0] + io[1] - base[1]) / 2.0).abs() < 1e-12);
}

#[test]
fn every_run_has_its_bill() {
    let number = |value: &Value| value.as_f64().expect("a number");
    for (arguments, price) in [(&["--seed", "7"][..], 3.0), (&["--seed", "7", "--price", "2.5"], 2.5)] {
        let all = json(arguments);
        assert_eq!(number(&all["prices"]["gpu_hour"]), price);
        for run in all["runs"].as_array().expect("runs") {
            let (bill, ledger) = (&run["bill"], &run["metrics"]["ledger"]);
            let parts = ["productive", "stalled", "redone", "stranded", "held", "spare"];
            for part in parts {
                assert!((number(&bill[part]) - number(&ledger[part]) * price).abs() < 1e-9, "{part}");
            }
            // 12 nodes of the mix have 84 GPUs; 5 hours are measured.
            assert_eq!(number(&bill["total"]), 84.0 * 5.0 * price);
            let sum: f64 = parts.iter().map(|part| number(&bill[*part])).sum();
            assert!((sum - number(&bill["total"])).abs() < 1e-6);
        }
    }
    let output = run(&[SMALL, &["--seed", "7", "--schedulers", "ragp-io"]].concat());
    let told = text(&output.stdout);
    assert!(told.contains("Where the money went (3 $ a GPU-hour, 5 h"), "{told}");
    assert!(told.contains("$1,260.00"), "{told}");
    let line = told.lines().rfind(|line| line.starts_with("ragp-io")).expect("a line of the bill");
    let wasted: f64 = line.rsplit('$').next().and_then(|text| text.trim().parse().ok()).expect("dollars an hour");
    let all = json(&["--seed", "7", "--schedulers", "ragp-io"]);
    let lost = number(&all["runs"][0]["metrics"]["f_lost"]);
    assert!((wasted - lost * 84.0 * 3.0).abs() < 0.006, "{wasted}, {lost}");
}

#[test]
fn one_seed_has_no_interval() {
    let all = json(&["--seed", "7", "--schedulers", "ragp-io"]);
    assert_eq!(all["runs"].as_array().expect("runs").len(), 1);
    assert_eq!(all["runs"][0]["seed"], 7);
    assert!(all["summary"][0]["metrics"]["f_lost"]["ci95"].is_null());
    assert_eq!(all["paired"].as_array().expect("paired").len(), 0);
}

#[test]
fn threads_do_not_change_the_output() {
    let output = |threads| run(&[SMALL, &["--seeds", "3", "--json", "--threads", threads]].concat()).stdout;
    let one = output("1");
    assert!(!one.is_empty());
    assert_eq!(one, output("2"));
    assert_eq!(one, output("7"));
    assert_eq!(one, output("256"));
}

#[test]
fn the_table_is_for_people() {
    let output = run(&[SMALL, &["--seeds", "2"]].concat());
    assert!(output.status.success());
    let text = text(&output.stdout);
    for words in [
        "% fleet",
        "ragp-io",
        " ± ",
        "Difference from scalar-5d",
        "The parts sum to the bill: difference 0",
        "Assumed",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

#[test]
fn check_tells_all_problems_of_all_files() {
    let bad = file("bad.toml", "laod = 0.7\nload = 3\n[rebuild]\ndegraded_share = 0.1\n");
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing.toml");
    let bad = bad.to_str().expect("UTF-8");
    let output = run(&["check", bad, "scenarios/a-balanced.toml", missing.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    for words in [
        "3 problems",
        "Did you mean `load`?",
        "0.05 to 1.5",
        "Did you mean `rebuilds.degraded_share`?",
        "cannot be read",
    ] {
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
    // What is right is the result, also beside what is wrong.
    assert_eq!(text(&output.stdout), "scenarios/a-balanced.toml: right – A: balanced\n");
    let right = run(&["check", "scenarios/a-balanced.toml", "scenarios/d-breathing.toml"]);
    assert_eq!(right.status.code(), Some(0));
}

/// A preset may contradict what the file says otherwise; nobody wants to learn that from a run.
#[test]
fn check_tries_every_preset() {
    let bad = file("presets.toml", "hours = 10\n[presets.short]\nhours = 5\n[presets.right]\nload = 0.8\n");
    let output = run(&["check", bad.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(
        told.contains("1 problem\n  presets.short.warm_up_hours = 6 – allowed: at least a minute less"),
        "{told}"
    );
}

/// Names that would be values of TOML are names all the same.
#[test]
fn presets_of_any_name_are_checked_and_run() {
    let names = ["2024", "true", "\"1.5\"", "'\"in quotes\"'"];
    let presets: String = names.iter().map(|name| format!("[presets.{name}]\nload = 0.8\n")).collect();
    let scenario = file("years.toml", &format!("title = \"years\"\nnodes = 4\n{presets}"));
    let scenario = scenario.to_str().expect("UTF-8");
    let checked = run(&["check", scenario]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    for name in ["2024", "true", "1.5"] {
        let few = ["--hours", "1", "--warm-up-hours", "0", "--seed", "1", "--json"];
        let output = run(&[&["run", scenario, "--preset", name], &few[..]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(all["settings"]["load"], 0.8, "{name}");
    }
}

#[test]
fn what_is_no_text_file_is_refused_by_name() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let wide: Vec<u8> = "load = 0.7".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.join("wide.toml"), wide).expect("writable");
    let large = file("large.toml", &"# a very long comment\n".repeat(100_000));
    for (path, words) in [
        (folder, "it is a folder"),
        (Path::new("/dev/zero"), "it is a device or pipe"),
        (&folder.join("wide.toml"), "save it as UTF-8"),
        (&large, "large.toml = 2.2 MB – allowed: at most 1.0 MB"),
    ] {
        if !path.exists() {
            println!("left out: there is no {} here", path.display());
            continue;
        }
        let output = run(&["check", path.to_str().expect("UTF-8")]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{words:?} is not in\n{}", text(&output.stderr));
    }
}

/// What comes from a file must not steer the terminal.
#[test]
fn control_characters_are_shown_and_not_sent() {
    let right = file("colour.toml", "title = \"\\u001b[31mred\\u0007\"\n");
    let wrong = file("colour-wrong.toml", "\"\\u001b[2J\" = 1\n");
    let output = run(&["check", right.to_str().expect("UTF-8"), wrong.to_str().expect("UTF-8")]);
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(told.chars().all(|letter| letter == '\n' || !letter.is_control()), "{told:?}");
    assert!(told.contains("\\u{1b}[31mred") && told.contains("\\u{1b}[2J"), "{told}");
}

#[test]
fn few_jobs_are_said() {
    let few = &["run", "c", "--set", "nodes=4", "--hours", "1", "--warm-up-hours", "0.5", "--seed", "1"];
    assert!(text(&run(few).stdout).contains("jobs arrive in the measured hours of a run"));
    assert!(!text(&run(&[SMALL, &["--seed", "1"]].concat()).stdout).contains("Only about"));
}

#[test]
fn bad_input_ends_with_two_and_says_why() {
    for (arguments, words) in [
        (&["run", "q"][..], "c-storage-stress"),
        (&["run", "c-storage-stres"], "Did you mean `c-storage-stress`?"),
        (&["run", "c", "--schedulers", "ragp-oi"], "Did you mean `ragp-io`?"),
        (&["run", "c", "--set", "load"], "KEY=VALUE"),
        (&["run", "c", "--set", "load=9", "--set", "queue.windw=3"], "2 problems"),
        (&["run", "c", "--preset", "hto"], "Did you mean `hot`?"),
        (&["run", "c", "--load", "-1"], "0.05 to 1.5"),
        (&["run", "c", "--set", "nodes=20000", "--hours", "8760"], "million jobs"),
        (&["run", "c", "--set", "=1"], "KEY=VALUE"),
        (&["run", "c", "--set", "presets.hot.load=1"], "--preset hot"),
        (
            &["run", "c", "--set", "nodes=99999999999999999999"],
            "nodes = 100000000000000000000.0 – allowed: 1 to 200000",
        ),
        (&["run", "c", "--set", "load=[1]"], "Write a number\n"),
        (&["run", "c", "--set", "load=high"], "Write a number, in a file without quotes"),
        (&["run", "c", "--set", "classes.train.gang=[]"], "at least one pair"),
        (&["run", "c", "--hours", "10", "--warm-up-hours", "9.9999999"], "warm_up_hours = 9.9999999"),
        (&["run", "c", "--schedulers", ""], "--schedulers"),
        (&["run", "c", "--schedulers", ","], "--schedulers"),
        (&["run", "c", "--schedulers", "ragp-oi"], "--schedulers = ragp-oi – allowed: all, "),
        (&["run", "c", "--threads", "-1"], "1..=256"),
        (&["run", "c", "--seeds", "-1"], "1..=1000"),
        (&["run", "c", "--seed", "-1"], "from 0 to 18446744073709551615"),
        (&["run", "c", "--schedulers", "all", "--seeds", "1000", "--set", "nodes=20000"], "30 days of computing"),
        (&["run", "c", "--load", "9", "--trace-nodes", "none.csv", "--trace-pods", "no.csv"], "no.csv"),
        (&["run", "c", "--load", "9", "--trace-nodes", "none.csv", "--trace-pods", "no.csv"], "0.05 to 1.5"),
        (&["run", "c", "--price", "-1"], "--price = -1 – allowed: 0 to 1000"),
        (&["run", "c", "--price", "NaN"], "0 to 1000"),
        (&["run", "nowhere.toml"], "cannot be read"),
        (&["run"], "SCENARIO"),
        (&["dance"], "dance"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = text(&output.stderr);
        assert!(told.contains(words), "{words:?} is not in\n{told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_run_that_samples_says_so() {
    let told = |sample: &str| {
        let set = format!("scheduler.sample={sample}");
        let output = run(&[SMALL, &["--schedulers", "ragp-io", "--set", &set]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let sampled = told("3");
    assert!(
        sampled.contains("\nSampled: a decision scores the first 3 feasible nodes it comes to, of 12,"),
        "{sampled}"
    );
    assert!(sampled.contains("docs/performance.md"), "{sampled}");
    // As many as there are nodes is no sample.
    assert!(!told("12").contains("Sampled") && !told("0").contains("Sampled"));
}

#[test]
fn list_names_everything() {
    let output = run(&["list"]);
    assert!(output.status.success());
    let text = text(&output.stdout);
    for entry in residua::schedulers::entries() {
        assert!(text.contains(&entry.id()), "{}", entry.id());
    }
    for preset in residua::scenario::PRESETS {
        assert!(text.contains(preset.id));
    }
    for knob in residua::scenario::knobs() {
        assert!(text.contains(&knob.path), "{}", knob.path);
    }
    let json = run(&["list", "--json"]);
    assert!(serde_json::from_slice::<Value>(&json.stdout).expect("JSON")["keys"].is_array());
}

/// A reader that leaves early is no failure: `residua list | head -1`.
#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child =
        residua().arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    drop(child.stdout.take());
    let status = child.wait().expect("it ends");
    let mut told = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut told).expect("UTF-8");
    assert_eq!((status.code(), told.as_str()), (Some(0), ""));
}

const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,8,V100M32\nn1,64000,262144,8,T4\n";
const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
                    p0,4000,16384,1,1000,,LS,Succeeded,0,3600,0\n\
                    p1,8000,16384,1,500,,BE,Succeeded,10,1810,10\n\
                    p2,16000,65536,4,1000,,LS,Succeeded,10,7210,10\n";

#[test]
fn a_trace_runs_and_tells_what_was_assumed() {
    let (nodes, pods) = (file("nodes.csv", NODES), file("pods.csv", PODS));
    let trace = ["--trace-nodes", nodes.to_str().expect("UTF-8"), "--trace-pods", pods.to_str().expect("UTF-8")];
    let output = run(&[&["run"], &trace[..], &["--load", "0.6", "--seeds", "2", "--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["settings"]["load"], 0.6);
    assert!(all["settings"]["nodes"].is_null(), "the trace brings its own nodes");
    assert_eq!(all["trace"]["gpus"], 16.0);
    assert_eq!(all["trace"]["faults"].as_array().expect("faults").len(), 0);
    assert!(!all["trace"]["assumed"].as_array().expect("assumed").is_empty());
    let allocated = all["summary"][0]["metrics"]["allocated"]["mean"].as_f64().expect("a number");
    assert!((allocated - 0.6).abs() < 0.2, "{allocated}");

    // Without assumptions storage does not exist: nothing can stall.
    let output = run(&[&["run"], &trace[..], &["--assume", "off", "--seed", "1", "--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["runs"][0]["metrics"]["stall"], 0.0);

    // A scenario file's cluster and jobs have no say, and neither have its words.
    let output = run(&[&["run", "d"], &trace[..], &["--seed", "1"]].concat());
    let told = text(&output.stdout);
    assert!(told.starts_with("A real trace, with the settings of d-breathing\n"), "{told}");
    let line = told.lines().find(|line| line.contains("without a say")).expect("a line");
    assert!(["nodes, ", "growth.hbm, ", "classes.breath.share"].iter().all(|key| line.contains(key)), "{line}");
    assert!(!line.contains("load") && !line.contains("rebuilds"), "{line}");
    assert!(told.contains("15 % of nodes are rebuilding"), "{told}");
    let output = run(&[&["run", "d"], &trace[..], &["--seed", "1", "--assume", "off", "--json"]].concat());
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ignored = all["trace"]["ignored"].as_array().expect("a list");
    assert!(ignored.contains(&"rebuilds.mean_hours".into()), "{ignored:?}");
    assert!(all["settings"]["rebuilds.mean_hours"].is_null());
    for key in ["rebuilds.degraded_share=0.2", "scheduler.safety=0.9", "telemetry.interval_seconds=300"] {
        let refused = run(&[&["run"], &trace[..], &["--assume", "off", "--set", key]].concat());
        assert_eq!(refused.status.code(), Some(2));
        let told = text(&refused.stderr);
        assert!(told.contains("1 problem") && told.contains(&key.replace('=', " = ")), "{told}");
    }

    let key = "scheduler.fit_dims=sto,ioc";
    let refused = run(&[&["run"], &trace[..], &["--assume", "off", "--set", key]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(told.contains("1 problem") && told.contains("Leave out sto,ioc"), "{told}");
    // In a scenario file, what of a value has no say is listed as ignored, and not among the settings.
    let dims = file("dims.toml", "[scheduler]\nfit_dims = [\"sto\"]\nscore_dims = [\"gpu\", \"ioc\"]\n");
    let path = dims.to_str().expect("UTF-8");
    let output = run(&[&["run", path], &trace[..], &["--seed", "1", "--assume", "off", "--json"]].concat());
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ignored = all["trace"]["ignored"].as_array().expect("a list");
    assert_eq!(*ignored, ["scheduler.fit_dims: sto", "scheduler.score_dims: ioc"]);
    assert!(all["settings"]["scheduler.fit_dims"].is_null());
    assert_eq!(all["settings"]["scheduler.score_dims"], serde_json::json!(["gpu"]));

    for (key, why) in [
        ("nodes=3", "the trace itself brings nodes"),
        ("out_of_memory=throttle", "do not grow"),
        ("eviction_loss=0.5", "do not grow"),
        ("scheduler.foresight=1", "do not grow"),
    ] {
        let refused = run(&[&["run"], &trace[..], &["--set", key]].concat());
        assert_eq!(refused.status.code(), Some(2), "{key}");
        let told = text(&refused.stderr);
        assert!(
            told.contains("1 problem") && told.contains(&key.replace('=', " = ")) && told.contains(why),
            "{told}"
        );
    }
    // A scenario file that sets one of them is told so.
    let foresight = file("foresight.toml", "[scheduler]\nforesight = 0.5\n");
    let path = foresight.to_str().expect("UTF-8");
    let output = run(&[&["run", path], &trace[..], &["--seed", "1"]].concat());
    let told = text(&output.stdout);
    assert!(told.contains("without a say here, though the scenario sets them: scheduler.foresight\n"), "{told}");
}

#[test]
fn faults_of_a_trace_stop_it_until_somebody_chooses() {
    let bad = file("faulty.csv", &format!("{PODS}p3,many,16384,1,1000,,LS,Succeeded,0,3600,0\n"));
    let nodes = file("nodes-too.csv", NODES);
    let trace = ["--trace-nodes", nodes.to_str().expect("UTF-8"), "--trace-pods", bad.to_str().expect("UTF-8")];
    let stopped = run(&[&["run"], &trace[..], &["--seed", "1"]].concat());
    assert_eq!(stopped.status.code(), Some(2));
    let told = text(&stopped.stderr);
    assert!(told.contains("row 5") && told.contains("cpu_milli") && told.contains("--on-fault drop"), "{told}");
    let dropped = run(&[&["run"], &trace[..], &["--seed", "1", "--on-fault", "drop", "--json"]].concat());
    assert!(dropped.status.success());
    let all: Value = serde_json::from_slice(&dropped.stdout).expect("JSON");
    assert_eq!(all["trace"]["faults"][0]["value"], "many");
}

/// What is wrong with a node list as a whole is said in a line, with what to do.
#[test]
fn a_node_list_that_cannot_do_is_refused_with_the_remedy() {
    let pods = file("pods-for-lists.csv", PODS);
    let header = NODES.lines().next().expect("a header");
    let many: String = (0..200_001).map(|n| format!("n{n},64000,262144,8,T4\n")).collect();
    for (name, list, words) in [
        ("no-gpu.csv", format!("{header}\nn0,64000,262144,0,\n"), "no node has a GPU"),
        ("header.csv", format!("{header}\n"), "choose one with rows below its header"),
        ("bars.csv", NODES.replace(',', "|"), "save the file with commas"),
        ("many.csv", format!("{header}\n{many}"), "nodes = 200001 – allowed: at most 200000 nodes"),
    ] {
        let nodes = file(name, &list);
        let (nodes, pods) = (nodes.to_str().expect("UTF-8"), pods.to_str().expect("UTF-8"));
        let output = run(&["run", "--trace-nodes", nodes, "--trace-pods", pods, "--seed", "1"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {told}");
        assert!(told.contains(words) && !told.contains("fits no node"), "{told}");
    }
}

/// However many rows were left out, each is named.
#[test]
fn every_row_that_is_left_out_is_named() {
    let rows: String = (0..300).map(|n| format!("bad{n},many,16384,1,1000,,LS,Succeeded,0,3600,0\n")).collect();
    let bad = file("many-faults.csv", &format!("{PODS}{rows}"));
    let nodes = file("nodes-three.csv", NODES);
    let trace = ["--trace-nodes", nodes.to_str().expect("UTF-8"), "--trace-pods", bad.to_str().expect("UTF-8")];
    for arguments in [&["--on-fault", "drop", "--schedulers", "first-fit-5d", "--seed", "1"][..], &["--seed", "1"]] {
        let output = run(&[&["run"], &trace[..], arguments].concat());
        let told = text(&output.stdout) + &text(&output.stderr);
        for row in 5..305 {
            assert!(told.contains(&format!("many-faults.csv, row {row}, ")), "row {row} is not in\n{told}");
        }
    }
}

#[test]
fn recorded_arrivals_are_replayed_and_named() {
    let (nodes, pods) = (file("recorded-nodes.csv", NODES), file("recorded-pods.csv", PODS));
    let trace = ["--trace-nodes", nodes.to_str().expect("UTF-8"), "--trace-pods", pods.to_str().expect("UTF-8")];
    let recorded = [&["run"], &trace[..], &["--arrivals", "recorded"]].concat();
    let output = run(&[&recorded[..], &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["trace"]["arrivals"], "recorded");
    assert_eq!(all["trace"]["recorded"]["jobs"], 3);
    // From the first arrival to the last end, 7,210 s; rounded up to a thousandth of an hour.
    assert_eq!(all["settings"]["hours"], 2.003);
    assert_eq!(all["settings"]["warm_up_hours"], 0.0);
    assert!(all["settings"]["load"].is_null(), "the recording brings its own load");
    // Four schedulers, one seed each: 1 + 0.25 + 8 GPU-hours, all of them done.
    assert_eq!(all["runs"].as_array().expect("runs").len(), 4);
    let hours = all["runs"][0]["metrics"]["productive_gpu_h"].as_f64().expect("a number");
    assert!((hours - 9.25).abs() < 1e-9, "{hours}");
    let told = text(&run(&recorded).stdout);
    assert!(
        told.contains("\n3 jobs as recorded in 2.0 h") && told.contains("as recorded: each pod arrives"),
        "{told}"
    );
    let drawn = run(&[&["run"], &trace[..], &["--seed", "1", "--hours", "30", "--json"]].concat());
    let all: Value = serde_json::from_slice(&drawn.stdout).expect("JSON");
    assert_eq!(all["trace"]["arrivals"], "bootstrap");
    assert!(all["trace"]["recorded"].is_null());

    for (more, words) in [
        (&["--load", "0.5"][..], "load = 0.5 – allowed: nothing with --arrivals recorded"),
        (&["--set", "load=0.5"], "--arrivals bootstrap"),
        (&["--cap-hours", "3"], "run times are replayed as recorded"),
        (&["--hours", "1", "--warm-up-hours", "2"], "warm_up_hours = 2"),
    ] {
        let refused = run(&[&recorded[..], more].concat());
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.contains("1 problem") && told.contains(words), "{told}");
    }
    let cut = run(&[&recorded[..], &["--hours", "1", "--json"]].concat());
    assert!(text(&cut.stderr).contains("the recording is 2.0 h long; its first 1 h are replayed"));

    let mut lines: Vec<&str> = PODS.lines().collect();
    lines.swap(1, 2);
    let pods = file("unsorted-pods.csv", &lines.join("\n"));
    let trace = [trace[0], trace[1], trace[2], pods.to_str().expect("UTF-8")];
    let refused = run(&[&["run"], &trace[..], &["--arrivals", "recorded"]].concat());
    let told = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("unsorted-pods.csv, row 3, column creation_time, value \"0\""), "{told}");
    assert!(told.contains("sort them by creation_time, which is column 9") && !told.contains("--on-fault"), "{told}");
}

#[test]
fn what_does_not_fit_into_memory_is_refused_and_may_be_allowed() {
    let vast = ["run", "c", "--set", "nodes=100000", "--hours", "0.5", "--warm-up-hours", "0", "--seed", "1"];
    let refused = run(&[&vast[..], &["--memory", "100"]].concat());
    let told = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("--memory = 100 MB – allowed: at least "), "{told}");
    assert!(told.contains("with 100000 nodes") && told.contains("Raise it if the machine has so much"), "{told}");

    // A list that jobs are drawn from is held; one that is replayed is not.
    let long: String =
        (0..2_000).map(|n| format!("p{n},4000,16384,1,1000,,LS,Succeeded,{n},{},{n}\n", n + 60)).collect();
    let long = format!("{}\n{long}", PODS.lines().next().expect("a header"));
    let (nodes, pods) = (file("memory-nodes.csv", NODES), file("memory-pods.csv", &long));
    let trace = ["--trace-nodes", nodes.to_str().expect("UTF-8"), "--trace-pods", pods.to_str().expect("UTF-8")];
    let run_in = |memory: &str, arrivals: &str| {
        let more =
            ["--memory", memory, "--arrivals", arrivals, "--hours", "0.5", "--warm-up-hours", "0", "--seed", "1"];
        run(&[&["run"], &trace[..], &more, &["--threads", "1"]].concat())
    };
    let refused = run_in("1", "bootstrap");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("or replay it row by row: --arrivals recorded"),
        "{}",
        text(&refused.stderr)
    );
    assert!(run_in("20", "bootstrap").status.success());
    assert!(run_in("20", "recorded").status.success());
}

/// Memory and time are estimated and judged together.
#[test]
fn what_takes_too_much_of_everything_is_told_all_of_it() {
    let vast = ["run", "c", "--schedulers", "all", "--seeds", "1000", "--set", "nodes=20000", "--memory", "1"];
    let refused = run(&[&vast[..], &["--set", "scheduler.safety=0.1"]].concat());
    let told = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    for words in ["--memory = 1 MB", "30 days of computing", "scheduler.safety = 0.1"] {
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
}

/// Whatever keeps a trace from being read, the rest of it is looked at.
#[test]
fn problems_of_a_trace_are_said_together() {
    let bad_nodes = file("together-nodes.csv", &NODES.replace("n0,64000", "n0,-8"));
    let bad_pods = file("together-pods.csv", &PODS.replace("p1,8000", "p1,many"));
    let [nodes, pods] = [&bad_nodes, &bad_pods].map(|path| path.to_str().expect("UTF-8"));
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing.csv");
    let missing = missing.to_str().expect("UTF-8");
    let cap =
        "--cap-hours = -1 – allowed: 0.01 to 100000 (h), or 0 to keep run times as they are. Choose one of these";
    let node = "together-nodes.csv, row 2, column cpu_milli, value \"-8\"";
    let pod = "together-pods.csv, row 3, column cpu_milli, value \"many\"";
    let unreadable = "missing.csv – allowed: a readable text file";
    let long = file("together-long.csv", &format!("{PODS}{}", "\n".repeat(120_000)));
    let long = long.to_str().expect("UTF-8");
    let memory = "--memory = 1 MB – allowed: at least 2 MB: jobs are drawn from all rows of together-long.csv";
    for (nodes, pods, more, words) in [
        (nodes, pods, &["--cap-hours", "-1"][..], &[cap, node, pod][..]),
        (missing, pods, &["--cap-hours", "-1"], &[cap, unreadable, pod]),
        (nodes, missing, &[], &[unreadable, node]),
        (missing, missing, &[], &["2 problems", unreadable]),
        (nodes, long, &["--memory", "1"], &[memory, node]),
        (missing, pods, &["--arrivals", "recorded"], &[unreadable, pod]),
        (nodes, missing, &["--arrivals", "recorded"], &[unreadable, node]),
    ] {
        let arguments = [&["run", "--trace-nodes", nodes, "--trace-pods", pods, "--seed", "1"], more].concat();
        let refused = run(&arguments);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        for words in words {
            assert!(told.contains(words), "{words:?} is not in\n{told}");
        }
        // Nothing is held against pods of which nobody knows the nodes.
        assert!(!told.contains("no node") || nodes != missing, "{told}");
    }
    // What is wrong in the middle of a recording hides nothing of its nodes.
    let wide = Path::new(env!("CARGO_TARGET_TMPDIR")).join("together-wide.csv");
    std::fs::write(&wide, [PODS.as_bytes(), b"p3,\xff\n"].concat()).expect("writable");
    let wide = wide.to_str().expect("UTF-8");
    let refused = run(&["run", "--trace-nodes", nodes, "--trace-pods", wide, "--arrivals", "recorded"]);
    let told = text(&refused.stderr);
    assert!(told.contains(node), "{told}");
}

// --- replay ----------------------------------------------------------------------------------------------------

const REPLAY_NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\na,8000,1024,1,T4\nb,8000,1024,2,G2\n";
const REPLAY_PODS: &str =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np0,1000,1,1,500,\np1,1000,1,1,600,G2\n";

/// `residua replay` on these lists, whose files are named so.
fn replay(name: &str, nodes: &str, pods: &str, more: &[&str]) -> Output {
    let (nodes, pods) = (file(&format!("{name}-nodes.csv"), nodes), file(&format!("{name}-pods.csv"), pods));
    let lists = ["replay", "--nodes", nodes.to_str().expect("UTF-8"), "--pods", pods.to_str().expect("UTF-8")];
    run(&[&lists[..], more].concat())
}

/// Two orders may have one seed; each run is told with its own.
#[test]
fn a_replay_counts_the_arrivals_of_its_own_order() {
    let (one, two) = (file("order-one.txt", "nodes 0 1\npods 0\n"), file("order-two.txt", "nodes 0 1\npods 0 1 0\n"));
    let orders = ["--order", one.to_str().expect("UTF-8"), "--order", two.to_str().expect("UTF-8")];
    for seed in [&["--seed", "3"][..], &[]] {
        let more = [&orders[..], seed, &["--policy", "fgd", "--json"]].concat();
        let output = replay("arrivals", REPLAY_NODES, REPLAY_PODS, &more);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let runs: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(runs[0]["seed"], runs[1]["seed"]);
        assert_eq!((&runs[0]["arrivals"], &runs[1]["arrivals"]), (&1.into(), &3.into()));
    }
}

#[test]
fn policies_of_a_replay_are_named_with_or_without_spaces() {
    let output = replay("spaces", REPLAY_NODES, REPLAY_PODS, &["--policy", " fgd, best-fit,", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let runs: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&runs[0]["policy"], &runs[1]["policy"]), (&"FGD".into(), &"BestFit".into()));
    let refused = replay("spaces", REPLAY_NODES, REPLAY_PODS, &["--policy", " ,"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--policy – allowed: all, paper, "), "{}", text(&refused.stderr));
}

#[test]
fn a_replay_tells_what_is_worth_knowing_of_its_lists() {
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,colour\np0,1000,1,1,500,,red\np1,1000,1,0,0,G2,red\n\
                p2,1000,1,0,0,G2,red\n";
    let output = replay("notes", REPLAY_NODES, pods, &["--policy", "fgd"]);
    let told = text(&output.stdout);
    let line = told.lines().nth(1).unwrap_or_default();
    assert!(line.starts_with("Worth knowing of the lists: 2 × ") && line.contains(", 1 × "), "{told}");
    let json = text(&replay("notes", REPLAY_NODES, pods, &["--policy", "fgd", "--json"]).stdout);
    assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
    let nothing = text(&replay("no-notes", REPLAY_NODES, REPLAY_PODS, &["--policy", "fgd"]).stdout);
    assert!(!nothing.contains("Worth knowing"), "{nothing}");
}

#[test]
fn problems_of_a_replay_are_said_together_and_in_full() {
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing.csv");
    let missing = missing.to_str().expect("UTF-8");
    let nodes = file("replay-bad-nodes.csv", &REPLAY_NODES.replace("a,8000", "a,-8"));
    let pods = file("replay-bad-pods.csv", &REPLAY_PODS.replace("p0,1000", "p0,x"));
    let [nodes, pods] = [&nodes, &pods].map(|path| path.to_str().expect("UTF-8"));
    for (nodes, pods, words) in [
        (nodes, missing, "replay-bad-nodes.csv, row 2, column cpu_milli, value \"-8\": negative number"),
        (missing, pods, "replay-bad-pods.csv, row 2, column cpu_milli, value \"x\": not a whole number"),
    ] {
        let refused = run(&["replay", "--nodes", nodes, "--pods", pods]);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.starts_with("2 problems found:") && told.contains("missing.csv"), "{told}");
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
    // A pod of a thousandth of a GPU, and a thousand nodes.
    let many: String = (0..2000).map(|n| format!("n{n},8000,1024,8,T4\n")).collect();
    let nodes = format!("sn,cpu_milli,memory_mib,gpu,model\n{many}");
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1,1,1,1\n";
    let refused = replay("endless", &nodes, pods, &["--seeds", "3"]);
    assert_eq!(
        text(&refused.stderr),
        "1 problem found:\n  endless-pods.csv = about 20799999 arrivals – allowed: at most 5000000 until 130 % of the GPUs \
         are asked for. Use fewer nodes, or pods that ask for more GPU\n"
    );
}
