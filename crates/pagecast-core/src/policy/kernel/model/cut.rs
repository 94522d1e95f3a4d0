//! Cuts a run short when pages ahead of it are cached or evicted.
//!
//! Source: `mm/filemap.c: filemap_get_pages, __filemap_get_folio`, Linux 6.16. The kernel looks each page up when a call comes to it; a run
//! is served in one way from its first byte to its last. So the run ends in front of pages that are evicted, dropped or truncated, or that
//! were missing until another task wrote them. The next step looks again.

use crate::policy::FileId;
use crate::policy::kernel::discretisation::LEAST_RUN;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::vmscan::lists::Lists;

/// Ends runs in front of pages that have come or left since they were looked at.
pub fn cut_runs(cx: &mut Context<'_>) {
    let lists = cx.pages.lists();
    let turnover = lists.turnover_of_all();
    if std::mem::replace(&mut cx.clock.turnover, turnover) == turnover {
        return;
    }
    let mut has_cut = false;
    for task in cx.tasks.moving().filter(|task| task.goes_by_pages()) {
        let file = task.file().id;
        let turnover = lists.turnover(file);
        if std::mem::replace(&mut task.turnover, turnover) == turnover {
            continue;
        }
        let Some(transfer) = task.transfer.as_mut() else { continue };
        let (next, end) = (task.position + task.pending, task.position + task.pending + transfer.left());
        let until = match task.run {
            Run::New => first_cached(lists, file, next, end),
            Run::Hit => cached_until(lists, file, next, end),
            _ => {
                let least = next.saturating_add(LEAST_RUN);
                let until = cached_until(lists, file, next, end);
                if cx.pages.is_memcg_exhausted(task.memcg) { until } else { until.max(least) }
            }
        };
        if until < end {
            transfer.bytes -= end - until;
            cx.out.shorten(transfer.flow, transfer.bytes);
            task.count_served((until, end), |served, bytes| *served -= bytes);
            has_cut = true;
        }
    }
    if has_cut {
        cx.tasks.note_change();
    }
}

/// Returns the end of the cached bytes that begin at `start`, `end` at most.
fn cached_until(lists: &Lists, file: FileId, start: u64, end: u64) -> u64 {
    let (is_cached, until) = lists.run(file, start, end);
    if is_cached { until } else { start }
}

/// Returns the start of the first cached bytes in `start..end` that are long enough for a run.
fn first_cached(lists: &Lists, file: FileId, start: u64, end: u64) -> u64 {
    let first = match lists.run(file, start, end) {
        (true, _) => start,
        (false, until) if until == end => return end,
        (false, until) => until,
    };
    let least = end.min(first.saturating_add(LEAST_RUN));
    if cached_until(lists, file, first, end) < least { end } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tests::{MIB, kernel, nodes_of_8_gib, on, write};
    use crate::policy::{Actions, Command};
    use crate::units::Bytes;

    #[test]
    fn a_run_of_missing_pages_ends_at_cached_ones_that_are_a_run_themselves() {
        let file = FileId(0);
        let mut pages = nodes_of_8_gib(1, "");
        pages.read_in(file, LEAST_RUN, 2 * LEAST_RUN, on(0));
        pages.read_in(file, 4 * LEAST_RUN, 5 * LEAST_RUN - 1, on(0));
        let first = |start, end| first_cached(pages.lists(), file, start, end);
        assert_eq!(first(0, 9 * LEAST_RUN), LEAST_RUN);
        assert_eq!(first(LEAST_RUN, 9 * LEAST_RUN), LEAST_RUN);
        assert_eq!(first(2 * LEAST_RUN, 9 * LEAST_RUN), 9 * LEAST_RUN, "a byte less is not one");
        assert_eq!(first(2 * LEAST_RUN, 5 * LEAST_RUN - 1), 4 * LEAST_RUN, "unless nothing follows");
        assert_eq!(cached_until(pages.lists(), file, LEAST_RUN, 9 * LEAST_RUN), 2 * LEAST_RUN);
        assert_eq!(cached_until(pages.lists(), file, 0, 9 * LEAST_RUN), 0);
    }

    /// A write of a GB to new pages meets a MiB that somebody else has read in behind its first 100.
    #[test]
    fn a_run_ends_in_front_of_pages_that_have_come() {
        let mut kernel = kernel("");
        let writer = write(&mut kernel, 1, Run::New, 0.0);
        let whole = Bytes(1_000_000_000);
        kernel.tasks.get_mut(writer).expect("it is there").outcome.from_cache = whole;
        kernel.pages.read_in(FileId(1), 100 * MIB, 101 * MIB, on(0));
        let mut out = Actions::default();
        cut_runs(&mut kernel.context(kernel.clock.caught_up, &mut out));
        let task = &kernel.tasks[writer];
        let transfer = task.transfer.as_ref().expect("it goes on");
        assert_eq!((transfer.bytes, task.outcome.from_cache), (100 * MIB, Bytes(100 * MIB)));
        let shortened: Vec<Command> = out.drain().collect();
        assert_eq!(shortened, [Command::Shorten(transfer.flow, 100 * MIB)]);
    }
}
