//! Puts a system call on bytes of a file down as a task.
//!
//! Ours: the kernel's call keeps its state on its stack. Calls without bytes of a file (`sync`, allocations) begin in the driver.

use crate::policy::kernel::discretisation::PAUSES_ONE_BY_ONE;
use crate::policy::kernel::filemap;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::page_writeback::law::FIRST_POLL;
use crate::policy::kernel::page_writeback::task_rate::folio_of;
use crate::policy::kernel::readahead::readers::Readers;
use crate::policy::kernel::tasks::checks::Checks;
use crate::policy::kernel::tasks::credit::Credit;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::shape::StreamKey;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{Call, FileView, OperationId, Request};
use crate::units::Bytes;

pub fn begin_task(
    cx: &mut Context<'_>,
    request: &Request,
    kind: Kind,
    file: Option<FileView>,
    at: (u64, Bytes, Bytes),
) {
    let task = task_of(cx, request, kind, file, at);
    cx.tasks.insert(request.operation, task);
}

/// Returns the task of a system call.
pub fn task_of(
    cx: &mut Context<'_>,
    request: &Request,
    kind: Kind,
    file: Option<FileView>,
    at: (u64, Bytes, Bytes),
) -> Task {
    cx.pages.placement.home(kind.owner(request.operation));
    let memcg = cx.pages.memcg_of(request.operation);
    if let (Kind::Write | Kind::WriteSync { .. }, Some(file)) = (kind, &file) {
        cx.write_back.inode_attach_wb(cx.pages, file, memcg);
    }
    let wb = file.as_ref().map_or_else(WbId::default, |file| cx.write_back.wb_of(file));
    let stream = stream_of(cx.readers, request, kind, file.as_ref());
    let largest = file.as_ref().map_or(cx.config.rules.largest_folio, |file| cx.config.largest_folio(file));
    let folio = folio_of(at.2, largest);
    let takes_pauses = takes_pauses(cx, kind, file.as_ref(), at.1);
    let credit = credit_of(cx, request.operation, takes_pauses);
    let drops_behind = matches!(
        request.call,
        Call::Read { dontcache: true, .. } | Call::Write { through: false, dontcache: true, .. }
    );
    let task = Task { credit, stream, memcg, wb, folio, ..Task::new(kind, file, at, cx.now) };
    let mut task = Task { drops_behind, ..task };
    if let Call::Mapped { advice, mapping, .. } = request.call {
        cx.readers.map(&mut task, advice, mapping);
    } else if matches!(kind, Kind::Write | Kind::WriteSync { .. }) {
        // A client of NFS sends the bytes of a page that it has (`fs/nfs/file.c: nfs_want_read_modify_write`, O_WRONLY).
        let knows_bytes = file.is_some_and(|file| cx.config.nfs_options_of(&file).is_some());
        task.read_until = filemap::partial_blocks::read_until(&task).filter(|_| !knows_bytes);
    }
    task
}

/// True if a call of so many bytes takes its pauses one by one: a short one, and one to NFS, where the end of a pause counts. A COMMIT takes all
/// unstable pages away at once, and nothing more is sent until the writer wakes that sleeps at the limit.
fn takes_pauses(cx: &Context<'_>, kind: Kind, file: Option<&FileView>, bytes: Bytes) -> bool {
    let is_over_nfs = || file.is_some_and(|file| cx.config.nfs_options_of(file).is_some());
    kind == Kind::Write
        && cx.write_back.pauses_one_by_one()
        && (bytes.0 <= PAUSES_ONE_BY_ONE || is_over_nfs())
}

/// Returns the credit of a process that begins a call.
fn credit_of(cx: &mut Context<'_>, operation: OperationId, takes_pauses: bool) -> Option<Credit> {
    let credit = cx.tasks.credits.get(&operation).copied();
    if !takes_pauses {
        return credit.map(|credit| Credit { checks: None, ..credit });
    }
    cx.tasks.has_checks = true;
    let credit = credit.unwrap_or_else(|| Credit::new(cx.now));
    Some(Credit { checks: credit.checks.or(Some(Checks::new(FIRST_POLL))), ..credit })
}

/// Returns the open file that an operation reads. A server reads a file for all its clients through one, in chunks that do their own
/// read-ahead.
fn stream_of(readers: &Readers, request: &Request, kind: Kind, file: Option<&FileView>) -> Option<StreamKey> {
    let reader = match request.call {
        Call::Serve { .. } => OperationId::NOBODY,
        _ => readers.process(request.operation),
    };
    let reads = matches!(kind, Kind::Read { .. }) || matches!(request.call, Call::Mapped { .. });
    file.filter(|_| reads).map(|file| (reader, file.id))
}
