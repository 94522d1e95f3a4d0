//! Turns a disk with a write cache into resources.

use super::sharing::{ReadWrite, Sides, route};
use crate::flow::{self, Network, Resource, Service};
use crate::machine::{Sharing, WriteCache};

impl Sides {
    /// Adds the resources that `sharing` asks for. While the cache has room, it serves like a device that writes as fast as it takes
    /// bytes.
    pub(super) fn add_cached(
        self,
        sharing: Sharing,
        cache: WriteCache,
        network: &mut impl Network,
    ) -> ReadWrite {
        let Self { read, write, read_part, write_part } = self;
        let fast = Resource::faster(&write, &Resource::constant(cache.rate.0));
        let drain = cache.drain.map_or(f64::INFINITY, |drain| drain.0);
        let [with_room, full] = [fast, write].map(|write| service(&read, write, sharing));
        let writes = network.add(with_room.writes.clone());
        let shared = with_room.shared.clone().map(|(resource, cost)| (network.add(resource), cost));
        let mut read_uses = Vec::new();
        if sharing != Sharing::Time {
            read_uses.push((network.add(read), 1.0, read_part));
        }
        read_uses.extend(shared.map(|(shared, _)| (shared, 1.0, read_part)));
        let mut write_uses = Vec::from_iter(shared.map(|(shared, cost)| (shared, cost, write_part)));
        write_uses.push((writes, 1.0, write_part));
        let shared = shared.map(|(shared, _)| shared);
        let size = cache.size;
        network.add_write_cache(flow::WriteCache {
            size,
            writes,
            shared,
            drain,
            beat: None,
            with_room,
            full,
        });
        ReadWrite { read: route(&read_uses), write: route(&write_uses) }
    }
}

/// Returns the service of a device that reads and writes at these rates.
fn service(read: &Resource, write: Resource, sharing: Sharing) -> Service {
    match sharing {
        Sharing::Separate => Service { writes: write, shared: None },
        Sharing::Total => {
            let total = Resource::faster(read, &write);
            Service { writes: write, shared: Some((total, 1.0)) }
        }
        Sharing::Time => {
            let cost = read.capacity(1) / write.capacity(1);
            // Writes cross it so that they can be told from reads.
            let no_limit = Resource::constant(f64::INFINITY);
            Service { writes: no_limit, shared: Some((read.clone(), cost)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flow::fluid::Fluid;
    use crate::flow::stepped::Stepped;
    use crate::flow::{FlowId, FlowSpec, Progress};
    use crate::result::Part;
    use crate::units::{Bytes, BytesPerSecond, Nanos};

    /// A device and the flows on it.
    #[derive(Clone, Debug)]
    struct Case {
        read: f64,
        write: f64,
        cache: WriteCache,
        sharing: Sharing,
        flows: Vec<Plan>,
    }

    #[derive(Clone, Copy, Debug)]
    struct Plan {
        start: Nanos,
        is_write: bool,
        bytes: u64,
    }

    impl Case {
        fn drain(&self) -> f64 {
            self.cache.drain.map_or(self.write, |drain| drain.0)
        }
    }

    fn cases(may_read: bool) -> impl Strategy<Value = Case> {
        let rate = || (10..100_u32).prop_map(|tens| f64::from(tens) * 10.0);
        let cache = (50..2000_u64, 1.1..8.0, prop::option::of(0.01..1.0));
        let plan = (0..8000_u64, any::<bool>(), 100..3000_u64).prop_map(move |(millis, is_write, bytes)| {
            Plan { start: Nanos(millis * 1_000_000), is_write: is_write || !may_read, bytes }
        });
        let sharing = prop::sample::select(vec![Sharing::Total, Sharing::Separate, Sharing::Time]);
        (rate(), rate(), cache, sharing, prop::collection::vec(plan, 1..7)).prop_map(
            |(read, write, (size, faster, slower), sharing, mut flows)| {
                flows.sort_by_key(|plan| plan.start);
                let drain = slower.map(|slower| BytesPerSecond(write * slower));
                let cache = WriteCache { size: Bytes(size), rate: BytesPerSecond(write * faster), drain };
                Case { read, write, cache, sharing, flows }
            },
        )
    }

    /// The flows between two events.
    struct Stretch {
        from: Nanos,
        to: Nanos,
        reads: f64,
        writes: f64,
    }

    /// Moves all flows of a case, and returns their ends and the stretches between.
    fn run<N: Network>(case: &Case) -> (Vec<Nanos>, Vec<Stretch>) {
        let mut network = N::default();
        let sides = Sides {
            read: Resource::constant(case.read),
            write: Resource::constant(case.write),
            read_part: Part::DeviceRead,
            write_part: Part::DeviceWrite,
        };
        let device = sides.add_cached(case.sharing, case.cache, &mut network);
        let [read, write] = [device.read, device.write].map(|route| network.add_path(route));
        let id = |at: usize| FlowId { number: at as u64 + 1, slot: at as u32 };
        let (mut started, mut ends, mut now) = (0, vec![None; case.flows.len()], Nanos::ZERO);
        let mut stretches = Vec::new();
        loop {
            let start = case.flows.get(started).map(|plan| plan.start);
            let Some(next) = crate::units::earlier(network.next_event(), start) else { break };
            let under_way = (0..started).filter(|&at: &usize| ends[at].is_none());
            let (mut reads, mut writes) = (0.0, 0.0);
            for at in under_way {
                let Progress { rate, .. } = network.progress(now, id(at));
                *(if case.flows[at].is_write { &mut writes } else { &mut reads }) += rate;
            }
            stretches.push(Stretch { from: now, to: next, reads, writes });
            now = next;
            let mut ended = Vec::new();
            network.completed(now, &mut ended);
            ended.iter().for_each(|each| ends[each.flow.slot as usize] = Some(now));
            while let Some(plan) = case.flows.get(started).filter(|plan| plan.start <= now) {
                let path = if plan.is_write { write } else { read };
                network.start(now, id(started), FlowSpec::new(path, plan.bytes, 0));
                started += 1;
            }
            network.settle(now, &mut Vec::new());
        }
        (ends.into_iter().map(|end| end.expect("every flow ends")).collect(), stretches)
    }

    /// Bytes that floating point and whole nanoseconds may cost.
    const SLACK: f64 = 1e-3;

    proptest! {
        #[test]
        fn bytes_are_kept_and_the_cache_holds_no_more_than_its_size(case in cases(true)) {
            let (_, stretches) = run::<Fluid>(&case);
            let (mut read, mut written, mut held) = (0.0, 0.0, 0.0_f64);
            for stretch in &stretches {
                let seconds = (stretch.to - stretch.from).as_seconds();
                let (reads, writes) = (stretch.reads, stretch.writes);
                prop_assert!(writes <= case.cache.rate.0 * (1.0 + 1e-9));
                let is_full = held >= case.cache.size.as_f64() - 1.0 - SLACK;
                let is_fast = writes > case.cache.rate.0 * (1.0 - 1e-9);
                prop_assert!(is_full || writes == 0.0 || reads > 0.0 || is_fast, "room is used");
                // What the disk keeps beside its reads.
                let beside = match case.sharing {
                    Sharing::Separate => case.write,
                    Sharing::Total => case.write.min(case.read.max(case.write) - reads),
                    Sharing::Time => case.write * (1.0 - reads / case.read),
                };
                (read, written) = (read + reads * seconds, written + writes * seconds);
                let drained = beside.clamp(0.0, case.drain());
                held = (held + (writes - drained) * seconds).max(0.0);
                // What is too much goes to the disk at once, which is then no faster than without a cache.
                let is_slow = writes <= beside * (1.0 + 1e-9) && case.drain() < case.write;
                let size = case.cache.size.as_f64();
                prop_assert!(held <= size + SLACK || is_slow, "{held} bytes of {size}");
                held = held.min(size);
            }
            let moved = |is_write| -> f64 {
                case.flows.iter().filter(|plan| plan.is_write == is_write).map(|plan| plan.bytes as f64).sum()
            };
            prop_assert!((read - moved(false)).abs() < SLACK && (written - moved(true)).abs() < SLACK);
        }

        #[test]
        fn a_stream_alone_takes_as_long_as_the_cache_and_the_disk_say(case in cases(false)) {
            let case = Case { flows: case.flows[..1].to_vec(), ..case };
            let (ends, _) = run::<Fluid>(&case);
            let (bytes, took) = (case.flows[0].bytes as f64, (ends[0] - case.flows[0].start).as_seconds());
            let (rate, size) = (case.cache.rate.0, case.cache.size.as_f64());
            let fast_s = size / (rate - case.drain());
            let expected = (bytes / rate).min(fast_s) + (bytes - rate * fast_s).max(0.0) / case.write;
            prop_assert!((took - expected).abs() < 1e-6, "{took} s, not {expected} s");
        }

        #[test]
        fn writers_together_are_between_both_rates_and_never_later_than_without(case in cases(false)) {
            let last = |case: &Case| run::<Fluid>(case).0.into_iter().max().expect("there is a flow");
            let slow = WriteCache { size: Bytes(0), ..case.cache };
            let (with, without) = (last(&case), last(&Case { cache: slow, ..case.clone() }));
            prop_assert!(with <= without + Nanos(1), "{with} and {without}");
            let bytes: f64 = case.flows.iter().map(|plan| plan.bytes as f64).sum();
            let least = (bytes / case.cache.rate.0).max((bytes - case.cache.size.as_f64()) / case.write);
            prop_assert!((with - case.flows[0].start).as_seconds() >= least - 1e-6);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn steps_come_to_the_same(case in cases(true)) {
            // What has ended goes on to the end of its step: of each flow up to 8 times the rate of writing for 1 ms.
            let (events, steps) = (run::<Fluid>(&case).0, run::<Stepped>(&case).0);
            for (event, step) in events.iter().zip(&steps) {
                prop_assert!((event.as_seconds() - step.as_seconds()).abs() < 0.1, "{event} and {step}");
            }
        }
    }
}
