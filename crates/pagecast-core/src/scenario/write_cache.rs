//! Reads the `write_cache` of a disk.

use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::Keyed;
use crate::machine::{Disk, WriteCache};
use crate::units::Nanos;

/// Refuses a write cache that is not faster than its disk, or is emptied faster than that writes, or has a limiter before it.
///
/// # Errors
/// Such a cache.
pub fn check_write_cache(fields: &Fields<'_>, disk: &Disk) -> Result<(), ScenarioError> {
    let (Some(cache), write) = (disk.write_cache, disk.write) else { return Ok(()) };
    let own = fields.inner("write_cache", WriteCache::SCHEMA)?.expect("the disk has one");
    if cache.rate.0 <= write.0 {
        return Err(own.place("rate").error(
            format!("`rate` of the write cache is {}, not more than `write`, which is {write}", cache.rate),
            "`rate` is that of writes while it has room, `write` the one that holds when it is full",
        ));
    }
    if let Some(drain) = cache.drain.filter(|drain| drain.0 > write.0) {
        return Err(own.place("drain").error(
            format!("`drain` of the write cache is {drain}, more than `write`, which is {write}"),
            "the disk empties its cache at `write` at most; leave `drain` out if it does so",
        ));
    }
    for (name, time) in [("burst", disk.burst), ("limit_interval", disk.limit_interval)] {
        if time > Nanos::ZERO {
            return Err(own.at.error(
                format!("{} has both `{name}` and `write_cache`", fields.title),
                format!("leave one out: `{name}` is of a limiter before the disk, `write_cache` of the disk"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::machine::WriteCache;
    use crate::scenario::testing::{PROCESS, read};
    use crate::units::{Bytes, BytesPerSecond};

    fn cache(keys: &[&str]) -> Result<Option<WriteCache>, String> {
        let host = "cores = 1\nmemory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";
        let disk = "size = '1 GB'\nread = '1 MB/s'\nwrite = '10 MB/s'";
        let keys = keys.join("\n");
        let text = format!("[machine]\n{host}\n[machine.disk.ssd]\n{disk}\n{keys}\n{PROCESS}");
        Ok(read(&text, &[])?.machine.hosts[0].disks[0].write_cache)
    }

    #[test]
    fn a_cache_has_a_size_and_a_rate() {
        assert_eq!(cache(&[]), Ok(None));
        let found = WriteCache { size: Bytes(300_000_000), rate: BytesPerSecond(2.5e9), drain: None };
        assert_eq!(cache(&["write_cache = { size = '300 MB', rate = '2.5 GB/s' }"]), Ok(Some(found)));
        assert_eq!(
            cache(&["write_cache.size = '300 MB'", "write_cache.rate = '2500 MB/s'"]),
            Ok(Some(found))
        );
        assert_eq!(
            cache(&["burst = '0 s'", "write_cache = { size = '300 MB', rate = '2.5 GB/s' }"]),
            Ok(Some(found))
        );
    }

    #[test]
    fn a_cache_may_be_emptied_more_slowly_than_the_disk_writes() {
        let found = cache(&["write_cache = { size = '1 GB', rate = '1 GB/s', drain = '10 MB/s' }"]);
        assert_eq!(found.map(|cache| cache.and_then(|cache| cache.drain)), Ok(Some(BytesPerSecond(1e7))));
        let refused = cache(&["write_cache = { size = '1 GB', rate = '1 GB/s', drain = '11 MB/s' }"]);
        assert_snapshot!(refused.unwrap_err(), @"x.toml:8: `drain` of the write cache is 11 MB/s, more than `write`, which is 10 MB/s; the disk empties its cache at `write` at most; leave `drain` out if it does so");
    }

    #[test]
    fn what_is_no_cache_is_refused() {
        let refusal = |keys: &[&str]| cache(keys).unwrap_err();
        assert_snapshot!(refusal(&["write_cache = '300 MB'"]), @r#"x.toml:8: [machine.disk.ssd.write_cache] is the string "300 MB", but must be a table"#);
        assert_snapshot!(refusal(&["write_cache.size = '0 B'", "write_cache.rate = '1 GB/s'"]), @r#"x.toml:8: `size` is zero, but must be more; write for example size = "20 GB""#);
        assert_snapshot!(refusal(&["write_cache.size = '1 GB'"]), @r#"x.toml:8: [machine.disk.ssd.write_cache] has no `rate`; add for example rate = "465 MB/s""#);
        assert_snapshot!(refusal(&["write_cache.size = '1 GB'", "write_cache.rate = '10 MB/s'"]), @"x.toml:9: `rate` of the write cache is 10 MB/s, not more than `write`, which is 10 MB/s; `rate` is that of writes while it has room, `write` the one that holds when it is full");
        assert_snapshot!(refusal(&["burst = '1 s'", "write_cache = { size = '1 GB', rate = '1 GB/s' }"]), @"x.toml:9: [machine.disk.ssd] has both `burst` and `write_cache`; leave one out: `burst` is of a limiter before the disk, `write_cache` of the disk");
    }
}
