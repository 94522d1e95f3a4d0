//! Adds up the counters of memory cgroups every two seconds, for their dirty limits.
//!
//! Source: `mm/memcontrol.c: flush_memcg_stats_dwork`; see `memcontrol::stats`.

use crate::policy::kernel::block::Block;
use crate::policy::kernel::block::queue::Queue;
use crate::policy::kernel::memcontrol::stats::{FLUSH_TIME, Stats};
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::table::Tasks;
use crate::units::Nanos;

impl WriteBack {
    /// Returns the pages of a cgroup as its dirty limits see them.
    pub fn mem_cgroup_wb_stats(&self, pages: &Pages, memcg: usize) -> Stats {
        let flushed = self.domains[memcg].as_ref().and_then(|domain| domain.flushed);
        flushed.unwrap_or_else(|| self.present_stats_of_memcg(pages, memcg))
    }

    fn present_stats_of_memcg(&self, pages: &Pages, memcg: usize) -> Stats {
        let wbs = self.config.wbs_of(memcg);
        Stats {
            dirty: pages.memcgs[memcg].dirty(),
            writeback: wbs.map(|wb| pages.dirty().of_wb(wb).writeback).sum(),
            cached: pages.cached_of_memcg(memcg),
        }
    }

    /// Adds up the counters of all cgroups if it is time.
    pub fn flush_memcg_stats(&mut self, pages: &Pages, now: Nanos) {
        let Some(mut due) = self.stats_due.filter(|&due| due <= now) else { return };
        while due <= now {
            due = self.config.timers().fires(due, FLUSH_TIME);
        }
        self.stats_due = Some(due);
        for memcg in 0..self.domains.len() {
            let stats = self.present_stats_of_memcg(pages, memcg);
            if let Some(domain) = &mut self.domains[memcg] {
                domain.flushed = Some(stats);
            }
        }
    }

    /// Returns the next time at which the counters are added up, if that may change them.
    pub fn next_stats_flush(&self, block: &Block, tasks: &Tasks) -> Option<Nanos> {
        let due = self.stats_due?;
        let moves = tasks.values().next().is_some() || block.queues.iter().any(Queue::is_writing);
        moves.then_some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tasks::ids::WbId;
    use crate::policy::kernel::tests::{MIB, in_first_memcg, kernel, write};

    const SECOND: u64 = 1_000_000_000;

    fn group(version: &str) -> Kernel {
        kernel(&format!("kernel.version = '{version}'\ncgroup.batch.memory.max = '512 MiB'"))
    }

    /// 40 MiB that are dirty and 60 that are not.
    fn fill(kernel: &mut Kernel) {
        kernel.pages.write(FileId(1), WbId(2), (0, 40 * MIB), in_first_memcg(), Nanos(0));
        kernel.pages.read_in(FileId(2), 0, 60 * MIB, in_first_memcg());
    }

    #[test]
    fn since_6_9_a_group_is_known_as_it_was_when_its_counters_were_added_up() {
        let known = |version: &str| {
            let mut kernel = group(version);
            fill(&mut kernel);
            let before = kernel.write_back.mem_cgroup_wb_stats(&kernel.pages, 0);
            kernel.write_back.flush_memcg_stats(&kernel.pages, Nanos(3 * SECOND));
            (before, kernel.write_back.mem_cgroup_wb_stats(&kernel.pages, 0))
        };
        let all = Stats { dirty: 40 * MIB, writeback: 0, cached: 100 * MIB };
        assert_eq!(known("6.8"), (all, all));
        assert_eq!(known("6.9"), (Stats::default(), all));
    }

    /// With 250 ticks per second 2 s are 500, in the level of the timer wheel with steps of 8: 504 from time 0, 1008 from there.
    #[test]
    fn counters_are_added_up_every_two_seconds_and_a_step_of_the_wheel() {
        let mut kernel = group("6.12");
        assert_eq!(kernel.write_back.stats_due, Some(Nanos(2_016_000_000)));
        fill(&mut kernel);
        kernel.write_back.flush_memcg_stats(&kernel.pages, Nanos(2_015_999_999));
        assert_eq!(kernel.write_back.mem_cgroup_wb_stats(&kernel.pages, 0), Stats::default());
        kernel.write_back.flush_memcg_stats(&kernel.pages, Nanos(2_016_000_000));
        assert_eq!(
            (kernel.write_back.mem_cgroup_wb_stats(&kernel.pages, 0).dirty, kernel.write_back.stats_due),
            (40 * MIB, Some(Nanos(4_032_000_000)))
        );
        kernel.write_back.flush_memcg_stats(&kernel.pages, Nanos(9 * SECOND));
        assert_eq!(kernel.write_back.stats_due, Some(Nanos(10_080_000_000)), "whoever slept meanwhile");
    }

    #[test]
    fn nobody_wakes_up_for_counters_that_do_not_change() {
        let mut kernel = group("6.12");
        assert_eq!(kernel.write_back.next_stats_flush(&kernel.block, &kernel.tasks), None);
        write(&mut kernel, 1, Run::New, 0.0);
        assert_eq!(
            kernel.write_back.next_stats_flush(&kernel.block, &kernel.tasks),
            Some(Nanos(2_016_000_000))
        );
        assert_eq!(
            [
                group("6.8").write_back.stats_due,
                crate::policy::kernel::tests::kernel("").write_back.stats_due
            ],
            [None; 2]
        );
    }
}
