//! Steps what a journal does by itself: commits, and checkpoints that make room in the log.
//!
//! Source: `fs/jbd2/commit.c`, `fs/jbd2/checkpoint.c`, Linux 6.16. What has changed, and who waits, is in `ext4`. Left out: fast commits,
//! which are off by default, and the handles that a commit waits for.

pub mod checkpoint;
pub mod commit;
