//! Reads the mounts of this process: /proc/self/mountinfo, proc(5).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One line of it: id parent major:minor root point options [tags...] - type source options of the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mounted {
    pub id: u64,
    /// As `stat(2)` gives it.
    pub device: u64,
    /// What of the file system is there: all of it, or a folder.
    pub root: PathBuf,
    pub point: PathBuf,
    pub type_name: String,
    pub source: PathBuf,
    /// Of the file system, "rw,memory".
    pub options: String,
}

/// Everything that is mounted; nothing if that is not told.
pub(crate) fn read() -> Vec<Mounted> {
    parse(&fs::read("/proc/self/mountinfo").unwrap_or_default())
}

pub(crate) fn parse(mountinfo: &[u8]) -> Vec<Mounted> {
    mountinfo.split(|&byte| byte == b'\n').filter_map(mounted).collect()
}

fn mounted(line: &[u8]) -> Option<Mounted> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let text = |at: usize| Some(String::from_utf8_lossy(fields.get(at)?).into_owned());
    Some(Mounted {
        id: text(0)?.parse().ok()?,
        device: device_number(fields.get(2)?)?,
        root: unescaped(fields.get(3)?),
        point: unescaped(fields.get(4)?),
        type_name: text(dash + 1)?,
        source: unescaped(fields.get(dash + 2)?),
        options: text(dash + 3)?,
    })
}

/// "8:1" as the number that `stat(2)` gives.
fn device_number(text: &[u8]) -> Option<u64> {
    let (major, minor) = std::str::from_utf8(text).ok()?.split_once(':')?;
    Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// Space, tab, newline and backslash are octal in mountinfo: `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = (byte == b'\\' && after.len() >= 3).then(|| {
            std::str::from_utf8(&after[..3]).ok().and_then(|digits| u8::from_str_radix(digits, 8).ok())
        });
        match octal.flatten() {
            Some(value) => {
                bytes.push(value);
                rest = &after[3..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_line_has_its_fields_and_names_are_unescaped() {
        let mounts = parse(
            b"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n\
            40 35 0:44 / /home rw - fuse.sshfs me@host: rw\nnonsense\n",
        );
        let [first, other] = &mounts[..] else { panic!("two lines have all fields: {mounts:?}") };
        assert_eq!((first.id, first.device), (36, rustix::fs::makedev(98, 0)));
        assert_eq!((first.root.as_path(), first.point.as_path()), (Path::new("/mnt1"), Path::new("/mnt 2")));
        assert_eq!((first.type_name.as_str(), first.options.as_str()), ("ext3", "rw,errors=continue"));
        assert_eq!(first.source, Path::new("/dev/root"));
        assert_eq!(other.type_name, "fuse.sshfs");
    }

    #[test]
    fn a_path_need_not_be_utf8() {
        let [mount] = &parse(b"1 0 8:1 / /\xff rw - ext4 /dev/sda1 rw\n")[..] else { panic!("one line") };
        assert_eq!(mount.point.as_os_str().as_encoded_bytes(), b"/\xff");
    }
}
