//! Secrets are taken out of the environment of a process that lives long and starts the programs of others.
//!
//! What a process was started with can be read for as long as it lives, in `/proc/<pid>/environ`, by everything that
//! runs as the same user, and nothing that the process does to its variables changes that. So one that finds secrets
//! among its variables reads them, puts them into a pipe, and executes itself anew, without them and with the pipe. The
//! process stays the same to whoever started it. It is also made undumpable, which closes its memory to others.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use hedgerow_core::{Kind, UserError};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{DumpableBehavior, getpid, set_dumpable_behavior};

use super::{keys, variable};

/// Says which process was handed its secrets, and by which descriptor. A child that inherits it is another process.
const MARKER: &str = "HEDGEROW_HANDED_OVER";
/// More than all secrets together need, and no more than the smallest pipe holds.
const MOST_BYTES: usize = 4096;

/// The secrets of a process that was executed anew, by variable. Never shown.
pub(crate) struct Handed(BTreeMap<&'static str, OsString>);

impl std::fmt::Debug for Handed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Handed {
    pub(super) fn get(&self, name: &str) -> Option<OsString> {
        self.0.get(name).cloned()
    }
}

/// Closes this process to others. With secrets among its variables it does not return: the process begins anew, and
/// comes here once more with `Some`.
pub(crate) fn withdraw_secrets(argv: &[OsString]) -> Result<Option<Handed>, UserError> {
    let cannot = |error: io::Error| {
        UserError::new(Kind::Failed, format!("cannot take the secrets out of the environment: {error}"))
            .hint("put them into hedgerow.toml instead of variables; `hedgerow config path` says where that is")
    };
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| cannot(error.into()))?;
    if let Some(descriptor) = handed_by() {
        return receive(descriptor).map(Some).map_err(cannot);
    }
    let secrets: Vec<&str> = secret_variables().filter(|name| std::env::var_os(name).is_some()).collect();
    if secrets.is_empty() {
        return Ok(None);
    }
    Err(cannot(begin_anew(argv, &secrets)))
}

fn secret_variables() -> impl Iterator<Item = &'static str> {
    keys::all().filter(|key| key.is_secret).filter_map(|key| key.variable)
}

/// The descriptor, if it was this very process that was handed something.
fn handed_by() -> Option<u32> {
    let marker = std::env::var(MARKER).ok()?;
    let (process, descriptor) = marker.split_once(':')?;
    (process == getpid().as_raw_pid().to_string()).then(|| descriptor.parse().ok()).flatten()
}

/// Returns only when it fails.
fn begin_anew(argv: &[OsString], secrets: &[&str]) -> io::Error {
    let (program, mut command) = match std::env::current_exe() {
        Ok(program) => (argv.first().cloned().unwrap_or_else(|| program.clone().into()), Command::new(program)),
        Err(error) => return error,
    };
    let from = match filled_pipe(secrets) {
        Ok(from) => from,
        Err(error) => return error,
    };
    let marker = format!("{}:{}", getpid().as_raw_pid(), from.as_raw_fd());
    command.arg0(program).args(argv.iter().skip(1)).env(MARKER, marker);
    for name in secrets {
        command.env_remove(name);
    }
    command.exec()
}

/// The end of a pipe that can be read, with the secrets in it. Of all that is open it alone is inherited, and what is read
/// from it is gone.
fn filled_pipe(secrets: &[&str]) -> io::Result<std::os::fd::OwnedFd> {
    let mut bytes = Vec::new();
    for name in secrets {
        let Some(value) = variable(name) else { continue };
        bytes.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    if bytes.len() > MOST_BYTES {
        return Err(io::Error::other(format!("they have more than {MOST_BYTES} bytes")));
    }
    let (from, to) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    File::from(to).write_all(&bytes)?;
    fcntl_setfd(&from, FdFlags::empty())?;
    Ok(from)
}

fn receive(descriptor: u32) -> io::Result<Handed> {
    let pipe = File::open(format!("/proc/self/fd/{descriptor}"))?;
    if !pipe.metadata()?.file_type().is_fifo() {
        return Err(io::Error::other(format!("descriptor {descriptor} is not the pipe they were put into")));
    }
    let mut bytes = Vec::new();
    pipe.take(MOST_BYTES as u64).read_to_end(&mut bytes)?;
    let mut handed = BTreeMap::new();
    for pair in bytes.split(|byte| *byte == 0) {
        let Some(middle) = pair.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (OsStr::from_bytes(&pair[..middle]), &pair[middle + 1..]);
        if let Some(name) = secret_variables().find(|known| *known == name) {
            handed.insert(name, OsString::from_vec(value.to_vec()));
        }
    }
    Ok(Handed(handed))
}
