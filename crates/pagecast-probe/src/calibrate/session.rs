//! Measures on real files, in a folder that is gone afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use pagecast_core::units::Bytes;

use super::Failed;
use crate::error::{ProbeError, Trouble};
use crate::io::{Folder, Workplace};
use crate::watch::{LOOK_PERIOD, Progress, Watcher};

/// A place to measure in. Its files are removed when this is dropped, or by the next one in the same directory.
#[derive(Debug)]
pub struct Session {
    workplace: Workplace,
}

impl Session {
    /// Checks that there is room for `needed` bytes and makes a folder in `directory`. What an earlier one has left there, because it
    /// was killed, is removed first.
    ///
    /// # Errors
    /// [`ProbeError::NoRoom`], and [`ProbeError::Path`] if nothing can be made there.
    pub fn create(directory: &Path, needed: Bytes) -> Result<Self, ProbeError> {
        let workplace = Workplace::create(directory, "calibrate")?;
        Folder::open(directory)?.check_room(needed)?;
        Ok(Self { workplace })
    }

    /// The folder of its files.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.workplace.path()
    }

    /// Does `act` in a thread of its own while the calling one watches; it is asked to stop when `watch` breaks.
    ///
    /// # Errors
    /// [`ProbeError::Interrupted`], or what the kernel said.
    pub fn measure<R: Send>(
        &self,
        watch: &mut Watcher<'_>,
        act: impl FnOnce(&Folder, &AtomicBool) -> Result<R, Failed> + Send,
    ) -> Result<R, ProbeError> {
        let (stop, folder) = (AtomicBool::new(false), self.workplace.folder());
        let answer = thread::scope(|scope| {
            let (sender, ended) = channel::<()>();
            let stop = &stop;
            let worker = scope.spawn(move || {
                let _held_until_the_end = sender;
                act(folder, stop)
            });
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK_PERIOD) {
                if watch(Progress { stage: "measuring", done: 0, total: None }).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join().expect("no measuring loop panics")
        });
        answer.map_err(|failed| match failed {
            Failed::Stopped => ProbeError::Interrupted,
            Failed::Kernel { doing, source } => {
                ProbeError::Path { path: self.path().to_owned(), trouble: Trouble::Failed { doing, source } }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use tempfile::TempDir;

    #[test]
    fn files_are_gone_afterwards_and_a_watcher_can_stop_it() {
        let place = TempDir::new().unwrap();
        let session = Session::create(place.path(), Bytes(1)).unwrap();
        let made = session.measure(&mut |_| ControlFlow::Continue(()), |folder, stop| {
            super::super::accepts_direct(folder, Path::new("f"), stop)
        });
        assert!(made.is_ok() && session.path().join("f").exists(), "{made:?}");
        let stopped = session.measure(&mut |_| ControlFlow::Break(()), |_, stop| {
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Err::<(), _>(Failed::Stopped)
        });
        assert!(matches!(stopped, Err(ProbeError::Interrupted)));
        drop(session);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn without_room_nothing_is_made() {
        let place = TempDir::new().unwrap();
        let refused = Session::create(place.path(), Bytes(u64::MAX)).unwrap_err();
        assert!(matches!(refused, ProbeError::NoRoom { .. }), "{refused}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_the_kernel_says_names_the_folder() {
        let place = TempDir::new().unwrap();
        let session = Session::create(place.path(), Bytes(1)).unwrap();
        let source = std::io::Error::from_raw_os_error(libc::ENOSPC);
        let refused = session.measure(&mut |_| ControlFlow::Continue(()), |_, _| {
            Err::<(), _>(Failed::Kernel { doing: "write", source })
        });
        let text = refused.unwrap_err().to_string();
        assert!(text.ends_with(": write failed (No space left on device (os error 28))"), "{text}");
    }
}
