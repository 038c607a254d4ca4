//! How the supervisor goes into the cage: first out of the machine's namespaces, then, as the first process of new ones,
//! into the view, and then all power is laid down.

use std::fmt::Display;
use std::{fs, io};

use rustix::process::{Signal, getegid, geteuid, getpid, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits, set_no_new_privs,
};

use super::REFUSED;
use super::confine::{self, confine};
use super::mounts;
use super::view::View;

/// What building a view takes, inside the new namespaces alone. It is given up before the program starts.
const NEEDED: [CapabilitySet; 5] = [
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_RESOURCE,
    CapabilitySet::SETPCAP,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
];

/// The highest number of a capability there can be.
const LAST_CAPABILITY: u32 = 63;

/// Those that must be new before anything is mounted.
const NAMESPACES: [&str; 3] = ["mnt", "pid", "user"];

/// Leaves the machine's namespaces, and says which they were. The next process that is started is the first of the new
/// ones; from here on no thread can be.
pub(crate) fn part() -> io::Result<String> {
    let left = namespaces().map_err(refused("namespaces cannot be told apart"))?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    leave(
        UnshareFlags::NEWUSER
            | UnshareFlags::NEWNS
            | UnshareFlags::NEWPID
            | UnshareFlags::NEWIPC
            | UnshareFlags::NEWUTS,
    )
    .map_err(refused("new namespaces are not allowed here"))?;
    // Only hides where in the machine's own groups we are.
    let _ = leave(UnshareFlags::NEWCGROUP);
    let map = |file: &str, text: String| fs::write(format!("/proc/self/{file}"), text);
    map("setgroups", "deny".to_owned()).map_err(refused("groups cannot be given up"))?;
    map("uid_map", format!("{user} {user} 1")).map_err(refused("the user cannot be mapped"))?;
    map("gid_map", format!("{group} {group} 1")).map_err(refused("the group cannot be mapped"))?;
    keep_over_a_start().map_err(refused("capabilities are not allowed in a user namespace"))?;
    Ok(left)
}

/// The names of the namespaces that this process is in.
fn namespaces() -> io::Result<String> {
    let names = NAMESPACES.map(|kind| fs::read_link(format!("/proc/self/ns/{kind}")));
    let names: Vec<_> = names.into_iter().collect::<io::Result<_>>()?;
    Ok(names.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(" "))
}

/// Whoever builds a view changes the root of everyone in its namespace. In the machine's own that would be the end of the
/// machine, so nothing is mounted on somebody's word alone: this must be the first process of namespaces that are all new.
fn require_own(left: &str) -> io::Result<()> {
    let own = namespaces().map_err(refused("namespaces cannot be told apart"))?;
    let (left, own): (Vec<_>, Vec<_>) = (left.split(' ').collect(), own.split(' ').collect());
    let is_named = left.len() == own.len() && NAMESPACES.iter().zip(&left).all(|(kind, name)| name.starts_with(kind));
    let are_new = is_named && left.iter().zip(&own).all(|(left, own)| left != own);
    if are_new && getpid().is_init() {
        return Ok(());
    }
    Err(refused("a view is not built")("this process is not the first of new namespaces"))
}

#[expect(deprecated, reason = "nothing of ours is shared with a thread: there is one, and no table of files is parted")]
fn leave(from: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(from)?)
}

/// An ordinary user's process loses what it may with every start of a program, unless it says otherwise.
fn keep_over_a_start() -> io::Result<()> {
    let held = capabilities(None)?;
    let wanted = NEEDED.into_iter().fold(CapabilitySet::empty(), CapabilitySet::union);
    set_capabilities(None, CapabilitySets { inheritable: wanted, ..held })?;
    for capability in NEEDED {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Builds the view around this process, which must be the first of its namespaces, and lays down all power. `left` are the
/// machine's own, as [`part`] named them.
pub(crate) fn enter(view: &View, left: &str) -> io::Result<()> {
    require_own(left)?;
    // Whoever started us is the only one who can end us; without it nobody would.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    mounts::build(view)?;
    lay_down().map_err(refused("capabilities cannot be given up"))?;
    bind(view)?;
    // Giving up capabilities may have cleared it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

/// Without a view: the rules alone.
pub(crate) fn bind(view: &View) -> io::Result<()> {
    set_no_new_privs(true)?;
    confine(view).map_err(refused("Landlock refused its rules")).map(|_| ())
}

/// The version of Landlock here.
pub(super) fn landlock() -> Option<u32> {
    confine::version()
}

fn lay_down() -> io::Result<()> {
    clear_ambient_capability_set()?;
    for number in 0..=LAST_CAPABILITY {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            // The kernel knows fewer.
            Err(rustix::io::Errno::INVAL) => break,
            result => result?,
        }
    }
    let root_is_nobody = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(root_is_nobody)?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Names what failed, in front of what the system says.
pub(super) fn refused<Why: Display>(what: impl Display) -> impl FnOnce(Why) -> io::Error {
    move |why| io::Error::other(format!("{REFUSED}{what}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_view_is_built_in_the_machine_s_own_namespaces() {
        let own = namespaces().expect("they can be read");
        let others = "mnt:[1] pid:[2] user:[3]";
        for left in [own.as_str(), "1", "", others, "mnt:[1] pid:[2]"] {
            let refusal = require_own(left).expect_err("these are not new").to_string();
            assert!(refusal.starts_with(REFUSED), "{refusal}");
        }
    }
}
