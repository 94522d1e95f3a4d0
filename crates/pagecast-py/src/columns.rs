//! Returns results as columns: NumPy arrays for numbers, lists of `str` for names. Never row by row in Python.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use numpy::PyArray1;
use pagecast_core::result::{
    AtRisk, AtRiskTable, BdiLevels, BdiTable, BlockTable, Calls, CgroupLevels, CgroupTable, Depth,
    DeviceTable, EventTable, FileTable, KernelLevels, Latencies, Latency, LatencyKey, LinkTable, Moved,
    OperationTable, Part, Rates, Server, SimulationResult, Slots, Summary, TimelineTable, Used, WaitTable,
};
use pagecast_core::units::{Bytes, Nanos};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::errors::ScenarioError;

/// The percentiles that are told, as shares.
const QUANTILES: [(&str, f64); 4] = [("p50_s", 0.5), ("p90_s", 0.9), ("p99_s", 0.99), ("p99_9_s", 0.999)];

/// What one simulation of a scenario under one model yields.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Result {
    pub data: SimulationResult,
    /// The model that was asked.
    #[pyo3(get)]
    pub model: String,
    /// Options of the model, as far as they were given.
    #[pyo3(get)]
    pub options: BTreeMap<String, String>,
    /// SHA-256 of the canonical text of the machine, in hexadecimal.
    #[pyo3(get)]
    pub machine_hash: String,
    /// The seed of all random streams.
    #[pyo3(get)]
    pub seed: u64,
    /// Where the scenario came from.
    #[pyo3(get)]
    pub origin: String,
    /// Seconds of real time that the simulation took.
    #[pyo3(get)]
    pub wall_s: f64,
    /// Made when it is first asked for.
    pub summary: OnceLock<Summary>,
}

#[pymethods]
impl Result {
    /// The simulated time at which the last process ended.
    #[getter]
    fn end_s(&self) -> f64 {
        self.data.end.as_seconds()
    }

    /// Events beyond those that the table keeps.
    #[getter]
    fn events_left_out(&self) -> u64 {
        self.data.events.left_out
    }

    /// Whether levels change evenly between the rows of the timeline; if not, at the rows alone.
    #[getter]
    fn changes_evenly(&self) -> bool {
        self.data.timeline.is_even
    }

    /// The cores that processes hold for themselves, by the names of those that do.
    #[getter]
    fn slots(&self) -> BTreeMap<&str, u32> {
        let all = self.data.processes.iter().zip(&self.data.slots);
        all.filter_map(|(name, cores)| Some((&**name, (*cores)?))).collect()
    }

    /// Whether each operation has a row.
    #[getter]
    fn has_all_operations(&self) -> bool {
        !self.data.counted.is_all
    }

    /// Blocks of hosts that have too many for the table.
    #[getter]
    fn blocks_left_out(&self) -> u64 {
        self.data.blocks.left_out
    }

    /// The columns of one table by name.
    fn columns<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyDict>> {
        py.import("numpy")?; // here Ctrl-C is an exception; in the making of an array it would be a broken promise
        let columns = Columns { py, data: &self.data, dict: PyDict::new(py) };
        match table {
            "operations" => columns.operations(&self.data.operations),
            "parts" => columns.parts(&self.data.operations),
            "waits" => columns.waits(&self.data.waits),
            "timeline" => columns.timeline(&self.data.timeline),
            "bdi" => columns.bdi(&self.data.bdi),
            "at_risk" => columns.at_risk(&self.data.at_risk),
            "devices" => columns.devices(&self.data.devices),
            "links" => columns.links(&self.data.links),
            "servers" => columns.servers(&self.data.servers),
            "rpc_slots" => columns.rpc_slots(&self.data.rpc_slots),
            "files" => columns.files(&self.data.files),
            "events" => columns.events(&self.data.events),
            "blocks" => columns.blocks(&self.data.blocks),
            "cgroups" => columns.cgroups(&self.data.cgroups),
            "latency" => columns.latency(&self.summary(py).latency),
            "latency_bins" => columns.latency_bins(&self.summary(py).latency),
            "latency_parts" => columns.latency_parts(&self.summary(py).latency),
            "rates" => columns.moved(&self.summary(py).rates),
            _ => Err(ScenarioError::new_err(format!(
                "there is no table {table:?}; choose one of operations, parts, waits, timeline, bdi, devices, \
                 links, servers, rpc_slots, files, events, blocks, cgroups, latency, latency_bins, latency_parts, rates"
            ))),
        }
    }
}

impl Result {
    fn summary(&self, py: Python<'_>) -> &Summary {
        py.detach(|| self.summary.get_or_init(|| self.data.summary()))
    }
}

/// A table being made.
struct Columns<'a, 'py> {
    py: Python<'py>,
    data: &'a SimulationResult,
    dict: Bound<'py, PyDict>,
}

impl<'py> Columns<'_, 'py> {
    fn operations(self, table: &OperationTable) -> PyResult<Bound<'py, PyDict>> {
        self.names("process", &self.data.processes, &table.process)?;
        self.names("host", &self.data.hosts, &table.host)?;
        self.indices("index", &table.index)?;
        self.words("operation", &table.operation)?;
        self.names("path", &self.data.paths, &table.path)?;
        self.sizes("offset_bytes", &table.offset)?;
        self.sizes("bytes", &table.bytes)?;
        self.times("start_s", table.start.iter().copied())?;
        self.times("end_s", table.end.iter().copied())?;
        // From whole nanoseconds, so that the parts add up to it: the difference of two floats would not do.
        self.times("duration_s", table.start.iter().zip(&table.end).map(|(&start, &end)| end - start))?;
        self.sizes("from_cache_bytes", &table.from_cache)?;
        self.sizes("from_device_bytes", &table.from_device)?;
        Ok(self.dict)
    }

    fn parts(self, table: &OperationTable) -> PyResult<Bound<'py, PyDict>> {
        self.names("process", &self.data.processes, &table.process)?;
        self.indices("index", &table.index)?;
        self.words("operation", &table.operation)?;
        for part in Part::ALL {
            self.times(&format!("{}_s", part.name()), table.parts.of(part))?;
        }
        Ok(self.dict)
    }

    fn waits(self, table: &WaitTable) -> PyResult<Bound<'py, PyDict>> {
        self.names("process", &self.data.processes, &table.process)?;
        self.indices("index", &table.index)?;
        self.words("part", &table.part.iter().map(|part| part.name()).collect::<Vec<_>>())?;
        self.names("behind_process", &self.data.processes, &table.behind_process)?;
        self.names("behind_path", &self.data.paths, &table.behind_path)?;
        self.times("waited_s", table.time.iter().copied())?;
        Ok(self.dict)
    }

    fn timeline(self, table: &TimelineTable) -> PyResult<Bound<'py, PyDict>> {
        self.times("time_s", table.time.iter().copied())?;
        self.names("host", &self.data.hosts, &table.host)?;
        let level = |name, get: fn(&_) -> Bytes| {
            self.array(name, table.levels.iter().map(|levels| get(levels).0 as i64))
        };
        level("used_bytes", |levels| levels.used())?;
        level("free_bytes", |levels| levels.free())?;
        level("anonymous_bytes", |levels| levels.anonymous)?;
        level("cached_bytes", |levels| levels.cached)?;
        level("dirty_bytes", |levels| levels.dirty)?;
        // All hosts have the same model.
        if table.levels.first().is_some_and(|levels| levels.kernel.is_some()) {
            level("inactive_bytes", |levels| levels.inactive())?;
            self.kernel_levels(table)?;
        }
        Ok(self.dict)
    }

    fn kernel_levels(&self, table: &TimelineTable) -> PyResult<()> {
        let known = || table.levels.iter().map(|levels| levels.kernel.unwrap_or_default());
        let level = |name, get: fn(KernelLevels) -> Bytes| {
            self.array(name, known().map(|kernel| get(kernel).0 as i64))
        };
        level("active_bytes", |kernel| kernel.active)?;
        level("writeback_bytes", |kernel| kernel.writeback)?;
        level("dirtied_bytes", |kernel| kernel.dirtied)?;
        level("background_threshold_bytes", |kernel| kernel.background)?;
        level("setpoint_bytes", |kernel| kernel.setpoint)?;
        level("dirty_limit_bytes", |kernel| kernel.limit)?;
        level("hard_limit_bytes", |kernel| kernel.hard_limit)?;
        self.rates("task_rate_bytes_per_s", known().map(|kernel| kernel.task_rate))
    }

    fn bdi(self, table: &BdiTable) -> PyResult<Bound<'py, PyDict>> {
        self.times("time_s", table.time.iter().copied())?;
        self.names("host", &self.data.hosts, &table.host)?;
        self.names("device", &self.data.paths, &table.device)?;
        self.names("cgroup", &self.data.paths, &table.cgroup)?;
        let level = |name, get: fn(&BdiLevels) -> Bytes| {
            self.array(name, table.levels.iter().map(|levels| get(levels).0 as i64))
        };
        let rate =
            |name, get: fn(&BdiLevels) -> Option<Bytes>| self.rates(name, table.levels.iter().map(get));
        rate("write_bandwidth_bytes_per_s", |levels| Some(levels.write_bandwidth))?;
        rate("avg_write_bandwidth_bytes_per_s", |levels| Some(levels.avg_write_bandwidth))?;
        rate("dirty_ratelimit_bytes_per_s", |levels| Some(levels.dirty_ratelimit))?;
        rate("balanced_dirty_ratelimit_bytes_per_s", |levels| Some(levels.balanced_dirty_ratelimit))?;
        rate("task_ratelimit_bytes_per_s", |levels| levels.task_ratelimit)?;
        level("dirty_bytes", |levels| levels.dirty)?;
        level("writeback_bytes", |levels| levels.writeback)?;
        Ok(self.dict)
    }

    fn at_risk(self, table: &AtRiskTable) -> PyResult<Bound<'py, PyDict>> {
        self.times("time_s", table.time.iter().copied())?;
        self.names("host", &self.data.hosts, &table.host)?;
        self.names("device", &self.data.paths, &table.device)?;
        let level = |name, get: fn(&AtRisk) -> u64| {
            self.array(name, table.levels.iter().map(|levels| get(levels) as i64))
        };
        level("at_risk_bytes", |levels| levels.bytes().0)?;
        level("memory_bytes", |levels| levels.memory.0)?;
        level("disk_cache_bytes", |levels| levels.disk_cache.0)?;
        level("uncommitted_bytes", |levels| levels.uncommitted.0)?;
        level("files", |levels| levels.files)?;
        level("names", |levels| levels.names)?;
        Ok(self.dict)
    }

    fn devices(self, table: &DeviceTable) -> PyResult<Bound<'py, PyDict>> {
        self.times("time_s", table.time.iter().copied())?;
        self.times("window_s", table.window.iter().copied())?;
        self.names("host", &self.data.hosts, &table.host)?;
        self.names("device", &self.data.paths, &table.device)?;
        let count =
            |name, get: fn(&Used) -> u64| self.array(name, table.used.iter().map(|used| get(used) as i64));
        count("reads", |used| used.reads)?;
        count("read_bytes", |used| used.read_bytes)?;
        count("writes", |used| used.writes)?;
        count("write_bytes", |used| used.write_bytes)?;
        count("flushes", |used| used.flushes)?;
        let by_window = |name, get: fn(&Used) -> f64| {
            let shares =
                table.used.iter().zip(&table.window).map(|(used, window)| get(used) / window.0.max(1) as f64);
            self.dict.set_item(name, PyArray1::from_iter(self.py, shares))
        };
        by_window("utilisation", |used| used.busy.0 as f64)?;
        by_window("mean_depth", |used| used.at_disk as f64)?;
        count("max_depth", |used| used.deepest)?;
        let by_request = |name, get: fn(&Used) -> u128| {
            let each = |used: &Used| match used.requests() {
                0 => f64::NAN,
                requests => get(used) as f64 / requests as f64 * 1e-9,
            };
            self.dict.set_item(name, PyArray1::from_iter(self.py, table.used.iter().map(each)))
        };
        by_request("request_s", |used| used.at_disk)?;
        by_request("queue_s", |used| used.waiting)?;
        Ok(self.dict)
    }

    fn links(self, table: &LinkTable) -> PyResult<Bound<'py, PyDict>> {
        let end = self.data.end.0.max(1) as f64;
        self.dict.set_item("link", &table.link)?;
        self.dict.set_item("from", &table.from)?;
        self.dict.set_item("to", &table.to)?;
        self.array("messages", table.messages.iter().map(|&count| count as i64))?;
        self.array("bytes", table.bytes.iter().map(|&bytes| bytes as i64))?;
        self.array("link_bytes", table.on_link.iter().map(|&bytes| bytes as i64))?;
        self.dict.set_item("rate_bytes_per_s", PyArray1::from_iter(self.py, table.rate.iter().copied()))?;
        self.times("busy_s", table.busy.iter().copied())?;
        let used = table.on_link.iter().zip(&table.rate);
        let shares = used.map(|(&bytes, rate)| bytes as f64 / (rate * end * 1e-9));
        self.dict.set_item("utilisation", PyArray1::from_iter(self.py, shares))?;
        Ok(self.dict)
    }

    fn servers(self, table: &[Server]) -> PyResult<Bound<'py, PyDict>> {
        let end = self.data.end.as_seconds().max(f64::MIN_POSITIVE);
        self.dict.set_item("host", strings(table, |server| &server.host))?;
        self.array("threads", table.iter().map(|server| i64::from(server.threads)))?;
        self.calls(table, |server| server.calls)?;
        let by_call = |server: &Server, depth: &Depth| depth.seconds() / server.calls.count.max(1) as f64;
        self.numbers("call_s", table.iter().map(|server| by_call(server, &server.busy)))?;
        self.numbers("queue_s", table.iter().map(|server| by_call(server, &server.waiting)))?;
        self.numbers("mean_busy", table.iter().map(|server| server.busy.seconds() / end))?;
        self.array("max_busy", table.iter().map(|server| server.busy.most as i64))?;
        self.numbers("mean_waiting", table.iter().map(|server| server.waiting.seconds() / end))?;
        self.array("max_waiting", table.iter().map(|server| server.waiting.most as i64))?;
        let part = |server: &Server| server.busy.seconds() / (end * f64::from(server.threads));
        self.numbers("utilisation", table.iter().map(part))?;
        Ok(self.dict)
    }

    fn rpc_slots(self, table: &[Slots]) -> PyResult<Bound<'py, PyDict>> {
        let end = self.data.end.as_seconds().max(f64::MIN_POSITIVE);
        self.dict.set_item("host", strings(table, |each| &each.host))?;
        self.dict.set_item("mount", strings(table, |each| &each.mount))?;
        self.dict.set_item("server", strings(table, |each| &each.server))?;
        self.numbers("slots", table.iter().map(|each| each.slots.map_or(f64::NAN, f64::from)))?;
        self.calls(table, |each| each.calls)?;
        let by_call = |each: &Slots| each.in_use.seconds() / each.calls.count.max(1) as f64;
        self.numbers("call_s", table.iter().map(by_call))?;
        self.numbers("mean_in_use", table.iter().map(|each| each.in_use.seconds() / end))?;
        self.array("max_in_use", table.iter().map(|each| each.in_use.most as i64))?;
        let part = |each: &Slots| {
            each.slots.map_or(f64::NAN, |slots| each.in_use.seconds() / (end * f64::from(slots)))
        };
        self.numbers("utilisation", table.iter().map(part))?;
        Ok(self.dict)
    }

    /// How many calls were answered, and the bytes of reads and writes among them.
    fn calls<T>(&self, table: &[T], calls: impl Fn(&T) -> Calls) -> PyResult<()> {
        self.array("calls", table.iter().map(|each| calls(each).count as i64))?;
        self.array("read_bytes", table.iter().map(|each| calls(each).read as i64))?;
        self.array("write_bytes", table.iter().map(|each| calls(each).written as i64))
    }

    fn numbers(&self, name: &str, values: impl Iterator<Item = f64>) -> PyResult<()> {
        self.dict.set_item(name, PyArray1::from_iter(self.py, values))
    }

    fn files(self, table: &FileTable) -> PyResult<Bound<'py, PyDict>> {
        self.times("time_s", table.time.iter().copied())?;
        self.names("process", &self.data.processes, &table.process)?;
        self.indices("index", &table.index)?;
        self.names("path", &self.data.paths, &table.path)?;
        self.names("host", &self.data.hosts, &table.host)?;
        self.sizes("size_bytes", &table.size)?;
        self.sizes("cached_bytes", &table.cached)?;
        self.sizes("dirty_bytes", &table.dirty)?;
        self.sizes("active_bytes", &table.active)?;
        Ok(self.dict)
    }

    fn events(self, table: &EventTable) -> PyResult<Bound<'py, PyDict>> {
        self.times("time_s", table.time.iter().copied())?;
        self.names("host", &self.data.hosts, &table.host)?;
        self.words("event", &table.event)?;
        self.names("process", &self.data.processes, &table.process)?;
        self.names("device", &self.data.paths, &table.device)?;
        self.names("path", &self.data.paths, &table.path)?;
        self.sizes("bytes", &table.bytes)?;
        Ok(self.dict)
    }

    fn blocks(self, table: &BlockTable) -> PyResult<Bound<'py, PyDict>> {
        self.names("host", &self.data.hosts, &table.host)?;
        self.words("list", &table.list)?;
        self.names("path", &self.data.paths, &table.path)?;
        self.sizes("bytes", &table.bytes)?;
        self.dict.set_item("dirty", PyArray1::from_slice(self.py, &table.dirty))?;
        self.times("accessed_s", table.accessed.iter().copied())?;
        self.times("dirtied_s", table.dirtied.iter().copied())?;
        Ok(self.dict)
    }

    fn cgroups(self, table: &CgroupTable) -> PyResult<Bound<'py, PyDict>> {
        self.names("host", &self.data.hosts, &table.host)?;
        self.dict.set_item("cgroup", PyList::new(self.py, &table.cgroup)?)?;
        self.sizes("memory_max_bytes", &table.limit)?;
        let level = |name, get: fn(&CgroupLevels) -> Bytes| {
            self.array(name, table.levels.iter().map(|levels| get(levels).0 as i64))
        };
        level("memory_peak_bytes", |levels| levels.peak)?;
        level("dirty_peak_bytes", |levels| levels.dirty_peak)?;
        level("cached_bytes", |levels| levels.cached)?;
        level("anonymous_bytes", |levels| levels.anonymous)?;
        level("dirty_bytes", |levels| levels.dirty)?;
        Ok(self.dict)
    }

    /// The first columns of tables of durations.
    fn keys(&self, keys: impl IntoIterator<Item = LatencyKey>) -> PyResult<()> {
        let keys: Vec<LatencyKey> = keys.into_iter().collect();
        let column = |get: fn(&LatencyKey) -> u32| keys.iter().map(get).collect::<Vec<u32>>();
        self.names("process", &self.data.processes, &column(|key| key.0))?;
        self.names("path", &self.data.paths, &column(|key| key.1))?;
        self.words("operation", &keys.iter().map(|key| key.2).collect::<Vec<_>>())
    }

    fn latency(self, table: &Latencies) -> PyResult<Bound<'py, PyDict>> {
        let rows = table.rows(&self.data.paths);
        self.keys(rows.iter().map(|row| row.0))?;
        self.array("count", rows.iter().map(|(_, latency)| latency.count as i64))?;
        self.array("bytes", rows.iter().map(|(_, latency)| latency.bytes as i64))?;
        self.times("total_s", rows.iter().map(|(_, latency)| latency.total))?;
        let seconds = |get: fn(&Latency) -> f64| rows.iter().map(move |(_, latency)| get(latency));
        let mean = seconds(|latency| latency.total.as_seconds() / latency.count.max(1) as f64);
        self.dict.set_item("mean_s", PyArray1::from_iter(self.py, mean))?;
        self.dict.set_item("stddev_s", PyArray1::from_iter(self.py, seconds(Latency::deviation)))?;
        self.times("min_s", rows.iter().map(|(_, latency)| latency.quantile(0.0)))?;
        for (name, share) in QUANTILES {
            self.times(name, rows.iter().map(|(_, latency)| latency.quantile(share)))?;
        }
        self.times("max_s", rows.iter().map(|(_, latency)| latency.longest))?;
        let span = |row: &(LatencyKey, &Latency)| row.1.span.unwrap_or_default();
        self.times("first_start_s", rows.iter().map(|row| span(row).0))?;
        self.times("last_end_s", rows.iter().map(|row| span(row).1))?;
        Ok(self.dict)
    }

    fn latency_bins(self, table: &Latencies) -> PyResult<Bound<'py, PyDict>> {
        let rows = table.rows(&self.data.paths);
        let bins: Vec<Vec<(Nanos, u64)>> = rows.iter().map(|(_, latency)| latency.bins()).collect();
        let each = rows.iter().zip(&bins).flat_map(|(row, bins)| std::iter::repeat_n(row.0, bins.len()));
        self.keys(each)?;
        self.times("duration_s", bins.iter().flatten().map(|bin| bin.0))?;
        self.array("count", bins.iter().flatten().map(|bin| bin.1 as i64))?;
        Ok(self.dict)
    }

    fn latency_parts(self, table: &Latencies) -> PyResult<Bound<'py, PyDict>> {
        let rows = table.rows(&self.data.paths);
        self.keys(rows.iter().map(|row| row.0))?;
        for part in Part::ALL {
            let times = rows.iter().map(|(_, latency)| latency.parts.get(part));
            self.times(&format!("{}_s", part.name()), times)?;
        }
        Ok(self.dict)
    }

    fn moved(self, table: &Rates) -> PyResult<Bound<'py, PyDict>> {
        let rows = table.rows();
        let width = table.width();
        let each = || {
            rows.iter()
                .flat_map(|(key, windows)| (0_u64..).zip(windows).map(move |(at, moved)| (*key, at, *moved)))
        };
        let processes: Vec<u32> = each().map(|(key, ..)| key.0).collect();
        let operations: Vec<&'static str> = each().map(|(key, ..)| key.1).collect();
        self.times("time_s", each().map(|(_, at, _)| Nanos(at * width.0)))?;
        self.times("window_s", each().map(|_| width))?;
        self.names("process", &self.data.processes, &processes)?;
        self.words("operation", &operations)?;
        let seconds = width.as_seconds();
        let rate = |get: fn(Moved) -> f64| each().map(move |(.., moved)| get(moved) / seconds);
        self.dict.set_item("bytes_per_s", PyArray1::from_iter(self.py, rate(|moved| moved.bytes)))?;
        self.dict.set_item("iops", PyArray1::from_iter(self.py, rate(|moved| moved.operations)))?;
        let ended =
            |get: fn(Moved) -> Option<f64>| each().map(move |(.., moved)| get(moved).unwrap_or(f64::NAN));
        let longest = ended(|moved| moved.mean().map(|_| moved.longest.as_seconds()));
        self.array("ended", each().map(|(.., moved)| moved.ended as i64))?;
        self.dict.set_item("mean_s", PyArray1::from_iter(self.py, ended(|moved| moved.mean())))?;
        self.dict.set_item("max_s", PyArray1::from_iter(self.py, longest))?;
        Ok(self.dict)
    }

    /// Names by their index; an index that is none becomes "".
    fn names(&self, name: &str, all: &[impl AsRef<str>], index: &[u32]) -> PyResult<()> {
        let known: Vec<_> = all.iter().map(|word| PyString::new(self.py, word.as_ref())).collect();
        let none = PyString::new(self.py, "");
        let column = index.iter().map(|&index| known.get(index as usize).unwrap_or(&none));
        self.dict.set_item(name, PyList::new(self.py, column)?)
    }

    fn words(&self, name: &str, column: &[&'static str]) -> PyResult<()> {
        self.dict
            .set_item(name, PyList::new(self.py, column.iter().map(|word| PyString::intern(self.py, word)))?)
    }

    /// Bytes per second as float64; one that is not there is NaN.
    fn rates(&self, name: &str, column: impl Iterator<Item = Option<Bytes>>) -> PyResult<()> {
        let rates = column.map(|rate| rate.map_or(f64::NAN, |rate| rate.0 as f64));
        self.dict.set_item(name, PyArray1::from_iter(self.py, rates))
    }

    /// Seconds as float64.
    fn times(&self, name: &str, column: impl Iterator<Item = Nanos>) -> PyResult<()> {
        self.dict.set_item(name, PyArray1::from_iter(self.py, column.map(Nanos::as_seconds)))
    }

    /// Signed, so that a difference of two sizes does not wrap around in NumPy; sizes stay below 2^63.
    fn sizes(&self, name: &str, column: &[u64]) -> PyResult<()> {
        self.array(name, column.iter().map(|&size| size as i64))
    }

    /// Row numbers; `u32::MAX` (none) becomes -1.
    fn indices(&self, name: &str, column: &[u32]) -> PyResult<()> {
        self.array(name, column.iter().map(|&index| if index == u32::MAX { -1 } else { i64::from(index) }))
    }

    fn array(&self, name: &str, column: impl Iterator<Item = i64>) -> PyResult<()> {
        self.dict.set_item(name, PyArray1::from_iter(self.py, column))
    }
}

/// A name of each row.
fn strings<T>(table: &[T], name: impl Fn(&T) -> &String) -> Vec<&str> {
    table.iter().map(|each| name(each).as_str()).collect()
}
