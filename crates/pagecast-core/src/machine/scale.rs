//! Multiplies values of keys: the same machine, a little faster, slower or larger.

use crate::keys::{Held, Keyed, Kind};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Why a key cannot be scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotScaled {
    /// There is no such key.
    Unknown,
    /// Its value is no amount: a word, a flag, a version.
    NoAmount,
}

/// Multiplies the value of a key by `factor`, and each value of a curve. `path` has a dot before a key of an inner table. A number stays
/// within the bounds of its key; a key without a value has none afterwards either.
///
/// # Errors
/// A key that is none, or whose value is no amount.
pub fn scale<T: Keyed>(table: &mut T, path: &str, factor: f64) -> Result<(), NotScaled> {
    let (name, inner) = split(path);
    let key = T::SCHEMA.key(name).ok_or(NotScaled::Unknown)?;
    check(&key.kind, inner)?;
    if let Some(held) = table.get(name) {
        table.set(name, scaled(held, &key.kind, inner, factor));
    }
    Ok(())
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(name, inner)| (name, Some(inner)))
}

/// Refuses a path that leads to no amount.
fn check(kind: &Kind, inner: Option<&str>) -> Result<(), NotScaled> {
    match (kind, inner) {
        (Kind::Table(schema), Some(inner)) => {
            let (name, inner) = split(inner);
            check(&schema.key(name).ok_or(NotScaled::Unknown)?.kind, inner)
        }
        (_, Some(_)) => Err(NotScaled::Unknown),
        (
            Kind::Size
            | Kind::SizeOrZero
            | Kind::Rate
            | Kind::Rates
            | Kind::Time
            | Kind::Whole(..)
            | Kind::Number(..),
            None,
        ) => Ok(()),
        (_, None) => Err(NotScaled::NoAmount),
    }
}

fn scaled(held: Held, kind: &Kind, inner: Option<&str>, factor: f64) -> Held {
    let times = |amount: u64| (amount as f64 * factor).round() as u64;
    match (held, kind) {
        (Held::Table(mut held), Kind::Table(schema)) => {
            let (name, inner) = split(inner.expect("it was checked"));
            let kind = &schema.key(name).expect("it was checked").kind;
            for (_, value) in held.iter_mut().filter(|(key, _)| *key == name) {
                *value = scaled(value.clone(), kind, inner, factor);
            }
            Held::Table(held)
        }
        (Held::Size(Bytes(bytes)), _) => Held::Size(Bytes(times(bytes).max(bytes.min(1)))),
        (Held::Rate(rate), _) => Held::Rate(BytesPerSecond(rate.0 * factor)),
        (Held::Rates(curve), _) => {
            let each = curve.into_iter().map(|(streams, rate)| (streams, BytesPerSecond(rate.0 * factor)));
            Held::Rates(each.collect())
        }
        (Held::Time(Nanos(nanos)), _) => Held::Time(Nanos(times(nanos))),
        (Held::Whole(number), &Kind::Whole(least, most)) => {
            let number = (f64::from(number) * factor).round();
            Held::Whole(number.clamp(f64::from(least), f64::from(most)) as u32)
        }
        (Held::Number(number), &Kind::Number(least, most)) => {
            Held::Number((number * factor).clamp(least, most))
        }
        (held, _) => unreachable!("{held:?} is no amount, which was checked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Disk, Memory, VmSettings};

    #[test]
    fn amounts_are_multiplied_in_their_units() {
        let mut memory = Memory { size: Bytes(1000), write: BytesPerSecond(2e9), ..Memory::default() };
        for key in ["size", "write"] {
            assert_eq!(scale(&mut memory, key, 1.5), Ok(()));
        }
        assert_eq!((memory.size, memory.write), (Bytes(1500), BytesPerSecond(3e9)));
        let mut disk =
            Disk { read_at: vec![(1, BytesPerSecond(1e6)), (8, BytesPerSecond(2e6))], ..Disk::default() };
        assert_eq!(scale(&mut disk, "read_at", 2.0), Ok(()));
        assert_eq!(disk.read_at, [(1, BytesPerSecond(2e6)), (8, BytesPerSecond(4e6))]);
    }

    #[test]
    fn a_key_of_an_inner_table_follows_a_dot() {
        let mut memory = Memory::default();
        memory.cost.call = Nanos(1000);
        assert_eq!(scale(&mut memory, "cost.call", 1.25), Ok(()));
        assert_eq!(memory.cost.call, Nanos(1250));
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut vm = VmSettings { dirty_ratio: 0.6, ..VmSettings::default() };
        assert_eq!(scale(&mut vm, "dirty_ratio", 2.0), Ok(()));
        assert_eq!(vm.dirty_ratio, 1.0);
        let mut disk = Disk { queue: (16, Bytes(1 << 20)), ..Disk::default() };
        assert_eq!(scale(&mut disk, "nr_requests", 0.001), Ok(()));
        assert_eq!(disk.queue.0, 1);
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        let disk = &mut Disk::default();
        assert_eq!(scale(disk, "sharing", 1.1), Err(NotScaled::NoAmount));
        assert_eq!(scale(disk, "wrte", 1.1), Err(NotScaled::Unknown));
        assert_eq!(scale(disk, "write.fast", 1.1), Err(NotScaled::Unknown));
        assert_eq!(scale(disk, "rotation", 1.1), Err(NotScaled::NoAmount));
        assert_eq!(scale(disk, "rotation.rpm", 1.1), Ok(()), "it does not turn, and does not afterwards");
    }
}
