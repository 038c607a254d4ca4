//! The folder below which environments are made: its sentinel, its trash, its folder names.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::{BranchName, EnvironmentId};

/// Says that this is the folder Hedgerow filled, and not the empty place where its disk should be mounted.
const SENTINEL: &str = ".hedgerow-base";
const TRASH: &str = ".trash";

/// The base of all environments on this machine.
#[derive(Debug, Clone)]
pub struct Base {
    path: PathBuf,
}

impl Base {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder is there and is ours.
    pub fn is_there(&self) -> bool {
        self.path.join(SENTINEL).is_file()
    }

    /// Makes the folder with its sentinel. Only ever called to create something: a base that held environments and has
    /// lost its sentinel is a disk that is away, and filling the empty place would hide it.
    pub fn prepare(&self) -> io::Result<()> {
        make_private(&self.path)?;
        let sentinel = self.path.join(SENTINEL);
        if !sentinel.exists() {
            let staged = tempfile::NamedTempFile::new_in(&self.path)?;
            fs::write(
                staged.path(),
                "The environments of Hedgerow live below this folder. Leave this file in place.\n",
            )?;
            match staged.persist_noclobber(&sentinel) {
                Ok(_) => {}
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.error),
            }
        }
        Ok(())
    }

    pub fn trash_place(&self, id: EnvironmentId) -> PathBuf {
        self.path.join(TRASH).join(id.to_string())
    }

    /// Whether a path is below the base.
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.path)
    }

    /// Folders for a branch, best first: the plain one, then with a hash of the branch, then with the id as well.
    /// Two branches whose plain folders are the same, without regard to case, so get different ones.
    pub fn places(&self, codebase_folder: &str, branch: &BranchName, id: EnvironmentId) -> Vec<PathBuf> {
        let plain = branch.folder();
        let hashed = plain.with_hash(branch.as_str());
        let unique = plain.with_hash(&format!("{branch} {id}"));
        let below = self.path.join(codebase_folder);
        [plain, hashed, unique].map(|folder| below.join(folder.as_str())).into()
    }
}

/// Makes a folder that only its owner can enter. One that exists is left as it is.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_there_only_with_its_sentinel() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = Base::new(folder.path().join("worktrees"));
        assert!(!base.is_there());
        base.prepare().expect("can be made");
        base.prepare().expect("can be made twice");
        assert!(base.is_there());
        fs::remove_file(base.path().join(SENTINEL)).expect("removes");
        assert!(!base.is_there());
    }

    #[test]
    fn places_of_a_branch_differ_from_each_other() {
        let base = Base::new("/b");
        let branch = BranchName::parse("feature/auth").expect("a name");
        let places = base.places("shop", &branch, EnvironmentId::new());
        assert_eq!(places[0], Path::new("/b/shop/feature-auth"));
        assert!(places[1] != places[0] && places[2] != places[1]);
    }
}
