//! TODO

pub mod memcg;
pub mod stats;
