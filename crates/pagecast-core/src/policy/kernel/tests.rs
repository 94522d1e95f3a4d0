//! Builds a kernel without an engine, for tests of its parts on given tasks and levels.

use std::sync::Arc;

use super::*;
use crate::flow::{FlowSpec, Path};
use crate::machine::{Host, Machine};
use crate::policy::kernel::Kernel;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::options::KernelOptions;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::cost::{Prices, Run};
use crate::policy::kernel::tasks::ids::{MemcgId, Taker};
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::shape::Transfer;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{Actions, FileId, FileView, OperationId, Options, Setting};
use crate::scenario::{ModelOptions, OptionValue, load_machine};
use crate::units::{Bytes, Nanos};

pub const MIB: u64 = 1 << 20;

fn machine(settings: &str) -> Machine {
    let machine = format!("cores = 4\n{settings}");
    let machine = load_machine(machine.as_bytes(), "test.toml", "".as_ref(), "".as_ref());
    machine.expect("it is a machine")
}

/// The empty memory of a host with so many nodes of 8 GiB each.
pub fn nodes_of_8_gib(nodes: u64, settings: &str) -> Pages {
    let size = 8 * nodes;
    let memory = format!("size = '{size} GiB', nodes = {nodes}, read = '1 GB/s', write = '1 GB/s'");
    let machine = machine(&format!("memory = {{ {memory} }}\n{settings}"));
    let host = &machine.hosts[0];
    Pages::new(&Arc::new(Config::new(&setting(host))))
}

/// A task that takes pages on a node and is in no memory cgroup.
pub fn on(home: usize) -> Taker {
    Taker { home, memcg: MemcgId::ROOT }
}

/// A task that takes pages and is in the first memory cgroup.
pub fn in_first_memcg() -> Taker {
    Taker { home: 0, memcg: MemcgId::of(0) }
}

/// A host with so many nodes of 8 GiB each that copies 10 GB/s, with a disk and what else there is.
fn host(nodes: u64, settings: &str) -> Host {
    let size = 8 * nodes;
    let machine = machine(&format!(
        "memory.size = '{size} GiB'\nmemory.nodes = {nodes}\nmemory.read = '10 GB/s'\nmemory.write = '10 GB/s'\n\
         disk.ssd = {{ size = '1 TB', read = '100 MB/s', write = '100 MB/s' }}\n\
         mount.'/data'.disk = 'ssd'\n{settings}"
    ));
    machine.hosts[0].clone()
}

/// The options of a host as a scenario sets them.
fn options_of(host: &Host, set: &[(&str, &str)]) -> KernelOptions {
    let value = |text: &str| OptionValue { text: text.to_owned(), at: "test.toml:1".to_owned() };
    let values: ModelOptions = set.iter().map(|&(key, text)| (key.to_owned(), value(text))).collect();
    let options = Options { origin: "test.toml", model: "kernel", values: &values };
    KernelOptions::read(&options, host).expect("they are right")
}

/// The options of a host with a second disk, `hdd`.
pub fn options(set: &[(&str, &str)]) -> KernelOptions {
    options_of(&host(1, "disk.hdd = { size = '1 TB', read = '100 MB/s', write = '100 MB/s' }"), set)
}

/// The kernel of a host with 8 GiB.
pub fn kernel(settings: &str) -> Kernel {
    kernel_on_nodes(1, settings)
}

/// A kernel on a host with so many nodes.
pub fn kernel_on_nodes(nodes: u64, settings: &str) -> Kernel {
    let host = &host(nodes, settings);
    let options = options_of(host, &[]);
    Kernel::new(&setting(host), &options)
}

fn setting(host: &Host) -> Setting<'_> {
    let memory = Path::default();
    Setting { host, memory_read: memory, memory_write: memory, journals: Vec::new(), seed: 0 }
}

/// Changes what is the same for all owners.
pub fn reconfigure(kernel: &mut Kernel, change: impl FnOnce(&mut Config)) {
    let mut config = Config::clone(&kernel.config);
    change(&mut config);
    config.prices = Prices::of(&config.host.memory.cost, config.host.memory.l2);
    let config = Arc::new(config);
    let Kernel { pages, write_back, flushers, block, ext4, caps, .. } = kernel;
    for each in [
        &mut pages.config,
        &mut write_back.config,
        &mut flushers.config,
        &mut block.config,
        &mut ext4.config,
        &mut caps.config,
    ] {
        *each = config.clone();
    }
    kernel.config = config;
}

/// A flow of a GB that has begun at 0 and has this rate.
pub fn transfer(rate: f64) -> Transfer {
    let flow = Actions::default().start(FlowSpec::new(Path::default(), 1_000_000_000, 0));
    let mut transfer = Transfer::new(flow, 1_000_000_000, None, Nanos::ZERO);
    transfer.rate = rate;
    transfer
}

/// An operation of this number writes a GB to its own file on the first disk, so many bytes a second.
pub fn write(kernel: &mut Kernel, number: u32, run: Run, rate: f64) -> OperationId {
    let bytes = Bytes(1_000_000_000);
    let file = FileView { id: FileId(number), size: bytes, ..FileView::default() };
    kernel.flushers.flusher_of(&mut kernel.write_back, &file);
    let task = Task::new(Kind::Write, Some(file), (0, bytes, bytes), Nanos::ZERO);
    let task = Task { run, pace: f64::INFINITY, transfer: Some(transfer(rate)), ..task };
    kernel.tasks.insert(OperationId(number), task);
    OperationId(number)
}

#[test]
fn as_many_blocks_are_announced_as_there_are_pieces_of_files() {
    let mut kernel = kernel("");
    assert_eq!(kernel.block_count(), 0);
    for (file, from, to) in [(1, 0, 1), (1, 5, 6), (2, 0, 1)] {
        kernel.pages.read_in(FileId(file), from * MIB, to * MIB, on(0));
    }
    assert_eq!((kernel.block_count(), kernel.blocks().len()), (3, 3));
}
