//! Hands the state to a step of a system call.

use crate::policy::Actions;
use crate::policy::kernel::block::Block;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::ext4::Ext4;
use crate::policy::kernel::fs_writeback::Flushers;
use crate::policy::kernel::model::caps::Caps;
use crate::policy::kernel::model::clock::Clock;
use crate::policy::kernel::model::told::Told;
use crate::policy::kernel::nfs::Nfs;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::readahead::readers::Readers;
use crate::policy::kernel::tasks::table::Tasks;
use crate::units::Nanos;

/// The owners of the state at an instant, and the actions to be done.
pub struct Context<'a> {
    pub now: Nanos,
    pub config: &'a Config,
    pub pages: &'a mut Pages,
    pub write_back: &'a mut WriteBack,
    pub flushers: &'a mut Flushers,
    pub block: &'a mut Block,
    pub nfs: &'a mut Nfs,
    pub ext4: &'a mut Ext4,
    pub tasks: &'a mut Tasks,
    pub readers: &'a mut Readers,
    pub told: &'a mut Told,
    pub caps: &'a mut Caps,
    pub clock: &'a mut Clock,
    pub out: &'a mut Actions,
}
