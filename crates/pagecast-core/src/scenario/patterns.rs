//! Reads what makes one operation many calls, or one of several under way: patterns, rates, times, depths.

use std::num::NonZeroU32;

use super::document::{Place, shorten};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::{Key, Kind, Schema, may, must};
use crate::units::{Bytes, BytesPerSecond, Fraction, Nanos};
use crate::workload::{Action, AsyncBy, Buffer, Operation, Order, Pattern};

/// The most operations or calls under way at once: `aio-max-nr`.
const MOST_DEPTH: u32 = 65_536;

pub const PATTERN: Key = may("pattern", Kind::Table(&TABLE), "Order of its calls; default sequential");
pub const RATE: Key = may("rate", Kind::Rate, "Its calls move no more than this");
pub const RATE_IOPS: Key = may("rate_iops", Kind::Whole(1, 1_000_000_000), "No more calls per second");
pub const FOR: Key = may("for", Kind::Time, "Goes over its bytes again and again for this time");
pub const DEPTH: Key = may(
    "depth",
    Kind::Whole(1, MOST_DEPTH),
    "Asynchronous: begins when fewer of the process's operations are under way, and the process goes on at once",
);
pub const BY: Key =
    may("by", Kind::Word(&AsyncBy::NAMES), "Interface of what is asynchronous; default \"threads\"");
pub const NOT_BEFORE: Key =
    may("not_before", Kind::Time, "It does not begin before this time after the start of its process");

pub const DRAIN: Schema = Schema {
    name: "drain",
    keys: &[must("drain", Kind::True, "Waits for all of the process that are asynchronous")],
};

/// `pattern`.
static TABLE: Schema = Schema {
    name: "pattern",
    keys: &[
        may(
            "random",
            Kind::Text,
            "\"uniform\", \"zipf:THETA\", \"pareto:H\" with H from 0 to 1, or \"normal:DEVIATION %\" of the part",
        ),
        may("once", Kind::Flag, "With \"uniform\": no place a second time before all others; default false"),
        may("backwards", Kind::Flag, "From the end to the start"),
        may("stride", Kind::Size, "From the start of a call to that of the next"),
        may(
            "within",
            Kind::Size,
            "Of the part that the calls are in; default `size`, of a read all of the file",
        ),
        may("writes", Kind::Percent, "Of a read: the share of its calls that write; default none"),
        may("depth", Kind::Whole(1, MOST_DEPTH), "How many calls are under way at once; default 1"),
        may("seed", Kind::Whole(0, u32::MAX), "Another one gives another random order; default 0"),
    ],
};

/// Makes a read or write a pattern if its keys ask for one.
pub fn with_pattern(action: Action, fields: &Fields<'_>) -> Result<Action, ScenarioError> {
    let wanted = ["pattern", "rate", "rate_iops", "for"].into_iter().find(|key| fields.node(key).is_some());
    let Some(wanted) = wanted else { return Ok(action) };
    let at = fields.place(wanted);
    let (path, offset, bytes, call, vector, is_write) = match action {
        Action::Read { buffer: Buffer::Fresh, .. } => {
            let what = format!("a read with `{wanted}` uses one buffer again and again");
            return Err(at.error(what, "remove `buffer`, or write { alloc = ... } before it"));
        }
        Action::Read { path, offset, bytes, call, vector, .. } => (path, offset, bytes, call, vector, false),
        Action::Write { path, offset, bytes, call, vector } => {
            (path, offset, Some(bytes), call, vector, true)
        }
        other => unreachable!("a {} has no pattern", other.name()),
    };
    if is_write && offset.is_none() {
        let remedy = "remove `append`, or open the file with flags = [\"O_APPEND\"]";
        return Err(at.error(format!("a write with `{wanted}` has places of its own"), remedy));
    }
    if vector > 1 {
        return Err(at.error(format!("`vector` is not for calls with `{wanted}`"), "remove it"));
    }
    let Some(call) = call else {
        let remedy = "add for example call = \"4 KiB\"";
        return Err(at.error(format!("`{wanted}` is about calls, and their size is not given"), remedy));
    };
    let (time, table) = (fields.get("for")?, fields.inner("pattern", &TABLE)?);
    let table = table.as_ref();
    let within = table.map_or(Ok(None), |table| table.get("within"))?;
    let writes = table.map_or(Ok(None), |table| table.get::<Fraction>("writes"))?;
    Ok(Action::Pattern(Box::new(Pattern {
        path,
        offset: offset.unwrap_or(0),
        // Of what goes on and on, the size is that of the part.
        range: within.or(bytes.filter(|_| time.is_some())),
        bytes: bytes.filter(|_| time.is_none()),
        time,
        call,
        order: table.map_or(Ok(Order::Sequential), |table| order(table, call))?,
        write_share: write_share(writes, is_write, || table.map_or(at, |table| table.place("writes")))?,
        depth: table.map_or(Ok(None), |table| table.get("depth"))?.unwrap_or(1),
        by: fields.word("by", &AsyncBy::ALL)?.unwrap_or_default(),
        rate: rate(fields, call)?,
        seed: table.map_or(Ok(None), |table| table.get::<u32>("seed"))?.unwrap_or(0).into(),
    })))
}

fn write_share<'a>(
    writes: Option<Fraction>,
    is_write: bool,
    at: impl Fn() -> &'a Place,
) -> Result<f64, ScenarioError> {
    match writes {
        Some(_) if is_write => {
            Err(at().error("`writes` is the share of a read that writes", "remove it, or make this a read"))
        }
        Some(Fraction(share)) if share > 1.0 => {
            Err(at().error("`writes` is more than all calls", "write for example writes = \"30 %\""))
        }
        Some(Fraction(share)) => Ok(share),
        None => Ok(f64::from(u8::from(is_write))),
    }
}

/// Calls per second.
fn rate(fields: &Fields<'_>, call: Bytes) -> Result<Option<f64>, ScenarioError> {
    match (fields.get::<BytesPerSecond>("rate")?, fields.get::<u32>("rate_iops")?) {
        (Some(_), Some(_)) => {
            let at = fields.place("rate_iops");
            Err(at.error("both `rate` and `rate_iops` are given", "remove one of them"))
        }
        (Some(BytesPerSecond(rate)), None) => Ok(Some(rate / call.as_f64())),
        (None, calls) => Ok(calls.map(f64::from)),
    }
}

fn order(table: &Fields<'_>, call: Bytes) -> Result<Order, ScenarioError> {
    let random = table.get::<String>("random")?;
    let (once, backwards) = (table.get("once")?.unwrap_or(false), table.get("backwards")?.unwrap_or(false));
    let stride = table.get::<Bytes>("stride")?;
    let order = match (random, backwards, stride) {
        (None, false, None) => Order::Sequential,
        (None, true, None) => Order::Backwards,
        (None, false, Some(stride)) if stride.0.is_multiple_of(call.0) => Order::Strided { stride },
        (None, false, Some(_)) => {
            let at = table.place("stride");
            return Err(at.error("`stride` is no multiple of `call`", "make it one"));
        }
        (Some(random), false, None) => {
            let remedy = format!("write {}", Order::RANDOM);
            let what = || format!("`random` cannot be \"{}\"", shorten(&random));
            Order::random(&random, once).ok_or_else(|| table.place("random").error(what(), remedy))?
        }
        _ => {
            let remedy = "keep one of `random`, `backwards` and `stride`";
            return Err(table.at.error("a pattern has two orders", remedy));
        }
    };
    if once && order != (Order::Uniform { once }) {
        return Err(table.place("once").error("`once` is for random = \"uniform\" alone", "remove it"));
    }
    Ok(order)
}

/// Gives an operation its arrival and depth.
pub fn with_arrival(operation: Operation, fields: &Fields<'_>) -> Result<Operation, ScenarioError> {
    let not_before = fields.get::<Nanos>("not_before")?;
    if !fields.has_key("depth") {
        return Ok(Operation { not_before, ..operation });
    }
    let depth = fields.get::<u32>("depth")?.and_then(NonZeroU32::new);
    let by = fields.word("by", &AsyncBy::ALL)?;
    let error = |key: &str, what: &str, remedy: &str| Err(fields.place(key).error(what, remedy));
    let has_depth = match &operation.action {
        Action::Pattern(_) if depth.is_some() => {
            let what = "the process waits for the end of a pattern, whose calls have their own `depth`";
            return error("depth", what, "put it into the pattern: pattern = { depth = 16 }");
        }
        Action::Pattern(_) => {
            fields.inner("pattern", &TABLE)?.is_some_and(|table| table.node("depth").is_some())
        }
        Action::Read { call: Some(_), .. } | Action::Write { call: Some(_), .. } if depth.is_some() => {
            let what = "an asynchronous operation is one call, so it has no `call`";
            return error("depth", what, "for many calls at once write pattern = { depth = 16 }");
        }
        action if depth.is_some() && !action.may_be_asynchronous() => {
            let what = "an asynchronous read uses its buffer again";
            return error("depth", what, "remove `buffer`, or write { alloc = ... } before it");
        }
        _ => depth.is_some(),
    };
    if by.is_some() && !has_depth {
        return error(
            "by",
            "`by` is about operations or calls at once, and there is no `depth`",
            "add depth = 16",
        );
    }
    Ok(Operation { not_before, depth, by: by.filter(|_| depth.is_some()).unwrap_or_default(), ..operation })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{MACHINE, read, refusal};

    fn scenario(operation: &str) -> String {
        let file = "[[file]]\npath = '/data/f1'\nsize = '1 GB'";
        format!("{MACHINE}\n[[process]]\nname = 'p{{n}}'\ncount = 2\ndo = [\n{operation} ]\n{file}")
    }

    /// The pattern of copy 1.
    fn pattern(operation: &str) -> Pattern {
        let processes = read(&scenario(operation), &[]).expect("it is right").processes;
        let operation = processes[0].program.start().unwrap().next(Nanos::ZERO).unwrap();
        match operation.expect("there is one").action {
            Action::Pattern(pattern) => *pattern,
            other => panic!("a pattern was written, not {}", other.name()),
        }
    }

    fn error(operation: &str) -> String {
        refusal(&scenario(operation))
    }

    #[test]
    fn a_pattern_has_an_order() {
        let order = |text: &str| {
            pattern(&format!("{{ read = '/data/f1', call = '1 kB', pattern = {{ {text} }} }}")).order
        };
        assert_eq!(order(""), Order::Sequential);
        assert_eq!(order("backwards = true"), Order::Backwards);
        assert_eq!(order("stride = '1 MB'"), Order::Strided { stride: Bytes(1_000_000) });
        assert_eq!(order("random = 'uniform'"), Order::Uniform { once: false });
        assert_eq!(order("random = 'uniform', once = true"), Order::Uniform { once: true });
        assert_eq!(order("random = 'zipf:1.1'"), Order::Zipf { theta: 1.1 });
        assert_eq!(order("random = 'pareto:0.2'"), Order::Pareto { h: 0.2 });
        assert_eq!(order("random = 'normal: 10 %'"), Order::Normal { deviation: 0.1 });
    }

    #[test]
    fn all_of_a_pattern_is_read() {
        let expected = Pattern {
            path: "/data/f1".into(),
            offset: 1000,
            range: Some(Bytes(1_000_000_000)),
            bytes: Some(Bytes(2_000_000)),
            time: None,
            call: Bytes(4096),
            order: Order::Uniform { once: false },
            write_share: 0.3,
            depth: 16,
            by: AsyncBy::Libaio,
            rate: Some(500.0),
            seed: 3,
        };
        let keys = "size = '2 MB', offset = '1 kB', call = '4 KiB', rate_iops = 500, by = 'libaio'";
        let table = "random = 'uniform', writes = '30 %', depth = 16, seed = 3, within = '1 GB'";
        assert_eq!(pattern(&format!("{{ read = '/data/f1', {keys}, pattern = {{ {table} }} }}")), expected);
    }

    #[test]
    fn a_rate_or_a_time_makes_a_pattern() {
        let paced = pattern("{ write = '/data/g', size = '1 GB', call = '1 MB', rate = '10 MB/s' }");
        assert_eq!((paced.rate, paced.order, paced.write_share), (Some(10.0), Order::Sequential, 1.0));
        // The size is that of the part.
        let timed = pattern("{ write = '/data/g', size = '1 GB', call = '1 MB', for = '3 s' }");
        let expected = (Some(Bytes(1_000_000_000)), None, Some(Nanos(3_000_000_000)));
        assert_eq!((timed.range, timed.bytes, timed.time), expected);
        let timed = pattern("{ read = '/data/f1', call = '1 MB', for = '3 s' }");
        assert_eq!((timed.range, timed.bytes), (None, None));
    }

    #[test]
    fn a_depth_of_one_has_an_interface_too() {
        let one = "{ read = '/data/f1', call = '1 kB', by = 'libaio', pattern = { depth = 1 } }";
        assert_eq!((pattern(one).depth, pattern(one).by), (1, AsyncBy::Libaio));
    }

    #[test]
    fn a_seed_may_differ_by_copy() {
        let text = "{ read = '/data/f1', call = '1 kB', pattern = { random = 'uniform', seed = '{n}7' } }";
        assert_eq!(pattern(text).seed, 17);
    }

    #[test]
    fn what_makes_no_pattern_is_refused() {
        let keys = |keys: &str| error(&format!("{{ read = '/data/f1', {keys} }}"));
        let table = |table: &str| keys(&format!("call = '4 KiB', pattern = {{ {table} }}"));
        assert_snapshot!(keys("pattern = {}"), @r#"x.toml:6: `pattern` is about calls, and their size is not given; add for example call = "4 KiB""#);
        assert_snapshot!(keys("rate = '1 MB/s'"), @r#"x.toml:6: `rate` is about calls, and their size is not given; add for example call = "4 KiB""#);
        assert_snapshot!(keys("call = '4 KiB', pattern = 'uniform'"), @r#"x.toml:6: read.pattern is the string "uniform", but must be a table"#);
        assert_snapshot!(keys("call = '4 KiB', rate = '1 MB/s', rate_iops = 3"), @"x.toml:6: both `rate` and `rate_iops` are given; remove one of them");
        assert_snapshot!(keys("call = '4 KiB', rate_iops = 0"), @"x.toml:6: `rate_iops` is the number 0, but must be a whole number from 1 to 1000000000; write for example rate_iops = 1");
        assert_snapshot!(keys("call = '4 KiB', rate_iops = 3, vector = 2"), @"x.toml:6: `vector` is not for calls with `rate_iops`; remove it");
        assert_snapshot!(keys("call = '4 KiB', pattern = {}, buffer = 'fresh'"), @"x.toml:6: a read with `pattern` uses one buffer again and again; remove `buffer`, or write { alloc = ... } before it");
        assert_snapshot!(error("{ write = '/data/g', size = '1 MB', append = true, call = '4 KiB', pattern = {} }"), @r#"x.toml:6: a write with `pattern` has places of its own; remove `append`, or open the file with flags = ["O_APPEND"]"#);
        assert_snapshot!(error("{ write = '/data/g', size = '1 MB', call = '4 KiB', pattern = { writes = '3 %' } }"), @"x.toml:6: `writes` is the share of a read that writes; remove it, or make this a read");
        assert_snapshot!(table("writes = '300 %'"), @r#"x.toml:6: `writes` is more than all calls; write for example writes = "30 %""#);
        assert_snapshot!(table("random = 'zipf'"), @r#"x.toml:6: `random` cannot be "zipf"; write "uniform", "zipf:1.1", "pareto:0.2" or "normal:10 %""#);
        assert_snapshot!(table("random = 'zipf:-1'"), @r#"x.toml:6: `random` cannot be "zipf:-1"; write "uniform", "zipf:1.1", "pareto:0.2" or "normal:10 %""#);
        assert_snapshot!(table("random = 'pareto:1'"), @r#"x.toml:6: `random` cannot be "pareto:1"; write "uniform", "zipf:1.1", "pareto:0.2" or "normal:10 %""#);
        assert_snapshot!(table("random = 'normal:10'"), @r#"x.toml:6: `random` cannot be "normal:10"; write "uniform", "zipf:1.1", "pareto:0.2" or "normal:10 %""#);
        assert_snapshot!(table("random = 'gauss'"), @r#"x.toml:6: `random` cannot be "gauss"; write "uniform", "zipf:1.1", "pareto:0.2" or "normal:10 %""#);
        assert_snapshot!(table("random = 'uniform', backwards = true"), @"x.toml:6: a pattern has two orders; keep one of `random`, `backwards` and `stride`");
        assert_snapshot!(table("random = 'zipf:1', once = true"), @r#"x.toml:6: `once` is for random = "uniform" alone; remove it"#);
        assert_snapshot!(table("stride = '5000 B'"), @"x.toml:6: `stride` is no multiple of `call`; make it one");
        assert_snapshot!(table("sed = 1"), @"x.toml:6: unknown key `sed` in read.pattern; did you mean `seed`?");
    }
}
