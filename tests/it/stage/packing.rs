//! A packing run in slices is the run in one go, whatever happens in between.

use residua::replay::{Experiment, find, order};
use residua::schedulers::{Ties, replay_entries};
use residua::stage::board::{Board, Log, Stock};
use residua::stage::packing::{Bench, Loaded, Order, PackingRequest, PackingSession, Text, Texts};
use residua::units::SimTime;
use residua::workload::openb::Kind;

const NODES: &str = include_str!("../../data/openb/nodes.csv");
const PODS: &str = include_str!("../../data/openb/pods.csv");

fn text(name: &str, text: &str) -> Text {
    Text { name: name.to_owned(), text: text.to_owned() }
}

fn texts() -> Texts {
    let (nodes, pods) = (text("nodes.csv", NODES), text("openb_pod_list_sample.csv", PODS));
    Texts { nodes, pods, order: None, runs: None, means: None }
}

fn load(texts: &Texts) -> (Bench, Loaded) {
    Bench::load(texts).expect("the sample is in order")
}

fn request(policy: &str, random_ties: bool) -> PackingRequest {
    PackingRequest { policy: policy.to_owned(), random_ties, order: Order::Drawn(3), wants_moves: true }
}

fn session(policy: &str, random_ties: bool) -> PackingSession {
    load(&texts()).0.start(&request(policy, random_ties)).expect("a run")
}

/// Everything that a session told, taken over as a page does.
#[derive(Debug, Default, PartialEq)]
struct Told {
    points: Vec<residua::replay::Point>,
    moves: Vec<u32>,
}

impl Told {
    fn hear(&mut self, session: &mut PackingSession) {
        let slice = session.tell();
        if let Some(first) = slice.points.first() {
            self.points.retain(|point| point.arrived_pct < first.arrived_pct);
        }
        self.points.extend(slice.points);
        self.moves.extend(slice.moves);
    }
}

fn told(session: &mut PackingSession, most: usize) -> Told {
    let mut told = Told::default();
    while !session.is_over() {
        session.advance(most);
        told.hear(session);
    }
    told
}

#[test]
fn slices_of_any_size_tell_what_the_run_is() {
    let experiment = Experiment::read(("n", NODES), ("p", PODS)).unwrap();
    let rows = order::draw(&experiment, 3).unwrap();
    for entry in replay_entries() {
        for (ties, random_ties) in [(Ties::Fixed, false), (Ties::Drawn, true)] {
            let mut plain = experiment.start(&rows, &entry, ties, 3).unwrap();
            plain.run_to_end();
            let whole = told(&mut session(&entry.id(), random_ties), usize::MAX);
            assert_eq!(whole.points, plain.probe().curve(), "{}", entry.id());
            for most in [1, 7] {
                let mut session = session(&entry.id(), random_ties);
                assert_eq!(told(&mut session, most), whole, "{}, {most} at a time", entry.id());
                assert_eq!(session.rejected(), plain.probe().rejected());
                assert_eq!(session.arrived(), rows.pods.len());
            }
        }
    }
}

#[test]
fn a_run_left_alone_goes_on_where_it_was() {
    let mut bench = load(&texts()).0;
    let mut first = bench.start(&request("fgd-paper", true)).unwrap();
    first.advance(11);
    let mut early = Told::default();
    early.hear(&mut first);
    // Another one on the same bench, and one that nobody waits for.
    let mut other = bench.start(&request("random-paper", false)).unwrap();
    let others = told(&mut other, 5);
    let mut dropped = bench.start(&request("fgd-paper", true)).unwrap();
    dropped.advance(30);
    drop(dropped);
    while !first.is_over() {
        first.advance(4);
        early.hear(&mut first);
    }
    assert_eq!(early, told(&mut session("fgd-paper", true), 1000));
    assert_eq!(others, told(&mut session("random-paper", false), 1));
}

#[test]
fn the_board_is_the_cluster_at_every_moment() {
    let experiment = Experiment::read(("n", NODES), ("p", PODS)).unwrap();
    let rows = order::draw(&experiment, 3).unwrap();
    let (_, loaded) = load(&texts());
    let mut log = Log::default();
    log.push(&told(&mut session("fgd-paper", false), 9).moves);
    assert_eq!(log.len(), rows.pods.len());
    let mut simulation = experiment.start(&rows, &find("FGD").unwrap(), Ties::Fixed, 3).unwrap();
    let mut board = Board::new(&loaded.floor);
    for arrived in 0..=log.len() {
        simulation.run_until(SimTime(arrived as u64));
        board.go_to(&log, arrived);
        let cluster = simulation.cluster();
        for (node, place) in cluster.ids().zip(&rows.nodes) {
            let row = experiment.lists().nodes.iter().position(|(row, _)| row == place).unwrap();
            let now = board.node(row);
            assert_eq!(now.free, cluster.devices(node), "after {arrived}");
            let dim = residua::resources::Dim::Cpu;
            assert_eq!(now.cpu_milli, cluster.capacity(node)[dim] - cluster.used(node)[dim]);
        }
        let total = Stock::total(&board.stocks(&loaded.floor));
        let idle = simulation.totals().capacity_milli - simulation.totals().allocated_milli;
        assert_eq!(total.free_milli as i64, idle);
        assert!(total.stranded_milli <= total.free_milli);
        assert_eq!(f64::from(total.free + total.partly + total.full), loaded.gpus);
    }
}

#[test]
fn nodes_keep_their_names_and_those_without_gpus_take_no_part() {
    let (_, loaded) = load(&texts());
    let names: Vec<&str> = loaded.floor.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["sample-node-0", "sample-node-1", "sample-node-2", "sample-node-3", "sample-node-4"]);
    assert_eq!((loaded.without_gpu, loaded.gpus, loaded.workload.as_str()), (1, 21.0, "sample"));
    let models: Vec<&str> = (0..5).map(|node| loaded.floor.kind(node).model.as_str()).collect();
    assert_eq!(models, ["G2", "G2", "T4", "T4", "P100"]);
}

#[test]
fn published_results_are_those_of_the_workload() {
    let runs = "workload,policy,seed,arrived_pct,alloc,frag_ratio\n\
                sample,FGD,1,100,80,20\nsample,FGD,2,100,90,40\nother,FGD,1,100,1,1\n";
    let means = "workload,policy,arrived_pct,alloc_mean,alloc_sd,frag_ratio_mean,frag_ratio_sd\n\
                 sample,FGD,100,84,0.1,31,0.2\nother,FGD,100,1,0.1,1,0.2\n";
    let (_, only_runs) = load(&Texts { runs: Some(text("r.csv", runs)), ..texts() });
    assert_eq!(only_runs.runs.len(), 2);
    assert_eq!((only_runs.means[0].alloc, only_runs.means[0].frag_ratio), (85.0, 30.0));
    let both = Texts { runs: Some(text("r.csv", runs)), means: Some(text("m.csv", means)), ..texts() };
    let (_, both) = load(&both);
    assert_eq!(both.means.len(), 1, "means as published, not as worked out");
    assert_eq!(both.means[0].alloc, 84.0);
    assert!(both.other_workloads.is_empty());
    let foreign = runs.replace("sample,", "default,");
    let (_, foreign) = load(&Texts { runs: Some(text("r.csv", &foreign)), ..texts() });
    assert_eq!((foreign.runs.len(), foreign.means.len()), (0, 0));
    assert_eq!(foreign.other_workloads, ["default", "other"]);
}

#[test]
fn every_fault_of_every_file_is_said_at_once() {
    let nodes = text("nodes.csv", NODES);
    let all = Texts {
        nodes: nodes.clone(),
        pods: text("pods.csv", PODS),
        order: Some(text("order.txt", "nodes 0 1 2 3 9\npods 0 99\n")),
        runs: Some(text("r.csv", "workload,policy,seed,arrived_pct,alloc,frag_ratio\nsample,FGD,x,100,101,20\n")),
        means: Some(text("m.csv", "workload,policy,arrived_pct,alloc_mean\nsample,FGD,100,90\n")),
    };
    let found = Bench::load(&all).expect_err("four files with faults");
    let said = |file: &str, kind: Kind| found.iter().any(|finding| finding.file == file && finding.kind == kind);
    assert!(said("order.txt", Kind::TooLarge), "{found:#?}");
    assert!(said("r.csv", Kind::NotANumber));
    assert!(said("m.csv", Kind::MissingColumn));
    assert_eq!(found.iter().filter(|finding| finding.file == "r.csv").count(), 2);
    let swapped = Texts { nodes: text("p.csv", PODS), pods: nodes, ..texts() };
    assert!(Bench::load(&swapped).expect_err("swapped").iter().any(|finding| finding.kind == Kind::WrongFile));
}

#[test]
fn a_run_is_compared_with_itself_and_means_with_means() {
    let runs = "workload,policy,seed,arrived_pct,alloc,frag_ratio\n\
                sample,FGD,7,50,50,20\nsample,FGD,7,60,59,21\nsample,FGD,8,50,40,30\n";
    let with = |order: &str| {
        let order = text(order, "nodes 4 3 2 1 0\npods 0 1 2 0 1 2\n");
        load(&Texts { order: Some(order), runs: Some(text("r.csv", runs)), ..texts() }).1
    };
    let loaded = with("replay_sample_7.txt");
    let point = |arrived_pct, alloc| residua::replay::Point { arrived_pct, alloc, frag_ratio: 20.5 };
    let curve = [point(50, 50.0), point(55, 55.0), point(60, 60.0)];
    let exact = loaded.compare("FGD", Order::Given, &curve).expect("published");
    assert!(exact.is_exact);
    assert_eq!(residua::replay::published::greatest(&exact.pairs), (1.0, 0.5));
    let other = with("replay_other_7.txt");
    assert_eq!(other.order_of_other.as_deref(), Some("other"));
    assert!(!other.compare("FGD", Order::Given, &curve).expect("means").is_exact, "the order of another workload");
    let means = loaded.compare("FGD", Order::Drawn(1), &curve).expect("published");
    assert!(!means.is_exact);
    assert_eq!(means.pairs[0].alloc_published, 45.0);
    assert_eq!(loaded.compare("BestFit", Order::Given, &curve), None);
    assert_eq!(loaded.published("FGD", Order::Given).len(), 2);
    assert_eq!(loaded.published("FGD", Order::Drawn(1))[0].alloc, 45.0);
}

#[test]
fn only_a_published_order_of_this_workload_is_compared_with_its_run() {
    for (name, is_published) in
        [("replay_sample_7.txt", true), ("replay_other_7.txt", false), ("mine_7.txt", false), ("mine.txt", false)]
    {
        let order = text(name, "nodes 4 3 2 1 0\npods 0 1 2 0 1 2\n");
        let (_, loaded) = load(&Texts { order: Some(order), ..texts() });
        assert_eq!(loaded.is_published_order, is_published, "{name}");
        assert_eq!(loaded.order_file.as_deref(), Some(name));
    }
}

#[test]
fn a_given_order_is_followed_and_named_by_its_file() {
    let order = text("replay_sample_7.txt", "nodes 4 3 2 1 0\npods 0 1 2 0 1 2\n");
    let (mut bench, loaded) = load(&Texts { order: Some(order), ..texts() });
    assert_eq!((loaded.order_seed, loaded.order_of_other), (Some(7), None));
    let given = PackingRequest { order: Order::Given, ..request("first-fit-3d", false) };
    let mut session = bench.start(&given).unwrap();
    assert_eq!(session.arrivals(), 6);
    let mut log = Log::default();
    log.push(&told(&mut session, 2).moves);
    let mut board = Board::new(&loaded.floor);
    board.go_to(&log, 1);
    // The preferred node is too small for the first pod, so it goes to the second of the order.
    assert_eq!([4, 3, 2].map(|node| board.node(node).pods), [0, 1, 0]);
    assert!(load(&texts()).0.start(&given).is_err(), "no order was given");
    assert!(bench.start(&request("nobody", false)).is_err());
}
