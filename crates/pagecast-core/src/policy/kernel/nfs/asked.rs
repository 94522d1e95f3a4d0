//! Says which calls an operation on names or attributes makes.
//!
//! Source: `fs/nfs/nfs3proc.c: nfs3_proc_create, nfs3_proc_lookup`, `fs/nfs/nfs4proc.c: nfs4_do_open, nfs4_proc_remove, nfs4_proc_rename,
//! nfs4_do_setattr, nfs4_do_close`, `fs/nfs/inode.c: nfs_open`, Linux 6.16. Version 4 sends the operations of a call as one COMPOUND. Version 3 looks a
//! new name up before it makes a file, and closes without a call.
//!
//! Left out: ACCESS, and LOOKUP of names that are there: clients cache both.

use crate::machine::NfsVersion;
use crate::policy::kernel::tasks::kind::Asked;
use crate::policy::{NameChange, Procedure};

/// The call that an operation makes after so many others; none after the last.
pub fn call(asked: Asked, vers: NfsVersion, sent: u8) -> Option<Procedure> {
    let is_v3 = vers == NfsVersion::V3;
    let opening = if is_v3 { Procedure::Getattr } else { Procedure::Open };
    let calls = match asked {
        Asked::Stat => [Some(Procedure::Getattr), None],
        Asked::Open => [Some(opening), None],
        Asked::Close => [(!is_v3).then_some(Procedure::Close), None],
        Asked::Name(NameChange::Create) if is_v3 => [Some(Procedure::Lookup), Some(Procedure::Create)],
        Asked::Name(NameChange::Create) => [Some(Procedure::Create), None],
        Asked::Name(NameChange::Rename { replaces }) => [Some(Procedure::Rename { replaces }), None],
        Asked::Name(NameChange::Unlink) => [Some(Procedure::Remove { is_last: false }), None],
        Asked::Remove => [Some(Procedure::Remove { is_last: true }), None],
        Asked::Cut { size, opens: false } => [Some(Procedure::Setattr { size }), None],
        Asked::Cut { size, opens: true } => [Some(opening), Some(Procedure::Setattr { size })],
    };
    calls.get(usize::from(sent)).copied().flatten()
}

/// True if a client returns its delegation of a file before an operation (`fs/nfs/delegation.c: nfs4_inode_make_writeable`).
pub fn returns_delegation(asked: Asked) -> bool {
    matches!(asked, Asked::Remove | Asked::Name(NameChange::Rename { .. } | NameChange::Unlink))
}

/// True if what was written is to be durable before an operation.
pub fn commits(asked: Asked) -> bool {
    matches!(asked, Asked::Close | Asked::Cut { .. })
}
