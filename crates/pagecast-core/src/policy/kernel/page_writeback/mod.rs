//! TODO

pub mod balance_dirty_pages;
pub mod domains;
pub mod law;
pub mod sampling;
pub mod shares;
pub mod wb;
