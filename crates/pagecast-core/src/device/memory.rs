//! Turns memory and processors into resources, which copies and computations share.

use super::sharing::{ReadWrite, Sides, side};
use crate::flow::{Network, Resource, Route, Use};
use crate::machine::Memory;
use crate::result::Part;
use crate::units::BytesPerSecond;

/// Bytes that stand for a second of computing: a nanosecond each.
const SECOND: f64 = 1e9;

/// Adds the memory of a host.
pub(crate) fn memory(memory: &Memory, network: &mut impl Network) -> ReadWrite {
    let side = |rate: BytesPerSecond, at: &[(u32, BytesPerSecond)]| {
        let mut side = side(rate, at);
        side.per_flow_max = memory.per_thread.map(|most| most.0);
        side
    };
    let sides = Sides {
        read: side(memory.read, &memory.read_at),
        write: side(memory.write, &memory.write_at),
        read_part: Part::CpuCopy,
        write_part: Part::CpuCopy,
    };
    sides.add(memory.sharing, network)
}

/// Adds the processors of a host: a flow of a nanosecond each byte, at most one core each.
pub(crate) fn processors(cores: u32, network: &mut impl Network) -> Route {
    let mut all = Resource::constant(f64::from(cores) * SECOND);
    all.per_flow_max = Some(SECOND);
    Route::new(&[Use { resource: network.add(all), cost: 1.0, part: Part::Compute }])
}
