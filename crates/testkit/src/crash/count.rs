//! How many points an act has: it is done once under the eyes of `strace`, and what it did is counted.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::aim::Calls;

/// System calls that change something. `?` is for those that not every machine has.
pub const GIT_CALLS: &str = "?rename,renameat,?renameat2,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,?link,linkat,?symlink,\
                             symlinkat,fsync,fdatasync,ftruncate,write,pwrite64";
const FILE_CALLS: &str = "?rename,renameat,?renameat2,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,?link,linkat,?symlink,\
                          symlinkat,write";
const STORE_CALLS: &str = "pwrite64,fsync,fdatasync,ftruncate";

impl Calls {
    pub const fn names(self) -> &'static str {
        match self {
            Self::Files => FILE_CALLS,
            Self::Store => STORE_CALLS,
        }
    }
}

/// Whether this machine lets us trace processes at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    Possible,
    Missing,
    Forbidden,
}

pub fn tracing() -> Tracing {
    static ANSWER: OnceLock<Tracing> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let mut probe = Command::new("strace");
        probe.args(["-f", "-qq", "-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
        match probe.status() {
            Err(_) => Tracing::Missing,
            Ok(status) if status.success() => Tracing::Possible,
            Ok(_) => Tracing::Forbidden,
        }
    })
}

/// What an act does when nobody disturbs it.
#[derive(Debug, Clone, Default)]
pub struct Points {
    pub steps: Vec<String>,
    pub micros: u64,
    /// For each call of git, which of its system calls change something.
    pub git: Vec<Ordinals>,
    pub files: Ordinals,
    pub store: Ordinals,
}

/// The first, the third, …: `strace` counts all calls of these names, also those that only fill a pipe.
pub type Ordinals = BTreeSet<usize>;

/// Reads the logs that `strace -ff -y` left below `desk`: one for each process of git, one for each thread of ours.
pub fn read_logs(desk: &Path, points: &mut Points) {
    for entry in fs::read_dir(desk).expect("the desk").filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        if let Some(call) = name.strip_prefix("git.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok()) {
            if points.git.len() < call {
                points.git.resize(call, Ordinals::new());
            }
            points.git[call - 1].extend(changing(&text, GIT_CALLS));
        } else if name.starts_with("own.") {
            points.files.extend(changing(&text, FILE_CALLS));
            points.store.extend(changing(&text, STORE_CALLS));
        }
    }
}

fn changing(log: &str, names: &str) -> Ordinals {
    let names: Vec<&str> = names.split(',').map(|name| name.trim_start_matches('?')).collect();
    let calls = log.lines().filter_map(|line| line.split_once('(')).filter(|(call, _)| names.contains(call));
    let numbered = calls.enumerate().filter(|(_, (call, rest))| {
        let does_nothing = rest.contains(", \"\", 0)") || rest.contains("</dev/null");
        !does_nothing && (!call.ends_with("write") || is_to_a_file(rest))
    });
    numbered.map(|(nth, _)| nth + 1).collect()
}

/// `3</home/x>` is a file, `1<pipe:[7]>` is not, nor is a device; but a whole world may be in `/dev/shm`.
fn is_to_a_file(arguments: &str) -> bool {
    let target = arguments.split_once('<').map_or("", |(_, target)| target);
    target.starts_with('/') && (!target.starts_with("/dev/") || target.starts_with("/dev/shm/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_change_files_are_points() {
        let log = "write(1<pipe:[7]>, \"x\", 1) = 1\nmkdir(\"/a\", 0777) = 0\nwrite(3</a/b>, \"x\", 1) = 1\n\
                   fsync(3</a/b>) = 0\nwrite(2</dev/null>, \"x\", 1) = 1\nunlinkat(AT_FDCWD</a>, \"\", 0) = -1 ENOENT\n\
                   fsync(4</dev/null<char 1:3>>) = -1 EINVAL\n+++ exited with 0 +++\n";
        assert_eq!(changing(log, FILE_CALLS), Ordinals::from([2, 3]));
        assert_eq!(changing(log, STORE_CALLS), Ordinals::from([1]));
    }
}
