//! `include/pagecast.h` is what cbindgen makes of `src/`. `UPDATE_HEADER=1` writes it anew.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(here.join("src/lib.rs"))
        .with_src(here.join("src/types.rs"))
        .generate()
        .unwrap()
        .write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = here.join("include/pagecast.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == kept, "include/pagecast.h is not current; UPDATE_HEADER=1 cargo test -p pagecast-capi");
}
