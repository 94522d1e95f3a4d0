//! Checks the rules of the page lists one by one, and any sequence of operations against lists of single pages.

use crate::policy::kernel::version::TwoLists;

/// The rules of the two lists since 4.12.
const LATEST: TwoLists = TwoLists { remembers_evicted: true, ratio_grows: true, refaults_deactivate: true };

mod generation_pages;
mod generation_rules;
mod pages;
mod rules;
mod sequences;
