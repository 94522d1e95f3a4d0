//! Holds the operations under way, as plain data.
//!
//! Ours: the kernel has `struct task_struct` and stacks. Nothing here knows a rule of the kernel.

pub mod checks;
pub mod cost;
pub mod credit;
pub mod ids;
pub mod kind;
pub mod shape;
pub mod table;
pub mod task;
