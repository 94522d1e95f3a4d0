//! Evict, warm and lock do what they say, and say what they could not do.

use std::fs::{self, File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::slice::from_ref;

use pagecast_core::units::Bytes;
use pagecast_probe::evict::{EvictedFile, Reason, evict};
use pagecast_probe::lock::{lock, needed};
use pagecast_probe::residency::page_size;
use pagecast_probe::warm::warm;
use pagecast_probe::{ProbeError, Trouble};
use proptest::prelude::*;

use crate::common::*;

fn evicted(path: &Path, sync: bool) -> EvictedFile {
    let outcome = evict(&[path.to_owned()], &best(), sync, &mut on).unwrap();
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.files[0].clone()
}

#[test]
fn a_file_that_was_written_is_cached_and_dirty() {
    let Some(folder) = disk() else { return };
    let path = dirty_file(folder.path(), "a", 1_000_000);
    let found = look_at(&path, &best());
    assert_eq!(found.residency.cached, Bytes(1_000_000));
    if let Some(state) = found.residency.state {
        assert_eq!(state.dirty + state.writeback, Bytes(1_000_000));
    }
}

#[test]
fn after_eviction_nothing_is_cached_also_of_dirty_files() {
    let Some(folder) = disk() else { return };
    let file = evicted(&dirty_file(folder.path(), "a", 3_000_001), true);
    assert!(file.is_cold() && file.reasons.is_empty());
    assert_eq!(file.file.residency.cached, Bytes(3_000_001));
    assert_eq!(cached(&file.file.path), Bytes::ZERO);
}

#[test]
fn without_writing_first_dirty_pages_stay_and_the_reason_is_given() {
    let Some(folder) = disk() else { return };
    // So large that the write-back that the hint starts is not over at once.
    let file = evicted(&dirty_file(folder.path(), "a", 64 << 20), false);
    if !file.is_cold() && file.file.residency.state.is_some() {
        let is_unwritten = |reason: &Reason| matches!(reason, Reason::Dirty(_) | Reason::Writeback(_));
        assert!(file.reasons.iter().any(is_unwritten), "{:?}", file.reasons);
    }
    assert!(evicted(&file.file.path, true).is_cold());
}

#[test]
fn what_is_locked_stays_and_its_holder_is_named() {
    let Some(folder) = disk() else { return };
    let path = file(folder.path(), "a", 1_000_000);
    let (held, warming) = lock(from_ref(&path), &best(), &mut on).unwrap();
    assert!(warming.problems.is_empty() && warming.files[0].is_warm());
    assert_eq!(held.bytes(), needed(from_ref(&path)));
    assert_eq!(held.bytes().0, 1_000_000_u64.next_multiple_of(page_size()));
    let stayed = evicted(&path, true);
    assert_eq!(stayed.after.unwrap().cached, Bytes(1_000_000));
    let own = std::process::id();
    assert!(
        matches!(&stayed.reasons[..], [Reason::Locked { pid, .. }] if *pid == own),
        "{:?}",
        stayed.reasons
    );
    drop(held);
    assert!(evicted(&path, true).is_cold());
}

#[test]
fn after_warming_everything_is_cached() {
    let Some(folder) = disk() else { return };
    let path = file(folder.path(), "a", 20_000_001);
    assert!(evicted(&path, true).is_cold());
    let outcome = warm(from_ref(&path), &best(), &mut on).unwrap();
    assert!(outcome.files[0].is_warm() && outcome.problems.is_empty());
    assert_eq!(outcome.files[0].file.residency.cached, Bytes::ZERO);
    assert_eq!(cached(&path), Bytes(20_000_001));
}

#[test]
fn holes_need_no_warming() {
    let Some(folder) = disk() else { return };
    let path = folder.path().join("sparse");
    let sparse = File::create(&path).unwrap();
    sparse.set_len(1 << 40).unwrap();
    sparse.write_all_at(&[1; 100_000], 1 << 39).unwrap();
    sparse.sync_all().unwrap();
    assert!(evicted(&path, true).is_cold());
    let outcome = warm(from_ref(&path), &best(), &mut on).unwrap();
    let file = &outcome.files[0];
    assert!(file.is_warm() && file.data < Bytes(1_000_000), "{file:?}");
    assert!(cached(&path) < Bytes(20_000_000));
    assert!(evicted(&path, true).is_cold());
}

#[test]
fn a_file_of_holes_only_is_warm() {
    let Some(folder) = disk() else { return };
    let path = folder.path().join("holes");
    File::create(&path).unwrap().set_len(10_000_000).unwrap();
    let outcome = warm(from_ref(&path), &best(), &mut on).unwrap();
    assert!(outcome.files[0].is_warm());
    assert_eq!((outcome.files[0].data, cached(&path)), (Bytes::ZERO, Bytes::ZERO));
}

#[test]
fn empty_files_are_cold_and_warm() {
    let folder = folder();
    let path = file(folder.path(), "empty", 0);
    assert!(evicted(&path, true).is_cold());
    assert!(warm(from_ref(&path), &best(), &mut on).unwrap().files[0].is_warm());
    assert_eq!(lock(&[path], &best(), &mut on).unwrap().0.bytes(), Bytes::ZERO);
}

#[test]
fn in_memory_nothing_can_be_evicted_and_that_is_the_reason() {
    let Ok(folder) = tempfile::TempDir::new_in("/dev/shm") else { return };
    let stayed = evicted(&dirty_file(folder.path(), "a", 100_000), true);
    assert!(!stayed.is_cold());
    assert_eq!(stayed.reasons, [Reason::MemoryOnly("tmpfs".to_owned())]);
}

#[test]
fn a_file_that_vanished_is_no_problem() {
    let folder = folder();
    let gone = folder.path().join("gone");
    let (dropped, read) = (evict(from_ref(&gone), &best(), true, &mut on), warm(&[gone], &best(), &mut on));
    assert_eq!((dropped.unwrap().vanished, read.unwrap().vanished), (1, 1));
}

#[test]
fn the_watcher_stops_an_eviction() {
    let Some(folder) = disk() else { return };
    let files: Vec<_> = (0..8).map(|k| dirty_file(folder.path(), &k.to_string(), 32 << 20)).collect();
    let stopped = evict(&files, &best(), true, &mut |_| ControlFlow::Break(()));
    // A fast machine may be done before anybody looks.
    assert!(matches!(stopped, Ok(_) | Err(ProbeError::Interrupted)));
}

#[test]
fn a_file_truncated_before_it_is_read_is_no_error() {
    let Some(folder) = disk() else { return };
    let path = file(folder.path(), "a", 1_000_000);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
    assert!(warm(from_ref(&path), &best(), &mut on).unwrap().files[0].is_warm());
    assert_eq!(size(&path), Bytes(10));
}

#[test]
fn a_file_truncated_all_the_time_does_no_harm() {
    let Some(folder) = disk() else { return };
    let path = file(folder.path(), "a", 8_000_000);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                file.set_len(1000).unwrap();
                file.set_len(8_000_000).unwrap();
            }
        });
        for _ in 0..30 {
            for prober in [best(), by_mincore()] {
                let found = look(from_ref(&path), &prober);
                assert!(found.files.iter().all(|file| file.residency.cached <= file.size));
                let is_said = |trouble: &Trouble| matches!(trouble, Trouble::Truncated { .. });
                assert!(found.problems.iter().all(|problem| is_said(&problem.trouble)));
                let warming = warm(from_ref(&path), &prober, &mut on).unwrap();
                assert!(warming.problems.iter().all(|problem| is_said(&problem.trouble)));
                let _ = lock(from_ref(&path), &prober, &mut on).unwrap();
                evict(from_ref(&path), &prober, true, &mut on).unwrap();
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever parts of a file were read: cached <= size, both methods agree, and the picture adds up.
    #[test]
    fn both_methods_agree_on_a_quiet_file(
        size in 1_usize..3_000_000,
        reads in prop::collection::vec((0.0_f64..1.0, 1_usize..50_000), 0..6),
    ) {
        let Some(folder) = disk() else { return Ok(()) };
        let path = file(folder.path(), "a", size);
        prop_assert!(evicted(&path, true).is_cold());
        let open = File::open(&path).unwrap();
        for (place, length) in reads {
            let _ = open.read_at(&mut vec![0; length], (place * size as f64) as u64).unwrap();
        }
        // Read-ahead goes on for a moment after the read has returned.
        let mut pair = (look_at(&path, &best()), look_at(&path, &by_mincore()));
        for _ in 0..100 {
            if pair.0.residency.cached == pair.1.residency.cached { break }
            std::thread::sleep(std::time::Duration::from_millis(5));
            pair = (look_at(&path, &best()), look_at(&path, &by_mincore()));
        }
        prop_assert_eq!(pair.0.residency.cached, pair.1.residency.cached);
        prop_assert!(pair.0.residency.cached <= pair.0.size);
        prop_assert_eq!(pair.0.size, Bytes(fs::metadata(&path).unwrap().len()));
        if let Some(state) = pair.0.residency.state {
            prop_assert!(state.dirty + state.writeback <= pair.0.residency.cached);
            prop_assert!(state.recently_evicted <= state.evicted);
        }
        let survey = pagecast_probe::residency::survey(&[path], &best(), 7, &mut on).unwrap();
        let cells = &survey.files[0].cells;
        prop_assert!(cells.len() <= 7 && cells.iter().all(|cell| (0.0..=1.0).contains(cell)));
        prop_assert_eq!(cells.iter().any(|&cell| cell > 0.0), survey.files[0].residency.cached > Bytes::ZERO);
    }
}
