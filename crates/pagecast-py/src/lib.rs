//! Defines the Python border of pagecast: module `pagecast._core`.
//!
//! Types in, types out, errors mapped, interpreter lock released. Anything longer than a few lines belongs below (in `pagecast-core` and
//! `pagecast-probe`) or above (in `python/pagecast`).

mod backed;
mod bench;
mod cache;
mod calibrate;
mod cawl;
mod columns;
mod embed;
mod errors;
mod interrupt;
mod law;
mod mapped;
mod nesting;
mod operation;
mod pattern;
mod petri;
mod program;
mod quantity;
mod recording;
mod run;
mod scenario;
mod simulate;
mod stdio;

use pyo3::prelude::*;

/// The C library's allocator leaves holes: what a host's simulation had needed at its height stayed allocated for each of
/// thousands of hosts.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiled part of pagecast; use the names that the package `pagecast` gives.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::backed::Backed;
    #[pymodule_export]
    use super::bench::{
        Bench, ChangedSettings, bench_check, bench_check_device, bench_copy, dirty_settings,
        put_back_dirty_settings,
    };
    #[pymodule_export]
    use super::cache::{
        CacheFiles, CacheLock, MemoryGroup, cache_available, cache_drop, cache_drop_check, cache_evict,
        cache_find, cache_lock, cache_lock_need, cache_status, cache_warm, find_command, memory_counters,
        run_command,
    };
    #[pymodule_export]
    use super::calibrate::Calibration;
    #[pymodule_export]
    use super::cawl::{DirectCost, LibraryCost, SyncCost, SyscallCost};
    #[pymodule_export]
    use super::columns::Result;
    #[pymodule_export]
    use super::embed::{Disks, Order, PageCache};
    #[pymodule_export]
    use super::law::{device_limit, dirty_thresholds, position_ratio, task_ratelimit, writer_pause};
    #[pymodule_export]
    use super::mapped::{mmap, mmap_read, mmap_write, msync, munmap};
    #[pymodule_export]
    use super::operation::{
        Operation, alloc, close, compute, copy, drain, drop_caches, exit, fadvise, fdatasync, free, fsync,
        mkdir, open, read, readahead, rename, signal, sleep, sync, sync_file_range, syncfs, truncate, unlink,
        wait, write,
    };
    #[pymodule_export]
    use super::pattern::Pattern;
    #[pymodule_export]
    use super::petri::{PetriNet, PetriSimulator, PetriSpace};
    #[pymodule_export]
    use super::program::now;
    #[pymodule_export]
    use super::quantity::{format_bytes, format_rate, parse_bytes, parse_percent};
    #[pymodule_export]
    use super::recording::{Batches, Recording, RecordingWriter, generate_recording, read_recording};
    #[pymodule_export]
    use super::run::{Measured, RunPlan, check_tracing};
    #[pymodule_export]
    use super::scenario::{
        Machine, Scenario, describe_fio, journal_blocks, json_schema, workload_format, workload_formats,
    };
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::stdio::{fclose, fflush, fopen, fread, fseek, fwrite, setvbuf};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add(
            "DIRTY_SETTINGS",
            pagecast_probe::bench::settings::NAMES.map(|name| format!("vm.{name}")).to_vec(),
        )?;
        module.add("FILE_SYSTEMS", pagecast_core::machine::FileSystem::NAMES.to_vec())?;
        module.add("MODELS", pagecast_core::ALL_MODELS.to_vec())
    }
}
