//! Reads small instances of each version, and such as are wrong.

use std::io::Cursor;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::readers::{Placement, format_of};

fn options() -> Options {
    let placement = Placement::new(vec!["/data".into(), "/shared".into()], "/data/w");
    Options { placement, ..Options::default() }
}

fn read_text(text: &str, options: &Options) -> Result<Workload, ReadError> {
    let stored = Box::new(Cursor::new(text.as_bytes().to_vec()));
    read(Input::of(stored, "w.json", None, None).unwrap(), options)
}

fn read_json(instance: &Value, change: impl FnOnce(&mut Options)) -> Workload {
    let mut options = options();
    change(&mut options);
    read_text(&instance.to_string(), &options).unwrap()
}

fn refusal(instance: &Value) -> String {
    read_text(&instance.to_string(), &options()).map(|_| ()).unwrap_err().to_string()
}

/// Two tasks of version 1.5: `a` writes what `b` reads.
fn chain() -> Value {
    json!({ "name": "w", "schemaVersion": "1.5", "workflow": {
        "specification": {
            "tasks": [
                { "name": "a", "id": "a", "parents": [], "children": ["b"], "inputFiles": ["in"], "outputFiles": ["/shared/mid"] },
                { "name": "b", "id": "b", "parents": ["a"], "children": [], "inputFiles": ["/shared/mid"], "outputFiles": ["out"] }
            ],
            "files": [
                { "id": "in", "sizeInBytes": 10 }, { "id": "/shared/mid", "sizeInBytes": 20 }, { "id": "out", "sizeInBytes": 30 }
            ]
        },
        "execution": {
            "makespanInSeconds": 9, "executedAt": "now",
            "tasks": [
                { "id": "b", "runtimeInSeconds": 4.0, "coreCount": 1.5, "avgCPU": 50.0, "memoryInBytes": 7, "machines": ["m2"] },
                { "id": "a", "runtimeInSeconds": 2.5, "priority": 9 }
            ],
            "machines": [{ "nodeName": "m1" }, { "nodeName": "m2" }]
        }
    } })
}

/// The same in version 1.4.
fn flat_chain() -> Value {
    let file = |name: &str, size: u32, link: &str| json!({ "name": name, "sizeInBytes": size, "link": link });
    json!({ "name": "w", "schemaVersion": "1.4", "workflow": {
        "makespanInSeconds": 9, "executedAt": "now",
        "machines": [{ "nodeName": "m1" }, { "nodeName": "m2" }],
        "tasks": [
            { "name": "a", "type": "compute", "parents": [], "runtimeInSeconds": 2.5, "priority": 9,
              "files": [file("in", 10, "input"), file("/shared/mid", 20, "output")] },
            { "name": "b", "type": "compute", "parents": ["a"], "runtimeInSeconds": 4.0, "cores": 1.5, "avgCPU": 50.0,
              "memoryInBytes": 7, "machine": "m2", "files": [file("/shared/mid", 20, "input"), file("out", 30, "output")] }
        ]
    } })
}

/// All that a workload has but its notes, one line for each thing.
fn told(workload: &Workload) -> String {
    let mut lines: Vec<String> =
        workload.files.iter().map(|file| format!("file {} {}", file.path, file.size)).collect();
    for process in &workload.processes {
        let slots = process.slots.as_ref().unwrap();
        let machine = slots.machine.map_or("-", |at| &workload.machines[at]);
        let after = process.after.join(" ");
        lines.push(format!(
            "task {} after [{after}] {} cores, priority {}, machine {machine}",
            process.name, slots.cores, slots.priority
        ));
        let mut program = process.program.start().unwrap();
        while let Some(operation) = program.next(Nanos::ZERO).unwrap() {
            lines.push(match operation.action {
                Action::Write { path, bytes, .. } => format!("  write {path} {bytes}"),
                Action::Compute { time } => format!("  compute {} s", time.as_seconds()),
                Action::Allocate { bytes } => format!("  alloc {bytes}"),
                other => format!("  {} {}", other.name(), other.path().unwrap()),
            });
        }
    }
    lines.join("\n")
}

fn notes(workload: &Workload) -> String {
    workload.notes.iter().map(|note| format!("{}: {}", note.place, note.text)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_task_reads_computes_and_writes() {
    let workload = read_json(&chain(), |_| ());
    assert_snapshot!(told(&workload), @r"
    file /data/w/in 10 B
    task a after [] 1 cores, priority 0, machine -
      read /data/w/in
      compute 2.5 s
      write /shared/mid 20 B
    task b after [a] 2 cores, priority 0, machine m2
      alloc 7 B
      read /shared/mid
      compute 4 s
      write /data/w/out 30 B
    ");
    assert_snapshot!(notes(&workload), @r#"
    w.json: 2 tasks under a list scheduler, fifo: the task that became ready first gets free cores first
    w.json: tasks compute for all of their recorded runtime, which has their input and output in it; compute = "cpu" takes the recorded use of processors
    "#);
}

#[test]
fn the_versions_give_the_same() {
    let wanted = told(&read_json(&chain(), |_| ()));
    assert_eq!(told(&read_json(&flat_chain(), |_| ())), wanted);
    let mut newest = chain();
    newest["schemaVersion"] = json!("1.6");
    newest["workflow"]["specification"]["metrics"] = json!({ "numberOfTasks": 2 });
    assert_eq!(told(&read_json(&newest, |_| ())), wanted);
}

#[test]
fn an_instance_is_known_by_its_content() {
    for instance in [chain(), flat_chain()] {
        let text = serde_json::to_string_pretty(&instance).unwrap();
        assert_eq!(format_of("w", text.as_bytes()).unwrap().name, "wfformat");
    }
    assert!(!matches(b"{ \"fio version\": \"fio-3.33\" }"));
}

#[test]
fn what_a_task_computes_is_chosen() {
    let cpu = read_json(&chain(), |options| {
        options.workflow.compute = Compute::Cpu;
        options.workflow.speed = 2.0;
    });
    // a: 2.5 s, and nothing is known; b: half a core of two for 4 s; at twice the speed.
    let told = told(&cpu);
    assert!(told.contains("compute 1.25 s") && told.contains("compute 0.5 s"), "{told}");
    assert!(notes(&cpu).contains("1 tell none (avgCPU)"));
}

#[test]
fn the_scheduler_is_chosen_and_named() {
    let priorities = |order| {
        let workload = read_json(&chain(), |options| options.workflow.order = order);
        assert!(notes(&workload).contains(order.in_words()));
        let all = workload.processes.iter().map(|process| process.slots.as_ref().unwrap().priority);
        all.collect::<Vec<_>>()
    };
    assert_eq!(priorities(ListOrder::Fifo), [0, 0]);
    assert_eq!(priorities(ListOrder::Depth), [2, 1]);
    assert_eq!(priorities(ListOrder::Priority), [1, 0]);
}

#[test]
fn tasks_may_leave_their_recorded_machines() {
    let anywhere = read_json(&chain(), |options| options.workflow.on_recorded_machines = false);
    assert!(anywhere.processes.iter().all(|process| process.slots.as_ref().unwrap().machine.is_none()));
}

#[test]
fn children_are_as_good_as_parents() {
    let mut one_sided = chain();
    one_sided["workflow"]["specification"]["tasks"][1]["parents"] = json!([]);
    assert_eq!(told(&read_json(&one_sided, |_| ())), told(&read_json(&chain(), |_| ())));
}

#[test]
fn files_order_tasks_that_nothing_else_orders() {
    let mut loose = chain();
    loose["workflow"]["specification"]["tasks"][0]["children"] = json!([]);
    loose["workflow"]["specification"]["tasks"][1]["parents"] = json!([]);
    let workload = read_json(&loose, |_| ());
    assert_eq!(told(&workload), told(&read_json(&chain(), |_| ())));
    assert!(notes(&workload).contains("is not among their parents: 1"));
}

#[test]
fn a_file_that_is_read_before_it_is_written_exists_before() {
    let mut update = chain();
    update["workflow"]["specification"]["tasks"][1]["outputFiles"] = json!(["in"]);
    let files = read_json(&update, |_| ()).files;
    assert_eq!(files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["/data/w/in"]);
}

#[test]
fn a_file_of_several_sizes_has_the_largest() {
    let mut twice = flat_chain();
    twice["workflow"]["tasks"][1]["files"][0]["sizeInBytes"] = json!(25);
    let workload = read_json(&twice, |_| ());
    assert!(told(&workload).contains("write /shared/mid 25 B"));
    assert!(notes(&workload).contains("files with several sizes, of which the largest is taken: 1"));
}

#[test]
fn parents_of_1_4_are_names_or_ids() {
    let mut with_ids = flat_chain();
    with_ids["workflow"]["tasks"][0]["id"] = json!("ID1");
    for parent in ["ID1", "a", "a_ID1"] {
        with_ids["workflow"]["tasks"][1]["parents"] = json!([parent]);
        assert_eq!(&*read_json(&with_ids, |_| ()).processes[1].after[0], "a_ID1");
    }
}

#[test]
fn a_workflow_without_execution_only_moves_bytes() {
    let mut planned = chain();
    planned["workflow"].as_object_mut().unwrap().remove("execution");
    let workload = read_json(&planned, |_| ());
    assert!(!told(&workload).contains("compute"));
    assert!(notes(&workload).contains("do not compute: 2"));
}

#[test]
fn what_is_wrong_is_named_by_its_path() {
    let wrong = |path: &str, value: Value| {
        let mut instance = chain();
        *instance.pointer_mut(path).unwrap() = value;
        refusal(&instance)
    };
    let tasks = "/workflow/specification/tasks";
    assert_snapshot!(wrong("/schemaVersion", json!("1.3")), @r#"w.json: $.schemaVersion: version "1.3" of WfFormat is not known; known are 1.4, 1.5, 1.6; WfCommons' tools/wfcommons-migrate-instance.py brings older ones to 1.5, --lenient goes on"#);
    assert_snapshot!(wrong("/schemaVersion", json!(null)), @"w.json: $.schemaVersion: the file does not tell its version of WfFormat; known are 1.4, 1.5, 1.6; WfCommons' tools/wfcommons-migrate-instance.py brings older ones to 1.5, --lenient goes on");
    assert_snapshot!(wrong(tasks, json!([])), @"w.json: $.workflow: there is no task; add one to `tasks`");
    assert_snapshot!(wrong(&format!("{tasks}/1/inputFiles/0"), json!("mid")), @r#"w.json: $.workflow.specification.tasks[1].inputFiles[0]: the file "mid" is not in $.workflow.specification.files; add it there with its sizeInBytes"#);
    assert_snapshot!(wrong(&format!("{tasks}/1/parents/0"), json!("aa")), @r#"w.json: $.workflow.specification.tasks[1].parents[0]: there is no task "aa"; did you mean `a`?"#);
    assert_snapshot!(wrong(&format!("{tasks}/0/children/0"), json!("x")), @r#"w.json: $.workflow.specification.tasks[0].children[0]: there is no task "x"; did you mean `a`?"#);
    assert_snapshot!(wrong(&format!("{tasks}/1/id"), json!("a")), @r#"w.json: $.workflow.specification.tasks[1].id: the task "a" is there twice; rename one of them"#);
    assert_snapshot!(wrong(&format!("{tasks}/0/parents"), json!(["b"])), @"w.json: $.workflow.specification.tasks[0]: tasks wait for each other: `a` after `b` after `a`; remove one of the parents or children");
    assert_snapshot!(wrong("/workflow/specification/files/0/sizeInBytes", json!(-1)), @"w.json: $.workflow.specification.files[0].sizeInBytes: -1 cannot be a number of bytes; write a whole number from 0 to 9007199254740991");
    assert_snapshot!(wrong("/workflow/specification/files/0/sizeInBytes", json!(1.5)), @"w.json: $.workflow.specification.files[0].sizeInBytes: 1.5 cannot be a number of bytes; write a whole number from 0 to 9007199254740991");
    assert_snapshot!(wrong("/workflow/execution/tasks/1/runtimeInSeconds", json!(-2)), @"w.json: $.workflow.execution.tasks[1].runtimeInSeconds: -2 cannot be a number of seconds; write one from 0 to 1000000000");
    assert_snapshot!(wrong("/workflow/execution/tasks/0/coreCount", json!(1e9)), @"w.json: $.workflow.execution.tasks[0].coreCount: 1000000000 cannot be a number of cores; write one from 0 to 1000000");
    assert_snapshot!(wrong("/workflow/execution/tasks/0/id", json!("c")), @r#"w.json: $.workflow.execution.tasks: "c" is no task of the workflow; correct its id"#);
    assert_snapshot!(wrong("/workflow/specification/files/0/id", json!("..")), @r#"w.json: $.workflow.specification.tasks[0].inputFiles[0]: the file "in" is not in $.workflow.specification.files; add it there with its sizeInBytes"#);
}

#[test]
fn what_is_no_instance_is_named_by_its_line() {
    let error = |text: &str| read_text(text, &options()).map(|_| ()).unwrap_err().to_string();
    assert_snapshot!(error("{\n\"schemaVersion\": 1.5 }"), @"w.json:2: invalid type: floating point `1.5`, expected a string; see the schema of WfFormat");
    assert_snapshot!(error("{ \"schemaVersion\": \"1.5\",\n\"workflow\": {"), @"w.json:2: EOF while parsing an object; see the schema of WfFormat");
    assert_snapshot!(error("{ \"schemaVersion\": \"1.5\",\n\"workflow\": {} }"), @"w.json:2: missing field `specification`; see the schema of WfFormat");
    assert_snapshot!(error(""), @"w.json:1: EOF while parsing a value; see the schema of WfFormat");
}

#[test]
fn lenient_goes_on() {
    let mut instance = chain();
    instance["schemaVersion"] = json!("9");
    instance["workflow"]["specification"]["tasks"][1]["inputFiles"] = json!(["mid"]);
    instance["workflow"]["specification"]["tasks"][1]["parents"] = json!(["x"]);
    let workload = read_json(&instance, |options| options.lenient = true);
    assert_eq!(workload.processes.len(), 2);
    assert_snapshot!(notes(&workload), @r#"
    w.json: 2 tasks under a list scheduler, fifo: the task that became ready first gets free cores first
    w.json: tasks compute for all of their recorded runtime, which has their input and output in it; compute = "cpu" takes the recorded use of processors
    w.json: files of unknown size, passed over: 1
    w.json: unknown parents and children, passed over: 1
    "#);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0_usize..2000, at in 0_usize..2000) {
        let refused = read_text(&String::from_utf8_lossy(&bytes), &options()).is_err();
        prop_assert!(refused);
        let mut whole = chain().to_string().into_bytes();
        whole.truncate(cut);
        let byte = bytes.first().copied().unwrap_or(b'"');
        whole.get_mut(at).into_iter().for_each(|place| *place = byte);
        let stored = Box::new(Cursor::new(whole));
        let _ = read(Input::of(stored, "w.json", None, None).unwrap(), &options());
    }
}
