//! `none`: requests go to the disk as they come.

use super::request::Request;
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};

/// No scheduler. A request waits only between its submission and the disk.
#[derive(Debug, Default)]
pub struct Noop(std::collections::VecDeque<Request>);

impl Schedule for Noop {
    fn insert(&mut self, _: Nanos, request: Request) {
        self.0.push_back(request);
    }

    fn merge(&mut self, _: &Request, _: Bytes) -> Option<u64> {
        None
    }

    fn dispatch(&mut self, _: Nanos) -> Option<Request> {
        self.0.pop_front()
    }
}
