//! The random distributions of CPN Tools.

use super::super::machine::{Evaluated, Fault};
use super::{Entry, exceptions, int, real};
use crate::value::Value;

pub(super) const ENTRIES: &[Entry] = &[
    (&["uniform"], "real * real -> real", |machine, a| {
        let (low, high) = (real(&a[0]), real(&a[1]));
        within(low <= high, "uniform(a, b) wants a <= b")?;
        Ok(Value::Real(machine.state.draws.uniform(low, high)))
    }),
    (&["discrete"], "int * int -> int", |machine, a| {
        let (low, high) = (int(&a[0]), int(&a[1]));
        within(
            low <= high && high.checked_sub(low).is_some_and(|size| size < i64::MAX),
            "discrete(a, b) wants a <= b",
        )?;
        Ok(Value::Int(low + machine.state.draws.below((high - low) as u64 + 1) as i64))
    }),
    (&["exponential"], "real -> real", |machine, a| {
        within(real(&a[0]) > 0.0, "exponential(r) wants r > 0")?;
        Ok(Value::Real(machine.state.draws.exponential(real(&a[0]))))
    }),
    (&["erlang"], "int * real -> real", |machine, a| {
        within(
            int(&a[0]) > 0 && int(&a[0]) <= 1_000_000 && real(&a[1]) > 0.0,
            "erlang(n, r) wants n from 1 to 10^6 and r > 0",
        )?;
        Ok(Value::Real(machine.state.draws.erlang(int(&a[0]) as u64, real(&a[1]))))
    }),
    (&["normal"], "real * real -> real", |machine, a| {
        within(real(&a[1]) >= 0.0, "normal(mean, variance) wants a variance of 0 or more")?;
        Ok(Value::Real(real(&a[0]) + real(&a[1]).sqrt() * machine.state.draws.standard_normal()))
    }),
    (&["gamma"], "real * real -> real", |machine, a| {
        within(real(&a[0]) > 0.0 && real(&a[1]) > 0.0, "gamma(l, k) wants l > 0 and k > 0")?;
        // CPN Tools gives the rate first and the shape then.
        Ok(Value::Real(machine.state.draws.gamma(real(&a[1]), real(&a[0]))))
    }),
    (&["beta"], "real * real -> real", |machine, a| {
        within(real(&a[0]) > 0.0 && real(&a[1]) > 0.0, "beta(a, b) wants a > 0 and b > 0")?;
        let draws = &mut machine.state.draws;
        let (x, y) = (draws.gamma(real(&a[0]), 1.0), draws.gamma(real(&a[1]), 1.0));
        Ok(Value::Real(x / (x + y)))
    }),
    (&["chisq"], "int -> real", |machine, a| {
        within(int(&a[0]) > 0, "chisq(n) wants n > 0")?;
        Ok(Value::Real(machine.state.draws.gamma(int(&a[0]) as f64 / 2.0, 0.5)))
    }),
    (&["student"], "int -> real", |machine, a| {
        within(int(&a[0]) > 0, "student(n) wants n > 0")?;
        let n = int(&a[0]) as f64;
        let draws = &mut machine.state.draws;
        Ok(Value::Real(draws.standard_normal() / (draws.gamma(n / 2.0, 0.5) / n).sqrt()))
    }),
    (&["rayleigh"], "real -> real", |machine, a| {
        within(real(&a[0]) >= 0.0, "rayleigh(s) wants s >= 0")?;
        Ok(Value::Real(real(&a[0]) * (-2.0 * machine.state.draws.unit().ln()).sqrt()))
    }),
    (&["weibull"], "real * real -> real", |machine, a| {
        within(real(&a[0]) > 0.0 && real(&a[1]) > 0.0, "weibull(scale, shape) wants both above 0")?;
        Ok(Value::Real(real(&a[0]) * (-machine.state.draws.unit().ln()).powf(1.0 / real(&a[1]))))
    }),
    (&["poisson"], "real -> int", |machine, a| {
        within(real(&a[0]) > 0.0 && real(&a[0]) <= 1e9, "poisson(m) wants m above 0 and at most 10^9")?;
        Ok(Value::Int(machine.state.draws.poisson(real(&a[0]))))
    }),
    (&["bernoulli"], "real -> int", |machine, a| {
        within((0.0..=1.0).contains(&real(&a[0])), "bernoulli(p) wants p from 0 to 1")?;
        Ok(Value::Int(i64::from(machine.state.draws.unit() <= real(&a[0]))))
    }),
    (&["binomial"], "int * real -> int", |machine, a| {
        within(
            (0..=10_000_000).contains(&int(&a[0])) && (0.0..=1.0).contains(&real(&a[1])),
            "binomial(n, p) wants n from 0 to 10^7 and p from 0 to 1",
        )?;
        let hits = (0..int(&a[0])).filter(|_| machine.state.draws.unit() <= real(&a[1])).count();
        Ok(Value::Int(hits as i64))
    }),
];

fn within(is_within: bool, message: &str) -> Evaluated<()> {
    if is_within { Ok(()) } else { Err(Fault::new(exceptions::DOMAIN, message)) }
}
