//! The rows of a recording, kept in memory until the case is over: writing them would be I/O of its own.

use std::fmt::Write as _;

/// One system call, or several in a row that moved up to 1 MiB together.
#[derive(Clone, Debug)]
pub struct Call {
    /// When it began, in seconds from the start of the case.
    pub start_s: f64,
    /// What it was; `mark`, `sleep` and `spin` are rows too.
    pub op: &'static str,
    /// The file's path below the mount point, or the label of a mark.
    pub file: String,
    /// Where in the file it began.
    pub offset: u64,
    /// What was moved.
    pub bytes: u64,
    /// How long it took.
    pub duration_s: f64,
    /// What the last of the calls returned; negative: the number of the error.
    pub result: i64,
    /// How many calls these are.
    pub calls: u64,
}

/// What was cached of a file at a step `stat`.
#[derive(Clone, Debug)]
pub struct Look {
    /// When the answer was there, in seconds from the start of the case.
    pub time_s: f64,
    /// What the case calls this moment.
    pub label: String,
    /// The file's path below the mount point.
    pub file: String,
    /// Its length, and what of it was cached, dirty and under writeback, in bytes.
    pub bytes: [u64; 4],
}

/// A program that a step `exec` ran.
#[derive(Clone, Debug)]
pub struct Run {
    /// When it was started, in seconds from the start of the case.
    pub start_s: f64,
    /// How long it took until it had ended.
    pub duration_s: f64,
    /// What `/proc/PID/io` said of it and its children then, see `COUNTERS`.
    pub counters: [u64; 6],
    /// Its words.
    pub command: String,
}

/// The lines of `/proc/PID/io` that are kept.
pub const COUNTERS: [&str; 6] = ["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"];

/// The kernel's counters of NFS at a mark.
#[derive(Clone, Debug)]
pub struct Counted {
    /// When, in seconds from the start of the case.
    pub time_s: f64,
    /// The phase that begins; `begin` and `end` are those of the case.
    pub label: String,
    /// The text of `COUNTER_FILES`.
    pub text: String,
}

/// Where the kernel counts calls of NFS: those of the client, and of a server in the same kernel.
pub const COUNTER_FILES: [&str; 2] = ["/proc/self/mountstats", "/proc/net/rpc/nfsd"];

/// What one process of a case did.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its name; the one that runs the case is `p0`.
    pub name: String,
    /// Its calls in order.
    pub calls: Vec<Call>,
    /// Its looks in order.
    pub looks: Vec<Look>,
    /// The programs that it ran, in order.
    pub runs: Vec<Run>,
    /// Calls of NFS at its marks, in order.
    pub counted: Vec<Counted>,
}

/// Writes `exec.csv`.
pub fn exec(case: &str, repetition: u32, processes: &[Played]) -> String {
    let mut text = format!("case,rep,proc,t_start_s,duration_s,{},command\n", COUNTERS.join(","));
    for process in processes {
        for Run { start_s, duration_s, counters, command } in &process.runs {
            let name = &process.name;
            let counters = counters.map(|counter| counter.to_string()).join(",");
            let command = command.replace('"', "\"\"");
            let _ = writeln!(
                text,
                "{case},{repetition},{name},{start_s:.6},{duration_s:.9},{counters},\"{command}\""
            );
        }
    }
    text
}

/// Writes `counters`: a line `mark TIME LABEL`, and below it what the kernel had counted.
pub fn counters(processes: &[Played]) -> String {
    let mut text = String::new();
    for Counted { time_s, label, text: counted } in processes.iter().flat_map(|process| &process.counted) {
        let _ = write!(text, "mark {time_s:.6} {label}\n{counted}");
    }
    text
}

/// Writes `io.csv`.
pub fn io(case: &str, repetition: u32, processes: &[Played]) -> String {
    let mut text = "case,rep,proc,t_start_s,op,file,offset,bytes,duration_s,result,calls\n".to_owned();
    for process in processes {
        for call in &process.calls {
            let Call { start_s, op, file, offset, bytes, duration_s, result, calls } = call;
            let name = &process.name;
            let _ = writeln!(
                text,
                "{case},{repetition},{name},{start_s:.6},{op},{file},{offset},{bytes},{duration_s:.9},{result},{calls}"
            );
        }
    }
    text
}

/// Writes `cache.csv`.
pub fn cache(case: &str, repetition: u32, processes: &[Played]) -> String {
    let mut text =
        "case,rep,proc,t_s,label,file,size_bytes,cached_bytes,dirty_bytes,writeback_bytes\n".to_owned();
    for process in processes {
        for Look { time_s, label, file, bytes: [size, cached, dirty, writeback] } in &process.looks {
            let name = &process.name;
            let _ = writeln!(
                text,
                "{case},{repetition},{name},{time_s:.6},{label},{file},{size},{cached},{dirty},{writeback}"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_columns_that_the_study_reads() {
        let call = Call {
            start_s: 0.5,
            op: "write",
            file: "f".into(),
            offset: 4096,
            bytes: 8192,
            duration_s: 1.5e-6,
            result: 4096,
            calls: 2,
        };
        let look = Look { time_s: 1.25, label: "after".into(), file: "f".into(), bytes: [4, 3, 2, 1] };
        let run = Run {
            start_s: 2.0,
            duration_s: 0.25,
            counters: [1, 2, 3, 4, 5, 6],
            command: "sh -c \"true\"".into(),
        };
        let counted = Counted { time_s: 0.5, label: "write".into(), text: "rpc 1\n".into() };
        let played = [Played {
            name: "p0".into(),
            calls: vec![call],
            looks: vec![look],
            runs: vec![run],
            counted: vec![counted],
        }];
        assert_eq!(counters(&played), "mark 0.500000 write\nrpc 1\n");
        assert_eq!(
            io("a", 2, &played),
            "case,rep,proc,t_start_s,op,file,offset,bytes,duration_s,result,calls\n\
             a,2,p0,0.500000,write,f,4096,8192,0.000001500,4096,2\n"
        );
        assert_eq!(
            cache("a", 2, &played),
            "case,rep,proc,t_s,label,file,size_bytes,cached_bytes,dirty_bytes,writeback_bytes\n\
             a,2,p0,1.250000,after,f,4,3,2,1\n"
        );
        assert_eq!(
            exec("a", 2, &played),
            "case,rep,proc,t_start_s,duration_s,rchar,wchar,syscr,syscw,read_bytes,write_bytes,command\n\
             a,2,p0,2.000000,0.250000000,1,2,3,4,5,6,\"sh -c \"\"true\"\"\"\n"
        );
    }
}
