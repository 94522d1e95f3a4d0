//! Counts the calls of clients: at the threads of each server, and on the way from each mount.

use super::services::UnderWay;
use crate::machine::{Machine, MountSource};
use crate::policy::Procedure;
use crate::result::{Calls, Depth, Server, Slots};
use crate::units::{Bytes, Nanos};

/// The use of the threads of a server, and the calls before them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfServer {
    pub calls: Calls,
    pub busy: Depth,
    pub waiting: Depth,
}

/// The calls of a client to a server of a mount.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfMount {
    pub calls: Calls,
    pub in_use: Depth,
}

/// All servers by host, and all mounts with their servers; see the module.
#[derive(Debug, Default)]
pub(super) struct RpcUse {
    pub servers: Vec<OfServer>,
    mounts: Vec<Vec<Vec<OfMount>>>,
}

impl RpcUse {
    pub(super) fn new(hosts: usize) -> Self {
        Self { servers: vec![OfServer::default(); hosts], mounts: vec![Vec::new(); hosts] }
    }

    /// The calls to the server of a call.
    pub(super) fn mount_of(&mut self, call: &UnderWay) -> &mut OfMount {
        let mounts = &mut self.mounts[call.client as usize];
        let [mount, server] = [call.rpc.mount, call.server].map(|at| at as usize);
        if mounts.len() <= mount {
            mounts.resize(mount + 1, Vec::new());
        }
        if mounts[mount].len() <= server {
            mounts[mount].resize(server + 1, OfMount::default());
        }
        &mut mounts[mount][server]
    }

    /// A row for each server and each mount that had calls.
    pub(super) fn rows(
        mut self,
        now: Nanos,
        machine: &Machine,
        server_of: impl Fn(usize, usize, usize) -> u32,
    ) -> (Vec<Server>, Vec<Slots>) {
        let (mut servers, mut slots) = (Vec::new(), Vec::new());
        for (host, mut used) in machine.hosts.iter().zip(std::mem::take(&mut self.servers)) {
            used.busy.bring_up_to(now);
            used.waiting.bring_up_to(now);
            if used.busy.most > 0 {
                let OfServer { calls, busy, waiting } = used;
                servers.push(Server {
                    host: host.name.clone(),
                    threads: host.nfsd.threads,
                    calls,
                    busy,
                    waiting,
                });
            }
        }
        for (client, mounts) in self.mounts.into_iter().enumerate() {
            for (at, of_servers) in mounts.into_iter().enumerate() {
                for (number, mut used) in of_servers.into_iter().enumerate() {
                    used.in_use.bring_up_to(now);
                    if used.in_use.most == 0 {
                        continue;
                    }
                    let mount = &machine.hosts[client].mounts[at];
                    let is_nfs = matches!(mount.source, MountSource::Nfs { .. });
                    slots.push(Slots {
                        host: machine.hosts[client].name.clone(),
                        mount: mount.path.clone(),
                        server: machine.hosts[server_of(client, at, number) as usize].name.clone(),
                        slots: is_nfs.then(|| mount.options.unwrap_or_default().slots),
                        calls: used.calls,
                        in_use: used.in_use,
                    });
                }
            }
        }
        (servers, slots)
    }
}

/// Counts a call that has been answered.
pub(super) fn answered(calls: &mut Calls, procedure: Procedure) {
    calls.count += 1;
    match procedure {
        Procedure::Read { bytes: Bytes(bytes), .. } => calls.read += bytes,
        Procedure::Write { bytes: Bytes(bytes), .. } => calls.written += bytes,
        _ => {}
    }
}
