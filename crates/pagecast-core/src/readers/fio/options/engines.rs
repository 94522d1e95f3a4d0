//! Options of engines, of depth, of rate, latency and replay.

use super::known::{Known, done, no_effect, refused};
use crate::readers::fio::engines::Engine;
use crate::readers::fio::wrong::Wrong;

/// Why options of engines that are refused change nothing: the engine is refused before.
const OTHER: &str = "of engines that are refused";

pub(super) const ENGINE: &[Known] = &[
    done(
        "ioengine",
        &[],
        "sync, psync, vsync, pvsync, pvsync2, libaio, io_uring, posixaio, mmap; the others are refused",
        |job, value| {
            job.engine = Engine::named(value.needed()?)?;
            Ok(())
        },
    ),
    no_effect("cmdprio_percentage", &[], "priorities of requests are not modelled"),
    no_effect("cmdprio_class", &[], "priorities of requests are not modelled"),
    no_effect("cmdprio", &[], "priorities of requests are not modelled"),
    no_effect("cmdprio_bssplit", &[], "priorities of requests are not modelled"),
    no_effect("fixedbufs", &[], "pinning pages takes no time here"),
    no_effect("nonvectored", &[], "both forms of a request cost the same"),
    no_effect("force_async", &[], "workers of io_uring take no time here"),
    no_effect("registerfiles", &[], "looking files up takes no time here"),
    no_effect("sqthread_poll", &[], "the thread that polls has no processor of its own here"),
    no_effect("sqthread_poll_cpu", &[], "the thread that polls has no processor of its own here"),
    no_effect("hipri", &[], "completions are not polled"),
    no_effect("hipri_percentage", &[], "completions are not polled"),
    no_effect("userspace_reap", &[], "taking completions takes no time here"),
    refused("nowait", &["0"], "requests that fail with EAGAIN are not modelled"),
    done("uncached", &[], "RWF_DONTCACHE", |job, value| {
        job.uncached = value.number()? != 0;
        Ok(())
    }),
    no_effect("thp", &[], "huge pages of mappings are not modelled"),
    no_effect("cpuload", &["cpuchunks", "cpumode", "exit_on_io_done"], OTHER),
    no_effect(
        "hostname",
        &["port", "protocol", "nodelay", "listen", "pingpong", "interface", "ttl", "window_size", "mss"],
        OTHER,
    ),
    no_effect("bindname", &["verb", "serverip", "direct_write_to_pmem", "busy_wait_polling"], OTHER),
    no_effect(
        "namenode",
        &["hdfsdirectory", "chunk_size", "single_instance", "single-instance", "hdfs_use_direct"],
        OTHER,
    ),
    no_effect(
        "clustername",
        &[
            "rbdname",
            "clientname",
            "conf",
            "busy_poll",
            "touch_objects",
            "pool",
            "cont",
            "chunk_size_dfs",
            "object_class",
            "svcl",
        ],
        OTHER,
    ),
    no_effect(
        "http_host",
        &[
            "https",
            "http_mode",
            "http_user",
            "http_pass",
            "http_s3_region",
            "http_s3_key",
            "http_s3_keyid",
            "http_s3_sse_customer_key",
            "http_s3_sse_customer_algorithm",
            "http_s3_storage_class",
            "http_swift_auth_token",
            "http_verbose",
        ],
        OTHER,
    ),
    no_effect("volume", &["brick", "uri", "nfs_url", "skip_bad", "stat_type", "donorname", "inplace"], OTHER),
    no_effect("gpu_dev_ids", &["gpu_dev_id", "cuda_io"], OTHER),
    no_effect("program", &["arguments", "grace_time", "std_redirect"], OTHER),
    no_effect(
        "xnvme_async",
        &["xnvme_sync", "xnvme_admin", "xnvme_dev_nsid", "xnvme_iovec", "cmd_type"],
        OTHER,
    ),
    no_effect("readfua", &["writefua", "sg_write_mode", "stream_id"], OTHER),
];

pub(super) const DEPTH: &[Known] = &[
    done(
        "iodepth",
        &[],
        "requests overlap as Linux lets them: with libaio if `direct=1`, with io_uring but for buffered writes to one file, with posixaio between files",
        |job, value| {
            job.depth = value.number_in(1, 1_000_000)? as u32;
            Ok(())
        },
    ),
    no_effect("iodepth_batch", &["iodepth_batch_submit"], "each request is submitted by itself"),
    done(
        "iodepth_batch_complete_min",
        &["iodepth_batch_complete"],
        "only whether it equals `iodepth`: then all requests end before the next begin",
        |job, value| {
            job.complete_min = value.small()?;
            Ok(())
        },
    ),
    no_effect("iodepth_batch_complete_max", &[], "completions are taken as they come"),
    done(
        "iodepth_low",
        &[],
        "only whether it is below `iodepth`: then all requests end before the next begin",
        |job, value| {
            job.depth_low = value.small()?;
            Ok(())
        },
    ),
    no_effect("serialize_overlap", &[], "requests that overlap go as they come"),
    no_effect("io_submit_mode", &[], "submitting takes no thread of its own here"),
];

pub(super) const RATE: &[Known] = &[
    done("thinktime", &[], "", |job, value| {
        job.think.time = value.time(1)?;
        Ok(())
    }),
    done("thinktime_spin", &[], "", |job, value| {
        job.think.spin = value.time(1)?;
        Ok(())
    }),
    done("thinktime_blocks", &[], "", |job, value| {
        job.think.blocks = Some(value.number_in(1, i32::MAX as u64)? as u32);
        Ok(())
    }),
    no_effect("thinktime_blocks_type", &[], "requests count when they are issued"),
    done("thinktime_iotime", &[], "", |job, value| {
        job.think.every = value.time(1_000_000)?;
        Ok(())
    }),
    done("rate", &[], "", |job, value| value.each(&mut job.rate, |value| value.number())),
    no_effect("rate_min", &["ratemin"], "no job ends because it is too slow"),
    done("rate_iops", &[], "", |job, value| {
        value.each(&mut job.rate_iops, |value| value.number_in(0, i32::MAX as u64))
    }),
    no_effect("rate_iops_min", &[], "no job ends because it is too slow"),
    done("rate_process", &[], "", |job, value| {
        job.is_poisson = value.word(&[("linear", false), ("poisson", true)])?.0;
        Ok(())
    }),
    done("rate_ignore_thinktime", &[], "", |job, value| {
        job.rate_ignores_think = value.truth()?;
        Ok(())
    }),
    no_effect("rate_cycle", &["ratecycle"], "of rate_min"),
    done("latency_target", &[], "the report counts the search, too", |job, value| {
        job.target.latency = value.time(1)?;
        Ok(())
    }),
    done("latency_window", &[], "needed by latency_target", |job, value| {
        job.target.window = value.time(1)?;
        Ok(())
    }),
    done("latency_percentile", &[], "", |job, value| {
        let percentile = value.float()?;
        if !(percentile > 0.0 && percentile <= 100.0) {
            return Err(Wrong::new("is not above 0 and at most 100", "take for example 99.9"));
        }
        job.target.percentile = percentile;
        Ok(())
    }),
    done("latency_run", &[], "", |job, value| {
        job.target.keeps_on = value.truth()?;
        Ok(())
    }),
    done("max_latency", &[], "ends the job, as the error does in fio", |job, value| {
        value.each(&mut job.most_latency, |value| value.time(1))
    }),
    no_effect("write_iolog", &[], "nothing is written"),
    refused("read_iolog", &[], "give the log itself to `pagecast simulate`"),
    no_effect("read_iolog_chunked", &[], "of read_iolog"),
    no_effect("merge_blktrace_file", &["merge_blktrace_scalars", "merge_blktrace_iters"], "of read_iolog"),
    no_effect(
        "replay_no_stall",
        &["replay_time_scale", "replay_redirect", "replay_align", "replay_scale", "replay_skip"],
        "of read_iolog",
    ),
];
