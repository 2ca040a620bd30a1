//! The openb importer: every fault said, nothing skipped in silence, and the published trace read as published.

use std::collections::BTreeSet;

use proptest::prelude::*;
use residua::resources::{Dim, DimMask};
use residua::scenario::{Scenario, TRACE};
use residua::units::Span;
use residua::workload::bootstrap::{filled_after, offered};
use residua::workload::openb::{Count, Finding, Imported, Kind, OnFault, Options, Refused, Severity, import};

use crate::published_files;

const NODES: &str = include_str!("../data/openb/nodes.csv");
const PODS: &str = include_str!("../data/openb/pods.csv");
const NODES_FAULTY: &str = include_str!("../data/openb/nodes_faulty.csv");
const PODS_FAULTY: &str = include_str!("../data/openb/pods_faulty.csv");

const DROP: Options = Options { on_fault: OnFault::Drop, assume: true, cap: Some(Options::DEFAULT_CAP) };

fn read(nodes: &str, pods: &str, options: &Options) -> Result<Imported, Refused> {
    import(("nodes.csv", nodes), ("pods.csv", pods), options)
}

fn refusal(nodes: &str, pods: &str) -> Vec<(String, Kind)> {
    let refused = read(nodes, pods, &DROP).expect_err("it should be refused");
    refused.findings.into_iter().map(|finding| (finding.file, finding.kind)).collect()
}

// --- the sample ------------------------------------------------------------------------------------------------

#[test]
fn the_sample_becomes_a_cluster_and_samples() {
    let imported = read(NODES, PODS, &Options::default()).unwrap();
    let ids: Vec<&str> = imported.node_types.iter().map(|kind| kind.id.as_str()).collect();
    assert_eq!(ids, ["CPU", "G2×8", "P100×1", "T4×2"]);
    assert_eq!(imported.nodes, [1, 1, 3, 3, 2, 0]);
    assert_eq!(imported.capacity()[Dim::Gpu.index()], 21_000);
    assert_eq!(imported.node_types[3].capacity.0, [104_000, 524_288, 2000, 32_768, 100_000, 6_000, 4_000]);
    assert_eq!(imported.exists, DimMask::SEVEN);

    let classes: Vec<&str> = imported.classes.iter().map(|class| class.id.as_str()).collect();
    assert_eq!(classes, ["inference", "train", "batch", "cpu"]);
    assert_eq!(imported.classes.iter().map(|class| class.share_ppm).sum::<u32>(), 1_000_000);
    assert_eq!(imported.classes[3].share_ppm, 0, "a class without GPUs has no GPU-hours");
    assert!(imported.classes[1].training && !imported.classes[0].training);

    // The second inference pod takes the rates of retrieval: 4.2 GB/s × 0.46 GPU.
    let shared = &imported.samples[1];
    assert_eq!(shared.demand.0, [6000, 12_288, 460, 7536, 13_800, 1932, 1104]);
    assert_eq!((shared.tasks, shared.work), (1, Span::from_secs(3600)));
    // gpu_spec: T4 is type 3, G2 type 1.
    assert_eq!([2, 3, 4].map(|index: usize| imported.samples[index].types.0), [1 << 3, 1 << 1, 1 << 3 | 1 << 1]);
    // 199,300 s are cut to a day, and a run time of nothing is taken as one second.
    assert_eq!(imported.samples[7].work, Span::from_secs(86_400));
    assert_eq!(imported.samples[10].work, Span::from_secs(1));
    assert_eq!(imported.report.capped, 1);

    let found: Vec<(usize, &str, Kind)> =
        imported.report.notes.iter().map(|note| (note.row, note.column.as_str(), note.kind)).collect();
    assert_eq!(
        found,
        [
            (12, "scheduled_time", Kind::NoRunTime),
            (13, "deletion_time", Kind::NoRunTime),
            (14, "deletion_time", Kind::ZeroRunTime)
        ]
    );
    assert_eq!((imported.report.pods.rows, imported.report.pods.used), (13, 11));
    assert_eq!(imported.report.counts[0], Count { kind: Kind::NoRunTime, count: 2 });
}

#[test]
fn only_run_times_over_the_cap_are_cut() {
    let hour = Span::from_secs(3600);
    let cut = read(NODES, PODS, &Options { cap: Some(hour), ..Options::default() }).unwrap();
    // 2 h, 4 h and 199,300 s are longer; four pods that ran for exactly an hour are not.
    assert_eq!(cut.report.capped, 3);
    assert_eq!(cut.samples.iter().filter(|sample| sample.work == hour).count(), 7);
    let whole = read(NODES, PODS, &Options { cap: None, ..Options::default() }).unwrap();
    assert_eq!(whole.report.capped, 0);
    assert_eq!(whole.samples[7].work, Span::from_secs(199_300));
    assert_eq!(whole.report.literal_gpus_busy, cut.report.literal_gpus_busy, "a replay cuts nothing");
}

#[test]
fn without_assumptions_only_the_traces_own_dimensions_exist() {
    let imported = read(NODES, PODS, &Options { assume: false, ..Options::default() }).unwrap();
    assert_eq!(imported.exists, DimMask::of(&[Dim::Cpu, Dim::Ram, Dim::Gpu]));
    assert_eq!(imported.assumed, DimMask::EMPTY);
    let lacking = [Dim::Hbm, Dim::Net, Dim::Sto, Dim::Ioc];
    let amounts = imported.node_types.iter().map(|kind| kind.capacity);
    let amounts = amounts.chain(imported.samples.iter().map(|sample| sample.demand));
    let amounts = amounts.chain(imported.classes.iter().map(|class| class.typical));
    for amounts in amounts {
        assert!(lacking.iter().all(|dim| amounts[*dim] == 0), "{amounts:?}");
    }
    let with = read(NODES, PODS, &Options::default()).unwrap();
    assert_eq!(imported.rate_for_load(0.9), with.rate_for_load(0.9), "load is defined on GPUs alone");
}

#[test]
fn every_assumption_is_said_with_its_number_and_reason() {
    let imported = read(NODES, PODS, &Options::default()).unwrap();
    let line = |what: &str| {
        let found = imported.assumptions.iter().find(|line| line.what == what);
        found.unwrap_or_else(|| panic!("nothing says \"{what}\""))
    };
    assert_eq!(line("GPU memory of T4").value, "16 GiB a GPU");
    assert!(line("GPU memory of G2").reason.contains("does not say"));
    assert_eq!(line("what a node has, each GPU").value, "network 50 Gbit/s, storage 3 GB/s, I/O CPU 2 cores");
    assert_eq!(line("longest run time").value, "24 h; run times cut to it: 1");
    assert!(line("GPUs of a node").value.starts_with("one pool"));
    for class in &imported.classes {
        assert!(imported.assumptions.iter().any(|line| line.what.contains(&format!("{} pods ask", class.id))));
    }
    assert!(imported.assumptions.iter().all(|line| !line.value.is_empty() && !line.reason.is_empty()));
    let off = read(NODES, PODS, &Options { assume: false, cap: None, ..Options::default() }).unwrap();
    assert!(off.assumptions.iter().any(|line| line.value == "do not exist"));
    assert!(!off.assumptions.iter().any(|line| line.what.contains("GPU memory of") || line.what.contains("longest")));
}

#[test]
fn spreadsheets_endings_marks_and_separators_change_nothing() {
    let plain = read(NODES, PODS, &Options::default()).unwrap();
    let dressed = |text: &str| format!("\u{feff}{}", text.replace(',', ";").replace('\n', "\r\n"));
    let other = read(&dressed(NODES), &dressed(PODS), &Options::default()).unwrap();
    assert_eq!(plain.samples, other.samples);
    assert_eq!(plain.nodes, other.nodes);
    let rows = |imported: &Imported| {
        let notes = imported.report.notes.iter().filter(|note| note.kind != Kind::Separator);
        notes.map(|note| (note.row, note.kind)).collect::<Vec<_>>()
    };
    assert_eq!(rows(&plain), rows(&other));
    assert_eq!(other.report.notes.len(), plain.report.notes.len() + 2, "the separator of each file is said");
}

#[test]
fn a_scheduler_sees_what_the_trace_has() {
    let imported = read(NODES, PODS, &Options { assume: false, ..Options::default() }).unwrap();
    let setup = |key: &str, dims: &str| {
        let scenario = Scenario::for_trace(TRACE, &[(format!("scheduler.{key}"), dims.to_owned())]).unwrap();
        scenario.trace_setup(&imported, "ragp-io", 1)
    };
    // Hard dimensions always decide what fits, so a choice of others leaves these.
    assert!(setup("fit_dims", "sto").unwrap().scheduler.fit_dims.is_empty());
    assert_eq!(setup("score_dims", "gpu,sto").unwrap().scheduler.score_dims, DimMask::of(&[Dim::Gpu]));
    // A score of nothing is no score.
    assert_eq!(setup("score_dims", "sto").unwrap_err().0[0].path, "scheduler.score_dims");
}

#[test]
fn a_run_on_a_trace_that_would_not_end_is_refused() {
    let imported = read(NODES, PODS, &Options::default()).unwrap();
    let set = [("hours", "8760"), ("telemetry.interval_seconds", "1"), ("nodes", "9")];
    let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(Scenario::for_trace(TRACE, &set).unwrap_err().0[0].path, "nodes");
    let scenario = Scenario::for_trace(TRACE, &set[..2]).unwrap();
    // Six nodes are read 189 million times in a year; a hundred of them would be too many.
    scenario.trace_setup(&imported, "ragp-io", 1).unwrap();
    let many = Imported { nodes: imported.nodes.repeat(16), ..imported };
    let issues = scenario.trace_setup(&many, "ragp-io", 1).unwrap_err();
    assert!(issues.0[0].allowed.contains("million readings"), "{issues}");
}

// --- faults ----------------------------------------------------------------------------------------------------

#[test]
fn every_fault_is_said_by_file_row_column_value_and_kind() {
    let refused = read(NODES_FAULTY, PODS_FAULTY, &Options::default()).expect_err("faults stop by default");
    let found: Vec<(&str, usize, &str, &str, Kind)> = refused
        .findings
        .iter()
        .map(|f| (f.file.as_str(), f.row, f.column.as_str(), f.value.split(',').next().unwrap(), f.kind))
        .collect();
    let expected = [
        ("nodes.csv", 3, "cpu_milli", "-96000", Kind::Negative),
        ("nodes.csv", 4, "memory_mib", "99999999999", Kind::TooLarge),
        ("nodes.csv", 5, "sn", "faulty-node-0", Kind::RepeatedName),
        ("nodes.csv", 7, "gpu", "two", Kind::NotANumber),
        ("nodes.csv", 8, "model", "", Kind::MissingValue),
        ("pods.csv", 18, "", "\"faulty-pod-15", Kind::OpenQuote),
        ("pods.csv", 19, "", "faulty-pod-16", Kind::FieldCount),
        ("pods.csv", 3, "cpu_milli", "-1", Kind::Negative),
        ("pods.csv", 4, "memory_mib", "3000000000", Kind::TooLarge),
        ("pods.csv", 5, "cpu_milli", "12.5", Kind::NotANumber),
        ("pods.csv", 6, "memory_mib", "", Kind::MissingValue),
        ("pods.csv", 7, "gpu_milli", "1200", Kind::TooLarge),
        ("pods.csv", 8, "gpu_milli", "500", Kind::GpuMismatch),
        ("pods.csv", 9, "gpu_milli", "0", Kind::GpuMismatch),
        ("pods.csv", 10, "gpu_milli", "500", Kind::GpuMismatch),
        ("pods.csv", 12, "gpu_spec", "T5", Kind::UnknownModel),
        ("pods.csv", 13, "deletion_time", "0", Kind::EndBeforeStart),
        ("pods.csv", 14, "scheduled_time", "100", Kind::EndBeforeStart),
        ("pods.csv", 15, "name", "faulty-pod-00", Kind::RepeatedName),
        ("pods.csv", 16, "cpu_milli", "200000", Kind::FitsNoNode),
        ("pods.csv", 17, "num_gpu", "8", Kind::FitsNoNode),
        ("pods.csv", 20, "cpu_milli", "-5", Kind::Negative),
        ("pods.csv", 20, "memory_mib", "x", Kind::NotANumber),
        ("pods.csv", 20, "gpu_spec", "T5", Kind::UnknownModel),
        ("pods.csv", 20, "scheduled_time", "1656000000000", Kind::TooLarge),
        ("pods.csv", 21, "scheduled_time", "", Kind::NoRunTime),
        ("pods.csv", 22, "", "faulty-pod-19", Kind::FieldCount),
        ("pods.csv", 23, "name", "\\u{1b}[2Jfaulty-pod-20", Kind::ControlCharacter),
    ];
    let in_any_order = |list: &[(&str, usize, &str, &str, Kind)]| {
        let mut list: Vec<String> = list.iter().map(|entry| format!("{entry:?}")).collect();
        list.sort();
        list
    };
    assert_eq!(in_any_order(&found), in_any_order(&expected));

    let kinds: BTreeSet<Kind> = refused.findings.iter().map(|finding| finding.kind).collect();
    for kind in Kind::ALL.into_iter().filter(|kind| kind.severity() == Severity::Fault) {
        assert!(kinds.contains(&kind), "the faulty sample has no {kind:?}");
    }
    assert!(refused.findings.windows(2).all(|pair| pair[0].file < pair[1].file || pair[0].row <= pair[1].row));
    assert_eq!(refused.counts.iter().map(|count| count.count).sum::<usize>(), refused.findings.len());
    assert!(refused.can_drop());
    let text = refused.to_string();
    for finding in refused.findings.iter().filter(|finding| finding.kind != Kind::NoRunTime) {
        assert!(text.contains(&finding.to_string()), "not in the message: {finding}");
    }
}

#[test]
fn dropping_keeps_the_good_rows_and_reports_the_rest() {
    let stopped = read(NODES_FAULTY, PODS_FAULTY, &Options::default()).unwrap_err();
    let imported = read(NODES_FAULTY, PODS_FAULTY, &DROP).unwrap();
    assert_eq!((imported.report.nodes.rows, imported.report.nodes.used), (7, 2));
    assert_eq!((imported.report.pods.rows, imported.report.pods.used), (21, 1));
    let all: Vec<&Finding> = imported.report.faults.iter().chain(&imported.report.notes).collect();
    assert_eq!(all.len(), stopped.findings.len(), "nothing is reported less for being dropped");
    assert_eq!(imported.report.counts, stopped.counts);
}

#[test]
fn a_near_name_is_suggested() {
    let reason = |nodes: &str, pods: &str| {
        let refused = read(nodes, pods, &Options::default()).unwrap_err();
        refused.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let said = reason(NODES, &PODS.replacen("gpu_milli", "gpu_mili", 1));
    assert!(said.contains("column gpu_milli, value \"gpu_mili\""), "{said}");
    assert!(said.contains("did you mean gpu_milli by \"gpu_mili\"? Rename it"), "{said}");
    let said = reason(NODES, &PODS.replacen("T4|G2", "T4|H900", 1));
    assert!(said.contains("no node has GPU model \"H900\"; the node list has G2, P100, T4"), "{said}");
    let said = reason(NODES, &PODS.replacen(",P100,", ",P10,", 1));
    assert!(said.contains("did you mean P100?"), "{said}");
}

// --- files as a whole ------------------------------------------------------------------------------------------

#[test]
fn swapped_files_are_recognised() {
    let refused = read(PODS, NODES, &DROP).unwrap_err();
    assert_eq!(refused.findings.len(), 2, "{refused}");
    assert!(refused.findings.iter().all(|finding| finding.kind == Kind::WrongFile));
    assert!(refused.to_string().contains("exchange the two files, they are swapped"));
    assert!(!refused.can_drop());
    assert_eq!(refusal(NODES, NODES), [("pods.csv".to_owned(), Kind::WrongFile)]);
    assert_eq!(refusal(PODS, PODS), [("nodes.csv".to_owned(), Kind::WrongFile)]);
}

#[test]
fn empty_files_and_headers_alone_are_refused() {
    let nodes = |kind| ("nodes.csv".to_owned(), kind);
    let pods = |kind| ("pods.csv".to_owned(), kind);
    assert_eq!(refusal("", "\n\n"), [nodes(Kind::EmptyFile), pods(Kind::EmptyFile)]);
    let header = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(refusal(&header(NODES), &header(PODS)), [nodes(Kind::EmptyFile)]);
    assert_eq!(refusal(NODES, &header(PODS)), [pods(Kind::EmptyFile)]);
}

#[test]
fn a_list_without_run_times_says_what_to_use_instead() {
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1000,1024,1,1000\n";
    let refused = read(NODES, pods, &DROP).unwrap_err();
    assert_eq!(refused.counts, [Count { kind: Kind::NoTimeColumns, count: 1 }]);
    assert!(refused.to_string().contains("openb_pod_list_default.csv"), "{refused}");
}

#[test]
fn work_without_gpus_offers_no_load() {
    let only_cpu: String =
        PODS.lines().filter(|line| line.starts_with("name") || line.contains(",0,0,")).collect::<Vec<_>>().join("\n");
    let refused = read(NODES, &only_cpu, &DROP).unwrap_err();
    assert_eq!(refused.counts, [Count { kind: Kind::NothingLeft, count: 1 }]);
}

// --- anything at all -------------------------------------------------------------------------------------------

/// Every row is used, or named by a fault or by the note that it has no run time: nothing is skipped in silence.
fn nothing_is_silent(imported: &Imported) {
    let findings = || imported.report.faults.iter().chain(&imported.report.notes);
    for file in [&imported.report.nodes, &imported.report.pods] {
        let named: BTreeSet<usize> = findings()
            .filter(|f| f.file == file.name)
            .filter(|f| f.kind.severity() == Severity::Fault || f.kind == Kind::NoRunTime)
            .map(|f| f.row)
            .collect();
        assert_eq!(file.used + named.len(), file.rows, "{}: {named:?}", file.name);
    }
}

/// Whatever was imported can be simulated: nothing negative, every task fits an empty node that it may run on.
fn it_can_run(imported: &Imported) {
    assert!(imported.node_types.len() <= 64 && !imported.nodes.is_empty());
    assert_eq!(imported.classes.iter().map(|class| u64::from(class.share_ppm)).sum::<u64>(), 1_000_000);
    for sample in imported.samples.iter() {
        assert!(sample.work.as_ms() >= 1 && sample.tasks == 1);
        assert!(sample.demand.0.iter().all(|amount| *amount >= 0), "{sample:?}");
        let mut kinds = imported.node_types.iter().enumerate();
        let fits = kinds
            .any(|(index, kind)| sample.types.allows(index) && sample.demand.fits_in(&kind.capacity, DimMask::SEVEN));
        assert!(fits, "{sample:?} fits nowhere");
    }
}

/// Values that have broken importers, and good ones.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "",
            "0",
            "1",
            "2",
            "8",
            "500",
            "1000",
            "1001",
            "12000",
            "-1",
            "-0",
            "2147483647",
            "2147483648",
            "9223372036854775808",
            "1e400",
            "NaN",
            "inf",
            "0x1F",
            "12.0",
            "12.5",
            " 7 ",
            "T4",
            "G2|T4",
            "|",
            "G2|",
            "LS",
            "BE",
            "\"",
            "\"a\"",
            "\"a,b\"",
            ",",
            ";",
            "ü",
            "\u{0}",
            "sample-pod-00",
            "10000000000",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}",
    ]
}

/// The sample with some of its cells replaced.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let (height, width) = (rows.len(), rows[0].len());
    prop::collection::vec((1..height, 0..width, cell()), 0..12).prop_map(move |changes| {
        let mut rows = rows.clone();
        for (row, column, value) in changes {
            rows[row][column] = value;
        }
        rows.into_iter().map(|row| row.join(",")).collect::<Vec<_>>().join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_is_read_or_refused(nodes in "\\PC*|[ -~\n\r\t\"]*", pods in "(?s).{0,200}") {
        for (nodes, pods) in [(nodes.as_str(), pods.as_str()), (NODES, &pods), (&nodes, PODS)] {
            if let Err(refused) = read(nodes, pods, &DROP) {
                prop_assert!(!refused.findings.is_empty());
            }
        }
        // The header is right and the rest is not.
        let header = PODS.lines().next().unwrap_or_default();
        let _ = read(NODES, &format!("{header}\n{pods}"), &DROP);
    }

    #[test]
    fn damaged_rows_are_named_and_the_others_kept(nodes in damaged(NODES), pods in damaged(PODS), assume: bool) {
        let options = Options { assume, ..DROP };
        match read(&nodes, &pods, &options) {
            Ok(imported) => {
                nothing_is_silent(&imported);
                it_can_run(&imported);
                let stopped = read(&nodes, &pods, &Options { on_fault: OnFault::Stop, ..options });
                match stopped {
                    Ok(_) => prop_assert!(imported.report.faults.is_empty()),
                    Err(refused) => {
                        prop_assert!(!imported.report.faults.is_empty());
                        prop_assert!(refused.can_drop());
                        prop_assert_eq!(&refused.counts, &imported.report.counts);
                    }
                }
            }
            Err(refused) => prop_assert!(!refused.can_drop(), "{}", refused),
        }
    }
}

// --- the published trace ---------------------------------------------------------------------------------------

/// A published file; says so if it is not to be had.
fn published(name: &str) -> Option<String> {
    let text = published_files::text(name);
    if text.is_none() {
        published_files::left_out(name);
    }
    text
}

fn read_published(workload: &str, options: &Options) -> Option<Result<Imported, Refused>> {
    let nodes = published("openb_node_list_gpu_node.csv")?;
    let name = format!("openb_pod_list_{workload}.csv");
    let pods = published(&name)?;
    Some(import(("openb_node_list_gpu_node.csv", &nodes), (&name, &pods), options))
}

#[test]
fn the_published_default_list_is_read_as_published() {
    let Some(imported) = read_published("default", &Options { cap: None, ..Options::default() }) else { return };
    let imported = imported.unwrap();
    assert_eq!((imported.nodes.len(), imported.node_types.len()), (1213, 15));
    assert_eq!(imported.capacity()[Dim::Gpu.index()], 6_212_000);
    assert_eq!((imported.report.pods.rows, imported.report.pods.used), (8152, 7255));
    assert_eq!(imported.report.counts, [Count { kind: Kind::NoRunTime, count: 897 }]);
    assert_eq!(imported.report.notes.len(), 897);
    // Counted independently of this importer: 14.4 GPUs busy on average, median run 616 s, the longest 145 days.
    assert_eq!(libm::round(imported.report.literal_gpus_busy * 10.0), 144.0);
    let mut runs: Vec<u64> = imported.samples.iter().map(|sample| sample.work.as_ms() / 1000).collect();
    runs.sort_unstable();
    assert_eq!((runs[runs.len() / 2], runs[runs.len() - 1] / 86_400), (616, 145));
    nothing_is_silent(&imported);
    it_can_run(&imported);
}

#[test]
fn jobs_drawn_from_the_published_list_offer_the_wanted_load() {
    let Some(imported) = read_published("default", &Options::default()) else { return };
    let imported = imported.unwrap();
    assert_eq!(imported.report.capped, 86, "run times over a day");
    let load = offered(&imported.samples, imported.rate_for_load(0.9), &imported.capacity());
    assert!((load[Dim::Gpu.index()] - 0.9).abs() < 1e-12);
    assert!(load.iter().all(|share| *share <= 0.9 + 1e-12), "GPUs are the scarcest: {load:?}");
    assert_eq!(filled_after(&imported.samples, Span::from_secs(86_400)), 1.0);

    let jobs: Vec<_> = imported.generator(0.9, 42).take(100_000).collect();
    let offers: Vec<f64> = jobs.iter().map(|job| job.gpu_milli() as f64 * job.work.as_hours()).collect();
    let hours = jobs[jobs.len() - 1].arrival.as_hours();
    let mean = offers.iter().sum::<f64>() / offers.len() as f64;
    let square = offers.iter().map(|offer| offer * offer).sum::<f64>() / offers.len() as f64;
    let measured = mean * offers.len() as f64 / hours / 6_212_000.0;
    // Of a compound Poisson stream: relative deviation √(E[x²] / (n E[x]²)).
    let deviation = libm::sqrt(square / offers.len() as f64) / mean;
    assert!((measured / 0.9 - 1.0).abs() < 4.0 * deviation, "load {measured}, relative deviation {deviation}");
}

#[test]
fn typical_tasks_of_the_published_list_fit_somewhere() {
    let Some(imported) = read_published("default", &Options::default()) else { return };
    let imported = imported.unwrap();
    for class in &imported.classes {
        let fits = imported.node_types.iter().any(|kind| class.typical.fits_in(&kind.capacity, DimMask::SEVEN));
        assert!(fits, "{class:?}");
    }
}

#[test]
fn every_published_list_is_read_or_says_why_not() {
    // Two of the lists' pods ask for G2 and more cores than a G2 node has; the published experiment rejects them too.
    for (workload, without_time, too_large) in [
        ("cpu050", 878, 0),
        ("cpu100", 883, 0),
        ("cpu250", 934, 0),
        ("gpushare20", 840, 0),
        ("gpushare60", 1050, 0),
        ("gpushare100", 1209, 0),
        ("gpuspec10", 897, 2),
        ("gpuspec25", 897, 1),
    ] {
        let Some(imported) = read_published(workload, &DROP) else { return };
        let imported = imported.unwrap();
        let of = |kind| imported.report.counts.iter().find(|count| count.kind == kind).map_or(0, |count| count.count);
        assert_eq!((of(Kind::NoRunTime), of(Kind::FitsNoNode)), (without_time, too_large), "{workload}");
        assert_eq!(imported.report.faults.len(), too_large, "{workload}");
        nothing_is_silent(&imported);
        it_can_run(&imported);
        let stopped = read_published(workload, &Options::default()).unwrap();
        assert_eq!(stopped.is_err(), too_large > 0, "{workload}");
    }
    for workload in ["multigpu20", "multigpu40"] {
        let Some(imported) = read_published(workload, &DROP) else { return };
        assert_eq!(imported.unwrap_err().counts, [Count { kind: Kind::NoTimeColumns, count: 1 }], "{workload}");
    }
}
