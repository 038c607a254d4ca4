//! One thing that must be true of an environment again.
#![expect(
    clippy::unnecessary_debug_formatting,
    reason = "names that are no text, or several lines, are to be seen as such"
)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::git::command;

/// Names are relative to the environment, which may be elsewhere by now.
#[derive(Debug, Clone)]
pub(super) enum Fact {
    /// A file with these bytes and permissions.
    File {
        name: PathBuf,
        bytes: Vec<u8>,
        mode: u32,
    },
    Link {
        name: PathBuf,
        target: PathBuf,
    },
    Folder {
        name: PathBuf,
    },
    Absent {
        name: PathBuf,
    },
    /// git, asked this in a folder, answers exactly this.
    Answer {
        folder: PathBuf,
        args: Vec<OsString>,
        answer: Vec<u8>,
    },
}

impl Fact {
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File { name, .. } => Some(name),
            _ => None,
        }
    }

    /// What is wrong, if anything is.
    pub(super) fn is_broken(&self, at: &Path) -> Option<String> {
        match self {
            Self::File { name, bytes, mode } => file(&at.join(name), name, bytes, *mode),
            Self::Link { name, target } => match fs::read_link(at.join(name)) {
                Ok(found) if found == *target => None,
                Ok(found) => Some(format!("the link {name:?} leads to {found:?}, not to {target:?}")),
                Err(error) => Some(format!("the link {name:?}: {error}")),
            },
            Self::Folder { name } => match fs::symlink_metadata(at.join(name)) {
                Ok(found) if found.is_dir() => None,
                _ => Some(format!("the folder {name:?} is gone")),
            },
            Self::Absent { name } => {
                fs::symlink_metadata(at.join(name)).is_ok().then(|| format!("{name:?} was deleted and is there again"))
            }
            Self::Answer { folder, args, answer } => said_otherwise(&at.join(folder), args, answer),
        }
    }
}

fn file(path: &Path, name: &Path, bytes: &[u8], mode: u32) -> Option<String> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => found,
        Ok(_) => return Some(format!("{name:?} is not a file any more")),
        Err(error) => return Some(format!("the file {name:?}: {error}")),
    };
    match fs::read(path) {
        Ok(now) if now != bytes => Some(format!("the file {name:?} was {:?}, is {:?}", text(bytes), text(&now))),
        Err(error) => Some(format!("the file {name:?}: {error}")),
        Ok(_) => {
            let now = found.permissions().mode() & 0o7777;
            (now != mode).then(|| format!("the file {name:?} had the mode {mode:o}, has {now:o}"))
        }
    }
}

fn said_otherwise(folder: &Path, args: &[OsString], answer: &[u8]) -> Option<String> {
    // A question must not change what it asks about.
    let output = command(folder).args(["--no-optional-locks", "--literal-pathspecs"]).args(args).output();
    let output = output.expect("git can be started");
    if output.status.success() && output.stdout == answer {
        return None;
    }
    let asked = args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let (was, is) = (text(answer), text(&output.stdout));
    Some(format!("`git {asked}` said {was:?}, says {is:?} {}", text(&output.stderr).trim_end()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `git <args>` in the environment answers this.
pub(super) fn answer<S: AsRef<OsStr>>(args: &[S], answer: impl AsRef<[u8]>) -> Fact {
    answer_in("", args, answer)
}

pub(super) fn answer_in<S: AsRef<OsStr>>(folder: impl AsRef<Path>, args: &[S], answer: impl AsRef<[u8]>) -> Fact {
    Fact::Answer {
        folder: folder.as_ref().to_owned(),
        args: args.iter().map(|arg| arg.as_ref().to_owned()).collect(),
        answer: answer.as_ref().to_owned(),
    }
}

/// An object, named by a revision and a path (`:file` is the index, `HEAD:file` the last commit), has this content.
pub(super) fn blob(revision: &str, content: impl AsRef<[u8]>) -> Fact {
    answer(&["cat-file", "blob", revision], content)
}

/// A revision is this very commit.
pub(super) fn is_at(revision: &str, commit: &str) -> Fact {
    answer(&["rev-parse", "--verify", "--end-of-options", revision], format!("{commit}\n"))
}

/// What `git status` says about one name, such as ` M` or `??`.
pub(super) fn status(name: impl AsRef<Path>, code: &str) -> Fact {
    let name = name.as_ref();
    let args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored", "--"];
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).chain([name.as_os_str()]).collect();
    let said = [code.as_bytes(), b" ", name.as_os_str().as_encoded_bytes(), b"\0"].concat();
    answer(&args, if code.is_empty() { Vec::new() } else { said })
}
