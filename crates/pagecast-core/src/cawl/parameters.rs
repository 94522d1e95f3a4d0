//! Checks the values of the parameters.

/// A parameter with an impossible value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value}: {rule}")]
pub struct ParameterError {
    /// Its name in the paper.
    pub name: &'static str,
    /// The given value.
    pub value: String,
    /// The rule for the value.
    pub rule: String,
}

/// Refuses a value that breaks its rule.
pub(super) fn require(
    is_right: bool,
    name: &'static str,
    value: impl ToString,
    rule: impl Into<String>,
) -> Result<(), ParameterError> {
    if is_right { Ok(()) } else { Err(ParameterError { name, value: value.to_string(), rule: rule.into() }) }
}

/// Rates, by name: more than zero.
pub(super) fn check_rates(rates: &[(&'static str, f64)]) -> Result<(), ParameterError> {
    rates.iter().try_for_each(|&(name, rate)| {
        let is_right = rate.is_finite() && rate > 0.0;
        require(is_right, name, rate, "must be more than zero bytes per second, and finite")
    })
}

/// Costs, by name: zero or more.
pub(super) fn check_costs(costs: &[(&'static str, f64)]) -> Result<(), ParameterError> {
    costs.iter().try_for_each(|&(name, cost)| {
        let is_right = cost.is_finite() && cost >= 0.0;
        require(is_right, name, cost, "must be zero seconds or more, and finite")
    })
}

/// A size: at least one byte.
pub(super) fn check_size(name: &'static str, bytes: u64) -> Result<(), ParameterError> {
    require(bytes > 0, name, bytes, "must be at least one byte")
}
