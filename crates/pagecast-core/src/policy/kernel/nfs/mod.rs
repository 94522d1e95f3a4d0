//! Sends the calls of an NFS client: its mounts are devices whose requests are calls to their servers.
//!
//! Source: `fs/nfs/write.c, read.c, pagelist.c, inode.c`, `net/sunrpc/xprt.c`, Linux 6.16. Pages, limits, read-ahead and flushers are those of all devices;
//! here is what becomes of a unit of write-back, a window of read-ahead and a call that waits for the server.
//!
//! - A WRITE has up to `wsize` bytes, a READ up to `rsize`. As many calls are on their way as there are slots.
//! - WRITEs are unstable: their pages count as under writeback until a COMMIT of the file has been answered (`inode`).
//! - Operations on names and attributes wait for their calls (`asked`).
//!
//! Left out: locks, layouts (pNFS), fs-cache, retransmission.

pub mod asked;
pub mod client;
pub mod inode;
pub mod replies;
pub mod requests;
pub mod slots;

use std::sync::Arc;

use self::client::Client;
use crate::policy::kernel::config::Config;
use crate::policy::{Actions, DeviceId, FileId, FileView, OperationId};
use crate::result::{Part, Parts};
use crate::units::Nanos;

/// The clients of a host, one for each mount of another host's directory.
pub struct Nfs {
    each: Vec<Option<Client>>,
    disks: usize,
}

impl Nfs {
    /// Those of a host.
    pub fn new(config: &Arc<Config>) -> Self {
        let host = &config.host;
        let client = |mount: usize| {
            config.nfs_options(mount).map(|options| {
                let device = DeviceId((host.disks.len() + mount) as u32);
                Client::new(mount as u32, device, options, &config.rules)
            })
        };
        Self { each: (0..host.mounts.len()).map(client).collect(), disks: host.disks.len() }
    }

    /// The client of a device, if it is a mount of another host's directory.
    pub fn get_mut(&mut self, device: DeviceId) -> Option<&mut Client> {
        let mount = (device.0 as usize).checked_sub(self.disks)?;
        self.each.get_mut(mount)?.as_mut()
    }

    /// True if the attributes of a file of another host have to be asked for before its pages are read.
    pub fn must_revalidate(&mut self, now: Nanos, file: &FileView) -> bool {
        self.get_mut(file.device).is_some_and(|client| !client.believes(now, file.id))
    }

    /// A delegation of a file ends, if there is one.
    pub fn return_delegation(&mut self, file: &FileView) {
        if let Some(client) = self.get_mut(file.device) {
            client.return_delegation(file.id);
        }
    }

    /// The server of a file takes its delegation back.
    pub fn recall(&mut self, file: FileId) {
        self.each.iter_mut().flatten().for_each(|client| client.return_delegation(file));
    }

    /// The client that has sent a call, with the device.
    pub fn of_call(&mut self, xid: u64) -> Option<(DeviceId, &mut Client)> {
        let disks = self.disks;
        let clients = self.each.iter_mut().enumerate();
        let mut sent = clients.filter_map(|(mount, client)| {
            let device = DeviceId((disks + mount) as u32);
            client.as_mut().filter(|client| client.has_sent(xid)).map(|client| (device, client))
        });
        sent.next()
    }

    /// Lets an operation wait until nothing of a device, or of all, is to be committed. Returns for how many files it waits.
    pub fn wait_for_all_commits(
        &mut self,
        operation: OperationId,
        device: Option<DeviceId>,
        out: &mut Actions,
    ) -> u32 {
        let disks = self.disks;
        let is_meant = |mount: usize| device.is_none_or(|device| device.0 as usize == disks + mount);
        let clients = self.each.iter_mut().enumerate().filter(|(mount, _)| is_meant(*mount));
        clients.flat_map(|(_, client)| client).map(|client| client.wait_for_all_commits(operation, out)).sum()
    }

    /// True if no call is on its way and nothing waits to be committed.
    pub fn is_idle(&self) -> bool {
        self.each.iter().flatten().all(Client::is_idle)
    }

    /// Divides a wait of a task for a file, which ends now, between the network and the server, or charges it to `part` if the file is here.
    pub fn parts_of_wait(&self, now: Nanos, file: Option<&FileView>, part: Part, wait: Nanos) -> Parts {
        let mount = file.and_then(|file| (file.device.0 as usize).checked_sub(self.disks));
        match mount.and_then(|mount| self.each.get(mount)?.as_ref()) {
            Some(client) => client.parts_of(now, wait),
            None => Parts::of(part, wait),
        }
    }
}
