//! The caps of all tasks, until a task changes.

use crate::policy::kernel::config::Config;
use crate::policy::kernel::model::next_call::Survey;
use crate::policy::kernel::model::unchanged::CapsOf;
use std::cell::Cell;
use std::sync::Arc;

/// What was found when all tasks were last looked at.
pub struct Caps {
    /// For what their caps hold.
    pub caps_of: Option<CapsOf>,
    /// When they were last surveyed, and what that told.
    pub surveyed: Cell<Option<(u64, Survey)>>,
    /// Which part of a processor's time a task gets that could use all of it.
    pub processor_share: f64,
    pub config: Arc<Config>,
}

impl Caps {
    pub fn new(config: &Arc<Config>) -> Self {
        Self { caps_of: None, surveyed: Cell::new(None), processor_share: 1.0, config: config.clone() }
    }
}
