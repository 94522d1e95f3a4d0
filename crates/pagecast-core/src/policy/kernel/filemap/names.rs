//! Steps calls that change names: they compute, change the journal, and may begin to write a file.
//!
//! Source: `fs/ext4/namei.c: ext4_create, ext4_rename, ext4_unlink`, `fs/ext4/inode.c: ext4_alloc_da_blocks` (`auto_da_alloc`), Linux 6.16.
//! Left out: directories that are read from the disk as names change; how long names are; that a name which is removed is passed by others,
//! too: half of them, but few where the oldest names go first.

use crate::machine::{MountCost, MountSource};
use crate::policy::kernel::fs_writeback::flusher::{Until, WHOLE};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::spend;
use crate::policy::kernel::tasks::kind::{Kind, MetadataReads, Next, Past, Stage, Waits};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, NameChange, OperationId};
use crate::units::{Bytes, Nanos};

/// Names of 5 to 8 bytes in a block of a directory (`ext4_dir_rec_len`: 16 bytes each). The tree of a larger directory has blocks that were split
/// in halves as they were full (`fs/ext4/namei.c: do_split`), so they are full to ln 2 on the average (A. C. Yao, "On random 2-3 trees", 1978).
const NAMES_PER_BLOCK: u64 = 256;
const NAMES_PER_SPLIT_BLOCK: u64 = 177;

/// Reads blocks from the disk past the page cache of files; they are in that of the disk then.
fn read_metadata(cx: &mut Context<'_>, operation: OperationId, reads: MetadataReads) -> Next {
    if reads.bytes == Bytes::ZERO {
        return Next::Done;
    }
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.kind = Kind::Direct { past: Past::Metadata, from: 0, step: reads.bytes.0 };
    (task.origin, task.position, task.end, task.piece) = (0, 0, reads.bytes.0, reads.request);
    (task.stage, task.busy_until) = (Stage::Pages, None);
    Next::Step
}

/// Begins a change of a name.
pub fn change_name(cx: &mut Context<'_>, operation: OperationId, file: FileView, change: NameChange) {
    cx.ext4.note_name(cx.now, &file, change == NameChange::Create);
    cx.ext4.note_inode(&file, names_blocks(file.names.into()));
    let cost = cx.config.cost_of(&file);
    let mut time = time_of(&cost, file.names, change);
    if change == (NameChange::Rename { replaces: true }) && allocates_late(cx, &file) {
        // Whoever replaces a file by a new one wants either of them after a crash.
        let dirty = cx.pages.dirty().ranges_within(file.id, 0, u64::MAX);
        if dirty.total() > 0 && cx.ext4.requests(file.device).is_some() {
            time += cost.extent_conversion;
        }
        cx.flushers.flusher_of(cx.write_back, &file).write_range(file.id, WHOLE, dirty, Until::Never);
    }
    begin_name(cx, operation, file, (time, MetadataReads::default()));
}

/// Opens a file that is there, or looks at it.
pub fn open_file(cx: &mut Context<'_>, operation: OperationId, file: FileView, is_stat: bool) {
    let blocks = names_blocks(file.names.into());
    let (extra, reads) = cx.ext4.iget(&file, blocks);
    let open = if is_stat { Nanos::ZERO } else { cx.config.cost_of(&file).open };
    begin_name(cx, operation, file, (open + extra, reads));
}

fn begin_name(
    cx: &mut Context<'_>,
    operation: OperationId,
    file: FileView,
    (time, reads): (Nanos, MetadataReads),
) {
    let task = Task::new(Kind::Name { time, reads }, Some(file), (0, Bytes::ZERO, Bytes::ZERO), cx.now);
    cx.tasks.insert(operation, task);
}

/// The blocks of a directory of so many names.
fn names_blocks(names: u64) -> u64 {
    if names <= NAMES_PER_BLOCK { 1 } else { names.div_ceil(NAMES_PER_SPLIT_BLOCK) }
}

/// The time of the processor for a change of a name. A new one is looked for in its block of the directory, which then gets it.
fn time_of(cost: &MountCost, names: u32, change: NameChange) -> Nanos {
    let scan = Nanos(cost.name_scan.0.saturating_mul(names_passed(names.into())));
    match change {
        NameChange::Create => cost.create + scan,
        NameChange::Rename { replaces } => {
            cost.rename + scan + if replaces { cost.unlink } else { Nanos::ZERO }
        }
        NameChange::Unlink => cost.unlink,
    }
}

/// The names in the block of a directory that has so many.
fn names_passed(names: u64) -> u64 {
    if names <= NAMES_PER_BLOCK { names } else { NAMES_PER_SPLIT_BLOCK }
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
    let Kind::Name { time, reads } = task.kind else { unreachable!("only these change names") };
    if task.stage == Stage::Durable {
        return read_metadata(cx, operation, reads);
    }
    let computes = cx.ext4.cpus.run(cx.now, time) - cx.now;
    spend(cx, operation, Waits { computes, ..Waits::default() })
}
