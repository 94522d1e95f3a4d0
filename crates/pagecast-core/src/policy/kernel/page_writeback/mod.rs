//! Decides how many pages may be dirty, and how fast writers may make more.
//!
//! Source: `mm/page-writeback.c`, `lib/flex_proportions.c`, Linux 6.16. The rules are in `law`, the state of a host in `write_back`.
//! Writing dirty pages is in `fs_writeback`.

pub mod balance_dirty_pages;
pub mod domain;
pub mod domains;
pub mod foreground;
pub mod law;
pub mod limits;
pub mod memcg_stats;
pub mod pauses;
pub mod rates;
pub mod sampling;
pub mod shares;
pub mod strict;
pub mod task_rate;
pub mod wb;
pub mod write_back;

pub use self::write_back::WriteBack;
