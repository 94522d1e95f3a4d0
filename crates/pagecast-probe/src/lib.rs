//! Touches the real kernel, alone in pagecast: measures and changes the page cache of files, and times input and output.
//!
//! From the ground up: `syscall` wraps the calls that no library has; [`watch`] lets a caller follow long work and stop it; [`filesystem`]
//! identifies the file system, [`walk`] finds files, [`residency`] measures them. On these stand [`evict`], [`warm`] and [`lock`], which
//! change the cache and look afterwards; [`drop_caches`], which empties the whole cache; and [`command`], which runs a program in an
//! optional [`cgroup`] and counts its reads with [`counters`].
//!
//! [`io`] is timed input and output; [`run`] runs a whole scenario with it, [`mod@bench`] compares memory and device, and [`calibrate`] has
//! the measuring loops of a calibration.
//!
//! Nothing here needs root but [`drop_caches`], and [`cgroup`] where nobody has given away a group. Every function that changes the cache
//! measures it again: an intended change is never reported as done.

pub mod bench;
pub mod calibrate;
pub mod cgroup;
pub mod command;
pub mod counters;
pub mod drop_caches;
pub mod error;
pub mod evict;
pub mod filesystem;
pub mod holders;
pub mod io;
pub mod lock;
mod mountinfo;
pub mod residency;
pub mod run;
mod syscall;
pub mod walk;
pub mod warm;
pub mod watch;

pub use error::{ProbeError, Problem, Trouble};
