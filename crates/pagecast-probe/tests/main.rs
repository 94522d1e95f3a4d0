//! The probe on real files, in a folder of the target directory. On a machine where that is in memory there is nothing to
//! evict: the tests that need a disk then say so and end.

mod changes;
mod common;
mod streams;
mod walks;
