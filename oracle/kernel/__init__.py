"""Linux's page cache, unit by unit and pause by pause.

What it models: per host two LRU lists, dirty limits, reclaim; per disk a flusher and the throttling of its
writers; per process its reads, with read-ahead, and its writes. Nothing is a rate that was worked out: a task
copies a unit (1 MiB, or less), is checked, sleeps its jiffies, goes on; a flusher takes inodes and chunks; a
disk serves one unit after the other.
Source: Linux 6.x: mm/page-writeback.c, fs/fs-writeback.c, lib/flex_proportions.c, mm/vmscan.c, mm/swap.c,
mm/workingset.c, mm/page_alloc.c, mm/readahead.c, mm/filemap.c, kernel/time/timer.c; each file names its own.
Leaves out: MGLRU, cgroups, NUMA, swap, mmap, O_DIRECT, journals, I/O schedulers, latency of disks,
remote files, sync(2).

    result = run(scenario, "kernel", unit_bytes=4096)
    result.policy.samples["machine"], result.policy.cached("machine", "/data/f")
"""
