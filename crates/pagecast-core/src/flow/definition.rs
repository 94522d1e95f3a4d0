//! Checks [`Fluid`] against the definition of its rates, not against another way to compute them.
//!
//! Rates are weighted max-min fair if and only if no resource gives more than it has and every flow is *held*. A flow is held by its cap,
//! or by a resource that is used up and on which no flow has a higher level (rate by weight). So the test asks for all rates after every
//! event and compares them with that. It moves the bytes of each flow on by rate times time in the plainest way, and expects a flow to end
//! when its last byte has moved. The time in between must be charged to the part that held the flow.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::fluid::Fluid;
use super::*;

/// How far numbers may differ that would be equal without rounding.
const NOISE: f64 = 1e-9;
/// Bytes that rounding to nanoseconds may cost a flow: a few times its rate, which is below 10 kB/s here.
const SLACK: f64 = 1e-4;

/// A flow of the script: what it crosses as (resource, cost), and what becomes of it.
#[derive(Clone, Debug)]
struct Plan {
    start: Nanos,
    crosses: Vec<(usize, f64)>,
    bytes: u64,
    weight: f64,
    cap: Option<f64>,
    watched: bool,
    changes: Vec<(Nanos, Change)>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Cap(Option<f64>),
    /// To so many bytes, or those that it has moved if they are more.
    Shorten(u64),
    Cancel,
}

fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Nanos> {
    range.prop_map(|millis| Nanos(millis * 1_000_000))
}

fn resources() -> impl Strategy<Value = Vec<Resource>> {
    let rate = || (1..100_u32).prop_map(|tens| f64::from(tens) * 10.0);
    let capacity = prop_oneof![
        3 => rate().prop_map(Resource::constant),
        1 => (rate(), rate(), rate()).prop_map(|(one, three, five)| {
            Resource::varying(vec![(1, one), (3, three), (5, five)])
        }),
    ];
    let limit = prop_oneof![3 => Just(None), 1 => rate().prop_map(Some)];
    let resource =
        (capacity, limit).prop_map(|(capacity, per_flow_max)| Resource { per_flow_max, ..capacity });
    prop::collection::vec(resource, 1..=4)
}

fn cap() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![4 => Just(None), 2 => (1..500_u32).prop_map(|cap| Some(f64::from(cap))), 1 => Just(Some(0.0))]
}

/// A flow over some of four resources; those that do not exist are left out.
fn plan() -> impl Strategy<Value = Plan> {
    let crosses = prop::sample::subsequence(vec![0, 1, 2, 3], 1..=3).prop_shuffle();
    let costs = prop::collection::vec(prop::sample::select(vec![1.0, 1.0, 0.5, 1.7]), 3);
    let change = prop_oneof![
        cap().prop_map(Change::Cap),
        (1..3000_u64).prop_map(Change::Shorten),
        Just(Change::Cancel)
    ];
    let changes = prop::collection::vec((millis(0..20_000), change), 0..3);
    let weight = prop::sample::select(vec![1.0, 1.0, 0.3, 2.0]);
    (millis(0..10_000), crosses, costs, 1..5000_u64, weight, cap(), any::<bool>(), changes).prop_map(
        |(start, crosses, costs, bytes, weight, cap, watched, mut changes)| {
            changes.sort_by_key(|&(time, _)| time);
            Plan {
                start,
                crosses: crosses.into_iter().zip(costs).collect(),
                bytes,
                weight,
                cap,
                watched,
                changes,
            }
        },
    )
}

/// The state of a flow under way in the plain account.
struct Account {
    plan: usize,
    crosses: Vec<(usize, f64)>,
    cap: Option<f64>,
    bytes: u64,
    left: f64,
    rate: f64,
    reported: Option<f64>,
    began: Nanos,
    /// Time that was surely charged to each part, and time that may have been charged to several.
    charged: Parts,
    unclear: Nanos,
    /// What holds it now.
    held_by: Vec<Part>,
}

/// The part that a resource is called by, and the one of caps.
fn part_of(resource: usize) -> Part {
    Part::ALL[resource]
}
const CAP: Part = Part::Sleep;

struct Run {
    network: Fluid,
    resources: Vec<Resource>,
    plans: Vec<Plan>,
    flows: BTreeMap<FlowId, Account>,
    now: Nanos,
    next_number: u64,
    vacant: Vec<u32>,
}

impl Run {
    fn new(resources: Vec<Resource>, plans: Vec<Plan>) -> Self {
        let mut network = Fluid::default();
        for resource in &resources {
            network.add(resource.clone());
        }
        let vacant = (0..plans.len() as u32).rev().collect();
        Self { network, resources, plans, flows: BTreeMap::new(), now: Nanos::ZERO, next_number: 0, vacant }
    }

    /// Everything that happens from outside, in the order of time.
    fn script(&self) -> Vec<(Nanos, usize, Option<Change>)> {
        let of_plan = |(at, plan): (usize, &Plan)| {
            let start = std::iter::once((plan.start, at, None));
            let changes = plan.changes.iter().map(move |&(time, change)| (time, at, Some(change)));
            start.chain(changes).collect::<Vec<_>>()
        };
        let mut script: Vec<_> = self.plans.iter().enumerate().flat_map(of_plan).collect();
        script.sort_by_key(|&(time, ..)| time);
        script
    }

    fn run(mut self) -> Result<(), TestCaseError> {
        let mut script = std::collections::VecDeque::from(self.script());
        loop {
            let next = [self.network.next_event(), script.front().map(|&(time, ..)| time)];
            let Some(now) = next.into_iter().flatten().min() else { break };
            prop_assert!(now >= self.now, "time runs back to {now}");
            let is_announced = self.network.next_event() == Some(now);
            self.move_to(now);
            let ended = self.take_completed()?;
            prop_assert!(ended > 0 || !is_announced, "nothing ends at {now}");
            while let Some((_, plan, change)) = script.pop_front_if(|&mut (time, ..)| time <= now) {
                match change {
                    None => self.start(plan),
                    Some(change) => self.change(plan, change)?,
                }
            }
            self.settle()?;
        }
        for account in self.flows.values() {
            prop_assert!(account.rate == 0.0 && account.cap == Some(0.0), "only blocked flows stay for ever");
        }
        Ok(())
    }

    fn move_to(&mut self, now: Nanos) {
        let elapsed = now - self.now;
        for account in self.flows.values_mut() {
            account.left -= account.rate * elapsed.as_seconds();
            match account.held_by[..] {
                [part] => account.charged.add(part, elapsed),
                _ => account.unclear += elapsed,
            }
        }
        self.now = now;
    }

    fn start(&mut self, at: usize) {
        let plan = &self.plans[at];
        let mut crosses = plan.crosses.clone();
        crosses.retain(|&(resource, _)| resource < self.resources.len());
        if crosses.is_empty() {
            crosses.push((0, 1.0));
        }
        let uses: Vec<Use> = crosses
            .iter()
            .map(|&(at, cost)| Use { resource: ResourceId(at as u32), cost, part: part_of(at) })
            .collect();
        let path = self.network.add_path(Route::new(&uses));
        let cap = plan.cap.map(|rate| (rate, CAP));
        let tag = at as u64;
        let spec = FlowSpec {
            path,
            bytes: plan.bytes,
            weight: plan.weight,
            cap,
            watched: plan.watched,
            tag,
            request: 0,
        };
        self.next_number += 1;
        let id = FlowId { number: self.next_number, slot: self.vacant.pop().expect("a slot for each flow") };
        self.network.start(self.now, id, spec);
        let account = Account {
            plan: at,
            crosses,
            cap: plan.cap,
            bytes: plan.bytes,
            left: plan.bytes as f64,
            rate: 0.0,
            reported: None,
            began: self.now,
            charged: Parts::default(),
            unclear: Nanos::ZERO,
            held_by: Vec::new(),
        };
        self.flows.insert(id, account);
    }

    fn change(&mut self, plan: usize, change: Change) -> Result<(), TestCaseError> {
        let Some((&id, account)) = self.flows.iter_mut().find(|(_, account)| account.plan == plan) else {
            return Ok(());
        };
        match change {
            Change::Cap(cap) => {
                account.cap = cap;
                self.network.set_cap(self.now, id, cap.map(|rate| (rate, CAP)));
            }
            Change::Shorten(bytes) => {
                let done = (account.bytes as f64 - account.left) as u64;
                let cut = account.bytes.saturating_sub(bytes.max(done));
                account.bytes -= cut;
                account.left = (account.left - cut as f64).max(0.0);
                self.network.shorten(self.now, id, account.bytes);
            }
            Change::Cancel => {
                let progress = self.network.cancel(self.now, id);
                let done = account.bytes as f64 - account.left;
                prop_assert!(
                    (progress.done - done).abs() < SLACK,
                    "cancelled at {} of {done}",
                    progress.done
                );
                self.flows.remove(&id);
                self.vacant.push(id.slot);
            }
        }
        Ok(())
    }

    /// Takes the flows that have ended, and says how many.
    fn take_completed(&mut self) -> Result<usize, TestCaseError> {
        let mut ended = Vec::new();
        self.network.completed(self.now, &mut ended);
        let count = ended.len();
        prop_assert!(ended.is_sorted_by_key(|each| each.flow.number));
        for completion in ended {
            let account = self.flows.remove(&completion.flow).expect("a flow ends once");
            self.vacant.push(completion.flow.slot);
            prop_assert!(account.left.abs() < SLACK, "{} bytes were left", account.left);
            prop_assert_eq!(completion.bytes, account.bytes);
            prop_assert_eq!(completion.tag, account.plan as u64);
            prop_assert_eq!(completion.parts.total(), self.now - account.began);
            for part in Part::ALL {
                let (least, charged) = (account.charged.get(part), completion.parts.get(part));
                prop_assert!(least <= charged && charged <= least + account.unclear, "{part:?}: {charged}");
            }
        }
        for (id, account) in &self.flows {
            prop_assert!(account.left > -SLACK, "{id:?} is overdue by {} bytes", -account.left);
        }
        Ok(count)
    }

    fn settle(&mut self) -> Result<(), TestCaseError> {
        let mut changed = Vec::new();
        self.network.settle(self.now, &mut changed);
        for (&id, account) in &mut self.flows {
            let progress = self.network.progress(self.now, id);
            account.rate = progress.rate;
            let plan = &self.plans[account.plan];
            let done = account.bytes as f64 - account.left;
            prop_assert!((progress.done - done).abs() < SLACK, "{} bytes done, not {done}", progress.done);
            prop_assert_eq!(progress.tag, account.plan as u64);
            let news: Vec<&Progress> = changed.iter().filter(|each| each.flow == id).collect();
            prop_assert!(news.iter().all(|&each| *each == progress), "news are as it is");
            prop_assert!(plan.watched || news.is_empty(), "nobody watches {id:?}");
            if plan.watched && account.reported != Some(account.rate) {
                prop_assert!(!news.is_empty(), "{id:?} now has {} bytes per second", account.rate);
                account.reported = Some(account.rate);
            }
        }
        prop_assert!(changed.iter().all(|each| self.flows.contains_key(&each.flow)));
        self.hold_against_definition()
    }

    fn hold_against_definition(&mut self) -> Result<(), TestCaseError> {
        let weight = |account: &Account| self.plans[account.plan].weight;
        let level = |account: &Account| account.rate / weight(account);
        // Of each resource: whether nothing is left of it, and the highest level on it.
        let mut full = Vec::new();
        for (at, resource) in self.resources.iter().enumerate() {
            let on_it =
                || self.flows.values().filter_map(|account| cost(account, at).map(|cost| (account, cost)));
            let load: f64 = on_it().map(|(account, cost)| account.rate * cost).sum();
            let capacity = resource.capacity(on_it().count() as u32);
            prop_assert!(load <= capacity * (1.0 + NOISE), "resource {at} gives {load} of {capacity}");
            let highest = on_it().map(|(account, _)| level(account)).fold(0.0, f64::max);
            full.push((load >= capacity * (1.0 - NOISE), highest));
        }
        let mut held_by = BTreeMap::new();
        for (&id, account) in &self.flows {
            let holds = |at: usize| {
                let limit = self.resources[at].per_flow_max;
                let (is_full, highest) = full[at];
                limit.is_some_and(|limit| level(account) >= limit * (1.0 - NOISE))
                    || (is_full && level(account) >= highest * (1.0 - NOISE))
            };
            for &(at, _) in &account.crosses {
                let limit = self.resources[at].per_flow_max.unwrap_or(f64::INFINITY);
                prop_assert!(level(account) <= limit * (1.0 + NOISE), "{id:?} passes the limit of one flow");
            }
            let cap = account.cap.unwrap_or(f64::INFINITY);
            prop_assert!(account.rate <= cap * (1.0 + NOISE), "{id:?} passes its cap");
            let resources = account.crosses.iter().filter(|&&(at, _)| holds(at)).map(|&(at, _)| part_of(at));
            let by_cap = (account.rate >= cap * (1.0 - NOISE)).then_some(CAP);
            let holders: Vec<Part> = resources.chain(by_cap).collect();
            prop_assert!(!holders.is_empty(), "nothing holds {id:?} at {} bytes per second", account.rate);
            held_by.insert(id, holders);
        }
        for (id, account) in &mut self.flows {
            account.held_by = held_by.remove(id).unwrap_or_default();
        }
        Ok(())
    }
}

fn cost(account: &Account, resource: usize) -> Option<f64> {
    account.crosses.iter().find(|&&(at, _)| at == resource).map(|&(_, cost)| cost)
}

proptest! {
    #[test]
    fn rates_are_max_min_fair_and_every_byte_moves(
        resources in resources(),
        plans in prop::collection::vec(plan(), 1..9),
    ) {
        Run::new(resources, plans).run()?;
    }
}

/// A flow that had a cap was cancelled, and the next one in its slot had a cap as well. The end of the first was still on the
/// list of what is to come and was taken for the end of the second: it counted changes of each flow from 0.
#[test]
fn the_end_of_a_cancelled_flow_is_not_that_of_the_next_in_its_slot() {
    let plan = |start: u64, bytes, cap, changes| {
        let start = Nanos(start * 1_000_000_000);
        Plan { start, crosses: vec![(0, 1.0)], bytes, weight: 1.0, cap, watched: false, changes }
    };
    let cancelled = plan(0, 100, Some(10.0), vec![(Nanos(1_000_000_000), Change::Cancel)]);
    let next = plan(2, 100, Some(1.0), Vec::new());
    Run::new(vec![Resource::constant(300.0)], vec![cancelled, next])
        .run()
        .expect("each ends when its bytes have moved");
}
