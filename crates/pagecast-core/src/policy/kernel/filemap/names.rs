//! Steps calls that change names: they compute, change the journal, and may begin to write a file.
//!
//! Source: `fs/ext4/namei.c: ext4_create, ext4_rename, ext4_unlink`, `fs/ext4/inode.c: ext4_alloc_da_blocks` (`auto_da_alloc`), Linux 6.16.
//! Left out: directories that are read from the disk.

use crate::machine::MountSource;
use crate::policy::kernel::fs_writeback::flusher::{Until, WHOLE};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::spend;
use crate::policy::kernel::tasks::kind::{Kind, Next, Stage, Waits};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, NameChange, OperationId};
use crate::units::Bytes;

/// Begins a change of a name.
pub fn change_name(cx: &mut Context<'_>, operation: OperationId, file: FileView, change: NameChange) {
    cx.ext4.note_name(cx.now, &file);
    if change == (NameChange::Rename { replaces: true }) && allocates_late(cx, &file) {
        // Whoever replaces a file by a new one wants either of them after a crash.
        let dirty = cx.pages.dirty().ranges_within(file.id, 0, u64::MAX);
        cx.flushers.flusher_of(cx.write_back, &file).write_range(file.id, WHOLE, dirty, Until::Never);
    }
    let task = Task::new(Kind::Name { change }, Some(file), (0, Bytes::ZERO, Bytes::ZERO), cx.now);
    cx.tasks.insert(operation, task);
}

/// True if a file gets its blocks when it is written back.
fn allocates_late(cx: &Context<'_>, file: &FileView) -> bool {
    if let Some(requests) = cx.ext4.requests(file.device) {
        return requests.allocates_late;
    }
    let source = MountSource::Disk(file.device.0 as usize);
    cx.config.host.mounts.iter().any(|mount| mount.source == source && mount.delalloc)
}

/// Spends the time of a change of a name.
pub fn step_name(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    let Kind::Name { change } = task.kind else { unreachable!("only these change names") };
    if task.stage == Stage::Durable {
        return Next::Done;
    }
    let cost = &task.file().cost;
    let time = match change {
        NameChange::Create => cost.create,
        NameChange::Rename { .. } => cost.rename,
        NameChange::Unlink => cost.unlink,
    };
    let computes = cx.ext4.cpus.run(cx.now, time) - cx.now;
    spend(cx, operation, Waits { computes, ..Waits::default() })
}
