//! Why jobs wait: what a look back says agrees with what the run itself showed at that moment.

use residua::resources::{Dim, DimMask};
use residua::stage::reel::{Reel, Stat};
use residua::stage::session::{RunRequest, Session};
use residua::stage::why::{LookBack, Reason, Waiting};

fn request(scheduler: &str, load: &str) -> RunRequest {
    let set = [("nodes", "32"), ("hours", "12"), ("warm_up_hours", "2"), ("load", load)];
    RunRequest {
        scenario: "c-storage-stress".to_owned(),
        set: set.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
        scheduler: scheduler.to_owned(),
        seed: 5,
        trace: None,
        lanes: 1,
    }
}

/// The frames of a run, and the run again.
fn run(request: &RunRequest) -> (Reel, LookBack) {
    let mut session = Session::start(request).expect("a good request");
    let back = session.look_back().expect("a good setup");
    let mut reel = Reel::new(session.header().clone()).expect("a good header");
    while !session.is_over() {
        reel.push(&session.advance(64).words).expect("whole frames");
    }
    (reel, back)
}

#[test]
fn a_look_back_sees_what_the_frame_showed() {
    // Whoever sees all dimensions, as they are, waits only where nothing fits, or for want of room for a whole gang.
    let (reel, mut back) = run(&request("ragp-io", "1.2"));
    let mut seen = 0u32;
    for index in (0..reel.len()).step_by(7) {
        let frame = reel.frame(index).expect("it is there");
        while !back.advance(frame.time().as_ms(), 100) {}
        let waiting = back.waiting();
        assert_eq!(waiting.at, frame.time().as_ms());
        assert_eq!(f64::from(waiting.count), frame.stat(Stat::Waiting), "at {}", waiting.at);
        assert_eq!(waiting.looked_at, waiting.count, "so few are all looked at");
        let sum = |is_meant: &dyn Fn(&Reason) -> bool| -> u32 {
            waiting.groups.iter().filter(|group| is_meant(&group.reason)).map(|group| group.count).sum()
        };
        assert_eq!(sum(&|_| true), waiting.count);
        let nowhere = sum(&|reason| matches!(reason, Reason::FitsNowhere { .. }));
        assert_eq!(f64::from(nowhere), frame.stat(Stat::FitsNowhere), "{waiting:#?}");
        assert!(waiting.by_shape <= nowhere);
        for group in &waiting.groups {
            check(group);
            // The queue is tried up to its window of 64 jobs.
            assert!(waiting.count > 64 || group.reason != Reason::Behind, "{group:?}");
        }
        seen += waiting.count;
    }
    assert!(seen > 100, "only {seen} jobs waited");
}

fn check(job: &residua::stage::why::WaitingJobs) {
    match &job.reason {
        Reason::FitsNowhere { nearest } => {
            let near = nearest.as_ref().expect("some node is allowed");
            assert!(!near.lacks.is_empty(), "{job:?}");
            for lack in &near.lacks {
                assert!(lack.needed > lack.available && lack.available <= lack.nominal, "{lack:?}");
                assert_eq!(job.asks[lack.dim.index()], lack.needed);
            }
        }
        Reason::TooFewTogether { room } => assert!(*room > 0 && *room < u32::from(job.tasks), "{job:?}"),
        Reason::Kept | Reason::Cordoned | Reason::Behind => {}
    }
}

#[test]
fn a_scheduler_is_told_only_of_what_it_sees() {
    let (reel, mut back) = run(&request("scalar-5d", "1.2"));
    let last = reel.frame(reel.len() - 1).expect("it is there").time().as_ms();
    while !back.advance(last, 1000) {}
    let lacks = |waiting: &Waiting| -> Vec<Dim> {
        let nearest = waiting.groups.iter().filter_map(|job| match &job.reason {
            Reason::FitsNowhere { nearest } => nearest.clone(),
            _ => None,
        });
        nearest.flat_map(|near| near.lacks).map(|lack| lack.dim).collect()
    };
    let lacks = lacks(&back.waiting());
    assert!(!lacks.is_empty());
    assert!(lacks.iter().all(|dim| DimMask::FIVE.has(*dim)), "{lacks:?}");
}

#[test]
fn strict_order_makes_those_behind_the_head_wait_their_turn() {
    let mut strict = request("first-fit-5d", "1.2");
    strict.set.push(("queue.discipline".to_owned(), "strict".to_owned()));
    let (reel, mut back) = run(&strict);
    let busiest = (0..reel.len())
        .max_by_key(|index| reel.frame(*index).map_or(0, |frame| frame.stat(Stat::Waiting) as u32))
        .expect("there are frames");
    let time = reel.frame(busiest).expect("it is there").time().as_ms();
    while !back.advance(time, 1000) {}
    let waiting = back.waiting();
    let behind = waiting.groups.iter().filter(|group| group.reason == Reason::Behind);
    let behind: u32 = behind.map(|group| group.count).sum();
    assert!(waiting.count > 3 && behind > 0, "{waiting:#?}");
    let first = waiting.groups.iter().min_by_key(|group| group.job).expect("somebody waits");
    assert_ne!(first.reason, Reason::Behind, "nobody is before the head: {first:?}");
}
