//! Names the interfaces of asynchronous I/O.

/// The interface by which operations are asynchronous. It decides which of them the process waits for all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AsyncBy {
    /// A thread for each operation: all of them go on by themselves.
    #[default]
    Threads,
    /// io_submit(2). Only O_DIRECT and the syncs are asynchronous: a buffered read or write has ended when its submission returns
    /// (`fs/aio.c: aio_read, aio_write`).
    Libaio,
    /// io_uring_enter(2). A buffered read of cached pages has ended when its submission returns; buffered writes to one file follow one
    /// another (`io_uring/rw.c`, `io_uring/io_uring.c: io_prep_async_work`, hashed work).
    IoUring,
    /// aio_read(3) and its kin of glibc, which has them done by threads; those on one file follow one another
    /// (`rt/aio_misc.c: __aio_enqueue_request`).
    PosixAio,
}

impl AsyncBy {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 4] = ["threads", "libaio", "io_uring", "posix_aio"];
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Threads, Self::Libaio, Self::IoUring, Self::PosixAio];

    /// True if an operation has ended when its submission returns, so that its task waits for it; `is_write` is of a read or write,
    /// `is_cached` says whether all bytes of a read are.
    #[must_use]
    pub fn ends_at_submission(
        self,
        is_write: Option<bool>,
        is_direct: bool,
        is_cached: impl FnOnce() -> bool,
    ) -> bool {
        match (self, is_write) {
            _ if is_direct => false,
            (Self::Libaio, Some(_)) => true,
            (Self::IoUring, Some(false)) => is_cached(),
            _ => false,
        }
    }

    /// True if an operation on a file waits for those before it on the same file.
    #[must_use]
    pub fn follows_others(self, is_write: bool, is_direct: bool) -> bool {
        match self {
            Self::Threads | Self::Libaio => false,
            Self::IoUring => is_write && !is_direct,
            Self::PosixAio => true,
        }
    }
}
