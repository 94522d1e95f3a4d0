//! Holds back bios and threads of cgroups: a call beyond its `io.max` waits before it is cut (`throttle`), and a thread whose cgroup has spent
//! its part of the disk waits before it has a tag (`iocost`).
//!
//! Source: `block/blk-cgroup.c`, `block/blk-rq-qos.c`, Linux 6.12.

use super::iocost::Controller;
use super::request::Request;
use super::throttle::{Bio, Throttle};
use crate::units::{Nanos, earlier};

/// The limits of cgroups on a disk and their parts of it, where there are any; see the module.
#[derive(Default)]
pub struct Cgroups {
    throttle: Option<Throttle>,
    iocost: Option<Controller>,
}

impl Cgroups {
    pub fn new(throttle: Option<Throttle>, iocost: Option<Controller>) -> Self {
        Self { throttle, iocost }
    }

    /// Lets a bio pass the limits of its cgroup, or keeps it.
    pub fn pass(&mut self, now: Nanos, bio: Bio) -> Option<Bio> {
        match &mut self.throttle {
            Some(throttle) => throttle.pass(now, bio),
            None => Some(bio),
        }
    }

    /// True if a request is within the part of its cgroup; its thread sleeps otherwise.
    pub fn pays(&mut self, now: Nanos, request: &Request) -> bool {
        self.iocost.as_mut().is_none_or(|iocost| iocost.passes(now, request))
    }

    /// Notes that a request was merged into another one.
    pub fn merged(&mut self, now: Nanos, request: &Request) {
        self.iocost.iter_mut().for_each(|iocost| iocost.merged(now, request));
    }

    /// Notes that a request has a tag.
    pub fn has_tag(&mut self, now: Nanos, request: &Request) {
        self.iocost.iter_mut().for_each(|iocost| iocost.has_tag(now, request.part));
    }

    /// Notes that a request is complete.
    pub fn done(&mut self, now: Nanos, request: &Request) {
        self.iocost.iter_mut().for_each(|iocost| iocost.done(now, request));
    }

    /// The threads whose next requests are within the parts of their cgroups again.
    pub fn paid(&mut self, now: Nanos) -> Vec<u32> {
        self.iocost.as_mut().map(|iocost| iocost.advance(now)).unwrap_or_default()
    }

    /// The bios that may pass now.
    pub fn passed(&mut self, now: Nanos) -> Vec<Bio> {
        self.throttle.as_mut().map(|throttle| throttle.dispatch(now)).unwrap_or_default()
    }

    /// The time at which some may go on.
    pub fn next_event(&self) -> Option<Nanos> {
        let limited = self.throttle.as_ref().and_then(Throttle::next_event);
        earlier(limited, self.iocost.as_ref().and_then(Controller::next_event))
    }
}
