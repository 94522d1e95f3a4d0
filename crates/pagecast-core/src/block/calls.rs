//! Counts the requests of each call until all of them are complete.
//!
//! Source: `block/bio.c: bio_chain, bio_endio`, `block/blk-merge.c`, Linux 6.12. A request into which others were merged ends their calls, too.

use rustc_hash::FxHashMap;

use super::request::{Request, RequestId};

/// Calls that are not complete; see the module.
#[derive(Debug, Default)]
pub struct Calls {
    /// The requests of each call that are not complete.
    parts: FxHashMap<RequestId, u32>,
    /// Requests into which others were merged, with the calls of those.
    merged: FxHashMap<u64, Vec<RequestId>>,
    /// Requests that were numbered.
    numbered: u64,
    /// Requests that are not complete, those that were merged one by one.
    incomplete: u64,
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Requests that are not complete, those that were merged one by one.
    pub fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// Adds so many requests to a call.
    pub fn add(&mut self, call: RequestId, parts: u64) {
        *self.parts.entry(call).or_default() += parts as u32;
        self.incomplete += parts;
    }

    /// The number of the next request.
    pub fn next_part(&mut self) -> u64 {
        self.numbered += 1;
        self.numbered
    }

    /// Notes that a request of a call has become part of another one.
    pub fn merged(&mut self, into: u64, call: RequestId) {
        self.merged.entry(into).or_default().push(call);
    }

    /// Ends a request, and all that were merged into it. Adds the calls that are `complete` then.
    pub fn ended(&mut self, request: &Request, complete: &mut Vec<RequestId>) {
        let merged = self.merged.remove(&request.part).unwrap_or_default();
        for call in merged.into_iter().chain([request.id]) {
            let left = self.parts.get_mut(&call).expect("it was submitted");
            *left -= 1;
            self.incomplete -= 1;
            if *left == 0 {
                self.parts.remove(&call);
                complete.push(call);
            }
        }
    }
}
