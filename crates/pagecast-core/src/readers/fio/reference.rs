//! Writes the table of options in `docs/reference/fio.md`. `make reference` does so; a test fails when it is not current.

use std::fmt::Write;
use std::path::Path;

use super::option_rows;

const BEGIN: &str = "<!-- options -->\n";
const END: &str = "<!-- end of options -->";

fn with_table(page: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the table has a mark");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    format!("{before}{BEGIN}{}{END}{after}", table())
}

fn table() -> String {
    let (mut text, mut chapter) = (String::new(), "");
    for row in option_rows() {
        if row.chapter != chapter {
            chapter = row.chapter;
            write!(text, "\n### {chapter}\n\n| option | here | why, or what differs |\n|---|---|---|\n")
                .expect("a string takes all");
        }
        let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
        let line = format!("| {} | {} | {} |", names.join(", "), row.standing, row.text);
        writeln!(text, "{}", line.replace("|  |", "| |")).expect("a string takes all");
    }
    text + "\n"
}

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/fio.md");
    let page = std::fs::read_to_string(&path).expect("the reference can be read");
    let made = with_table(&page);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &made).expect("the reference can be written");
    } else {
        assert!(made == page, "docs/reference/fio.md is not current; `make reference` writes it");
    }
}
