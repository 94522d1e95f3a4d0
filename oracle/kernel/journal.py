"""The journal of a disk's file system: who makes a file durable commits the transaction in which it changed.

Source: fs/ext4/fsync.c (ext4_fsync_journal), fs/ext4/inode.c (ext4_mark_inode_dirty: i_sync_tid,
i_datasync_tid), fs/inode.c (inode_needs_update_time), fs/jbd2/commit.c.
Leaves out: commits by the timer; waiting for a commit that somebody else has begun.
"""

from .clock import Clock
from .files import File


class Journal:
    def __init__(self, clock: Clock):
        self.clock = clock
        self.running = 1  # the number of the running transaction

    def write(self, file: File, is_longer: bool) -> None:
        """A file has been written to: it is longer, or has new times if the clock has moved on."""
        now = self.clock.now()
        if is_longer or file.stamp != now:
            file.stamp, file.transaction = now, self.running

    def commit(self, file: File) -> bool:
        """Whether there is something to commit of a file; then it is committed, with all the rest."""
        if file.transaction != self.running:
            return False
        self.running += 1
        return True
