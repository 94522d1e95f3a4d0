//! Reads `[tolerance]`: the largest error of a forecast. Nothing is simulated differently for it; `pagecast validate` judges by it, and has
//! the defaults.

use super::schema::TOLERANCE;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::units::Fraction;

/// What a scenario says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Of the measured time of all operations on files.
    pub total: Option<Fraction>,
    /// Of the dirty limit.
    pub dirty: Option<Fraction>,
    /// Of the memory.
    pub cached: Option<Fraction>,
    /// Of the median of how long operations take that are done often.
    pub p50: Option<Fraction>,
    /// Of what nine of ten of them do not exceed.
    pub p90: Option<Fraction>,
    /// Of what 99 of 100 do not exceed.
    pub p99: Option<Fraction>,
    /// Of what 999 of 1000 do not exceed.
    pub p99_9: Option<Fraction>,
    /// Of the longest.
    pub max: Option<Fraction>,
}

/// What the table says, if it is there.
///
/// # Errors
/// What is no percentage, or 0 %, which nothing measured keeps.
pub fn read_tolerance(root: &Fields<'_>) -> Result<Tolerance, ScenarioError> {
    let Some(node) = root.node("tolerance") else { return Ok(Tolerance::default()) };
    if node.as_table().is_none() {
        let what = format!("`tolerance` is {}, but must be a table", node.describe());
        return Err(node.at.error(what, "write [tolerance] with total = \"15 %\""));
    }
    let fields = Fields::open(node, &TOLERANCE, "[tolerance]")?;
    Ok(Tolerance {
        total: fields.get("total")?,
        dirty: fields.get("dirty")?,
        cached: fields.get("cached")?,
        p50: fields.get("p50")?,
        p90: fields.get("p90")?,
        p99: fields.get("p99")?,
        p99_9: fields.get("p99_9")?,
        max: fields.get("max")?,
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{MACHINE, PROCESS, error, read};

    fn tolerance(text: &str, set: &[&str]) -> Tolerance {
        read(&format!("{MACHINE}\n{text}\n{PROCESS}"), set).unwrap().tolerance
    }

    #[test]
    fn each_part_is_a_percentage() {
        let text = "[tolerance]\ntotal = '15 %'\ndirty = '7.5%'";
        let expected =
            Tolerance { total: Some(Fraction(0.15)), dirty: Some(Fraction(0.075)), ..Tolerance::default() };
        assert_eq!(tolerance(text, &[]), expected);
        assert_eq!(tolerance("", &[]), Tolerance::default());
        let percentiles = tolerance("tolerance = { p50 = '10 %', p99_9 = '50 %' }", &[]);
        assert_eq!((percentiles.p50, percentiles.p90), (Some(Fraction(0.1)), None));
        assert_eq!((percentiles.p99_9, percentiles.max), (Some(Fraction(0.5)), None));
        assert_eq!(tolerance(text, &["tolerance.total=120 %"]).total, Some(Fraction(1.2)));
    }

    #[test]
    fn what_is_none_is_refused() {
        assert_snapshot!(error("tolerance = '15 %'"), @r#"x.toml:2: `tolerance` is the string "15 %", but must be a table; write [tolerance] with total = "15 %""#);
        assert_snapshot!(error("[tolerance]\ntotl = '15 %'"), @"x.toml:3: unknown key `totl` in [tolerance]; did you mean `total`?");
        assert_snapshot!(error("[tolerance]\ntotal = 15"), @r#"x.toml:3: `total` is the number 15 without a unit; a quantity is a string with its unit: total = "15 %""#);
        assert_snapshot!(error("[tolerance]\ntotal = '15'"), @r#"x.toml:3: `total`: `15` has no unit; write for example "15 %""#);
        assert_snapshot!(error("[tolerance]\ntotal = '15 percent'"), @"x.toml:3: `total`: `15 percent` has the unknown unit `percent`; known units are %");
        assert_snapshot!(error("[tolerance]\ntotal = '0 %'"), @r#"x.toml:3: `total` is zero, but must be more; write for example total = "15 %""#);
        assert_snapshot!(error("[tolerance]\ntotal = '-1 %'"), @"x.toml:3: `total`: `-1 %` is negative; sizes, times and rates cannot be");
    }
}
