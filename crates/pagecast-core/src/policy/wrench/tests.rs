//! Checks a call that comes too early, which no scenario shows.

use super::*;
use crate::flow::fluid::Fluid;
use crate::flow::{Network, Resource, Route, Use};

#[test]
fn called_before_its_time_the_flusher_sleeps_on() {
    let mut network = Fluid::default();
    let resource = network.add(Resource::constant(1.0));
    let memory = network.add_path(Route::new(&[Use { resource, cost: 1.0, part: Part::CpuCopy }]));
    let period = Nanos(5_000_000_000);
    let (vintage, expiry, remote_memory) = (Vintage::CameraReady, Nanos::LAST, RemoteMemory::Client);
    let options = WrenchOptions { chunk: Bytes(1), vintage, dirty_ratio: 0.4, period, expiry, remote_memory };
    let mut wrench = Wrench::new(Bytes(100), memory, memory, options);
    let file = FileView { read: memory, write: memory, ..FileView::default() };
    wrench.preload(Nanos::ZERO, &file, Bytes(1), Bytes(1));
    for now in [Nanos::ZERO, Nanos(1_000_000_000)] {
        wrench.advance(now, &[], &mut Actions::default());
        assert_eq!(wrench.next_call(), Some(period), "at {now}");
    }
}
