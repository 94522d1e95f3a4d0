//! Which files are found, and under which names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use pagecast_probe::walk::{Options, Selection, select};
use pagecast_probe::{ProbeError, Trouble};

use crate::common::*;

fn found(path: &Path, options: Options) -> Selection {
    select(&[path.to_owned()], options, &mut on).unwrap()
}

fn names(selection: &Selection, folder: &Path) -> Vec<PathBuf> {
    selection.files.iter().map(|path| path.strip_prefix(folder).unwrap().to_owned()).collect()
}

fn refused(path: &Path) -> Trouble {
    match select(&[path.to_owned()], Options::default(), &mut on) {
        Err(ProbeError::Path { trouble, .. }) => trouble,
        other => panic!("{other:?}"),
    }
}

const FOLLOW: Options = Options { follow: true, one_file_system: false };

#[test]
fn directories_are_walked_in_the_order_of_names() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("b/c")).unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    for name in ["b/2", "b/c/3", "a/1", "0"] {
        file(folder.path(), name, 10);
    }
    let all = found(folder.path(), Options::default());
    assert_eq!(names(&all, folder.path()), ["0", "a/1", "b/2", "b/c/3"].map(PathBuf::from));
    assert!(all.problems.is_empty());
}

#[test]
fn a_name_of_any_bytes_is_a_name() {
    let folder = folder();
    let name = Path::new(OsStr::from_bytes(b"caf\xe9\n"));
    fs::write(folder.path().join(name), "x").unwrap();
    let all = found(folder.path(), Options::default());
    assert_eq!(names(&all, folder.path()), [name]);
    assert_eq!(look(&all.files, &best()).files.len(), 1);
}

#[test]
fn links_inside_directories_are_followed_if_asked_for_and_loops_end() {
    let folder = folder();
    fs::create_dir(folder.path().join("a")).unwrap();
    file(folder.path(), "a/f", 10);
    symlink("..", folder.path().join("a/up")).unwrap();
    symlink("f", folder.path().join("a/g")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    let all = found(folder.path(), Options::default());
    assert_eq!((names(&all, folder.path()), all.links_left_out), (vec![PathBuf::from("a/f")], 3));
    let all = found(folder.path(), FOLLOW);
    assert_eq!(names(&all, folder.path()), ["a/f", "a/g"].map(PathBuf::from));
    assert_eq!(all.links_back, 1);
    assert!(matches!(&all.problems[..], [one] if matches!(one.trouble, Trouble::LinkLoop)));
}

#[test]
fn a_file_with_two_names_counts_once() {
    let folder = folder();
    let first = file(folder.path(), "a", 10_000);
    fs::hard_link(&first, folder.path().join("b")).unwrap();
    let all = select(&[folder.path().to_owned(), first.clone()], Options::default(), &mut on).unwrap();
    let survey = look(&all.files, &best());
    assert_eq!((survey.files.len(), survey.other_names), (1, 2));
    assert_eq!(survey.files[0].path, first);
}

#[test]
fn a_named_path_that_cannot_be_used_is_an_error() {
    let folder = folder();
    assert!(refused(&folder.path().join("none")).is_missing());
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(matches!(refused(&folder.path().join("loop")), Trouble::LinkLoop));
    let socket = folder.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    assert!(matches!(refused(&socket), Trouble::NotAFile("socket")));
    assert!(matches!(refused(Path::new("/proc/cpuinfo")), Trouble::MadeUp(name) if name == "proc"));
    assert!(matches!(refused(Path::new("/proc/self")), Trouble::MadeUp(_)));
    assert!(matches!(refused(Path::new("/dev/null")), Trouble::NotAFile("character device")));
    let long = folder.path().join("x".repeat(300));
    assert!(matches!(refused(&long), Trouble::TooLong));
}

#[test]
fn a_directory_without_files_is_an_error() {
    let folder = folder();
    let _listener = UnixListener::bind(folder.path().join("socket")).unwrap();
    let outcome = select(&[folder.path().to_owned()], Options::default(), &mut on);
    assert!(matches!(outcome, Err(ProbeError::NoFiles(_))));
}

#[test]
fn special_files_inside_are_counted_and_left_out() {
    let folder = folder();
    let _listener = UnixListener::bind(folder.path().join("socket")).unwrap();
    file(folder.path(), "f", 10);
    let all = found(folder.path(), Options::default());
    assert_eq!((all.files.len(), all.special_left_out), (1, 1));
}
