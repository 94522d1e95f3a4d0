//! Finds the task that reads a page which another task waits for.
//!
//! Source: `mm/filemap.c: folio_wait_locked`, `filemap_get_pages`, Linux 6.16. Pages in flight are locked, and read once.

use crate::policy::kernel::discretisation::{FOLLOW_STRIDE, LEAST_RUN};
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;

/// Returns the task that is reading the next bytes of a task from the device. A reader also follows over a cached run shorter than the
/// least.
pub fn followed_by<'a>(pages: &Pages, tasks: &'a Tasks, task: &Task) -> Option<&'a Task> {
    let (file, at) = (task.file().id, task.position);
    let is_read = matches!(task.kind, Kind::Read { .. });
    match pages.lists().run(file, at, task.end) {
        (false, _) => tasks.reader_of(file, at),
        // The pages of a request arrive together: the cached run in front of them does not grow bit by bit.
        (true, to) if is_read && to < task.end && to - at < LEAST_RUN => {
            tasks.reader_of(file, to).filter(|reader| !reader.reads_ahead())
        }
        _ => None,
    }
}

/// Returns when enough of the bytes that a follower waits for will have come.
pub fn until_followed(pages: &Pages, tasks: &Tasks, task: &Task) -> Option<f64> {
    let reader = followed_by(pages, tasks, task)?;
    if reader.reads_ahead() {
        // Its pages arrive together, and it tells when.
        return None;
    }
    let rate = reader.transfer.as_ref()?.rate;
    let wanted = task.position + FOLLOW_STRIDE.min(task.end - task.position) - reader.position;
    (rate > 0.0).then(|| wanted as f64 / rate)
}
