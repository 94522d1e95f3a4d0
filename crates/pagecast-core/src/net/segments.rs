//! Moves messages segment by segment, for small studies and to check flows.
//!
//! Each segment is stored at each device of its way and forwarded when all of it is there. A device serves its connections by start-time
//! fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996), which gives max-min fair rates to windows that are large enough (Hahne, IEEE JSAC 9(7),
//! 1991). The segments of a connection that wait in a device have a limit; the device before holds the next one back then, so none is
//! lost. A connection has its congestion window on its way: 10 segments at first (RFC 6928), larger by each acknowledged byte (RFC 5681,
//! slow start), halved for each retransmission timeout of rest (`net/ipv4/tcp_output.c: tcp_cwnd_restart`), at most its window.
//!
//! Left out: losses and what follows them, the bytes of acknowledgements, delayed acknowledgements, segments with bytes of two messages.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use super::used::Used;
use crate::machine::Transport;
use crate::units::{Bytes, Nanos, as_number};

/// Segments of a first window (RFC 6928, `include/net/tcp.h: TCP_INIT_CWND`).
const FIRST_WINDOW: u64 = 10;

/// The least retransmission timeout (`include/net/tcp.h: TCP_RTO_MIN`).
const TIMEOUT: Nanos = Nanos(200_000_000);

/// The most bytes of a segment on a way without headers.
pub(super) const PLAIN: u64 = 1448;

/// A device on the way of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hop {
    /// The direction of the link that it sends on.
    pub direction: u32,
    /// False if it serves this connection alone.
    pub is_shared: bool,
    /// Bytes of its bits in a second.
    pub rate: f64,
    pub latency: Nanos,
    /// Whether its packets have headers, and of which kind.
    pub headers: Option<Option<Transport>>,
}

/// The way of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Way {
    pub hops: Vec<Hop>,
    /// Most bytes of a message in a segment.
    pub payload: u64,
    /// Bytes of headers that IP and TCP add to them.
    pub inside: u64,
    /// Most bytes that are not acknowledged.
    pub window: Option<u64>,
    /// The time that an acknowledgement takes.
    pub back: Nanos,
}

impl Way {
    fn on_link(&self, hop: usize, payload: u64) -> u64 {
        self.hops[hop].headers.map_or(payload, |kind| Transport::on_link(kind, payload + self.inside))
    }

    fn first_window(&self) -> u64 {
        FIRST_WINDOW * self.payload
    }
}

/// The departure or the arrival of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The first device of a connection has the last byte, so the next message may follow.
    Left(u32),
    /// The last byte has arrived.
    Arrived(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A device has sent a segment.
    Sent(u32),
    /// The first segment on the wire behind a hop of a connection has come to its end.
    Arrived { stream: u32, hop: u32 },
    /// The first segment that a connection waits for is acknowledged.
    Acknowledged(u32),
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    payload: u64,
    /// Whether it has the last byte of its message.
    is_last: bool,
}

/// The segments of a connection at one device and on the wire behind it.
#[derive(Debug, Default)]
struct Stage {
    waiting: VecDeque<Segment>,
    /// Their bytes.
    bytes: u64,
    on_wire: VecDeque<Segment>,
    /// The virtual time at which its last segment was through.
    finish: u64,
    /// Whether it is among those that the device may serve, and when in virtual time.
    ready: Option<u64>,
    /// Whether the device behind had no room when it was its turn.
    is_held: bool,
}

#[derive(Debug)]
struct Stream {
    way: Way,
    devices: Vec<u32>,
    stages: Vec<Stage>,
    /// Bytes of its message that no device has.
    left: u64,
    congestion_window: u64,
    unacknowledged: VecDeque<u64>,
    in_flight: u64,
    last_sent: Nanos,
}

#[derive(Debug)]
struct Device {
    direction: u32,
    rate: f64,
    /// Connections that have a segment for it, by the virtual time at which it starts.
    ready: BTreeSet<(u64, u32, u32)>,
    virtual_time: u64,
    sending: Option<(u32, u32)>,
    /// Nanoseconds by which the end of a segment was rounded down.
    rest: f64,
}

/// All connections; see the module.
#[derive(Debug)]
pub(crate) struct Segments {
    /// Bytes of a connection that may wait in a device before the one before it stops.
    buffer: u64,
    streams: Vec<Stream>,
    devices: Vec<Device>,
    of_direction: FxHashMap<u32, u32>,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    number: u64,
    now: Nanos,
    happened: VecDeque<Moved>,
    used: Vec<Used>,
}

impl Segments {
    /// No connections, in devices with such buffers.
    pub(crate) fn new(buffer: Bytes) -> Self {
        Self {
            buffer: buffer.0,
            streams: Vec::new(),
            devices: Vec::new(),
            of_direction: FxHashMap::default(),
            events: BinaryHeap::new(),
            number: 0,
            now: Nanos::ZERO,
            happened: VecDeque::new(),
            used: Vec::new(),
        }
    }

    /// Opens a connection; they are numbered from 0.
    pub(crate) fn open(&mut self, way: Way) {
        let devices = way.hops.iter().map(|hop| self.device_of(hop)).collect();
        let stages = way.hops.iter().map(|_| Stage::default()).collect();
        self.streams.push(Stream {
            congestion_window: way.first_window(),
            way,
            devices,
            stages,
            left: 0,
            unacknowledged: VecDeque::new(),
            in_flight: 0,
            last_sent: Nanos::ZERO,
        });
    }

    /// Opens the window of a connection, as messages before have.
    #[cfg(test)]
    pub(super) fn open_window(&mut self, stream: u32) {
        let stream = &mut self.streams[stream as usize];
        stream.congestion_window = stream.way.window.unwrap_or(u64::MAX);
    }

    fn device_of(&mut self, hop: &Hop) -> u32 {
        if let Some(&known) = self.of_direction.get(&hop.direction).filter(|_| hop.is_shared) {
            return known;
        }
        let device = self.devices.len() as u32;
        self.devices.push(Device {
            direction: hop.direction,
            rate: hop.rate,
            ready: BTreeSet::new(),
            virtual_time: 0,
            sending: None,
            rest: 0.0,
        });
        if hop.is_shared {
            self.of_direction.insert(hop.direction, device);
        }
        if self.used.len() <= hop.direction as usize {
            self.used.resize(hop.direction as usize + 1, Used::default());
        }
        device
    }

    /// Sends a message of at least one byte on a connection whose last one has left.
    pub(crate) fn send(&mut self, now: Nanos, stream: u32, bytes: u64) {
        self.now = now;
        let connection = &mut self.streams[stream as usize];
        connection.left = bytes;
        if connection.in_flight == 0 {
            let first = connection.way.first_window();
            let timeouts = (now - connection.last_sent).0 / TIMEOUT.0;
            for _ in 0..timeouts.min(64) {
                connection.congestion_window = (connection.congestion_window / 2).max(first);
            }
        }
        self.fill(stream);
    }

    /// The time of the next event.
    pub(crate) fn next_event(&self) -> Option<Nanos> {
        let next = self.events.peek().map(|Reverse((time, ..))| *time);
        if self.happened.is_empty() { next } else { Some(self.now) }
    }

    /// The next departure or arrival up to `now`, in order; none when all have been told.
    pub(crate) fn advance(&mut self, now: Nanos) -> Option<Moved> {
        while self.happened.is_empty() {
            self.events.peek().filter(|Reverse((time, ..))| *time <= now)?;
            let Reverse((time, _, event)) = self.events.pop()?;
            self.now = time;
            match event {
                Event::Sent(device) => self.sent(device),
                Event::Arrived { stream, hop } => self.arrived(stream, hop),
                Event::Acknowledged(stream) => self.acknowledged(stream),
            }
        }
        self.happened.pop_front()
    }

    /// The use of each direction so far.
    pub(crate) fn used(&self) -> &[Used] {
        &self.used
    }

    fn add(&mut self, after: Nanos, event: Event) {
        self.number += 1;
        self.events.push(Reverse((self.now + after, self.number, event)));
    }

    /// Puts segments of a connection's message into its first device, as far as window and buffer go.
    fn fill(&mut self, at: u32) {
        let stream = &mut self.streams[at as usize];
        let window = stream.way.window.map_or(u64::MAX, |window| window.min(stream.congestion_window));
        let mut has_put = false;
        while stream.left > 0 && stream.stages[0].bytes < self.buffer {
            let payload = stream.left.min(stream.way.payload);
            if stream.in_flight > 0 && stream.in_flight + payload > window {
                break;
            }
            stream.left -= payload;
            stream.in_flight += payload;
            stream.last_sent = self.now;
            stream.stages[0].waiting.push_back(Segment { payload, is_last: stream.left == 0 });
            stream.stages[0].bytes += payload;
            if stream.left == 0 {
                self.happened.push_back(Moved::Left(at));
            }
            has_put = true;
        }
        if has_put {
            self.make_ready(at, 0);
        }
    }

    /// A connection may have a segment for a device.
    fn make_ready(&mut self, at: u32, hop: u32) {
        let stream = &mut self.streams[at as usize];
        let device = stream.devices[hop as usize];
        let stage = &mut stream.stages[hop as usize];
        if stage.is_held || stage.ready.is_some() || stage.waiting.is_empty() {
            return;
        }
        let to = &mut self.devices[device as usize];
        if to.sending != Some((at, hop)) {
            let turn = stage.finish.max(to.virtual_time);
            stage.ready = Some(turn);
            to.ready.insert((turn, at, hop));
            self.start(device);
        }
    }

    /// Starts the next segment of a device, if it is idle.
    fn start(&mut self, at: u32) {
        let device = &mut self.devices[at as usize];
        if device.sending.is_some() {
            return;
        }
        while let Some((turn, of, hop)) = device.ready.pop_first() {
            let stream = &mut self.streams[of as usize];
            stream.stages[hop as usize].ready = None;
            let has_room = stream.stages.get(hop as usize + 1).is_none_or(|next| next.bytes < self.buffer);
            let stage = &mut stream.stages[hop as usize];
            if !has_room {
                stage.is_held = true;
                continue;
            }
            let segment = stage.waiting[0];
            let on_link = stream.way.on_link(hop as usize, segment.payload);
            (device.virtual_time, stage.finish) = (turn, turn + on_link);
            device.sending = Some((of, hop));
            let exact = as_number(on_link) / device.rate * 1e9 + device.rest;
            device.rest = exact.fract();
            let used = &mut self.used[device.direction as usize];
            used.enter(self.now);
            self.add(Nanos(exact as u64), Event::Sent(at));
            return;
        }
        device.rest = 0.0;
    }

    /// A device has sent a segment, which is on the wire now.
    fn sent(&mut self, at: u32) {
        let device = &mut self.devices[at as usize];
        let (of, hop) = device.sending.take().expect("it was sending");
        let stream = &mut self.streams[of as usize];
        let on_link = stream.way.on_link(hop as usize, stream.stages[hop as usize].waiting[0].payload);
        let stage = &mut stream.stages[hop as usize];
        let segment = stage.waiting.pop_front().expect("it was sending it");
        stage.bytes -= segment.payload;
        let used = &mut self.used[device.direction as usize];
        used.leave(self.now, u64::from(segment.is_last), segment.payload, as_number(on_link));
        let latency = stream.way.hops[hop as usize].latency;
        stage.on_wire.push_back(segment);
        self.make_ready(of, hop);
        match hop.checked_sub(1) {
            None => self.fill(of),
            Some(before) => {
                self.streams[of as usize].stages[before as usize].is_held = false;
                self.make_ready(of, before);
            }
        }
        self.start(at);
        match latency {
            Nanos::ZERO => self.arrived(of, hop),
            latency => self.add(latency, Event::Arrived { stream: of, hop }),
        }
    }

    /// A segment has come to the end of a wire: at the next device, or at its goal.
    fn arrived(&mut self, of: u32, hop: u32) {
        let stream = &mut self.streams[of as usize];
        let segment = stream.stages[hop as usize].on_wire.pop_front().expect("it was on the wire");
        if let Some(next) = stream.stages.get_mut(hop as usize + 1) {
            next.waiting.push_back(segment);
            next.bytes += segment.payload;
            return self.make_ready(of, hop + 1);
        }
        stream.unacknowledged.push_back(segment.payload);
        if segment.is_last {
            self.happened.push_back(Moved::Arrived(of));
        }
        match stream.way.back {
            Nanos::ZERO => self.acknowledged(of),
            back => self.add(back, Event::Acknowledged(of)),
        }
    }

    /// A connection knows that a segment has arrived.
    fn acknowledged(&mut self, of: u32) {
        let stream = &mut self.streams[of as usize];
        let payload = stream.unacknowledged.pop_front().expect("it has arrived");
        stream.in_flight -= payload;
        let most = stream.way.window.unwrap_or(u64::MAX);
        stream.congestion_window =
            stream.congestion_window.saturating_add(payload).min(most.max(stream.way.payload));
        self.fill(of);
    }
}
