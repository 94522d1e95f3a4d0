//! Plays a case of the study `live-kernel` on the kernel that it runs on, and writes the tables of a recording.
//!
//! `play CASE.pct REPETITION MOUNT MAJOR:MINOR OUT [SERVER]` reads the steps of the case, does them below MOUNT and writes OUT/io.csv,
//! OUT/cache.csv, OUT/mem.csv, OUT/exec.csv, OUT/counters and OUT/start, the monotonic time of the case's start in seconds. MAJOR:MINOR is
//! the disk whose write-back figures are sampled. SERVER is the folder that the server of an NFS mount exports, SRV in paths.
//! Left out: traces, which whoever starts it takes from tracefs.

mod case;
mod player;
mod program;
mod rows;
mod sampler;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::player::Player;
use crate::sampler::Sampler;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match play(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("play: {message}");
            ExitCode::FAILURE
        }
    }
}

fn play(words: &[String]) -> Result<(), String> {
    let ([path, repetition, mount, device, out], server) = (match words {
        [first @ .., server] if words.len() == 6 => (first, Some(server)),
        all => (all, None),
    }) else {
        return Err("write `play CASE.pct REPETITION MOUNT MAJOR:MINOR OUT [SERVER]`".to_owned());
    };
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let steps = case::parse(&text).map_err(|problem| format!("{path}: {problem}"))?;
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let repetition: u32 = repetition.parse().map_err(|_| format!("`{repetition}` is no repetition"))?;
    let sampler = Sampler::open(device).map_err(|error| format!("counters: {error}"))?;

    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let monotonic = clock_gettime(ClockId::Monotonic);
    let (played, sampled) = thread::scope(|scope| {
        let sampling = scope.spawn(|| sampler.run(start, &is_over));
        let player = Player::new(Path::new(mount), start);
        let player = match server {
            Some(folder) => player.of_server(Path::new(folder)),
            None => player,
        };
        let played = player.play(&steps);
        is_over.store(true, Ordering::Relaxed);
        (played, sampling.join())
    });
    let played = played?;
    let sampler = sampled
        .map_err(|_| "the sampler stopped halfway".to_owned())?
        .map_err(|error| format!("counters: {error}"))?;

    let tables = [
        ("io.csv", rows::io(&name, repetition, &played)),
        ("cache.csv", rows::cache(&name, repetition, &played)),
        ("exec.csv", rows::exec(&name, repetition, &played)),
        ("mem.csv", sampler.table(&name, repetition)),
        ("counters", rows::counters(&played)),
        ("start", format!("{}.{:09}\n", monotonic.tv_sec, monotonic.tv_nsec)),
    ];
    for (file, text) in tables {
        let path = Path::new(out).join(file);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
