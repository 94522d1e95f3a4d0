//! Writes the table of docs/concepts/network.md that holds flows against segments.

use super::levels::{Transfer, by_flows, by_segments, machine};
use crate::units::Bytes;

const SIZES: [(&str, u64); 4] =
    [("4 KiB", 4 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20), ("16 MiB", 16 << 20)];

/// The error of flows for transfers of so many clients to one server, in percent.
fn error(mtu: u64, clients: usize, bytes: u64, is_open: bool) -> f64 {
    let network = format!("topology = 'star', transport = '10gbe', mtu = '{mtu} B', latency = '20 us'");
    let machine = machine(clients + 1, &network);
    let transfers: Vec<_> = (0..clients).map(|from| Transfer { from, to: clients, bytes }).collect();
    let last = |times: Vec<f64>| times.into_iter().fold(0.0, f64::max);
    let (flows, segments) = (
        last(by_flows(&machine, &transfers)),
        last(by_segments(&machine, &transfers, Bytes(1 << 20), is_open)),
    );
    100.0 * (flows - segments) / segments
}

fn table() -> String {
    let mut rows = String::from("| message | 1500, 1 | 1500, 2 | 1500, 4 | 9000, 1 | 9000, 2 | 9000, 4 |\n");
    rows += "|---|--:|--:|--:|--:|--:|--:|\n";
    for (is_open, word) in [(false, "first"), (true, "later")] {
        for (name, bytes) in SIZES {
            let errors = [1500, 9000].into_iter().flat_map(|mtu| [1, 2, 4].map(|clients| (mtu, clients)));
            let errors = errors.map(|(mtu, clients)| error(mtu, clients, bytes, is_open));
            let cells: String = errors.map(|error| format!(" {error:+.1} |")).collect();
            rows += &format!("| {word}, {name} |{cells}\n");
        }
    }
    rows
}

#[test]
fn the_reference_is_current() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/network.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let (before, rest) = text.split_once("<!-- table: levels -->\n").expect("the page has the table");
    let (old, after) = rest.split_once("<!-- end of table -->").expect("the table has an end");
    let new = table();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        let text = format!("{before}<!-- table: levels -->\n{new}<!-- end of table -->{after}");
        return std::fs::write(page, text).expect("the page can be written");
    }
    assert_eq!(old, new, "run `make reference`");
}
