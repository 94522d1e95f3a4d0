//! TODO

pub mod begin;
pub mod direct;
pub mod fdatawrite;
pub mod mapped;
pub mod partial_blocks;
pub mod read;
pub mod truncate;
pub mod write;
