//! What git left unfinished (a rebase, a merge, a bisect) while its environment is in the trash.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::{BranchName, CommitSha, EnvironmentId};

use crate::explain::Trouble;
use crate::git::Repo;

/// While one of these is there, git counts the branch as in use although HEAD is detached; in the trash they step
/// aside under another name.
const BLOCKING: [&str; 3] = ["rebase-merge", "rebase-apply", "BISECT_START"];

pub(super) fn step_aside(admin: &Path) -> Result<(), Trouble> {
    BLOCKING.iter().try_for_each(|name| rename_if_there(&admin.join(name), &aside(admin, name)))
}

pub(super) fn step_back(admin: &Path) -> Result<(), Trouble> {
    BLOCKING.iter().try_for_each(|name| rename_if_there(&aside(admin, name), &admin.join(name)))
}

fn aside(admin: &Path, name: &str) -> PathBuf {
    admin.join(format!("hedgerow-{name}"))
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), Trouble> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::folder(from)(error)),
        _ => Ok(()),
    }
}

/// Makes an operation that waits aside end on this branch, which is made where its own one began. Its own one is
/// somebody else's by now, and must not move under their feet.
pub(super) async fn lead_to(repo: &Repo, admin: &Path, branch: &BranchName) -> Result<(), Trouble> {
    for name in ["rebase-merge", "rebase-apply"] {
        let folder = aside(admin, name);
        let began = fs::read_to_string(folder.join("orig-head")).ok();
        let began = began.and_then(|text| CommitSha::parse(text.trim()).ok());
        let own = fs::read_to_string(folder.join("head-name")).unwrap_or_default();
        if let Some(began) = began.filter(|_| own.starts_with("refs/heads/")) {
            begin(repo, branch, &began).await?;
            write(&folder.join("head-name"), &branch.full_ref())?;
        }
    }
    let bisect = aside(admin, "BISECT_START");
    let own = fs::read_to_string(&bisect).unwrap_or_default();
    if let Some(own) = branch_named(own.trim_end())
        && let Some(tip) = repo.branch_tip(&own).await?
    {
        begin(repo, branch, &tip).await?;
        write(&bisect, branch.as_str())?;
    }
    Ok(())
}

async fn begin(repo: &Repo, branch: &BranchName, at: &CommitSha) -> Result<(), Trouble> {
    if repo.branch_tip(branch).await?.is_none() {
        repo.create_ref(&branch.full_ref(), at, "hedgerow: out of the trash").await?;
    }
    Ok(())
}

fn write(file: &Path, line: &str) -> Result<(), Trouble> {
    fs::write(file, format!("{line}\n")).map_err(Trouble::folder(file))
}

/// `BISECT_START` holds a branch, or a commit when HEAD was detached before.
fn branch_named(text: &str) -> Option<BranchName> {
    if CommitSha::parse(text).is_ok() { None } else { BranchName::parse(text).ok() }
}

/// The branch that an operation in progress goes back to when it ends.
pub(in crate::isolation) fn branch_of(admin: &Path) -> Option<BranchName> {
    let read = |name: &str| fs::read_to_string(admin.join(name)).ok();
    let rebased = read("rebase-merge/head-name").or_else(|| read("rebase-apply/head-name"));
    match rebased {
        Some(text) => BranchName::parse(text.trim_end().strip_prefix("refs/heads/")?).ok(),
        None => branch_named(read("BISECT_START")?.trim_end()),
    }
}

/// Names that git looks up in a worktree by itself when it collects what nobody needs; the rest it does not know.
const KEPT_BY_GIT: [&str; 4] = ["HEAD", "index", "logs", "modules"];

/// Puts refs on what only files in the admin folder name: an autostash, the other side of a merge, the commits of a
/// bisect. Without them `git gc` would delete these under a stopped operation in the trash.
pub(in crate::isolation) async fn keep_objects(repo: &Repo, admin: &Path, id: EnvironmentId) -> Result<(), Trouble> {
    let mut names = BTreeSet::new();
    collect(admin, 0, &mut names);
    Ok(repo.keep_objects(&kept(id), &names).await?)
}

pub(super) async fn let_go_of_objects(repo: &Repo, id: EnvironmentId) -> Result<(), Trouble> {
    Ok(repo.let_go_of_objects(&kept(id)).await?)
}

fn kept(id: EnvironmentId) -> String {
    format!("refs/hedgerow/trash/{id}/")
}

/// Operations keep their files two folders deep at most; refs of a worktree's own may be deeper.
const MAX_DEPTH: usize = 8;
/// What names objects is short; a patch or a message is not looked at.
const MAX_BYTES: u64 = 1 << 20;

fn collect(folder: &Path, depth: usize, names: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if depth == 0 && KEPT_BY_GIT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        match entry.metadata() {
            Ok(found) if found.is_dir() && depth < MAX_DEPTH => collect(&entry.path(), depth + 1, names),
            Ok(found) if found.is_file() && found.len() <= MAX_BYTES => {
                let text = fs::read(entry.path()).unwrap_or_default();
                let words = text.split(|byte| !byte.is_ascii_alphanumeric());
                names.extend(
                    words
                        .filter_map(|word| CommitSha::parse(std::str::from_utf8(word).ok()?).ok())
                        .map(|sha| sha.to_string()),
                );
            }
            _ => {}
        }
    }
}
