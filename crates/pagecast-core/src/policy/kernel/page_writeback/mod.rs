//! `mm/page-writeback.c`: how many pages may be dirty, and how fast writers may make more.

pub mod balance_dirty_pages;
pub mod domain;
pub mod domains;
pub mod law;
pub mod limits;
pub mod memcg_stats;
pub mod rates;
pub mod sampling;
pub mod shares;
pub mod strict;
pub mod task_rate;
pub mod wb;
pub mod write_back;

pub use self::write_back::WriteBack;
