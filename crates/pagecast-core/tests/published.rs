//! Experiment 1 of the WRENCH-cache paper against the authors' own output.
//!
//! Source: the simulated timestamps published with Do et al., *Modeling the Linux Page Cache for Accurate Simulation of
//! Data-Intensive Applications* (CLUSTER 2021), Exp 1, WRENCH-cache, printed to the microsecond. A timestamp is a sum that
//! the authors' simulator built up in hundreds of steps: we ask for 10 us.

use crate::common::on;

/// The machine of the authors' simulators.
const MACHINE: &str = r#"
[machine]
cores = 32
memory = { size = "268 GB", read = "4812 MB/s", write = "4812 MB/s" }
vm = { dirty_ratio = 40 }
disk.ssd = { size = "450 GB", read = "465 MB/s", write = "465 MB/s" }
mount."/data".disk = "ssd"
"#;

/// Size of each file in GB, seconds of computing, durations of read 1, write 1, read 2, write 2, read 3, write 3.
type Published = (u32, u32, [f64; 6]);

const CAMERA_READY: [Published; 4] = [
    (20, 28, [43.010_753, 4.156_276, 4.156_276, 4.156_276, 4.156_276, 4.156_276]),
    (50, 75, [107.526_882, 10.390_690, 10.390_690, 18.132_625, 10.390_690, 22.003_593]),
    (75, 110, [161.290_323, 56.376_397, 15.586_035, 56.111_228, 15.586_035, 57.109_126]),
    (100, 155, [215.053_763, 124.013_756, 20.781_380, 124.185_908, 20.781_379, 124.094_203]),
];

/// Two writes of 75 GB are missing: there the authors' flusher walked over its lists in another order, by up to 0.9 %.
const V1: [Published; 3] = [
    (20, 28, [43.010_753, 4.156_276, 4.156_276, 4.156_276, 4.156_276, 4.156_276]),
    (50, 75, [107.526_882, 10.390_690, 10.390_690, 18.132_625, 10.390_690, 22.003_593]),
    (100, 155, [215.053_763, 124.013_756, 20.781_380, 124.185_907, 151.765_747, 124.091_387]),
];

fn check(vintage: &str, published: &[Published]) {
    for &(size, cpu, durations) in published {
        let mut case = on(MACHINE).option("vintage", vintage).file("/data/f1", &format!("{size} GB"));
        for task in 1..=3 {
            let after = if task > 1 { format!("after = ['task{}']", task - 1) } else { String::new() };
            let read = format!("read = '/data/f{task}', buffer = 'fresh'");
            let write = format!("write = '/data/f{}', size = '{size} GB'", task + 1);
            let operations = [&*read, &format!("compute = '{cpu} s'"), &*write];
            case = case.process_with(&format!("task{task}"), &after, &operations);
        }
        let run = case.run("wrench");
        for (at, expected) in durations.into_iter().enumerate() {
            let actual = run.seconds(&format!("task{}", at / 2 + 1), (at as u32 % 2) * 2);
            let what = format!("{} {} of {size} GB", ["read", "write"][at % 2], at / 2 + 1);
            assert!((actual - expected).abs() < 1e-5, "{what}: {actual} s, published {expected} s");
        }
    }
}

#[test]
fn experiment_1_takes_what_the_authors_simulator_says() {
    check("camera_ready", &CAMERA_READY);
}

#[test]
fn experiment_1_before_the_correction_of_eviction_as_well() {
    check("v1", &V1);
}
