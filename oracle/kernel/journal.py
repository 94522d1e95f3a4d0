"""The journal of a disk's file system: who makes a file durable commits the transaction in which it changed.

Source: fs/ext4/fsync.c (ext4_fsync_journal), fs/ext4/inode.c (ext4_mark_inode_dirty: i_sync_tid,
i_datasync_tid), fs/inode.c (inode_needs_update_time), fs/jbd2/commit.c.
One transaction is committed at a time; who needs it, or the next one, waits for it.
Leaves out: commits by the timer.
"""

from ..engine import Sleep, Steps, to_ns
from .clock import Clock
from .files import File


class Journal:
    def __init__(self, clock: Clock):
        self.clock = clock
        self.running = 1  # the number of the running transaction
        self.until_ns = 0  # the end of the last commit

    def write(self, file: File, is_longer: bool) -> None:
        """A file has been written to: it is longer, or has new times if the clock has moved on."""
        now = self.clock.now()
        if is_longer or file.stamp != now:
            file.stamp, file.transaction = now, self.running

    def commit(self, file: File, seconds: float) -> Steps:
        """Wait until a file is committed as it is now; commit the running transaction if nobody does."""
        transaction = file.transaction
        while self.is_committing() or transaction == self.running:
            if not self.is_committing():
                self.running += 1
                self.until_ns = self.clock.engine.now_ns + to_ns(seconds)
            elif transaction < self.running - 1:
                return
            yield Sleep(self.until_ns)

    def is_committing(self) -> bool:
        return self.clock.engine.now_ns < self.until_ns
