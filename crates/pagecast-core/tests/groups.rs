//! Hosts that have nothing to do with each other are simulated group by group. Nobody can tell.

use crate::common::{Case, Run, on};

/// Four hosts alike: "c" mounts what "d" exports.
fn machine() -> String {
    let host = |name: &str, mounts: &str| {
        format!(
            "[host.{name}]\ncores = 1\nvm = {{ dirty_ratio = 40 }}\n\
             memory = {{ size = '10 GB', read = '1 GB/s', write = '1 GB/s' }}\n\
             disk.ssd = {{ size = '100 GB', read = '100 MB/s', write = '100 MB/s', unevenness = 0.2 }}\n\
             mount.'/data'.disk = 'ssd'\n{mounts}\n"
        )
    };
    let link =
        |name: &str, between: &str| format!("[link.{name}]\nbetween = [{between}]\nrate = '400 MB/s'\n");
    [
        host("a", ""),
        host("b", ""),
        host("c", "mount.'/remote' = { nfs = 'd:/data', link = 'lan' }"),
        host("d", ""),
        link("unused", "'a', 'b'"),
        link("lan", "'c', 'd'"),
    ]
    .concat()
}

fn busy() -> Case {
    let on_host = |host: &str| format!("host = '{host}'");
    on(&machine())
        .set("residency=operation")
        .seed(3)
        .process_with("c1", &on_host("c"), &["write = '/remote/g', size = '300 MB'", "read = '/remote/g'"])
        .process_with(
            "a1",
            &on_host("a"),
            &["write = '/data/f', size = '4 GB'", "sleep = '40 s'", "read = '/data/f'"],
        )
        .process_with("b1", &on_host("b"), &["compute = '2 s'", "write = '/data/f', size = '1 GB'"])
        .process_with(
            "b2",
            &on_host("b"),
            &["compute = '2 s'", "write = '/data/h', size = '1 GB'", "fsync = '/data/h'"],
        )
        .process_with("d1", &on_host("d"), &["write = '/data/h', size = '1 GB'"])
        .process_with("first", &on_host("a"), &["exit = true"])
}

/// The same, with three processes that do nothing but wait for one of "a": where they are joins hosts or not.
fn with_followers(hosts: [&str; 3]) -> Run {
    let follower = |case: Case, (number, host): (usize, &&str)| {
        let keys = format!("host = '{host}'\nafter = ['first']");
        case.process_with(&format!("follower{number}"), &keys, &["exit = true"])
    };
    hosts.iter().enumerate().fold(busy(), follower).run("wrench")
}

/// All rows of a table as text, with paths instead of their numbers, which are nobody's business.
fn rows<const N: usize>(run: &Run, paths: &[u32], columns: [&dyn Fn(usize) -> String; N]) -> Vec<String> {
    let path = |row: usize| run.paths.get(paths[row] as usize).map_or("", |path| &**path).to_owned();
    let row = |row: usize| columns.iter().fold(path(row), |text, column| text + " " + &column(row));
    (0..paths.len()).map(row).collect()
}

fn operations(run: &Run) -> Vec<String> {
    let t = &run.operations;
    let who =
        |row: usize| format!("{} {} {} {}", t.process[row], t.host[row], t.index[row], t.operation[row]);
    let what = |row: usize| {
        format!("{} {} {} {}", t.offset[row], t.bytes[row], t.from_cache[row], t.from_device[row])
    };
    let when = |row: usize| format!("{} {} {:?}", t.start[row], t.end[row], t.parts[row]);
    rows(run, &t.path, [&who, &what, &when])
}

fn files(run: &Run) -> Vec<String> {
    let t = &run.files;
    let who = |row: usize| format!("{} {} {} {}", t.time[row], t.process[row], t.index[row], t.host[row]);
    let what = |row: usize| format!("{} {} {}", t.size[row], t.cached[row], t.dirty[row]);
    rows(run, &t.path, [&who, &what])
}

fn events(run: &Run) -> Vec<String> {
    let t = &run.events;
    let what = |row: usize| format!("{} {} {} {}", t.time[row], t.host[row], t.event[row], t.bytes[row]);
    rows(run, &t.path, [&what])
}

fn blocks(run: &Run) -> Vec<String> {
    let t = &run.blocks;
    let what = |row: usize| format!("{} {} {} {}", t.host[row], t.list[row], t.bytes[row], t.dirty[row]);
    let when = |row: usize| format!("{} {}", t.accessed[row], t.dirtied[row]);
    rows(run, &t.path, [&what, &when])
}

fn apart_and_together() -> (Run, Run) {
    (with_followers(["a"; 3]), with_followers(["a", "b", "c"]))
}

#[test]
fn hosts_and_processes_are_those_of_the_whole() {
    let (apart, together) = apart_and_together();
    assert_eq!(
        (&apart.hosts, &apart.processes, apart.0.end),
        (&together.hosts, &together.processes, together.0.end)
    );
}

#[test]
fn operations_are_those_of_all_hosts_together() {
    let (apart, together) = apart_and_together();
    assert_eq!(operations(&apart), operations(&together));
}

#[test]
fn files_are_those_of_all_hosts_together() {
    let (apart, together) = apart_and_together();
    assert_eq!(files(&apart), files(&together));
}

#[test]
fn events_are_those_of_all_hosts_together() {
    let (apart, together) = apart_and_together();
    assert_eq!(events(&apart), events(&together));
}

#[test]
fn blocks_are_those_of_all_hosts_together() {
    let (apart, together) = apart_and_together();
    assert_eq!(blocks(&apart), blocks(&together));
}

#[test]
fn the_timeline_is_that_of_all_hosts_together() {
    let (apart, together) = apart_and_together();
    let text = |run: &Run| format!("{:?}", run.timeline);
    assert_eq!(text(&apart), text(&together));
}

/// Three hosts, the first two of them alike, on which copies of the same processes run; and three processes that do nothing but wait
/// for one of the third host: where they are joins hosts or not.
fn alike(followers: [&str; 3], model: &str) -> Run {
    let machine = ["h1", "h2", "h3"].map(|host| {
        let cores = if host == "h3" { 2 } else { 1 };
        format!(
            "[host.{host}]\ncores = {cores}\nmemory = {{ size = '4 GB', read = '2 GB/s', write = '1 GB/s' }}\n\
             disk.ssd = {{ size = '100 GB', read = '200 MB/s', write = '100 MB/s' }}\nmount.'/data'.disk = 'ssd'\n"
        )
    });
    let copies = "count = 3\nhost = 'h{n}'";
    let case = on(&machine.concat())
        .set("residency=operation")
        .process_with("w{n}", copies, &["write = '/data/f', size = '3 GB'", "read = '/data/f'"])
        .process_with("x{n}", &format!("{copies}\nafter = ['w{{n}}']"), &["write = '/data/g', size = '1 GB'"])
        .process_with("first", "host = 'h3'", &["exit = true"]);
    let follower = |case: Case, (number, host): (usize, &&str)| {
        let keys = format!("host = '{host}'\nafter = ['first']");
        case.process_with(&format!("follower{number}"), &keys, &["exit = true"])
    };
    followers.iter().enumerate().fold(case, follower).run(model)
}

#[test]
fn hosts_that_are_alike_have_what_each_would_have_had_by_itself() {
    for model in ["wrench", "kernel"] {
        let (apart, together) = (alike(["h3"; 3], model), alike(["h1", "h2", "h3"], model));
        assert_eq!(apart.operations.process.len(), 9, "{model}");
        assert_eq!(operations(&apart), operations(&together), "{model}");
        assert_eq!(files(&apart), files(&together), "{model}");
        assert_eq!(events(&apart), events(&together), "{model}");
        assert_eq!(blocks(&apart), blocks(&together), "{model}");
        let text = |run: &Run| format!("{:?} {:?}", run.timeline, run.bdi.levels);
        assert_eq!(text(&apart), text(&together), "{model}");
    }
}

#[test]
fn an_event_joins_the_hosts_that_wait_for_it_and_signal_it() {
    let run = on(&machine())
        .process_with("waiter", "host = 'a'", &["wait = 'go'"])
        .process_with("signaller", "host = 'd'", &["sleep = '3 s'", "signal = 'go'"])
        .run("wrench");
    assert_eq!(run.seconds("waiter", 0), 3.0);
}

/// Two hosts that each read a file of so many blocks of 1 kB, with memory for it or for half of it.
fn many_blocks(blocks: u64, memory: &str, other: &str) -> Run {
    let case = ["a", "b"].iter().fold(on(&machine()), |case, host| {
        let keys = format!("host = '{host}'");
        case.set(&format!("host.{host}.memory.size={memory}"))
            .set(&format!("file.\"/data/{host}\".host={host}"))
            .set(&format!("file.\"/data/old-{host}\".host={host}"))
            .file(&format!("/data/{host}"), &format!("{blocks} kB"))
            .cached(&format!("/data/old-{host}"), "20 MB", other)
            .process_with(host, &keys, &[&format!("read = '/data/{host}'")])
    });
    case.option("chunk", "1 kB").run("wrench")
}

#[test]
fn blocks_are_listed_for_as_many_hosts_as_fit() {
    let run = many_blocks(5_000, "1 GB", "0 B");
    assert_eq!((run.blocks.host.len(), run.blocks.left_out), (10_000, 0));
    let run = many_blocks(5_001, "1 GB", "0 B");
    assert_eq!((run.blocks.host.len(), run.blocks.left_out), (5_001, 5_001));
    assert!(run.blocks.host.iter().all(|&host| host == 0));
}

#[test]
fn of_events_the_first_are_kept_whosever_they_are() {
    // 6000 chunks of each host evict one block each, and the first one more.
    let run = many_blocks(6_000, "20 MB", "20 MB");
    assert_eq!((run.events.time.len(), run.events.left_out), (10_000, 2_000));
    let of_a = run.events.host.iter().filter(|&&host| host == 0).count();
    assert_eq!(of_a, 5_000);
    assert!(run.events.time.is_sorted());
}

#[test]
fn operations_are_in_the_order_of_their_ends_whosever_they_are() {
    let run = on(&machine())
        .process_with("late", "host = 'a'", &["sleep = '2 s'"])
        .process_with("early", "host = 'b'", &["sleep = '1 s'"])
        .run("wrench");
    assert_eq!(run.operations.process, [1, 0]);
}

#[test]
fn the_timelines_of_all_hosts_are_one_in_the_order_of_time() {
    let write = |host: &str| format!("write = '/data/{host}', size = '10 MB'");
    let case = on(&machine())
        .process_with("first", "host = 'a'", &["sleep = '1 s'", &write("a")])
        .process_with("second", "host = 'b'", &[&write("b")]);
    for (model, is_even) in [("wrench", false), ("kernel", true)] {
        let run = case.clone().run(model);
        let rows: Vec<_> = run.timeline.time.iter().zip(&run.timeline.host).collect();
        assert!(rows.is_sorted() && run.timeline.host.contains(&1), "{model}");
        assert_eq!(run.timeline.is_even, is_even, "{model}");
    }
}
