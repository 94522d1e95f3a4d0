//! Puts the page cache of one host into another simulator: a policy, the files it knows and the memory that copies share.
//!
//! The other simulator has the clock and the devices. It tells the rate of each transfer over a device, and shares its
//! disks and links as it likes. The policy, the files and main memory are ours: copies between programs and the page cache share the
//! memory of the machine file, and the other simulator does not see them.
//!
//! The other simulator does, at each of its instants:
//! 1. [`PageCache::begin`] for each operation that a task begins, [`PageCache::completed`] for each transfer that has moved its bytes;
//! 2. all of [`PageCache::orders`]: start, limit, shorten and cancel transfers, let tasks go on whose operation is done;
//! 3. [`PageCache::advance`] with the rate of each transfer that was started or limited, and of each whose rate has changed;
//! 4. from 2. again until [`PageCache::next_call`] is later than now. Then it lets time pass, up to
//!    [`PageCache::next_call`] at most, where it begins with 3.
//!
//! A transfer goes at the rate last told until another one is told, and ends with [`PageCache::completed`], never before. The policy
//! believes the rates of a disk in the machine file; the other simulator decides the real ones. So it does for links: a disk may be
//! anywhere.
//!
//! A task that is killed, or that its program no longer waits for, keeps its operation: as a thread that waits in the kernel, it cannot be
//! removed before [`Order::Done`]. Linux itself breaks a killed read or write off at its next page.
//!
//! A pattern of calls is one operation: its calls begin here, one after the other or several at once, as those of a process of a scenario.
//!
//! Left out: a server's page cache behind a mount of another host, streams of a library, mappings and copies from file to file,
//! descriptors, operations that are broken off, events and timelines. Of operations that overlap each is a task's own.
//!
//! ```
//! use pagecast_core::embed::{Order, PageCache, Rate};
//! use pagecast_core::units::{Bytes, Nanos};
//! use pagecast_core::workload::Action;
//!
//! let machine = r#"
//!     cores = 4
//!     memory = { size = "64 GB", read = "4 GB/s", write = "4 GB/s" }
//!     disk.ssd = { size = "1 TB", read = "500 MB/s", write = "500 MB/s" }
//!     mount."/data" = { disk = "ssd" }
//! "#;
//! let mut cache = PageCache::from_toml(machine, "no-cache", &[], "".as_ref(), "".as_ref())?;
//! let task = cache.add_task("writer");
//! let write = Action::Write { path: "/data/f".into(), offset: None, bytes: Bytes(1_000_000_000), call: None, vector: 1 };
//! cache.begin(Nanos::ZERO, task, &write)?;
//! let [Order::Start { transfer, bytes, .. }] = cache.orders().collect::<Vec<_>>()[..] else { panic!("a disk of 500 MB/s is asked") };
//! cache.advance(Nanos::ZERO, &[Rate { transfer, bytes_per_s: 500e6 }])?;
//! let end = Nanos::from_seconds(bytes as f64 / 500e6);
//! cache.completed(end, transfer)?;
//! let [Order::Done { task: done, outcome }] = cache.orders().collect::<Vec<_>>()[..] else { panic!("the write is over") };
//! assert_eq!((done, outcome.parts.total()), (task, Nanos(2_000_000_000)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counted;
mod disks;
mod error;
mod operations;
mod orders;
mod patterns;
mod tasks;
mod transfers;

use std::collections::{BTreeSet, VecDeque};
use std::path::Path as FilePath;
use std::sync::Arc;

use self::counted::Counted;
pub use self::counted::LatencyRow;
pub use self::disks::Disks;
pub use self::error::EmbedError;
pub use self::orders::{Direction, Order, Rate, TaskId, TransferId};
use self::tasks::Tasks;
use self::transfers::Transfers;
use crate::calls::{Anonymous, Descriptors};
use crate::error::ScenarioError;
use crate::fs::Namespace;
use crate::machine::{Host, Machine, MountSource};
use crate::policy::{
    Actions, Call, Command, ModelOptions, OperationId, OptionValue, Options, Policy, Refusal, Request,
    Setting, registry,
};
use crate::result::MemoryLevels;
use crate::scenario;
use crate::units::{Nanos, earlier};

/// So late may a call be: clocks of other simulators are floating-point numbers.
const TOLERANCE: Nanos = Nanos(1_000);

/// See the module.
pub struct PageCache {
    model: String,
    machine: Arc<Machine>,
    policy: Box<dyn Policy>,
    files: Namespace<Arc<Machine>>,
    devices: Vec<Arc<str>>,
    transfers: Transfers,
    actions: Actions,
    tasks: Tasks,
    /// Of the random numbers of patterns.
    seed: u64,
    counted: Counted,
    /// Tasks in a pattern that go on now, and those that go on later.
    ready: VecDeque<TaskId>,
    sleepers: BTreeSet<(Nanos, TaskId)>,
    /// Why a call of a pattern could not be done.
    failure: Option<EmbedError>,
    /// Anonymous memory of all tasks.
    anonymous: Anonymous,
    descriptors: Descriptors,
    /// What the policy has given way with.
    resumes: Vec<u64>,
    orders: Vec<Order>,
    now: Nanos,
    /// The answer of [`Self::next_call`], which each call asks for, while nothing changes.
    next: Option<Option<Nanos>>,
}

impl PageCache {
    /// The page cache of the only host of a machine file.
    ///
    /// Files that `from` names by path are relative to `base_dir`, and by name in `machine_dir`. `options` are those of the model.
    ///
    /// # Errors
    /// What is wrong in the file; more hosts than one, or a mount that is no disk; a model or option that does not exist.
    pub fn from_toml(
        machine: &str,
        model: &str,
        options: &[(String, String)],
        base_dir: &FilePath,
        machine_dir: &FilePath,
    ) -> Result<Self, ScenarioError> {
        Self::new(scenario::load_machine(machine.as_bytes(), ORIGIN, base_dir, machine_dir)?, model, options)
    }

    /// The page cache of the only host of a machine.
    ///
    /// # Errors
    /// More hosts than one, or a mount that is no disk; a model or option that does not exist.
    pub fn new(machine: Machine, model: &str, options: &[(String, String)]) -> Result<Self, ScenarioError> {
        let host = only_host(&machine)?;
        let transfers = Transfers::new(host);
        let (memory_read, memory_write) = transfers.memory();
        let values: ModelOptions = options.iter().map(option).collect();
        let options = Options { origin: ORIGIN, model, values: &values };
        let setting = Setting { host, memory_read, memory_write, journals: transfers.journals(), seed: 0 };
        let policy = registry::make(model, &setting, &options)?;
        let devices = host.disks.iter().map(|disk| Arc::from(disk.name.as_str())).collect();
        let machine = Arc::new(machine);
        Ok(Self {
            model: model.to_owned(),
            files: Namespace::new(machine.clone()),
            machine,
            policy,
            devices,
            transfers,
            actions: Actions::default(),
            tasks: Tasks::default(),
            seed: 0,
            counted: Counted::default(),
            ready: VecDeque::new(),
            sleepers: BTreeSet::new(),
            failure: None,
            anonymous: Anonymous::default(),
            descriptors: Descriptors::default(),
            resumes: Vec::new(),
            orders: Vec::new(),
            now: Nanos::ZERO,
            next: None,
        })
    }

    /// The seed of the random numbers of patterns; 0 without it, as in a simulation of ours.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// The names of the disks; orders refer to them by index.
    #[must_use]
    pub fn devices(&self) -> &[Arc<str>] {
        &self.devices
    }

    fn host(&self) -> &Host {
        &self.machine.hosts[0]
    }

    /// A transfer has moved all its bytes.
    ///
    /// # Errors
    /// It is not under way; a time before the last one, or long after [`Self::next_call`].
    pub fn completed(&mut self, now: Nanos, transfer: TransferId) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        let (flow, completion) = self.transfers.complete(now, transfer)?;
        self.come_to(now);
        self.actions.release(flow);
        self.call(|policy, now, out| policy.completed(now, &completion, out))
    }

    /// Time has come to `now`, and transfers have these rates. See the module for when to call it.
    ///
    /// # Errors
    /// A rate that is none, of a transfer that is not under way; a time before the last one, or long after [`Self::next_call`].
    pub fn advance(&mut self, now: Nanos, rates: &[Rate]) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        rates.iter().try_for_each(|rate| self.transfers.check(rate))?;
        self.come_to(now);
        self.wake()?;
        for rate in rates {
            self.transfers.set_rate(now, rate);
        }
        self.settle()
    }

    /// When [`Self::advance`] is to be called at the latest, if nothing else happens: now, as long as there are orders.
    pub fn next_call(&mut self) -> Option<Nanos> {
        if !self.resumes.is_empty() || !self.orders.is_empty() || !self.ready.is_empty() {
            return Some(self.now);
        }
        let Self { policy, transfers, sleepers, .. } = self;
        let next = self.next.get_or_insert_with(|| {
            let woken = sleepers.first().map(|&(time, _)| time);
            earlier(woken, earlier(policy.next_call(), transfers.next_event()))
        });
        next.map(|next| next.max(self.now))
    }

    /// Takes what is to be done, in this order.
    pub fn orders(&mut self) -> impl Iterator<Item = Order> + use<> {
        std::mem::take(&mut self.orders).into_iter()
    }

    /// What the memory holds at this instant.
    ///
    /// # Errors
    /// A time before the last one, or long after [`Self::next_call`].
    pub fn levels(&mut self, now: Nanos) -> Result<MemoryLevels, EmbedError> {
        self.look(now)?;
        Ok(self.policy.levels())
    }

    /// Brings levels that change between calls up to an instant.
    fn look(&mut self, now: Nanos) -> Result<(), EmbedError> {
        self.check_time(now)?;
        self.check_not_late(now)?;
        if self.policy.is_even() && now > self.now {
            self.next = None;
            self.policy.bring_up_to(now);
        }
        Ok(())
    }

    /// The last time that was told.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.now
    }

    fn check_time(&self, now: Nanos) -> Result<(), EmbedError> {
        if now < self.now { Err(EmbedError::TimeRunsBack { now, last: self.now }) } else { Ok(()) }
    }

    fn check_not_late(&mut self, now: Nanos) -> Result<(), EmbedError> {
        match self.next_call().filter(|&due| now > due + TOLERANCE) {
            Some(due) => Err(EmbedError::Late { now, due }),
            None => Ok(()),
        }
    }

    fn come_to(&mut self, now: Nanos) {
        self.now = now;
        self.next = None;
    }

    /// Does all that is due now: ends copies, lets others go on, makes the call that the policy has asked for, and calls of patterns.
    fn wake(&mut self) -> Result<(), EmbedError> {
        for completion in self.transfers.copied(self.now) {
            self.actions.release(completion.flow);
            self.call(|policy, now, out| policy.completed(now, &completion, out))?;
        }
        for tag in std::mem::take(&mut self.resumes) {
            self.call(|policy, now, out| policy.resumed(now, tag, out))?;
        }
        if self.policy.next_call().is_some_and(|due| due <= self.now) {
            self.call(|policy, now, out| policy.advance(now, &[], out))?;
        }
        self.go_on_with_patterns()
    }

    /// Tells the policy all new rates.
    fn settle(&mut self) -> Result<(), EmbedError> {
        let mut changed = Vec::new();
        loop {
            self.transfers.settle(self.now, &mut changed, &mut self.orders);
            if changed.is_empty() {
                return Ok(());
            }
            self.call(|policy, now, out| policy.advance(now, &changed, out))?;
            changed.clear();
        }
    }

    /// Calls the policy and does what it wants.
    fn call(&mut self, call: impl FnOnce(&mut dyn Policy, Nanos, &mut Actions)) -> Result<(), EmbedError> {
        self.next = None;
        if self.policy.is_even() {
            self.policy.bring_up_to(self.now);
        }
        call(&mut *self.policy, self.now, &mut self.actions);
        let commands = self.actions.take();
        let outcome = commands.iter().try_for_each(|command| self.carry_out(command));
        self.actions.give_back(commands);
        outcome
    }

    fn carry_out(&mut self, command: &Command) -> Result<(), EmbedError> {
        let now = self.now;
        match *command {
            Command::Start(flow, spec) => self.transfers.start(now, flow, spec, &mut self.orders),
            Command::SetCap(flow, cap) => self.transfers.set_cap(now, flow, cap, &mut self.orders),
            Command::Shorten(flow, bytes) => self.transfers.shorten(now, flow, bytes, &mut self.orders),
            Command::Cancel(flow) => {
                self.transfers.cancel(now, flow, &mut self.orders);
                self.actions.release(flow);
            }
            Command::Done(OperationId::NOBODY, _) => {}
            Command::Done(operation, outcome) => self.ended(TaskId(operation.0), outcome),
            Command::Refuse(_, Refusal { what, remedy }) => {
                return Err(EmbedError::NoAnswer { model: self.model.clone(), what, remedy });
            }
            Command::GiveWay(tag) => self.resumes.push(tag),
            Command::Send(_) => unreachable!("a host that is embedded mounts no other's directories"),
            Command::Waited(..) | Command::Tell(_) | Command::Sample(_) => {}
        }
        Ok(())
    }

    fn request(&mut self, operation: OperationId, call: Call) -> Result<(), EmbedError> {
        self.call(|policy, now, out| policy.begin(now, &Request { operation, call }, out))
    }
}

/// What messages name in the place of a file.
const ORIGIN: &str = "<machine>";

fn option((key, text): &(String, String)) -> (String, OptionValue) {
    (key.clone(), OptionValue { text: text.clone(), at: format!("option {key}") })
}

/// The host of a machine that has nothing that only our own engine knows.
fn only_host(machine: &Machine) -> Result<&Host, ScenarioError> {
    let refused = |what: String, remedy: &str| {
        Err(ScenarioError { place: ORIGIN.to_owned(), what, remedy: remedy.to_owned() })
    };
    let [host] = &machine.hosts[..] else {
        let what = format!("there are {} hosts, and each has a page cache of its own", machine.hosts.len());
        return refused(what, "describe one machine");
    };
    match host.mounts.iter().find(|mount| !matches!(mount.source, MountSource::Disk(_))) {
        Some(mount) if mount.source == MountSource::Tmpfs => refused(
            format!("mount \"{}\" is a tmpfs, which other simulators do not have", mount.path),
            "remove it",
        ),
        Some(mount) => refused(
            format!("mount \"{}\" is on another host, which the other simulator has", mount.path),
            "give it a disk of its own; where that is, the other simulator knows",
        ),
        None => Ok(host),
    }
}

#[cfg(test)]
mod tests;
