//! Disks and folders that are mounted inside an environment: what is in them is nobody's to save or to delete.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::explain::Trouble;

/// Nothing is mounted at or below `folder`. A folder of the same disk that is mounted there again cannot be told by its
/// device; the kernel's own list names it.
pub(super) fn require_none_below(folder: &Path) -> Result<(), Trouble> {
    let real = fs::canonicalize(folder).map_err(Trouble::folder(folder))?;
    // Only Linux has such a list. Elsewhere devices have to do.
    let listed = fs::read("/proc/self/mountinfo").unwrap_or_default();
    match mount_points(&listed).find(|place| place.starts_with(&real)) {
        None => Ok(()),
        Some(place) => Err(Trouble::folder(&place)(mounted())),
    }
}

pub(super) fn mounted() -> io::Error {
    io::Error::other("something is mounted there; unmount it first")
}

/// The fifth field of each line; spaces and the like are written as `\040`.
fn mount_points(listed: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = listed.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(|field| {
        let mut path = Vec::with_capacity(field.len());
        let mut rest = field;
        while let [first, after @ ..] = rest {
            let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
            match (first, code.and_then(|digits| u8::from_str_radix(digits, 8).ok())) {
                (b'\\', Some(byte)) => {
                    path.push(byte);
                    rest = &after[3..];
                }
                _ => {
                    path.push(*first);
                    rest = after;
                }
            }
        }
        PathBuf::from(std::ffi::OsString::from_vec(path))
    })
}

/// Linked worktrees of the repository whose files are below one of these folders, apart from the one of `own`.
pub(super) fn worktrees_below(common_dir: &Path, own: &Path, folders: &[&Path]) -> Vec<PathBuf> {
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().filter_map(Result::ok);
    let others = entries.map(|entry| entry.path()).filter(|admin| admin.file_name() != own.file_name());
    let places = others.filter_map(|admin| {
        let text = fs::read(admin.join("gitdir")).ok()?;
        let text = text.strip_suffix(b"\n").unwrap_or(&text);
        admin.join(std::ffi::OsStr::from_bytes(text)).parent().map(Path::to_owned)
    });
    places.filter(|place| folders.iter().any(|folder| place.starts_with(folder))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_spaces() {
        let listed = b"36 35 98:0 /mnt1 /mnt/a\\040b rw - ext3 /dev/root rw\n37 35 0:5 / /proc rw - proc proc rw\n";
        let places: Vec<_> = mount_points(listed).collect();
        assert_eq!(places, [Path::new("/mnt/a b"), Path::new("/proc")]);
    }
}
