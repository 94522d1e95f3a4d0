//! Gives clients of NFS delegations with the replies to their calls, and calls those back that they lose ([`super::delegations`]).

use super::connections::Recipient;
use super::rpcs::HEADER;
use super::run::Engine;
use super::services::UnderWay;
use crate::flow::Network;
use crate::machine::{MountSource, NfsVersion};
use crate::policy::{FileId, Procedure};
use crate::units::Bytes;

impl<N: Network> Engine<'_, N> {
    /// Notes what a call that a server has done means for delegations of its file; true if the client gets one.
    pub(super) fn delegates(&mut self, server: u32, call: &UnderWay) -> bool {
        let UnderWay { client, rpc, .. } = *call;
        let mount = &self.scenario.machine.hosts[client as usize].mounts[rpc.mount as usize];
        let is_v3 = mount.options.unwrap_or_default().vers == NfsVersion::V3;
        let may = self.scenario.machine.hosts[server as usize].nfsd.delegations && !is_v3;
        if !may || !matches!(mount.source, MountSource::Nfs { .. }) {
            return false;
        }
        match rpc.procedure {
            Procedure::Open => return self.delegations.open(self.now, rpc.file, (client, rpc.mount)),
            Procedure::Write { .. } => self.delegations.note_writer(rpc.file, client, true),
            Procedure::Close => self.delegations.note_writer(rpc.file, client, false),
            Procedure::Delegreturn => self.delegations.give_back(rpc.file, client),
            _ if rpc.procedure.changes_metadata() => {}
            _ => return false,
        }
        if !matches!(rpc.procedure, Procedure::Close | Procedure::Delegreturn) {
            self.recall_delegations(rpc.file, Some(client));
        }
        false
    }

    /// Takes the delegations of a file back that somebody changes.
    pub(super) fn recall_delegations(&mut self, file: FileId, by: Option<u32>) {
        for (client, mount) in self.delegations.recall(self.now, file, by) {
            let to_client = self.rpcs.mounts[client as usize][mount as usize][0].to_client;
            self.send_message(to_client, (HEADER, Bytes::ZERO), Recipient::Recall(client, file));
        }
    }
}
