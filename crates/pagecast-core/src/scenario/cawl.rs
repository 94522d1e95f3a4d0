//! `[machine.cawl]`: the parameters of the model CAWL where they were measured themselves.

use super::document::Node;
use super::machine::inside;
use super::schema::CAWL;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::machine::CawlParameters;

/// The parameters of a host; none of them where it has no such table.
///
/// # Errors
/// An unknown key, or a quantity that is none.
pub fn read_cawl(host: &Fields<'_>) -> Result<CawlParameters, ScenarioError> {
    host.node("cawl").map_or_else(|| Ok(CawlParameters::default()), |node| read(node, host))
}

fn read(node: &Node, host: &Fields<'_>) -> Result<CawlParameters, ScenarioError> {
    let fields = Fields::open(node, &CAWL, inside(host, "cawl"))?;
    Ok(CawlParameters {
        bw_mem: fields.get("bw_mem")?,
        bw_ramdisk: fields.get("bw_ramdisk")?,
        bw_reduced: fields.get("bw_reduced")?,
        bw_dev: fields.get("bw_dev")?,
        bw_rdev: fields.get("bw_rdev")?,
        bs: fields.get("bs")?,
        bf: fields.get("bf")?,
        sc_w: fields.get("sc_w")?,
        sc_sw: fields.get("sc_sw")?,
        c_sk: fields.get("c_sk")?,
        limit_bg: fields.get("limit_bg")?,
        limit_hard: fields.get("limit_hard")?,
        dirty_expire: fields.get("dirty_expire")?,
    })
}

#[cfg(test)]
mod tests {
    use crate::machine::CawlParameters;
    use crate::scenario::testing::{MACHINE, PROCESS, read};
    use crate::units::{BytesPerSecond, Nanos};

    fn parameters(set: &[&str]) -> Result<CawlParameters, String> {
        let read = read(&format!("{MACHINE}\n{PROCESS}"), set);
        read.map(|scenario| scenario.machine.hosts[0].cawl).map_err(|error| error.to_string())
    }

    #[test]
    fn a_machine_knows_the_parameters_that_it_names() {
        assert_eq!(parameters(&[]), Ok(CawlParameters::default()));
        let some = parameters(&["machine.cawl.bw_dev='400 MB/s'", "machine.cawl.sc_sw='90 us'"]);
        let (bw_dev, sc_sw) = (Some(BytesPerSecond(4e8)), Some(Nanos(90_000)));
        assert_eq!(some, Ok(CawlParameters { bw_dev, sc_sw, ..CawlParameters::default() }));
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        let wrong = parameters(&["machine.cawl.bw_disk='400 MB/s'"]).unwrap_err();
        assert!(wrong.contains("unknown key `bw_disk` in [machine.cawl]"), "{wrong}");
        let wrong = parameters(&["machine.cawl.bs='0 B'"]).unwrap_err();
        assert!(wrong.contains("`bs` is zero"), "{wrong}");
    }
}
