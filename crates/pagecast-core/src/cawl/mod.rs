//! Computes the cost of a write by CAWL. It needs no engine: chunks in, seconds and dirty bytes out.
//!
//! Source: Gholami, Schintke, *CAWL: A Cache-aware Write Performance Model of Linux Systems*, arXiv 2306.05701 (2023), Equations 2 to 4,
//! Algorithms 1 and 2, and the program that the authors released (github.com/gongotar/iomodel at c1671d2e). If they differ, the paper is
//! the default and the program an option; `docs/concepts/cawl.md` lists all differences. Left out, as published: reads, several writers,
//! several devices, and any end of a wait for the device but the end of its bytes.
//!
//! Rates are in bytes per second, costs and times in seconds, sizes in bytes. Fields have the names of the paper.

mod blocks;
mod equations;
mod library;
mod parameters;
mod syscall;

pub use equations::{DirectCost, SyncCost, Unit};
pub use library::{LibraryCost, Stream, WhenFull};
pub use parameters::ParameterError;
pub use syscall::{PageCache, SyscallCost, Throttling, Written};
