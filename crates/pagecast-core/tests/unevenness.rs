//! Disks that serve equal streams unequally: `unevenness` is the coefficient of variation of the streams' weights.

use crate::common::{Case, HOSTS, case, on};

/// Two processes that read a file of 1 GB each from a disk of such unevenness.
fn two_readers(unevenness: f64) -> Case {
    case()
        .set(&format!("machine.disk.ssd.unevenness={unevenness}"))
        .file("/data/f1", "1 GB")
        .file("/data/f2", "1 GB")
        .process("p1", &["read = '/data/f1'"])
        .process("p2", &["read = '/data/f2'"])
}

/// How long both readers take.
fn seconds(case: &Case, model: &str) -> (f64, f64) {
    let run = case.run(model);
    (run.seconds("p1", 0), run.seconds("p2", 0))
}

#[test]
fn one_stream_is_served_sooner_and_the_disk_is_as_fast_as_ever() {
    let (one, two) = seconds(&two_readers(0.3).seed(1), "no-cache");
    assert!(one.min(two) < 19.0, "{one} and {two}");
    assert!((one.max(two) - 20.0).abs() < 2e-9, "{one} and {two}");
}

#[test]
fn a_stream_is_served_in_proportion_to_its_weight() {
    // The weights are 0.677412 and 0.825269: draws computed apart, in Python.
    let (one, two) = seconds(&two_readers(0.3).seed(1), "no-cache");
    assert!((two - 18.208_384_333).abs() < 2e-9 && one > two, "{one} and {two}");
}

#[test]
fn an_even_disk_serves_all_alike_whatever_the_seed() {
    assert_eq!(seconds(&two_readers(0.0).seed(9), "no-cache"), (20.0, 20.0));
}

#[test]
fn a_stream_alone_gets_all_of_an_uneven_disk() {
    let alone = case().set("machine.disk.ssd.unevenness=0.3").file("/data/f", "1 GB");
    assert_eq!(alone.process("p", &["read = '/data/f'"]).run("no-cache").seconds("p", 0), 10.0);
}

#[test]
fn over_many_seeds_no_stream_is_preferred() {
    let both: Vec<(f64, f64)> =
        (0..200).map(|seed| seconds(&two_readers(0.2).seed(seed), "no-cache")).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
    let (one, two) = (mean(|pair| pair.0), mean(|pair| pair.1));
    assert!((one - two).abs() < 0.3, "{one} s and {two} s on average");
    assert!(one < 19.5, "{one} s: somebody ends sooner than the other");
}

#[test]
fn a_seed_gives_the_same_again_and_another_seed_something_else() {
    let case = two_readers(0.3);
    assert_eq!(seconds(&case.clone().seed(3), "no-cache"), seconds(&case.clone().seed(3), "no-cache"));
    assert_ne!(seconds(&case.clone().seed(3), "no-cache"), seconds(&case.seed(4), "no-cache"));
}

#[test]
fn another_process_changes_nobodys_weight() {
    let case = two_readers(0.3).seed(3);
    let more = case.clone().process("p3", &["compute = '1 s'"]);
    assert_eq!(seconds(&case, "no-cache"), seconds(&more, "no-cache"));
}

#[test]
fn each_disk_has_weights_of_its_own() {
    let other =
        "machine.disk.other={ size = '10 GB', read = '100 MB/s', write = '100 MB/s', unevenness = 0.3 }";
    let mut case = two_readers(0.3).set(other).set("machine.mount.\"/other\".disk=other").seed(3);
    for n in [1, 2] {
        let path = format!("/other/f{n}");
        let after = format!("after = ['p{n}']\nstart = '100 s'");
        case =
            case.file(&path, "1 GB").process_with(&format!("q{n}"), &after, &[&format!("read = '{path}'")]);
    }
    let run = case.run("no-cache");
    assert_ne!(
        run.seconds("p1", 0).min(run.seconds("p2", 0)),
        run.seconds("q1", 0).min(run.seconds("q2", 0))
    );
}

#[test]
fn writes_are_served_unequally_too() {
    let run = case()
        .set("machine.disk.ssd.unevenness=0.3")
        .set("machine.disk.ssd.sharing=separate")
        .process("p1", &["write = '/data/f1', size = '1 GB'"])
        .process("p2", &["write = '/data/f2', size = '1 GB'"])
        .seed(1)
        .run("no-cache");
    assert_ne!(run.seconds("p1", 0), run.seconds("p2", 0));
}

#[test]
fn a_copy_from_the_cache_does_not_touch_the_uneven_disk() {
    let case = case()
        .set("machine.disk.ssd.unevenness=0.3")
        .cached("/data/f1", "1 GB", "1 GB")
        .cached("/data/f2", "1 GB", "1 GB")
        .process("p1", &["read = '/data/f1'"])
        .process("p2", &["read = '/data/f2'"])
        .seed(1);
    assert_eq!(seconds(&case, "endless-cache"), (2.0, 2.0));
}

#[test]
fn a_server_serves_the_clients_streams_unequally() {
    let case = on(HOSTS)
        .set("host.server.disk.ssd.unevenness=0.3")
        .file("/remote/f1", "1 GB")
        .file("/remote/f2", "1 GB")
        .process("p1", &["read = '/remote/f1'"])
        .process("p2", &["read = '/remote/f2'"])
        .seed(1);
    for model in ["no-cache", "wrench"] {
        let (one, two) = seconds(&case, model);
        assert!((one - two).abs() > 0.5, "{model}: {one} and {two}");
    }
}

#[test]
fn a_process_has_one_weight_whichever_transfers_the_model_makes_of_its_reads() {
    let is_first_sooner = |case: &Case, model| seconds(case, model).0 < seconds(case, model).1;
    for seed in 0..8 {
        let remote = on(HOSTS)
            .set("host.server.disk.ssd.unevenness=0.3")
            .file("/remote/f1", "1 GB")
            .file("/remote/f2", "1 GB")
            .process("p1", &["read = '/remote/f1'"])
            .process("p2", &["read = '/remote/f2'"])
            .seed(seed);
        assert_eq!(is_first_sooner(&remote, "wrench"), is_first_sooner(&remote, "no-cache"), "seed {seed}");
    }
}

#[test]
fn the_background_flush_is_served_fairly() {
    // The reader's weight comes from its number, the flush has weight 1. If the flush had the reader's, both would share
    // the disk in equal halves whatever the seed.
    let case = case()
        .set("machine.disk.ssd.unevenness=0.5")
        .file("/data/f", "1 GB")
        .process("writer", &["write = '/data/g', size = '1 GB'"])
        .process("reader", &["sleep = '30 s'", "read = '/data/f'"]);
    let seconds = |seed| case.clone().seed(seed).run("wrench").seconds("reader", 1);
    assert!((seconds(1) - seconds(2)).abs() > 0.1, "{} and {}", seconds(1), seconds(2));
}
