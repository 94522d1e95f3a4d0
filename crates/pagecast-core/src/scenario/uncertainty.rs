//! Reads `uncertainty` of a host: how far its values may be off. No simulation looks at it; a forecast with a range scales the host.

use super::document::{Entry, Place, Value, shorten};
use super::table::{Fields, FromNode};
use crate::error::ScenarioError;
use crate::keys::Kind;
use crate::machine::{Host, NotScaled, Uncertain};
use crate::units::Fraction;

/// The ranges of the values of `host`, whose table is `fields`.
///
/// # Errors
/// A key that the host does not have, a value that is no amount, and what is no percentage.
pub fn read_uncertainty(fields: &Fields<'_>, host: &Host) -> Result<Vec<Uncertain>, ScenarioError> {
    let Some(node) = fields.node("uncertainty") else { return Ok(Vec::new()) };
    let Value::Table(table) = &node.value else {
        let what = format!("`uncertainty` is {}, but must be a table", node.describe());
        return Err(node.at.error(what, "write for example uncertainty = { \"memory.write\" = \"3 %\" }"));
    };
    let mut trial = host.clone();
    table.entries.iter().map(|entry| read_one(entry, fields, &mut trial)).collect()
}

/// Reads one range; `trial` is a copy of the host, on which the key is tried.
fn read_one<'a>(entry: &'a Entry, fields: &Fields<'a>, trial: &mut Host) -> Result<Uncertain, ScenarioError> {
    let Entry { key, at, node } = entry;
    if let Value::Table(inner) = &node.value {
        let inner = inner.entries.first().map_or("write", |entry| &entry.key);
        let what = format!("`{}` is a table, but must be a percentage", shorten(key));
        return Err(
            at.error(what, format!("put the whole key in quotes: \"{}.{}\"", shorten(key), shorten(inner)))
        );
    }
    let spread = Fraction::from_node(&fields.value_of(entry, &Kind::Percent))?;
    trial.scale(key, 1.0).map_err(|why| refusal(at, key, why))?;
    Ok(Uncertain { key: key.clone(), spread })
}

/// The error that a key cannot be scaled.
pub fn refusal(at: &Place, key: &str, why: NotScaled) -> ScenarioError {
    let remedy =
        "name one as in the table of the host: \"memory.write\", \"disk.NAME.read\", \"mount.PATH.fsync\"";
    match why {
        NotScaled::Unknown => {
            at.error(format!("there is no key `{}` that could be off", shorten(key)), remedy)
        }
        NotScaled::NoAmount => at.error(format!("the value of `{}` is no amount", shorten(key)), remedy),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{PROCESS, read, refusal as refused};
    use crate::units::{Bytes, BytesPerSecond};

    const MACHINE: &str = "[machine]\ncores = 4\nmemory = { size = '16 GB', read = '8 GB/s', write = '5 GB/s' }\ndisk.ssd = { size = '1 TB', read = '1 GB/s', write = '1 GB/s', read_at = { '2' = '2 GB/s' } }\nmount.'/data'.disk = 'ssd'";

    fn error(uncertainty: &str) -> String {
        refused(&format!("{MACHINE}\nuncertainty = {uncertainty}\n{PROCESS}"))
    }

    #[test]
    fn values_of_a_host_have_ranges() {
        let text = format!(
            "{MACHINE}\n[machine.uncertainty]\n'memory.write' = '3 %'\n'disk.ssd.read' = '10 %'\n{PROCESS}"
        );
        let mut scenario = read(&text, &[]).unwrap();
        assert_eq!(
            scenario.machine.hosts[0].uncertainty[0],
            Uncertain { key: "memory.write".into(), spread: Fraction(0.03) }
        );
        scenario.scale(&[(0, "disk.ssd.read".into(), 1.1), (0, "memory.size".into(), 0.5)]).unwrap();
        let host = &scenario.machine.hosts[0];
        assert_eq!(host.memory.size, Bytes(8_000_000_000));
        assert_eq!(
            (host.disks[0].read, host.disks[0].read_at[0].1),
            (BytesPerSecond(1.1e9), BytesPerSecond(2.2e9))
        );
        assert_eq!(host.disks[0].write, BytesPerSecond(1e9));
    }

    #[test]
    fn what_is_none_is_refused() {
        assert_snapshot!(error("{ 'memory.wrte' = '3 %' }"), @r#"x.toml:6: there is no key `memory.wrte` that could be off; name one as in the table of the host: "memory.write", "disk.NAME.read", "mount.PATH.fsync""#);
        assert_snapshot!(error("{ 'disk.hdd.read' = '3 %' }"), @r#"x.toml:6: there is no key `disk.hdd.read` that could be off; name one as in the table of the host: "memory.write", "disk.NAME.read", "mount.PATH.fsync""#);
        assert_snapshot!(error("{ 'disk.ssd.sharing' = '3 %' }"), @r#"x.toml:6: the value of `disk.ssd.sharing` is no amount; name one as in the table of the host: "memory.write", "disk.NAME.read", "mount.PATH.fsync""#);
        assert_snapshot!(error("{ memory.write = '3 %' }"), @r#"x.toml:6: `memory` is a table, but must be a percentage; put the whole key in quotes: "memory.write""#);
        assert_snapshot!(error("{ 'memory.write' = 3 }"), @r#"x.toml:6: `memory.write` is the number 3 without a unit; a quantity is a string with its unit: memory.write = "15 %""#);
        assert_snapshot!(error("3"), @r#"x.toml:6: `uncertainty` is the number 3, but must be a table; write for example uncertainty = { "memory.write" = "3 %" }"#);
    }
}
