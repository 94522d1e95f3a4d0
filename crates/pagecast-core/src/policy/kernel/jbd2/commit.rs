//! Commits a transaction, as the thread of the journal does.
//!
//! Source: `fs/jbd2/commit.c: jbd2_journal_commit_transaction`, `fs/jbd2/journal.c: kjournald2`, Linux 6.16; `fs/xfs/xfs_log_cil.c` for a log
//! that is one write.
//!
//! 1. New data of files that have got blocks is written, in ordered mode without delayed allocation.
//! 2. Descriptor blocks, metadata and journaled data are one write to the log. Where that is on a disk of its own (`j_dev`), the disk of the files
//!    (`j_fs_dev`) is flushed meanwhile, if the transaction needs it.
//! 3. The commit block is another one, behind a flush of the disk's cache (REQ_PREFLUSH), and durable itself (REQ_FUA).
//!
//! Each waits for the one before it, and for what is in the queue of the disk. The next commit begins when this one has ended. Without
//! [`Requests`](crate::policy::kernel::ext4::rules::Requests) a commit passes the queue and takes a time.

use crate::policy::kernel::ext4::rules::JournalRules;
use crate::policy::kernel::fs_writeback::flusher::Until;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::settle::settle;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::{Kind, Next, Phase};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{DeviceId, Event, FileView, OperationId};
use crate::units::{Bytes, Nanos};

/// Blocks of metadata are counted up to here: journaled data passes as quickly as it is copied.
const MOST_BLOCKS: u64 = 64;

/// Begins the commits that are asked for, or due by their age. Returns the tasks of the journals, and the writers that wait no more.
pub fn begin_commits(cx: &mut Context<'_>) -> Vec<OperationId> {
    let mut ready = Vec::new();
    for at in 0..cx.ext4.journals.len() {
        let Some(file) = cx.ext4.journals[at].as_ref().and_then(|journal| journal.due(cx.now)) else {
            continue;
        };
        // Bytes that writers have moved belong to this transaction.
        settle(cx);
        let device = DeviceId(at as u32);
        let kind = Kind::Commit { device, phase: Phase::Prepare };
        let number = cx.tasks.new_number();
        cx.tasks.insert(number, Task::new(kind, Some(file), (0, Bytes::ZERO, Bytes::ZERO), cx.now));
        ready.push(number);
        let journal = cx.ext4.journals[at].as_mut().expect("it is due");
        ready.extend(journal.begin(cx.now));
        for writer in cx.tasks.writers().filter(|writer| writer.file().device == device) {
            journal.goes_on(cx.now, writer.file(), writer.position, writer.run == Run::New);
        }
    }
    ready
}

/// Steps the commit of a journal.
pub fn step_commit(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Commit { device, phase } = task.kind else { unreachable!("only a journal commits") };
    let file = *task.file();
    let rules = cx.ext4.journal(device).expect("what commits is a journal").rules;
    match phase {
        Phase::Prepare => {
            let blocks = bytes_of_log(cx, device) / PAGE;
            let time = rules.commit + Nanos(rules.commit_block.0.saturating_mul(blocks.min(MOST_BLOCKS)));
            let time = if rules.requests.is_some() { time } else { Nanos::ZERO };
            let work = cx.ext4.cpus.run_behind(cx.now, time);
            enter(cx, operation, Phase::Computes { work });
            Next::Step
        }
        Phase::Computes { work } => match cx.ext4.cpus.done(cx.now, work) {
            Some(until) => wait_until(cx, operation, until),
            None => {
                enter(cx, operation, Phase::Data);
                Next::Step
            }
        },
        Phase::Data => {
            let files = if writes_data_first(&rules) { write_data(cx, operation, device) } else { 0 };
            enter(cx, operation, Phase::Written { files });
            if files > 0 { Next::Wait } else { Next::Step }
        }
        Phase::Written { .. } => {
            let next = if writes_log(&rules) { Phase::Log } else { flush_data(cx, device) };
            enter(cx, operation, next);
            Next::Step
        }
        Phase::Log => {
            let next = flush_data(cx, device);
            enter(cx, operation, next);
            let bytes = if rules.requests.is_some() { bytes_of_log(cx, device) } else { 0 };
            send(cx, operation, &file, bytes)
        }
        Phase::DataFlush { until } => {
            enter(cx, operation, Phase::Flush);
            wait_until(cx, operation, until.max(cx.now))
        }
        Phase::Flush => {
            enter(cx, operation, Phase::Record);
            match rules.requests {
                None => compute(cx, operation, rules.commit),
                Some(_) => {
                    let flush = cx.ext4.begin_flush_of_log(cx.block, cx.now, device);
                    wait_until(cx, operation, cx.now + flush)
                }
            }
        }
        Phase::Record => {
            enter(cx, operation, Phase::End);
            match rules.requests {
                None => Next::Step,
                Some(requests) => {
                    let bytes = if requests.is_one_write { bytes_of_log(cx, device) } else { PAGE };
                    if cx.ext4.flush_of_log(device) > Nanos::ZERO {
                        send_behind_flush(cx, operation, &file, bytes)
                    } else {
                        send(cx, operation, &file, bytes)
                    }
                }
            }
        }
        Phase::End => Next::Done,
    }
}

/// Begins a flush of the disk of the files, if the log is on another one and its transaction needs that. Returns the phase that waits for it.
fn flush_data(cx: &mut Context<'_>, device: DeviceId) -> Phase {
    let flushes = cx.ext4.journal(device).is_some_and(|journal| journal.flushes_data());
    let flush = if flushes { cx.ext4.begin_flush(cx.block, cx.now, device) } else { Nanos::ZERO };
    Phase::DataFlush { until: cx.now + flush }
}

fn writes_data_first(rules: &JournalRules) -> bool {
    rules.requests.is_some_and(|requests| requests.writes_data_first())
}

/// True if what changed is written before the block that makes it valid. A commit without requests passes the queue here.
fn writes_log(rules: &JournalRules) -> bool {
    rules.requests.is_none_or(|requests| !requests.is_one_write)
}

/// The bytes of a commit before its commit block.
fn bytes_of_log(cx: &mut Context<'_>, device: DeviceId) -> u64 {
    let committing = cx.ext4.journal(device).and_then(|journal| journal.committing.as_ref());
    committing.map_or(0, |committing| committing.transaction.logged()) * PAGE
}

/// Ends a commit. Returns the operations that waited for it. Those that wait for a later one are woken in vain (`wake_up(&journal->
/// j_wait_done_commit)`).
pub fn end_commit(cx: &mut Context<'_>, device: DeviceId) -> Vec<OperationId> {
    let journal = cx.ext4.journals[device.0 as usize].as_mut().expect("what commits is a journal");
    let has_requests = journal.rules.requests.is_some();
    let (since, blocks, ready) = journal.end();
    let (in_vain, wakeup) = (journal.waiting(), journal.rules.wakeup);
    if has_requests {
        let event = Event {
            name: "journal_commit",
            device: Some(device),
            bytes: Bytes(blocks * PAGE),
            ..Event::default()
        };
        cx.out.tell_all(Event { time: Some(since), ..event });
        (0..in_vain).for_each(|_| {
            let _ = cx.ext4.cpus.run(cx.now, wakeup);
        });
    }
    ready
}

fn enter(cx: &mut Context<'_>, operation: OperationId, phase: Phase) {
    let task = cx.tasks.get_mut(operation).expect("it is there");
    let Kind::Commit { device, .. } = task.kind else { unreachable!("only a journal commits") };
    task.kind = Kind::Commit { device, phase };
    task.busy_until = None;
}

/// Lets a task use a processor for a time.
fn compute(cx: &mut Context<'_>, operation: OperationId, time: Nanos) -> Next {
    let until = cx.ext4.cpus.run(cx.now, time);
    wait_until(cx, operation, until)
}

fn wait_until(cx: &mut Context<'_>, operation: OperationId, until: Nanos) -> Next {
    if until == cx.now {
        return Next::Step;
    }
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.busy_until = Some(until);
    cx.tasks.has_busy = true;
    Next::Wait
}

/// Writes the dirty pages of the files that have got blocks. Returns how many of them are waited for.
fn write_data(cx: &mut Context<'_>, operation: OperationId, device: DeviceId) -> u32 {
    let journal = cx.ext4.journal(device).expect("what commits is a journal");
    let committing = journal.committing.as_ref().expect("it is under way");
    let mut files: Vec<(FileView, u64)> = committing.transaction.ordered.values().copied().collect();
    files.sort_unstable_by_key(|(file, _)| file.id);
    files.into_iter().map(|(file, from)| u32::from(write_file(cx, operation, &file, from))).sum()
}

/// Writes the dirty pages of a file from a byte on (`ext4_journal_submit_inode_data_buffers`, `jbd2_journal_inode_ranged_write`); true if
/// the commit has to wait for them.
fn write_file(cx: &mut Context<'_>, operation: OperationId, file: &FileView, from: u64) -> bool {
    let from = from / PAGE * PAGE;
    cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, file.device, cx.out);
    let dirty = cx.pages.dirty().ranges_within(file.id, from, u64::MAX);
    if dirty.total() == 0 {
        return cx.block.queue(file.device).wait_within(file.id, (from, u64::MAX), operation);
    }
    cx.flushers.flusher_of(cx.write_back, file).write_range(
        file.id,
        (from, u64::MAX),
        dirty,
        Until::Written(operation),
    );
    cx.ext4.has_sent.push(file.device);
    true
}

/// Sends bytes of the log to its disk, behind what is in the queue there.
fn send(cx: &mut Context<'_>, operation: OperationId, file: &FileView, bytes: u64) -> Next {
    let file = &cx.config.log_of(file);
    if bytes == 0 && cx.block.queue(file.device).is_empty() {
        return Next::Step;
    }
    cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, file.device, cx.out);
    cx.flushers.flusher_of(cx.write_back, file).send_log(file.id, bytes, operation);
    cx.ext4.has_sent.push(file.device);
    Next::Wait
}

/// Sends the last bytes of a commit to the disk of the log behind a flush, past what waits before it.
fn send_behind_flush(cx: &mut Context<'_>, operation: OperationId, file: &FileView, bytes: u64) -> Next {
    let file = &cx.config.log_of(file);
    cx.flushers.make_way(cx.pages, cx.write_back, cx.block, cx.now, file.device, cx.out);
    cx.write_back.wb(file);
    let wb = cx.write_back.wb_of(file);
    cx.block.queue(file.device).push_behind_flush(wb, bytes, operation);
    cx.ext4.has_sent.push(file.device);
    Next::Wait
}
