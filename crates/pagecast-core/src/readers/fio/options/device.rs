//! Options of units, job description, time, and target file or device.

use super::known::{Known, done, no_effect, refused};
use crate::readers::fio::job::{Preallocation, Service};
use crate::readers::fio::wrong::Wrong;

const SECONDS: u64 = 1_000_000;

pub(super) const UNITS: &[Known] = &[
    done("kb_base", &[], "", |job, value| {
        job.kb_base = value.word(&[("1024", 1024), ("1000", 1000)])?.0;
        Ok(())
    }),
    no_effect("unit_base", &[], "of the report alone"),
];

pub(super) const DESCRIPTION: &[Known] = &[
    done("name", &[], "", |job, value| {
        job.name = value.needed()?.to_owned();
        Ok(())
    }),
    done("description", &[], "", |job, value| {
        job.description = value.text.map(str::to_owned);
        Ok(())
    }),
    done("loops", &[], "", |job, value| {
        job.loops = value.small()?;
        Ok(())
    }),
    done("numjobs", &[], "at most 1,000,000", |job, value| {
        job.jobs = value.number_in(1, 1_000_000)? as u32;
        Ok(())
    }),
];

pub(super) const TIME: &[Known] = &[
    done("runtime", &["timeout"], "", |job, value| {
        job.runtime = value.time(SECONDS)?;
        Ok(())
    }),
    done("time_based", &[], "", |job, value| {
        job.time_based = value.flag()?;
        Ok(())
    }),
    done(
        "startdelay",
        &[],
        "counts from the start of the simulation; of a range the value that fio's generator draws",
        |job, value| {
            job.start_delay = value.range(|value| value.time(SECONDS))?;
            Ok(())
        },
    ),
    done("ramp_time", &[], "", |job, value| {
        job.ramp = value.time(SECONDS)?;
        Ok(())
    }),
    no_effect("clocksource", &[], "reading the clock takes no time here"),
    no_effect("gtod_reduce", &[], "reading the clock takes no time here; all latencies are reported"),
    no_effect("gtod_cpu", &[], "reading the clock takes no time here"),
];

pub(super) const TARGET: &[Known] = &[
    done("directory", &[], "", |job, value| {
        job.directories = names(value.needed()?);
        Ok(())
    }),
    done(
        "filename",
        &[],
        "names of [global] and of the job are both used, as in fio; a device is one file of its own",
        |job, value| {
            let found = names(value.needed()?);
            if found.iter().any(|name| name == "-") {
                return Err(Wrong::new("names `-`, a pipe", "name a file"));
            }
            job.file_names.extend(found);
            Ok(())
        },
    ),
    done("filename_format", &[], "", |job, value| {
        job.file_name_format = value.text.unwrap_or("").to_owned();
        Ok(())
    }),
    no_effect("unique_filename", &[], "of clients and servers"),
    refused("opendir", &[], "the files of a folder are not known here"),
    refused("lockfile", &["none"], "files are not locked"),
    done("nrfiles", &["nr_files"], "", |job, value| {
        job.files = value.number_in(1, 1_000_000)? as u32;
        Ok(())
    }),
    done(
        "openfiles",
        &[],
        "all files stay open: a later open would drop the file's pages again",
        |job, value| {
            job.open_files = value.small()?;
            Ok(())
        },
    ),
    done("file_service_type", &[], "`roundrobin`, `random` and `sequential`", |job, value| {
        let words = [
            ("roundrobin", Some(Service::RoundRobin)),
            ("random", Some(Service::Random)),
            ("sequential", Some(Service::Sequential)),
            ("zipf", None),
            ("pareto", None),
            ("normal", None),
            ("gauss", None),
        ];
        let (service, rest) = value.word(&words)?;
        let Some(service) = service else {
            return Err(Wrong::new(
                "chooses files by a distribution, which is not simulated",
                "take random, roundrobin or sequential",
            ));
        };
        let count = rest.map_or(Ok(1), |rest| value.of(rest).number_in(1, u64::from(u32::MAX)))?;
        job.service = (service, count as u32);
        Ok(())
    }),
    no_effect("ioscheduler", &[], "the scheduler is the machine's: disk.NAME.scheduler"),
    no_effect("create_serialize", &[], "files exist when the simulation begins"),
    no_effect("create_fsync", &[], "files exist when the simulation begins"),
    done("create_on_open", &[], "", |job, value| {
        job.create_on_open = value.truth()?;
        Ok(())
    }),
    done("create_only", &[], "the job has no operations", |job, value| {
        job.create_only = value.truth()?;
        Ok(())
    }),
    no_effect("allow_file_create", &[], "files that are not there are made"),
    no_effect("allow_mounted_write", &[], "nothing real is written"),
    done("pre_read", &[], "", |job, value| {
        job.pre_read = value.truth()?;
        Ok(())
    }),
    done("unlink", &[], "", |job, value| {
        job.unlink = value.truth()?;
        Ok(())
    }),
    done("unlink_each_loop", &[], "", |job, value| {
        job.unlink_each_loop = value.truth()?;
        Ok(())
    }),
    done(
        "zonemode",
        &[],
        "`strided`; `zbd` is refused: no device of a machine has zones with write pointers",
        |job, value| {
            let (mode, _) = value.word(&[("none", Some(false)), ("strided", Some(true)), ("zbd", None)])?;
            if mode.is_none() {
                return Err(Wrong::new(
                    "is `zbd`, and no device of a machine has zones with write pointers",
                    "take zonemode=none or strided",
                ));
            }
            job.strides.mode = mode;
            Ok(())
        },
    ),
    done("zonerange", &[], "", |job, value| {
        job.strides.range = value.number()?;
        Ok(())
    }),
    done("zonesize", &[], "", |job, value| {
        job.strides.size = value.number()?;
        Ok(())
    }),
    no_effect("zonecapacity", &[], "of zonemode=zbd"),
    done("zoneskip", &[], "", |job, value| {
        job.strides.skip = value.number()?;
        Ok(())
    }),
    no_effect("read_beyond_wp", &[], "of zonemode=zbd"),
    no_effect("max_open_zones", &[], "of zonemode=zbd"),
    no_effect("job_max_open_zones", &[], "of zonemode=zbd"),
    no_effect("ignore_zone_limits", &[], "of zonemode=zbd"),
    no_effect("zone_reset_threshold", &[], "of zonemode=zbd"),
    no_effect("zone_reset_frequency", &[], "of zonemode=zbd"),
    done("fallocate", &[], "`native` and `posix` are fallocate(2) with mode 0", |job, value| {
        let words = [
            ("native", Preallocation::Extend),
            ("posix", Preallocation::Extend),
            ("1", Preallocation::Extend),
            ("none", Preallocation::None),
            ("0", Preallocation::None),
            ("keep", Preallocation::KeepSize),
            ("truncate", Preallocation::Truncate),
        ];
        job.preallocation = value.word(&words)?.0;
        Ok(())
    }),
];

/// Names with colons between them; `\:` is a colon of a name.
fn names(text: &str) -> Vec<String> {
    let (mut found, mut name) = (Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => name.extend(letters.next()),
            ':' => found.extend(Some(std::mem::take(&mut name)).filter(|name| !name.is_empty())),
            _ => name.push(letter),
        }
    }
    found.extend(Some(name).filter(|name| !name.is_empty()));
    found
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn colons_part_names() {
        assert_eq!(names(r"a:b\:c::d:"), ["a", "b:c", "d"]);
    }
}
