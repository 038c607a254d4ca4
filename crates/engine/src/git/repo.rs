//! A repository that git can be asked about, with its hazards known.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_core::codebase::Codebase;

use super::call::Call;
use super::hazards::{Accepted, Config, Scope};
use super::{Git, GitError, GitResult};

/// One repository, entered at one folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Repo {
    git: Git,
    at: PathBuf,
    common_dir: PathBuf,
    config: Arc<Config>,
    overrides: Arc<Vec<(String, String)>>,
    pins: Pins,
    trusted: bool,
}

/// Variables that hold git to the repository we mean, whatever the files inside a worktree say.
type Pins = Vec<(&'static str, OsString)>;

impl Git {
    /// The main checkout of the repository a folder is in, also from a subfolder or a linked worktree; the git folder
    /// itself when the repository is bare.
    pub async fn discover(&self, folder: &Path) -> GitResult<PathBuf> {
        // The first entry of the list is the main checkout, wherever one stands.
        let mut tried = 0;
        let listed = loop {
            let call = self.call(folder).discover_above().args(["worktree", "list", "--porcelain", "-z"]);
            match call.read().await {
                Err(error) if error.is_half_made_entry() => {
                    let common_dir = self.common_dir_above(folder).await?;
                    if !self.is_worth_another_try(&common_dir, tried).await {
                        return Err(error);
                    }
                    tried += 1;
                }
                listed => break listed.map_err(|error| error.of_discovery(folder))?,
            }
        };
        let first = listed.split(|byte| *byte == 0).next().unwrap_or_default();
        let main = first.strip_prefix(b"worktree ").ok_or_else(|| GitError::Unexpected {
            what: "worktree list".into(),
            got: String::from_utf8_lossy(first).into_owned(),
        })?;
        one_path(main, "worktree list")
    }

    /// The folder that all worktrees of a repository share.
    async fn common_dir(&self, at: &Path) -> GitResult<PathBuf> {
        ask_common_dir(self.call(at), at).await
    }

    /// The same, from any folder below.
    async fn common_dir_above(&self, at: &Path) -> GitResult<PathBuf> {
        ask_common_dir(self.call(at).discover_above(), at).await
    }

    /// Opens the repository of a codebase. What its configuration could run is off unless it is trusted and unchanged.
    pub async fn open(&self, codebase: &Codebase) -> GitResult<Repo> {
        let accepted = Accepted::parse(&codebase.fingerprint);
        self.open_at(&codebase.path, Pins::new(), |config| accepted.trusted && accepted.changes(config).is_empty())
            .await
    }

    /// Opens a repository nothing is known about yet: nothing of its configuration runs.
    pub async fn open_untrusted(&self, path: &Path) -> GitResult<Repo> {
        self.open_at(path, Pins::new(), |_| false).await
    }

    async fn open_at(&self, path: &Path, pins: Pins, is_trusted: impl Fn(&Config) -> bool) -> GitResult<Repo> {
        let call = pins.iter().fold(self.call(path), |call, (name, value)| call.env(name, value));
        let args = ["config", "--list", "--show-scope", "--show-origin", "-z"];
        let listing = call.args(args).read().await.map_err(|error| error.of_discovery(path))?;
        let listing = Listing::read(&listing);
        let common_dir = match listing.common_dir(path) {
            Some(common_dir) => common_dir,
            None => self.common_dir(path).await?,
        };
        let config = Config::read(&listing.entries, &common_dir)?;
        let trusted = is_trusted(&config);
        // One worktree's own settings are never trusted: whoever works there can write them.
        let off: &[Scope] = if trusted { &[Scope::Worktree] } else { &[Scope::Local, Scope::Worktree] };
        let overrides = Arc::new(config.overrides(off));
        let mut pins = pins;
        if overrides.iter().any(|(key, _)| key.ends_with(".uploadpack")) {
            // Where it is not ours to say how to fetch (`upload_pack`), git must not do it on its own.
            pins.push(("GIT_NO_LAZY_FETCH", "1".into()));
        }
        let config = Arc::new(config);
        Ok(Repo { git: self.clone(), at: path.to_owned(), common_dir, config, overrides, pins, trusted })
    }
}

async fn ask_common_dir(call: Call<'_>, at: &Path) -> GitResult<PathBuf> {
    let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    let out = call.args(args).read().await.map_err(|error| error.of_discovery(at))?;
    one_path(&out, "rev-parse")
}

/// The answer to `config --list --show-scope --show-origin -z`, taken apart.
struct Listing {
    /// As without `--show-origin`.
    entries: Vec<u8>,
    /// Where the repository's own configuration is. git lists a file's `include` before what it includes, so the first
    /// entry of the repository is always of its own file.
    own_file: Option<PathBuf>,
}

impl Listing {
    /// `scope NUL origin NUL entry NUL …`
    fn read(answer: &[u8]) -> Self {
        let mut listing = Self { entries: Vec::with_capacity(answer.len()), own_file: None };
        let mut fields = answer.split(|byte| *byte == 0);
        while let (Some(scope), Some(origin), Some(entry)) = (fields.next(), fields.next(), fields.next()) {
            for field in [scope, entry] {
                listing.entries.extend(field);
                listing.entries.push(0);
            }
            if scope == b"local" && listing.own_file.is_none() {
                let file = origin.strip_prefix(b"file:").and_then(|path| std::str::from_utf8(path).ok());
                listing.own_file = Some(PathBuf::from(file.unwrap_or_default()));
            }
        }
        listing
    }

    /// The folder of the repository's own configuration is the common folder. `None` when there is nothing in it, or no
    /// repository here: git then says which.
    fn common_dir(&self, at: &Path) -> Option<PathBuf> {
        let file = self.own_file.as_deref().filter(|file| file.ends_with("config"))?;
        std::fs::canonicalize(at.join(file).parent()?).ok()
    }
}

impl Repo {
    /// The same repository, entered at a linked worktree.
    ///
    /// Whoever works there can rewrite its `.git` and what that points to; the configuration in force stays ours.
    pub async fn worktree(&self, path: &Path) -> GitResult<Self> {
        let mut pins = vec![("GIT_COMMON_DIR", self.common_dir.clone().into_os_string())];
        if !self.config.differs_by_worktree() {
            return Ok(Self { at: path.to_owned(), pins, ..self.clone() });
        }
        // Its own settings could name another folder as the files of this worktree.
        pins.push(("GIT_WORK_TREE", path.into()));
        // What applies only here was never looked at by the person who trusts the rest.
        let is_trusted = |here: &Config| self.trusted && here.has_same_hazards(&self.config);
        self.git.open_at(path, pins, is_trusted).await
    }

    /// The same repository with other files, another index and more objects: for looking at what is not in it.
    #[must_use]
    pub fn beside(&self, files: &Path, index: &Path, objects: &Path) -> Self {
        let pins = vec![
            ("GIT_DIR", self.common_dir.clone().into_os_string()),
            ("GIT_WORK_TREE", files.into()),
            ("GIT_INDEX_FILE", index.into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects.into()),
        ];
        Self { at: files.to_owned(), pins, ..self.clone() }
    }

    /// A repository inside a worktree (a submodule): somebody else's, so nothing of its configuration runs.
    pub async fn inner(&self, path: &Path) -> GitResult<Self> {
        self.git.open_at(path, vec![("GIT_WORK_TREE", path.into())], |_| false).await
    }

    /// The program to ask a remote with, where the repository names another. An option: of several settings of this key
    /// the first counts, so that ours would come too late.
    pub(super) fn upload_pack(&self, remote: &str) -> Option<String> {
        let key = format!("remote.{remote}.uploadpack");
        let (_, program) = self.overrides.iter().find(|(name, _)| *name == key)?;
        Some(format!("--upload-pack={program}"))
    }

    pub(crate) fn call(&self) -> Call<'_> {
        let call = self.git.call(&self.at).in_repository(&self.common_dir);
        let call = self.pins.iter().fold(call, |call, (name, value)| call.env(name, value));
        self.overrides.iter().fold(call, |call, (key, value)| call.config(key, value))
    }

    /// After a call that stumbled over a half-made entry of a worktree.
    pub(super) async fn may_try_again(&self, tried: usize) -> bool {
        self.git.is_worth_another_try(&self.common_dir, tried).await
    }

    /// Whether every branch can be read. A damaged one looks to most questions as if it were not there.
    pub async fn require_whole_branches(&self) -> GitResult<()> {
        let answer = self.call().args(["for-each-ref", "--format=%(objecttype)", "refs/heads/"]).answer().await?;
        if answer.status.success() && answer.stderr.is_empty() {
            return Ok(());
        }
        Err(GitError::Failed { what: "for-each-ref".into(), code: answer.status.code(), stderr: answer.stderr })
    }

    pub(super) const fn git(&self) -> &Git {
        &self.git
    }

    pub fn at(&self) -> &Path {
        &self.at
    }

    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// How git keeps refs here, where that is said: `files`, or `reftable`.
    pub fn ref_storage(&self) -> Option<&str> {
        self.config.value("extensions.refstorage")
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether the repository's own filters and the like are in force.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }
}

/// One absolute path. Anything else is no answer: taken for a path, it would lead into whatever folder we run in.
fn one_path(bytes: &[u8], what: &str) -> GitResult<PathBuf> {
    let unexpected = |why: &str| {
        let shown: String = String::from_utf8_lossy(bytes).chars().take(200).collect();
        GitError::Unexpected { what: what.to_owned(), got: format!("{why}: {shown}") }
    };
    let text = std::str::from_utf8(bytes).map_err(|_| unexpected("a path that is not UTF-8"))?;
    let path = PathBuf::from(text.trim_end_matches('\n'));
    if path.is_absolute() { Ok(path) } else { Err(unexpected("no absolute path")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git() -> Git {
        let alone = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];
        Git::new("git", alone.map(|(name, value)| (name.into(), value.into())).into())
    }

    #[tokio::test]
    async fn the_common_folder_is_found_from_the_checkout_and_from_a_worktree() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("it is there");
        let git = git();
        git.call(&root).args(["init", "--quiet", "main"]).write().await.expect("a repository");
        let main = root.join("main");
        // What is included has entries and a file name of its own; both must not be taken for the repository's.
        std::fs::write(root.join("config"), "[core]\n\tsshCommand = evil\n").expect("a file");
        let own = std::fs::read_to_string(main.join(".git/config")).expect("its configuration");
        std::fs::write(main.join(".git/config"), format!("[include]\n\tpath = {}/config\n{own}", root.display()))
            .expect("its configuration");
        let who = ["-c", "user.name=Alice", "-c", "user.email=alice@example.com"];
        let commit = git.call(&main).args(who).args(["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
        commit.write().await.expect("a commit");
        git.call(&main).args(["worktree", "add", "--quiet", "../linked"]).write().await.expect("a worktree");
        for place in ["main", "linked"] {
            let repo = git.open_untrusted(&root.join(place)).await.expect("it opens");
            assert_eq!(repo.common_dir(), main.join(".git"), "from {place}");
            assert_eq!(repo.config().runnable(), ["core.sshcommand"], "from {place}");
            assert_eq!(git.discover(&root.join(place)).await.expect("it is found"), main, "from {place}");
        }
    }

    #[tokio::test]
    async fn a_repository_without_any_configuration_is_one_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("it is there");
        git().call(&root).args(["init", "--quiet", "--bare", "bare"]).write().await.expect("a repository");
        let bare = root.join("bare");
        assert_eq!(git().open_untrusted(&bare).await.expect("it opens").common_dir(), bare);
        std::fs::write(bare.join("config"), "").expect("its configuration");
        assert_eq!(git().open_untrusted(&bare).await.expect("it opens").common_dir(), bare);
    }

    #[tokio::test]
    async fn a_plain_folder_is_no_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = git().open_untrusted(folder.path()).await;
        assert!(matches!(opened, Err(GitError::NotARepository(_))), "{opened:?}");
        let found = git().discover(folder.path()).await;
        assert!(matches!(found, Err(GitError::NotARepository(_))), "{found:?}");
    }
}
