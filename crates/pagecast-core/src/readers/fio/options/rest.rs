//! Options of threads and their order, of verification, of reports and errors.

use super::known::{Known, done, no_effect, refused};
use super::words::steady;
use crate::readers::fio::job::ExitWhat;
use crate::readers::fio::wrong::Wrong;
use crate::units::Nanos;
use crate::workload::IoClass;

/// Why no log is written.
const LOGS: &str = "no log is written; see `--out` for tables";

pub(super) const THREADS: &[Known] = &[
    no_effect("thread", &[], "processes and threads cost the same here"),
    done("wait_for", &[], "", |job, value| {
        job.wait_for = Some(value.needed()?.to_owned());
        Ok(())
    }),
    no_effect("nice", &[], "priorities of processes are not modelled"),
    done("prio", &[], "where the disk has a scheduler that minds it", |job, value| {
        job.ioprio.level = value.number_in(0, 7)? as u8;
        Ok(())
    }),
    done("prioclass", &[], "1 is realtime, 2 best-effort, 3 idle", |job, value| {
        job.ioprio.class = match value.number_in(0, 3)? {
            1 => IoClass::RealTime,
            3 => IoClass::Idle,
            _ => IoClass::BestEffort,
        };
        Ok(())
    }),
    no_effect("cpus_allowed", &["cpumask", "cpus_allowed_policy"], "processes share all cores"),
    no_effect("numa_cpu_nodes", &["numa_mem_policy"], "memory has one node here"),
    no_effect("cgroup", &["cgroup_weight", "cgroup_nodelete"], "give the process a cgroup in a scenario"),
    done(
        "flow",
        &[],
        "a job that is ahead waits without a processor; fio asks again and again",
        |job, value| {
            job.flow.weight = value.small()?;
            Ok(())
        },
    ),
    done("flow_id", &[], "", |job, value| {
        job.flow.id = value.small()?;
        Ok(())
    }),
    done("flow_sleep", &[], "", |job, value| {
        job.flow.sleep = Nanos(value.number_in(0, u64::from(u32::MAX))? * 1000);
        Ok(())
    }),
    no_effect("flow_watermark", &[], "fio takes no notice of it any more"),
    done("stonewall", &["wait_for_previous"], "", |job, value| {
        job.stonewall = value.flag()?;
        Ok(())
    }),
    done(
        "exitall",
        &[],
        "of any job, for all; a job that sleeps notices it within two seconds",
        |job, value| {
            job.exit_all = value.flag()?;
            Ok(())
        },
    ),
    done("exit_what", &[], "", |job, value| {
        let words = [("group", ExitWhat::Group), ("stonewall", ExitWhat::Stonewall), ("all", ExitWhat::All)];
        job.exit_what = value.word(&words)?.0;
        Ok(())
    }),
    no_effect("exec_prerun", &["exec_postrun"], "nothing is executed"),
    no_effect("uid", &["gid"], "everybody may do everything"),
];

pub(super) const VERIFICATION: &[Known] = &[
    refused("verify_only", &["0"], "it compares with what an earlier run has written"),
    done("do_verify", &[], "", |job, value| {
        job.do_verify = value.truth()?;
        Ok(())
    }),
    done(
        "verify",
        &[],
        "the blocks that were written are read back in the order in which they were written; sums take no time",
        |job, value| {
            job.verify = !matches!(value.needed()?, "0");
            Ok(())
        },
    ),
    no_effect("verify_offset", &[], "the content of data takes no time here"),
    no_effect("verify_interval", &[], "the content of data takes no time here"),
    no_effect("verify_pattern", &[], "the content of data takes no time here"),
    no_effect("verify_fatal", &[], "no block is wrong"),
    no_effect("verify_dump", &[], "no block is wrong"),
    no_effect("verify_async", &["verify_async_cpus"], "sums take no time here"),
    done("verify_backlog", &[], "", |job, value| {
        job.verify_backlog = value.number_in(0, 1_000_000)? as u32;
        Ok(())
    }),
    done("verify_backlog_batch", &[], "not less than verify_backlog", |job, value| {
        job.verify_batch = value.number_in(0, 1_000_000)? as u32;
        Ok(())
    }),
    no_effect("verify_state_save", &["verify_state_load"], "nothing is written"),
    no_effect("verifysort", &["verifysort_nr"], "fio takes no notice of it any more"),
    refused("trim_percentage", &["0"], "discards are not modelled"),
    no_effect("trim_verify_zero", &["trim_backlog", "trim_backlog_batch"], "of trim_percentage"),
    refused("experimental_verify", &["0"], "its order of reads is another one"),
    done(
        "steadystate",
        &["ss"],
        "seconds count from the start of the job's stonewall; the report counts all of the run",
        |job, value| {
            job.steady_criterion = steady(value)?;
            Ok(())
        },
    ),
    done("steadystate_duration", &["ss_dur"], "", |job, value| {
        job.steady_times.0 = value.time(1_000_000)?;
        Ok(())
    }),
    done("steadystate_ramp_time", &["ss_ramp"], "", |job, value| {
        job.steady_times.1 = value.time(1_000_000)?;
        Ok(())
    }),
];

pub(super) const REPORTS: &[Known] = &[
    no_effect("per_job_logs", &[], LOGS),
    done("group_reporting", &[], "", |job, value| {
        job.reporting.by_group = value.flag()?;
        Ok(())
    }),
    done("new_group", &[], "", |job, value| {
        job.new_group = value.flag()?;
        Ok(())
    }),
    done("stats", &[], "", |job, value| {
        job.reporting.stats = value.truth()?;
        Ok(())
    }),
    no_effect("write_bw_log", &["write_lat_log", "write_iops_log", "write_hist_log"], LOGS),
    no_effect(
        "log_entries",
        &["log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset", "log_prio"],
        LOGS,
    ),
    no_effect("log_compression", &["log_compression_cpus", "log_store_compressed"], LOGS),
    no_effect("log_unix_epoch", &["log_alternate_epoch", "log_alternate_epoch_clock_id"], LOGS),
    no_effect("block_error_percentiles", &[], "of trims"),
    no_effect("bwavgtime", &["iopsavgtime"], "means over the whole job are reported"),
    no_effect("disk_util", &[], "shares of devices are in the tables of `--out`"),
    no_effect(
        "disable_lat",
        &["disable_clat", "disable_slat", "disable_bw_measurement", "disable_bw"],
        "measuring takes no time here",
    ),
    done("slat_percentiles", &[], "", |job, value| {
        job.reporting.slat = value.truth()?;
        Ok(())
    }),
    done("clat_percentiles", &[], "", |job, value| {
        job.reporting.clat = value.truth()?;
        Ok(())
    }),
    done("lat_percentiles", &[], "", |job, value| {
        job.reporting.lat = value.truth()?;
        Ok(())
    }),
    done("percentile_list", &[], "", |job, value| {
        let list: Result<Vec<f64>, Wrong> =
            value.needed()?.split(':').map(|part| value.of(part).float()).collect();
        let list = list?;
        if list.len() > 20 || list.iter().any(|&part| part <= 0.0 || part > 100.0) {
            return Err(Wrong::new(
                "has more than 20 numbers, or one that is not above 0 and at most 100",
                "correct the list",
            ));
        }
        job.reporting.percentiles = list;
        job.reporting.percentiles.sort_by(f64::total_cmp);
        Ok(())
    }),
    no_effect("significant_figures", &[], "of fio's report for people"),
    no_effect("exitall_on_error", &[], "no job has an error"),
    no_effect("continue_on_error", &["ignore_error", "error_dump"], "no job has an error"),
    refused("profile", &[], "give the job file of the profile"),
    no_effect(
        "threads",
        &[
            "block",
            "numruns",
            "dir",
            "device-names",
            "load",
            "test-duration",
            "threads-per-queue",
            "read-req-num-512-blocks",
            "large-block-op-kbytes",
            "prep",
        ],
        "of a profile; fio takes no notice of it in a job file",
    ),
    no_effect("percentage_sequential", &["rwmixcycle"], "fio takes no notice of it any more"),
];
