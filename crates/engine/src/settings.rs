//! What the engine must be told before it starts.

use std::ffi::OsString;
use std::path::PathBuf;

use hedgerow_core::BranchName;

use crate::store::Database;

/// Everything the engine needs to know about its surroundings, checked by whoever read it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where Hedgerow keeps its own things.
    pub home: PathBuf,
    /// Below it, each codebase has a folder with its environments.
    pub worktrees: PathBuf,
    pub database: Database,
    /// The name of this machine among those that share a database.
    pub node: String,
    /// Most live environments of one codebase; 0 is no limit.
    pub limit: u32,
    /// An environment without any activity for so long is stale.
    pub stale_after_days: u32,
    /// Hours between two rounds of scheduled cleanup; 0 switches it off.
    pub cleanup_every_hours: u32,
    /// So long an environment stays in the trash as it was.
    pub trash_keep_days: u32,
    /// So long a saved state stays in the vault after that.
    pub vault_keep_days: u32,
    /// With less than this share of the disk free, the oldest of the trash is purged before its time; 0 is never.
    pub low_space_percent: u32,
    /// Goes before generated branch names, such as `agents/`.
    pub branch_prefix: String,
    /// Where the forge publishes the head of a pull request; `{number}` stands for its number.
    pub pull_ref: String,
    /// The remote to fetch from; otherwise `origin`, otherwise the only one.
    pub remote: Option<String>,
    /// The base of new work; otherwise the remote's HEAD, otherwise the repository's.
    pub base_branch: Option<BranchName>,
    /// Codebases must be below this folder.
    pub allowed_root: Option<PathBuf>,
    /// Where other tools list the worktrees they made, and the folder they make them in.
    pub skill_registry: Option<PathBuf>,
    pub skill_folder: Option<PathBuf>,
    /// The git program.
    pub git: PathBuf,
    /// Variables that every call of git gets besides the inherited ones.
    pub git_env: Vec<(OsString, OsString)>,
}
