//! Defines what a scheduler does.

use super::request::Request;
use crate::units::{Bytes, Nanos};

/// The order in which waiting requests go to the disk.
pub trait Schedule {
    /// Takes a request.
    fn insert(&mut self, now: Nanos, request: Request);

    /// Lengthens a waiting request by one that begins where it ends, if that is no longer than `most`. Returns its number.
    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64>;

    /// Gives out the next request.
    fn dispatch(&mut self, now: Nanos) -> Option<Request>;

    /// Notes that the disk has begun to serve a request.
    fn started(&mut self, _now: Nanos, _request: &Request) {}

    /// Notes that the disk has served a request.
    fn completed(&mut self, _now: Nanos, _request: &Request) {}

    /// Of so many tags, those that requests of its direction may have when it asks for one (`limit_depth`).
    fn limit_depth(&self, _request: &Request, tags: u32) -> u32 {
        tags
    }

    /// The time at which it may give out a request that it holds back now.
    fn next_event(&self) -> Option<Nanos> {
        None
    }
}
