//! The second layer of the cage, and the first where there can be no view: Landlock, which needs no privilege.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};

use super::view::{Access, Layer, Part, View};

/// The newest that we know of; a kernel that knows less enforces what it knows.
const KNOWN: ABI = ABI::V9;
/// What every program may use of the devices, where it sees all of them.
const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// Binds this process and all that it starts from now on: only what the view has can be touched, and nobody outside be
/// signalled or spoken to by an abstract socket. `Ok(false)` where the kernel cannot.
pub(super) fn confine(view: &View) -> io::Result<bool> {
    let mut rules = rules()?;
    for (path, access) in allowed(view) {
        let rights = match access {
            Access::Read => AccessFs::from_read(KNOWN),
            Access::Write => AccessFs::from_all(KNOWN),
        };
        rules = allow(rules, &path, rights)?;
    }
    if view.layer == Layer::Tree {
        // All that is there may be listed; nothing else is.
        rules = allow(rules, Path::new("/"), AccessFs::ReadDir.into())?;
    }
    let status = rules.restrict_self().map_err(io::Error::other)?;
    Ok(abi(&status).is_some())
}

/// The version of Landlock here. Tried by a thread that is bound, and ends.
pub(super) fn version() -> Option<u32> {
    let attempt = std::thread::spawn(|| abi(&rules().ok()?.restrict_self().ok()?));
    attempt.join().ok().flatten()
}

fn rules() -> io::Result<RulesetCreated> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(AccessFs::from_all(KNOWN)).map_err(io::Error::other)?;
    let rules = rules.scope(Scope::from_all(KNOWN)).map_err(io::Error::other)?;
    rules.create().map_err(io::Error::other)
}

fn abi(status: &RestrictionStatus) -> Option<u32> {
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Some(kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32))
        }
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}

fn allow(rules: RulesetCreated, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    // A path that is not there needs no right.
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let is_folder = path.is_dir();
    let rights = if is_folder { rights } else { rights & AccessFs::from_file(KNOWN) };
    rules.add_rule(PathBeneath::new(opened, rights)).map_err(io::Error::other)
}

fn allowed(view: &View) -> Vec<(PathBuf, Access)> {
    let mut allowed = vec![(PathBuf::from("/proc"), Access::Read)];
    let devices = Path::new("/dev");
    match view.layer {
        Layer::Tree => allowed.push((devices.to_owned(), Access::Write)),
        Layer::Rules => allowed.extend(DEVICES.map(|name| (devices.join(name), Access::Write))),
    }
    for part in &view.parts {
        match (part, view.layer) {
            (Part::Bind { at, access, .. }, Layer::Tree) => allowed.push((at.clone(), *access)),
            (Part::Bind { from, access, .. }, Layer::Rules) => allowed.push((from.clone(), *access)),
            (Part::Memory { at, .. }, Layer::Tree) => allowed.push((at.clone(), Access::Write)),
            _ => {}
        }
    }
    allowed
}
