//! What this machine can enforce, found out by trying it: kernels, distributions and containers forbid parts of it in
//! many ways, and none of them can be asked.

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::view::View;
use super::{REFUSED, enter};
use crate::assistant::surroundings;

/// What can be enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// Whether a view can be built, or why not and what to do.
    pub view: Result<(), String>,
    /// The version of Landlock that the kernel speaks.
    pub landlock: Option<u32>,
}

/// Tried once in this process for each supervisor.
pub(super) fn ability(supervisor: &[OsString]) -> Ability {
    static TRIED: Mutex<Option<HashMap<Vec<OsString>, Ability>>> = Mutex::new(None);
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let tried = tried.get_or_insert_default();
    if let Some(known) = tried.get(supervisor) {
        return known.clone();
    }
    let ability = look(supervisor);
    tried.insert(supervisor.to_owned(), ability.clone());
    ability
}

fn look(supervisor: &[OsString]) -> Ability {
    // Rules are laid down by the supervisor too.
    let landlock = if supervisor.is_empty() { None } else { enter::landlock() };
    Ability { view: attempt(supervisor), landlock }
}

fn attempt(supervisor: &[OsString]) -> Result<(), String> {
    let Some((program, arguments)) = supervisor.split_first() else {
        return Err("programs are started without a supervisor, which would build it".to_owned());
    };
    let view = View::trial().written().ok_or("its plan cannot be written")?;
    let mut command = Command::new(program);
    // Whatever stands last is not started.
    command.args(arguments).arg("true").env_clear().env(surroundings::CAGE, view).current_dir("/");
    let done =
        command.stdin(Stdio::null()).output().map_err(|error| format!("its supervisor cannot start: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let why = said.split_once(REFUSED).map_or(said.trim(), |(_, why)| why.trim());
    Err(advice(why))
}

/// What stands in the way, and what to do about it.
fn advice(why: &str) -> String {
    let setting = |name: &str| std::fs::read_to_string(format!("/proc/sys/{name}")).unwrap_or_default();
    let is = |name: &str, value: &str| setting(name).trim() == value;
    // The kernel's word for a limit that is reached, which may be that of a container around us.
    let is_at_the_limit = why.contains("os error 28");
    let todo = if !cfg!(target_os = "linux") {
        "run the server on Linux"
    } else if is_at_the_limit || is("user/max_user_namespaces", "0") {
        "set `sysctl user.max_user_namespaces=10000`"
    } else if is("kernel/unprivileged_userns_clone", "0") {
        "set `sysctl kernel.unprivileged_userns_clone=1`"
    } else if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "allow `userns` to the hedgerow program in an AppArmor profile, \
         or set `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
    } else {
        "in a container, start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`"
    };
    format!("the agents' own view cannot be built ({why}); {todo}")
}
