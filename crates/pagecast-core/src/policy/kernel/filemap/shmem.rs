//! Steps system calls on files of a tmpfs: copies, and nothing else.
//!
//! Source: `mm/shmem.c: shmem_file_read_iter, shmem_write_begin, noop_fsync`, Linux 6.12. There is no device: nothing is dirty, written back
//! or flushed. Left out: faults of mappings, which are copies here; reading a hole, which costs what a page does; huge pages.

use crate::policy::kernel::filemap::begin::begin_task;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::ids::MemcgId;
use crate::policy::kernel::tasks::kind::{Kind, Next};
use crate::policy::kernel::tasks::shape::RunShape;
use crate::policy::{Call, FileView, OperationId, Outcome, Request};
use crate::units::Bytes;

/// The file of a call.
fn file_of(call: &Call) -> Option<FileView> {
    match *call {
        Call::Read { file, .. }
        | Call::Serve { file, .. }
        | Call::ReadDirect { file, .. }
        | Call::WriteDirect { file, .. }
        | Call::WriteSync { file, .. }
        | Call::Write { file, .. }
        | Call::Preload { file, .. }
        | Call::Insert { file, .. }
        | Call::Fsync { file, .. }
        | Call::FsyncRange { file, .. }
        | Call::Mapped { file, .. }
        | Call::SyncRange { file, .. }
        | Call::Truncate { file, .. }
        | Call::Unlink { file }
        | Call::Name { file, .. }
        | Call::Open { file, .. }
        | Call::Close { file }
        | Call::Advise { file, .. } => Some(file),
        Call::Sync | Call::SyncFs { .. } | Call::DropCaches | Call::Allocate { .. } | Call::Free { .. } => {
            None
        }
    }
}

/// True if a call is about a file of a tmpfs.
pub fn is_of_tmpfs(cx: &Context<'_>, call: &Call) -> bool {
    cx.config.has_tmpfs && file_of(call).is_some_and(|file| cx.config.is_tmpfs(&file))
}

/// Begins a call on a file of a tmpfs.
pub fn begin_shmem(cx: &mut Context<'_>, request: &Request) {
    let file = file_of(&request.call).expect("the call is about a file");
    let (writes, fresh, offset, bytes, piece) = match request.call {
        Call::Read { offset, bytes, piece, fresh, .. } => (false, fresh, offset, bytes, piece),
        Call::Write { offset, bytes, piece, .. } => (true, false, offset, bytes, piece),
        Call::Mapped { offset, bytes, writes, .. } => (writes, false, offset, bytes, bytes),
        Call::Truncate { size, .. } => return cut(cx, request, &file, size),
        Call::Unlink { .. } => return cut(cx, request, &file, Bytes::ZERO),
        Call::Preload { bytes, .. } => {
            let home = cx.pages.placement.node(request.operation);
            cx.pages.fill_shmem(file.id, (0, bytes.0), home);
            return cx.out.done(request.operation, Outcome::default());
        }
        _ => return cx.out.done(request.operation, Outcome::default()),
    };
    begin_task(cx, request, Kind::Shmem { writes, fresh }, Some(file), (offset, bytes, piece));
    cx.tasks.get_mut(request.operation).expect("it has begun").memcg = MemcgId::ROOT;
}

/// Frees the pages of a file from a byte on, each at its price.
fn cut(cx: &mut Context<'_>, request: &Request, file: &FileView, size: Bytes) {
    let removed = Bytes(cx.pages.cut_shmem(file.id, size.0));
    if !cx.config.is_paid_for(request.operation, removed) {
        return cx.out.done(request.operation, Outcome::default());
    }
    begin_task(cx, request, Kind::Remove { cut: None }, None, (0, removed, removed));
}

/// Steps a read or a write: each run is of bytes that are there, or of bytes that are not.
pub fn step_shmem(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    let Kind::Shmem { writes, .. } = task.kind else { unreachable!("only these are of tmpfs") };
    let (at, end) = (task.position, task.end);
    if at >= end {
        return Next::Done;
    }
    let (run, end) = match (writes, cx.pages.shmem().run(task.file().id, at, end)) {
        (false, _) => (Run::Hit, end),
        (true, (true, until)) => (Run::Over, until),
        (true, (false, until)) => (Run::Fill, cx.pages.end_of_spare(at, until)),
    };
    let task = cx.tasks.get_mut(operation).expect("it is there");
    (task.run, task.since, task.shape) = (run, cx.now, RunShape::plain(end - at));
    Next::Run(end)
}
