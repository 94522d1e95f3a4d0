//! Takes the calls of clients to servers: sends them, has the server's policy do them, and brings the replies back.
//!
//! Source: `net/sunrpc/svc.c, svc_xprt.c`, `fs/nfsd/vfs.c: nfsd_vfs_write, nfsd_commit`, Linux 6.16. A server has threads, each of which does one call
//! at a time; others wait, first come, first served. A thread is an operation of its own to the policy of the server, so it is throttled like any
//! writer. With the export option `async` a reply does not wait for the disk.
//!
//! Left out: lost messages and retransmission, authentication, the duplicate request cache.

use std::collections::BTreeSet;

use super::agenda::Wake;
use super::connections::Recipient;
use super::groups::servers;
use super::rpc_use::answered;
use super::run::Engine;
use super::services::{Mounted, THREAD, UnderWay};
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::Located;
use crate::machine::{Export, FileSystem, MountSource};
use crate::policy::{
    Call, FileView, Integrity, NameChange, OperationId, Outcome, Procedure, Reply, Request, Rpc,
};
use crate::units::{Bytes, Nanos};

/// Bytes of the headers of a call or a reply: RPC, COMPOUND with SEQUENCE and PUTFH, attributes.
pub(super) const HEADER: Bytes = Bytes(200);

impl<N: Network> Engine<'_, N> {
    /// Sends a call of a client to the server of its mount.
    pub(super) fn send_call(&mut self, client: u32, rpc: Rpc) {
        self.send_to_server(UnderWay::new(client, rpc, (0, None), self.now));
    }

    /// Sends a call to its server.
    pub(super) fn send_to_server(&mut self, call: UnderWay) {
        let mounted = self.mounted(&call);
        let (data, _) = call.rpc.procedure.data();
        self.rpc_use.mount_of(&call).in_use.rise(self.now);
        let call = self.rpcs.calls.add(call);
        self.send_message(mounted.to_server, (HEADER, data), Recipient::Server(call));
    }

    /// The host of the server of a call.
    pub(super) fn server_of(&self, call: &UnderWay) -> u32 {
        self.mounted(call).server
    }

    fn mounted(&self, call: &UnderWay) -> Mounted {
        self.rpcs.mounts[call.client as usize][call.rpc.mount as usize][call.server as usize]
    }

    /// A call has arrived at its server: a thread that is free takes it.
    pub(super) fn call_arrived(&mut self, call: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let under_way = *self.rpcs.calls.get_mut(call);
        let server = self.mounted(&under_way).server;
        let piece = self.first_piece(server, &under_way);
        let under_way = self.rpcs.calls.get_mut(call);
        under_way.arrived = now;
        under_way.keep_first(piece);
        self.rpc_use.servers[server as usize].waiting.rise(now);
        self.rpcs.services[server as usize].waiting.push_back(call);
        self.take_waiting_calls(server)
    }

    /// The free threads of a server take the calls that wait, unless it stalls.
    pub(super) fn take_waiting_calls(&mut self, server: u32) -> Result<(), SimulationError> {
        while !self.is_stalled(server)
            && let Some(thread) = self.rpcs.services[server as usize].take_next()
        {
            let (now, used) = (self.now, &mut self.rpc_use.servers[server as usize]);
            used.waiting.fall(now);
            used.busy.rise(now);
            self.take_call(server, thread)?;
        }
        Ok(())
    }

    fn is_stalled(&self, server: u32) -> bool {
        self.scenario.machine.hosts[server as usize].nfsd.is_stalled(self.now)
    }

    /// A thread of a server begins its call, which takes some time beside its data.
    fn take_call(&mut self, server: u32, thread: u32) -> Result<(), SimulationError> {
        let nfsd = &self.scenario.machine.hosts[server as usize].nfsd;
        let mut takes = nfsd.call;
        if nfsd.search > Nanos::ZERO {
            takes += Nanos(nfsd.search.0.saturating_mul(1 + self.rpcs.waiting_with(server, thread)));
        }
        if takes == Nanos::ZERO {
            return self.do_call(server, thread);
        }
        self.agenda.add(self.now, self.now + takes, Wake::Nfsd { server, thread });
        Ok(())
    }

    /// A thread of a server does its call.
    pub(super) fn do_call(&mut self, server: u32, thread: u32) -> Result<(), SimulationError> {
        let call = self.rpcs.services[server as usize].threads[thread as usize].expect("it has a call");
        let under_way = self.rpcs.calls.get(call);
        let (UnderWay { client, rpc, .. }, is_striped) = (*under_way, under_way.is_striped());
        match self.call_of(server, &rpc, is_striped) {
            Some(call) => {
                match rpc.procedure {
                    Procedure::Write { .. } | Procedure::Setattr { .. } if !is_striped => {
                        self.namespace.changed(rpc.file);
                        *self.rpcs.own_changes.entry((client, rpc.file)).or_default() += 1;
                    }
                    // Its time of change is another one; the reply has the attributes of the directories only
                    // (`fs/ext4/namei.c: ext4_rename`, `fs/nfs/nfs4proc.c: nfs4_proc_rename_done`, Linux 6.12).
                    Procedure::Rename { .. } if !is_striped => self.namespace.changed(rpc.file),
                    _ => {}
                }
                self.request(server, &Request { operation: OperationId(THREAD | thread), call })
            }
            None => self.call_done(server, thread, Outcome::default()),
        }
    }

    /// The call to the policy of a server; none if the reply does not wait for it.
    fn call_of(&self, server: u32, rpc: &Rpc, is_striped: bool) -> Option<Call> {
        let file = self.view_of_server(rpc);
        let policy = &self.hosts[server as usize].policy;
        let mount = &self.scenario.machine.hosts[server as usize].mounts[file.mount as usize];
        let is_async = mount.export == Export::Async;
        // A file may have been cut or removed while the call was on its way.
        let there = |end: Bytes, offset: u64, bytes: Bytes| bytes.min(end.saturating_sub(Bytes(offset)));
        let name = |change| policy.minds_names().then_some(Call::Name { file, change });
        match rpc.procedure {
            Procedure::Read { offset, bytes } => {
                let bytes = there(file.size, offset, bytes);
                let call = Call::Read { file, offset, bytes, fresh: false, dontcache: false, piece: bytes };
                (bytes > Bytes::ZERO).then_some(call)
            }
            Procedure::Write { offset, bytes, stable } => {
                let bytes = there(self.namespace.taken(rpc.file), offset, bytes);
                let through = self.namespace.writes_through(rpc.file);
                let call = if stable && !is_async && !through {
                    Call::WriteSync { file, offset, bytes, piece: bytes, durable: Integrity::File }
                } else {
                    Call::Write { file, offset, bytes, through, dontcache: false, piece: bytes }
                };
                (bytes > Bytes::ZERO).then_some(call)
            }
            Procedure::Commit if is_async => None,
            Procedure::Commit => Some(Call::Fsync { file, durable: Integrity::File }),
            Procedure::Getattr if is_striped && policy.minds_opens() && self.namespace.has_size(rpc.file) => {
                Some(Call::Open { file, is_stat: true })
            }
            Procedure::Open if policy.minds_opens() && self.namespace.has_size(rpc.file) => {
                Some(Call::Open { file, is_stat: false })
            }
            Procedure::Getattr
            | Procedure::Lookup
            | Procedure::Open
            | Procedure::Close
            | Procedure::Delegreturn => None,
            Procedure::Create => name(NameChange::Create),
            Procedure::Rename { replaces } => name(NameChange::Rename { replaces }),
            Procedure::Remove { is_last: false } => name(NameChange::Unlink),
            Procedure::Remove { is_last: true } => Some(Call::Unlink { file }),
            Procedure::Setattr { size } => Some(Call::Truncate { file, size, opens: false }),
        }
    }

    fn view_of_server(&self, rpc: &Rpc) -> FileView {
        let (host, mount) = self.namespace.home_mount(rpc.file);
        self.view(host, Located { file: rpc.file, mount })
    }

    /// A thread of a server has done its call: it replies, and takes the next.
    pub(super) fn call_done(
        &mut self,
        server: u32,
        thread: u32,
        outcome: Outcome,
    ) -> Result<(), SimulationError> {
        let call = self.rpcs.services[server as usize].threads[thread as usize].expect("it has a call");
        let under_way = self.rpcs.calls.get_mut(call);
        let rpc = under_way.rpc;
        if std::mem::take(&mut under_way.commits)
            && let Some(call) = self.commit_metadata(server, &rpc)
        {
            return self.request(server, &Request { operation: OperationId(THREAD | thread), call });
        }
        let now = self.now;
        self.release_next_piece(server, call);
        self.rpcs.services[server as usize].threads[thread as usize] = None;
        let used = &mut self.rpc_use.servers[server as usize];
        answered(&mut used.calls, rpc.procedure);
        used.busy.fall(now);
        let under_way = self.rpcs.calls.get_mut(call);
        (under_way.replied, under_way.outcome) = (now, outcome);
        let mut under_way = *under_way;
        if under_way.is_striped() {
            self.lengthen_datafile(&rpc);
        } else {
            under_way.delegates = self.delegates(server, &under_way);
            self.rpcs.calls.get_mut(call).delegates = under_way.delegates;
            self.note_change_of_inode(&rpc);
        }
        self.cut_behind_end(server, &rpc)?;
        let mounted = self.mounted(&under_way);
        let (_, data) = rpc.procedure.data();
        self.send_message(mounted.to_client, (HEADER, data), Recipient::Client(call));
        self.take_waiting_calls(server)
    }

    /// The call by which a server makes a change of metadata durable before it answers, or of bytes that have gone through to the disk, unless it
    /// exports with `async`
    /// (`fs/nfsd/vfs.c: nfsd_create_setattr, nfsd_unlink, nfsd_rename, nfsd_setattr`, `fs/nfsd/vfs.h: commit_metadata`).
    fn commit_metadata(&self, server: u32, rpc: &Rpc) -> Option<Call> {
        let file = self.view_of_server(rpc);
        let mount = &self.scenario.machine.hosts[server as usize].mounts[file.mount as usize];
        let is_durable =
            matches!(rpc.procedure, Procedure::Write { .. }) && !self.namespace.writes_through(rpc.file);
        (mount.export == Export::Sync && !is_durable)
            .then_some(Call::Fsync { file, durable: Integrity::File })
    }

    /// Drops what a READ or a WRITE has left behind the end of a file that was cut or removed meanwhile: who cuts it waits for the lock of its
    /// inode, and for pages that are being read (`fs/attr.c: notify_change`, `mm/truncate.c: truncate_inode_pages_range`).
    fn cut_behind_end(&mut self, server: u32, rpc: &Rpc) -> Result<(), SimulationError> {
        let (Procedure::Read { offset, bytes } | Procedure::Write { offset, bytes, .. }) = rpc.procedure
        else {
            return Ok(());
        };
        let size = self.namespace.taken(rpc.file);
        if Bytes(offset) + bytes <= size {
            return Ok(());
        }
        let call = Call::Truncate { file: self.view_of_server(rpc), size, opens: false };
        self.request(server, &Request { operation: OperationId::NOBODY, call })
    }

    /// XFS counts a change whenever it logs the core of an inode, and does so when the size on the disk follows what has been written
    /// (`fs/xfs/libxfs/xfs_trans_inode.c: xfs_trans_log_inode`, `fs/xfs/xfs_aops.c: xfs_setfilesize`, Linux 6.16). To a client that looks like a
    /// change by others.
    fn note_change_of_inode(&mut self, rpc: &Rpc) {
        let is_durable = matches!(rpc.procedure, Procedure::Commit | Procedure::Write { stable: true, .. });
        let (host, mount) = self.namespace.home_mount(rpc.file);
        let mount = &self.scenario.machine.hosts[host].mounts[mount as usize];
        if is_durable && mount.file_system == FileSystem::Xfs {
            self.namespace.changed(rpc.file);
        }
    }

    /// The reply to a call has arrived at the client.
    pub(super) fn reply_arrived(&mut self, call: u32) -> Result<(), SimulationError> {
        let under_way = self.rpcs.calls.remove(call);
        let used = self.rpc_use.mount_of(&under_way);
        used.in_use.fall(self.now);
        answered(&mut used.calls, under_way.rpc.procedure);
        if let Some(payload) = under_way.payload {
            return self.buffer_done(payload, &under_way);
        }
        if let Some(sent) = under_way.of_cache {
            return self.dirty_sent(sent);
        }
        let UnderWay { client, rpc, sent, arrived, replied, delegates, .. } = under_way;
        let now = self.now;
        let server = replied - arrived;
        let own = self.rpcs.own_changes.get(&(client, rpc.file)).copied().unwrap_or_default();
        let change = self.namespace.change(rpc.file) - own;
        let reply = Reply { xid: rpc.xid, network: now - sent - server, server, change, delegates };
        self.with_policy(client, |policy, actions| policy.replied(now, &reply, actions))
    }

    /// Opens the connections of all mounts of other hosts, and notes when servers that stall go on.
    pub(super) fn connect_mounts(&mut self) {
        for (server, host) in (0..).zip(&self.scenario.machine.hosts) {
            if let Some(at) = host.nfsd.stalls_at {
                self.agenda.add(self.now, at + host.nfsd.stalls_for, Wake::NfsdGoesOn(server));
            }
        }
        for (client, host) in (0..).zip(&self.scenario.machine.hosts) {
            let mounts = host.mounts.iter().map(|mount| {
                let is_striped = matches!(mount.source, MountSource::Striped(_));
                let connected = servers(mount).map(|(server, link)| {
                    let mut connect = |from, to| {
                        let route =
                            *self.net.route(from, to, link).expect("the routes of all mounts are known");
                        if let Some(segments) = &mut self.segments {
                            segments.open(self.net.segment_way(from as usize, to as usize, link));
                        }
                        let lanes = match is_striped {
                            true => self.net.one_by_one(&route, &mut self.network),
                            false => vec![route.lane()],
                        };
                        self.connections.connect(lanes, route.latency)
                    };
                    let server = server as u32;
                    Mounted { to_server: connect(client, server), to_client: connect(server, client), server }
                });
                connected.collect()
            });
            let mounts = mounts.collect();
            self.rpcs.mounts.push(mounts);
        }
        self.count_clients();
        let all = self.rpcs.mounts.iter().flatten().flatten();
        let servers_of_calls: BTreeSet<usize> = all.map(|mounted| mounted.server as usize).collect();
        // A server's threads read a file through one open file (`fs/nfsd/filecache.c`).
        for server in servers_of_calls {
            for thread in 1..self.rpcs.services[server].threads.len() as u32 {
                let policy = &mut self.hosts[server].policy;
                policy.share_files(OperationId(THREAD | thread), OperationId(THREAD));
            }
        }
    }
}
