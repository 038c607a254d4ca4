//! A repository that Hedgerow serves.

use std::path::PathBuf;

use crate::branch::BranchName;
use crate::id::{CodebaseId, Timestamp};

/// A registered repository. Its path is the main checkout (or a bare repository), never a linked worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codebase {
    pub id: CodebaseId,
    /// Unique; what people call it.
    pub name: String,
    /// The main checkout, or the git folder of a bare repository.
    pub path: PathBuf,
    /// The folder below the worktrees' base that holds this codebase's environments. Unique.
    pub folder: String,
    /// Where it was cloned from, without any credentials.
    pub remote: Option<String>,
    /// The configured remote; otherwise `origin`, otherwise the only one.
    pub remote_name: Option<String>,
    /// The configured base branch; otherwise the remote's HEAD, otherwise the repository's.
    pub base_branch: Option<BranchName>,
    /// Fingerprint of the parts of the repository's configuration that could run programs, as last accepted.
    pub fingerprint: String,
    pub created_at: Timestamp,
}
