//! Shares helpers among the tests of this folder: a small machine on one line, and errors as text.

use std::path::Path;

use super::Scenario;

/// A machine with a disk `ssd` of 100 GB at "/data" and 16 GB of memory; the first line of a test's scenario.
pub const MACHINE: &str = r#"machine = { cores = 4, memory = { size = "16 GB", read = "8 GB/s", write = "5 GB/s" }, disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }, mount."/data".disk = "ssd" }"#;

/// Two hosts with a disk each, where the client mounts the server's "/export", and their link; two lines.
pub const HOSTS: &str = r#"host = { client = { cores = 4, memory = { size = "16 GB", read = "8 GB/s", write = "5 GB/s" }, disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }, mount."/data".disk = "ssd", mount."/remote".nfs = "server:/export" }, server = { cores = 4, memory = { size = "16 GB", read = "8 GB/s", write = "5 GB/s" }, disk.hdd = { size = "10 GB", read = "500 MB/s", write = "400 MB/s" }, mount."/export".disk = "hdd" } }
link.lan = { between = ["client", "server"], rate = "3 GB/s", latency = "20 us" }"#;

/// A process that does nothing much, for tests of something else.
pub const PROCESS: &str = r#"[[process]]
name = "p"
do = [ { sleep = "1 s" } ]"#;

/// Reads a scenario without any machine files.
pub fn read(text: &str, overrides: &[&str]) -> Result<Scenario, String> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let nowhere = Path::new("no such folder");
    Scenario::from_toml(text.as_bytes(), "x.toml", nowhere, nowhere, &overrides)
        .map_err(|error| error.to_string())
}

/// Why the scenario of the small machine, `text` and the usual process is refused; `text` begins in line 2.
pub fn error(text: &str) -> String {
    refusal(&format!("{MACHINE}\n{text}\n{PROCESS}"))
}

/// Why a whole scenario is refused.
pub fn refusal(text: &str) -> String {
    read(text, &[]).map(|_| ()).expect_err("it should be refused")
}
