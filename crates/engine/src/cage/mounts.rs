//! The system calls that build a view. Nothing here follows a link: paths of the machine have none, and paths inside are
//! walked step by step, because agents at work next door can change folders under our hands.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags, fstat, fstatvfs, mkdirat, openat, openat2,
    symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount, mount_change, mount_remount,
    move_mount, open_tree, unmount,
};
use rustix::process::{chdir, pivot_root};

use super::enter::refused;
use super::view::{Access, Part, View};

/// Where the machine's tree and the new one are while one is made of the other.
const OLD: &str = "/old";
const NEW: &str = "/new";
/// An empty file, for whatever is to be seen as nothing.
const NOTHING: &str = "nothing";

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const STREAMS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];
/// How much memory what programs share may take.
const SHARED_PERCENT: u8 = 10;

/// Builds the view, and makes it all there is.
pub(super) fn build(view: &View) -> io::Result<()> {
    stage().map_err(refused("file systems cannot be mounted here"))?;
    let mut work = Work::new(view).map_err(refused("the new file tree cannot be opened"))?;
    devices(&mut work).map_err(refused("`/dev` cannot be made"))?;
    processes().map_err(refused("`/proc` cannot be mounted"))?;
    for part in &view.parts {
        work.add(part).map_err(refused(format!("`{}`", part.at().display())))?;
    }
    work.seal().map_err(refused("the view cannot be made read-only"))?;
    move_in().map_err(refused("the file tree cannot be changed"))?;
    chdir(&view.folder).map_err(refused(format!("`{}`", view.folder.display())))
}

/// The machine's tree goes to one side of a small one in memory, the new one begins on the other.
fn stage() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let quiet = MountFlags::NOSUID | MountFlags::NODEV;
    // Any folder would do: the machine's tree is whole again as soon as it is set aside.
    mount("tmpfs", "/tmp", "tmpfs", quiet, c"mode=755,size=1m")?;
    for folder in [OLD, NEW] {
        fs::create_dir(format!("/tmp{folder}"))?;
    }
    pivot_root("/tmp", "/tmp/old")?;
    chdir("/")?;
    mount("tmpfs", NEW, "tmpfs", quiet, c"mode=755,size=16m")?;
    fs::write(format!("/{NOTHING}"), "")
}

/// Leaves everything but the new tree.
fn move_in() -> io::Result<()> {
    let fixed = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount(NEW, fixed, c"")?;
    chdir(NEW)?;
    // The old root comes to lie over the new one, and is taken away there.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir("/")?)
}

fn devices(work: &mut Work<'_>) -> io::Result<()> {
    let folder = Path::new("/dev");
    let made = work.folder(folder, 1)?;
    for name in DEVICES {
        let tree = clone(work.old.as_fd(), &folder.join(name))?;
        attach(&tree, work.file(&folder.join(name))?.as_fd())?;
    }
    for (name, to) in STREAMS {
        symlinkat(to, &made, name)?;
    }
    work.folder(&folder.join("shm"), SHARED_PERCENT)?;
    // Terminals of its own, where the kernel gives them to namespaces; few programs want one.
    work.step_down(&folder.join("pts"))?;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    let _ = mount("devpts", format!("{NEW}/dev/pts"), "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options);
    work.fixed.push(made);
    Ok(())
}

/// The processes of the new namespace and no others; and none of them gets to make a namespace again.
fn processes() -> io::Result<()> {
    let at = format!("{NEW}/proc");
    fs::create_dir(&at)?;
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", &at, "proc", quiet, c"")?;
    // Where it cannot be written, such a namespace gives nobody more than they have: its mounts are locked.
    let _ = fs::write(format!("{at}/sys/user/max_user_namespaces"), "0");
    // Root is root in `/proc/sys`, whatever its capabilities.
    Ok(mount_remount(&at, quiet | MountFlags::BIND | MountFlags::RDONLY, c"")?)
}

struct Work<'a> {
    view: &'a View,
    old: OwnedFd,
    new: OwnedFd,
    /// Where the machine has mounts, links left out.
    mounts: Vec<PathBuf>,
    /// Folders in memory that become read-only when all is in its place.
    fixed: Vec<OwnedFd>,
}

impl<'a> Work<'a> {
    fn new(view: &'a View) -> io::Result<Self> {
        let open = |path| openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        Ok(Self { view, old: open(OLD)?, new: open(NEW)?, mounts: machine_mounts()?, fixed: Vec::new() })
    }

    fn add(&mut self, part: &Part) -> io::Result<()> {
        match part {
            Part::Bind { from, at, access } => self.bind(from, at, *access),
            Part::Link { at, to } => self.link(at, to),
            Part::Memory { at, percent } => self.folder(at, *percent).map(drop),
            Part::Void { at } => self.void(at),
        }
    }

    fn bind(&self, from: &Path, at: &Path, access: Access) -> io::Result<()> {
        let tree = match clone(self.old.as_fd(), from) {
            // It is gone since the view was planned, or was not to be read out here either.
            Err(error) if access == Access::Read && is_out_of_reach(&error) => return Ok(()),
            tree => tree?,
        };
        let is_folder = FileType::from_raw_mode(fstat(&tree)?.st_mode) == FileType::Directory;
        let target = if is_folder { self.step_down(at) } else { self.file(at) };
        let target = match target {
            // Its own home: what it has put in the way is its own loss.
            Err(_) if at != self.view.home && at.starts_with(&self.view.home) => return Ok(()),
            target => target?,
        };
        attach(&tree, target.as_fd())?;
        let read_only = access == Access::Read;
        fix(&tree, Path::new(""), read_only)?;
        for below in self.mounts.iter().filter_map(|mount| mount.strip_prefix(from).ok()) {
            if below.as_os_str().is_empty() {
                continue;
            }
            match fix(&tree, below, read_only) {
                // Another mount lies over it.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {}
                fixed => fixed?,
            }
        }
        Ok(())
    }

    fn link(&self, at: &Path, to: &Path) -> io::Result<()> {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Ok(()) };
        match symlinkat(to, self.step_down(parent)?, name) {
            Ok(()) | Err(Errno::EXIST | Errno::ROFS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A new folder in memory.
    fn folder(&self, at: &Path, percent: u8) -> io::Result<OwnedFd> {
        let target = self.step_down(at)?;
        let kind = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        let is_shared = ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|shared| at == Path::new(shared));
        fsconfig_set_string(&kind, "mode", if is_shared { "1777" } else { "755" })?;
        fsconfig_set_string(&kind, "size", format!("{percent}%"))?;
        fsconfig_create(&kind)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let tree = fsmount(&kind, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        attach(&tree, target.as_fd())?;
        Ok(tree)
    }

    fn void(&mut self, at: &Path) -> io::Result<()> {
        let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = match openat2(&self.new, inside(at), look, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // Nothing is nothing.
            Err(Errno::NOENT) => return Ok(()),
            there => there?,
        };
        if FileType::from_raw_mode(fstat(&there)?.st_mode) == FileType::Directory {
            let made = self.folder(at, 1)?;
            self.fixed.push(made);
            return Ok(());
        }
        let nothing = openat(CWD, format!("/{NOTHING}"), look, Mode::empty())?;
        let tree = clone_of(nothing.as_fd())?;
        attach(&tree, there.as_fd())?;
        fix(&tree, Path::new(""), true)
    }

    fn seal(&self) -> io::Result<()> {
        self.fixed.iter().try_for_each(|tree| fix(tree, Path::new(""), true))
    }

    /// The folder at a path inside; it and those above it are made where they are missing.
    fn step_down(&self, at: &Path) -> io::Result<OwnedFd> {
        let mut folder = self.new.try_clone()?;
        let mut walked = PathBuf::from("/");
        for name in inside(at).components() {
            walked.push(name);
            folder = self.step(folder.as_fd(), name.as_os_str(), &walked)?;
        }
        Ok(folder)
    }

    fn step(&self, folder: BorrowedFd<'_>, name: &OsStr, walked: &Path) -> io::Result<OwnedFd> {
        let enter = || {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(folder, name, flags, Mode::empty())
        };
        match enter() {
            Err(Errno::NOENT) => {}
            // In the home it may have been put in the way by a program that lived there.
            Err(Errno::NOTDIR | Errno::LOOP) if walked.starts_with(&self.view.home) => {
                unlinkat(folder, name, AtFlags::empty())?;
            }
            entered => return Ok(entered?),
        }
        match mkdirat(folder, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => Ok(enter()?),
            Err(error) => Err(error.into()),
        }
    }

    /// The file at a path inside, made where it is missing.
    fn file(&self, at: &Path) -> io::Result<OwnedFd> {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Err(Errno::INVAL.into()) };
        let folder = self.step_down(parent)?;
        let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = openat(&folder, name, look, Mode::empty());
        if let Ok(there) = there {
            if FileType::from_raw_mode(fstat(&there)?.st_mode) != FileType::Symlink {
                return Ok(there);
            }
            if !at.starts_with(&self.view.home) {
                return Err(Errno::LOOP.into());
            }
            unlinkat(&folder, name, AtFlags::empty())?;
        }
        let make = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&folder, name, make, Mode::from_raw_mode(0o600))?;
        Ok(openat(&folder, name, look, Mode::empty())?)
    }
}

fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// A path as it is below a root.
fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// What the machine has there, with all that is mounted below, to be attached elsewhere.
fn clone(old: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let below = inside(path);
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    clone_of(openat2(old, below, look, Mode::empty(), ResolveFlags::NO_SYMLINKS)?.as_fd())
}

fn clone_of(opened: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let whole = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(opened, "", whole | OpenTreeFlags::OPEN_TREE_CLOEXEC)?)
}

fn attach(tree: &OwnedFd, target: BorrowedFd<'_>) -> io::Result<()> {
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", target, "", both)?)
}

/// Takes what no program needs from a mount: devices, other users' powers, and writing if so wanted. What it lacks already
/// stays so: the kernel insists on it.
fn fix(tree: &OwnedFd, below: &Path, read_only: bool) -> io::Result<()> {
    // By its descriptor, not by its path: there, something else may be by now.
    let mut path = Path::new(OLD).join(format!("proc/self/fd/{}", tree.as_raw_fd()));
    if !below.as_os_str().is_empty() {
        path.push(below);
    }
    let there = openat(CWD, &path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let had = fstatvfs(&there)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
    for (had_it, flag) in
        [(StatVfsMountFlags::RDONLY, MountFlags::RDONLY), (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC)]
    {
        if had.contains(had_it) {
            flags |= flag;
        }
    }
    if read_only {
        flags |= MountFlags::RDONLY;
    }
    Ok(mount_remount(path, flags, c"")?)
}

fn machine_mounts() -> io::Result<Vec<PathBuf>> {
    let list = fs::read(format!("{OLD}/proc/self/mountinfo"))?;
    let points = list.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let points = points.map(|point| PathBuf::from(OsStr::from_bytes(&unescaped(point))));
    Ok(points.filter_map(|point| Some(Path::new("/").join(point.strip_prefix(OLD).ok()?))).collect())
}

/// Blanks and the like are written as `\040` there.
fn unescaped(point: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mounts_are_read_as_they_are() {
        assert_eq!(unescaped(br"/old/a\040b\134c"), b"/old/a b\\c");
        assert_eq!(unescaped(br"/x\9"), br"/x\9");
    }
}
