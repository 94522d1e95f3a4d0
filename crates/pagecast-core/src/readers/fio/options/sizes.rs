//! Options of block sizes, buffers and I/O sizes.

use super::known::{Known, done, no_effect};
use super::words::splits;
use crate::readers::fio::values::Text;

/// Why the content of buffers changes nothing.
const CONTENT: &str = "the content of data takes no time here";

pub(super) const BLOCKS: &[Known] = &[
    done("bs", &["blocksize"], "", |job, value| value.each(&mut job.bs, |value| value.number_in(1, 1 << 40))),
    done("bsrange", &["blocksize_range"], "", |job, value| {
        let read = |value: Text<'_>| value.range(|value| value.number_in(1, 1 << 40)).map(Some);
        value.each(&mut job.bs_range, read)
    }),
    done("bssplit", &[], "", |job, value| {
        job.bs_split = splits(value)?;
        for (range, split) in job.bs_range.iter_mut().zip(&job.bs_split) {
            let least = split.iter().map(|split| split.bytes).min();
            let most = split.iter().map(|split| split.bytes).max();
            *range = least.zip(most);
        }
        Ok(())
    }),
    done("bs_unaligned", &["blocksize_unaligned"], "", |job, value| {
        job.bs_unaligned = value.flag()?;
        Ok(())
    }),
    done("bs_is_seq_rand", &[], "", |job, value| {
        job.bs_is_seq_rand = value.truth()?;
        Ok(())
    }),
    done("ba", &["blockalign"], "", |job, value| {
        value.each(&mut job.align, |value| value.number_in(1, 1 << 40))
    }),
];

pub(super) const BUFFERS: &[Known] = &[
    no_effect("zero_buffers", &[], CONTENT),
    no_effect("refill_buffers", &[], CONTENT),
    no_effect("scramble_buffers", &[], CONTENT),
    no_effect("buffer_compress_percentage", &[], CONTENT),
    no_effect("buffer_compress_chunk", &[], CONTENT),
    no_effect("buffer_pattern", &[], CONTENT),
    no_effect("dedupe_percentage", &[], CONTENT),
    no_effect("dedupe_mode", &[], CONTENT),
    no_effect("dedupe_working_set_percentage", &[], CONTENT),
    no_effect("dedupe_global", &[], CONTENT),
    no_effect("mem", &["iomem"], "the buffers are small and take no memory here"),
    no_effect("iomem_align", &["mem_align"], "buffers are aligned"),
    no_effect("hugepage-size", &[], "the buffers are small and take no memory here"),
    no_effect("lockmem", &[], "give the machine less memory instead"),
];

pub(super) const SIZES: &[Known] = &[
    done("size", &[], "", |job, value| {
        job.size = Some(value.amount()?);
        Ok(())
    }),
    done("io_size", &["io_limit"], "", |job, value| {
        job.io_size = Some(value.amount()?);
        Ok(())
    }),
    done("filesize", &[], "", |job, value| {
        job.file_size = Some(value.range(|value| value.number_in(1, u64::MAX))?);
        Ok(())
    }),
    done("file_append", &[], "", |job, value| {
        job.file_append = value.truth()?;
        Ok(())
    }),
    done(
        "fill_device",
        &["fill_fs"],
        "to the size of the disk, less the files that exist at the start",
        |job, value| {
            job.fill_device = value.truth()?;
            Ok(())
        },
    ),
];
