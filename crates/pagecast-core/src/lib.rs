//! Simulates a scenario under a model: (scenario, model, seed) -> result. No Python, no real input or output but reading machine files
//! and workloads (a long one goes into a temporary file), no wall clock; no global state but the question of each thread whether to [`stop`].
//!
//! A module imports those of lower lines alone; those of one line do not know each other. `tests/structure.rs` reads this list, and fails on
//! a circle of more than three files.
//!
//! ```text
//! engine, embed                                give time to a scenario, and to a policy inside another simulator
//! scenario, calls                              read TOML and check scenarios; make an operation a policy's call
//! describe                                     statistics of recordings and programs
//! readers, platform                            read workloads and networks in other formats
//! fs                                           names, sizes and places of files, and other hosts' files
//! policy, device, net                          what the page cache decides; what disks, memory and links are made of
//! block                                        requests to a disk one by one, and schedulers
//! flow, cawl                                   share resources among flows; equations of a published model
//! trace                                        recordings of workloads in binary form
//! result, error, stop, nearest, chunks, least, known  what a run yields, what goes wrong; helpers
//! machine, workload                            hardware and what runs on it, as data
//! keys, stdio, run_queue                       keys of machine files; streams of libraries; processors
//! units, random                                bytes, times and rates; random numbers
//! ```
//!
//! A scenario can be put together in Rust; a program is any function that makes an iterator of operations:
//!
//! ```
//! use std::sync::Arc;
//!
//! use pagecast_core::units::{Bytes, Nanos};
//! use pagecast_core::workload::{Action, Buffer, InitialFile, Operation, Process};
//! use pagecast_core::{Settings, scenario, simulate};
//!
//! let machine = r#"
//!     cores = 4
//!     memory = { size = "64 GB", read = "4 GB/s", write = "4 GB/s" }
//!     disk.ssd = { size = "1 TB", read = "500 MB/s", write = "500 MB/s" }
//!     mount."/data" = { disk = "ssd" }
//! "#;
//! let machine = scenario::load_machine(machine.as_bytes(), "<rust>", "".as_ref(), "".as_ref())?;
//! let input = InitialFile { host: 0, path: "/data/in".into(), size: Bytes(2_000_000_000), cached: Bytes::ZERO, dirty: Bytes::ZERO };
//! let read_twice = || {
//!     let read = Action::Read {
//!         path: "/data/in".into(),
//!         offset: None,
//!         bytes: None,
//!         call: None,
//!         vector: 1,
//!         buffer: Buffer::Reused,
//!     };
//!     std::iter::repeat_n(Operation::from(read), 2)
//! };
//! let process = Process {
//!     name: "app".into(),
//!     host: 0,
//!     cgroup: None,
//!     after: vec![],
//!     start: Nanos::ZERO,
//!     descriptors: None,
//!     ioprio: Default::default(),
//!     slots: None,
//!     program: Arc::new(read_twice),
//! };
//! let scenario = scenario::Scenario::from_parts("<rust>", machine, vec![input], vec![process])?;
//! let result = simulate(&scenario, "wrench", Settings::default())?;
//! let seconds = |row: usize| (result.operations.end[row] - result.operations.start[row]).as_seconds();
//! assert_eq!((seconds(0), seconds(1)), (4.0, 0.5)); // from the disk, then from the page cache
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod block;
mod calls;
pub mod cawl;
mod chunks;
pub mod describe;
mod device;
pub mod embed;
pub mod engine;
pub mod error;
pub mod flow;
mod fs;
mod keys;
mod known;
mod least;
pub mod machine;
mod nearest;
mod net;
mod platform;
pub mod policy;
mod random;
pub mod readers;
pub mod result;
pub mod run_queue;
pub mod scenario;
pub mod stdio;
pub mod stop;
pub mod trace;
pub mod units;
pub mod workload;

pub use engine::{Settings, simulate, simulate_by_steps};
pub use policy::registry::{ALL_MODELS, MODELS, models_for};
pub use result::Record;
