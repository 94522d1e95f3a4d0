//! Says of each thread what a report in fio's form needs beside the times of its operations.

use serde_json::{Map, Value, json};

use super::job::{Preallocation, Unified};
use super::plan::{Plan, Thread};

/// The description of a job file.
pub fn describe(plan: &Plan) -> String {
    let threads: Vec<Value> = plan.threads.iter().map(thread).collect();
    json!({ "global options": options(&plan.given), "threads": threads }).to_string()
}

fn thread(thread: &Thread) -> Value {
    let (job, reporting) = (&thread.job, &thread.job.reporting);
    json!({
        "process": &*thread.name,
        "jobname": job.name,
        "description": job.description,
        "groupid": thread.group,
        "by_group": reporting.by_group,
        "is_reported": reporting.stats,
        "is_asynchronous": job.queue_depth() > 1,
        "set_up": set_up_operations(thread),
        "pre_reads": job.pre_read,
        "ramp_s": job.ramp.as_seconds(),
        "files": thread.files.len(),
        "has_periodic_sync": job.fsync > 0 || job.fdatasync > 0 || job.sync_range.is_some(),
        "percentiles": reporting.percentiles,
        "clat_percentiles": reporting.clat,
        "lat_percentiles": reporting.lat,
        "unified": match reporting.unified {
            Unified::None => "none",
            Unified::Mixed => "mixed",
            Unified::Both => "both",
        },
        "job options": options(&thread.given),
    })
}

/// The number of operations before the time of the job begins: files that are allocated or read before.
fn set_up_operations(thread: &Thread) -> usize {
    let allocates = |kind: Option<Preallocation>| kind.is_some();
    let reads = |kind: Option<Preallocation>| thread.job.pre_read && kind.is_none();
    thread.files.iter().filter(|file| allocates(file.allocates) || reads(file.allocates)).count() * 3
}

fn options(given: &[(String, String)]) -> Map<String, Value> {
    given.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}
