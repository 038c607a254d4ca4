//! What git left unfinished (a rebase, a merge, a bisect) while its environment is in the trash.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::{BranchName, CommitSha, EnvironmentId};

use super::logs;
use crate::explain::Trouble;
use crate::git::Repo;
use crate::steps;

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
            steps::reached("branch for the operation made");
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

/// Names that are not looked into here: git finds those of the first three by itself when it collects what nobody needs,
/// and of what logs name only the stranded commits count.
const LEFT_OUT: [&str; 5] = ["HEAD", "index", "modules", "logs", logs::COPIES];

/// Puts refs on what only files in the admin folder name: an autostash, the other side of a merge, the commits of a
/// bisect, commits that were amended away. Without them `git gc` would delete these under an environment in the trash.
/// A branch that is `going` keeps nothing.
pub(in crate::isolation) async fn keep_objects(
    repo: &Repo,
    admin: &Path,
    id: EnvironmentId,
    going: Option<&BranchName>,
) -> Result<(), Trouble> {
    let mut names = BTreeSet::new();
    named_in(admin, &LEFT_OUT, &mut names);
    repo.keep_objects(&kept(id), &names).await?;
    logs::keep_commits(repo, admin, &kept(id), going).await
}

pub(in crate::isolation) async fn let_go_of_objects(repo: &Repo, id: EnvironmentId) -> Result<(), Trouble> {
    Ok(repo.let_go_of_objects(&kept(id)).await?)
}

fn kept(id: EnvironmentId) -> String {
    format!("refs/hedgerow/trash/{id}/")
}

/// Operations keep their files two folders deep at most; refs of a worktree's own may be deeper.
const MAX_DEPTH: usize = 8;
/// No log is longer; a bound all the same.
const MAX_BYTES: u64 = 64 << 20;

/// Everything in a folder of git's own records that looks like the name of an object, but for these entries at its top.
pub(in crate::isolation) fn named_in(folder: &Path, except: &[&str], names: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if except.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        match entry.metadata() {
            Ok(found) if found.is_dir() => collect(&entry.path(), 1, names),
            Ok(found) if found.is_file() => named_in_file(&entry.path(), names),
            _ => {}
        }
    }
}

/// The same for one file, such as the log of a branch.
pub(in crate::isolation) fn named_in_file(file: &Path, names: &mut BTreeSet<String>) {
    let text = fs::read(file).unwrap_or_default();
    names.extend(full_names(&text));
    if file.file_name().is_some_and(|name| STILL_TO_DO.iter().any(|todo| name == *todo)) {
        names.extend(short_names(&text));
    }
}

fn collect(folder: &Path, depth: usize, names: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        match entry.metadata() {
            Ok(found) if found.is_dir() && depth < MAX_DEPTH => collect(&entry.path(), depth + 1, names),
            Ok(found) if found.is_file() && found.len() <= MAX_BYTES => named_in_file(&entry.path(), names),
            _ => {}
        }
    }
}

fn full_names(text: &[u8]) -> impl Iterator<Item = String> {
    let words = text.split(|byte| !byte.is_ascii_alphanumeric());
    let names = words.filter_map(|word| CommitSha::parse(std::str::from_utf8(word).ok()?).ok());
    names.map(|name| name.to_string())
}

/// What a cherry-pick, a revert or a rebase has still to do. git may write these commits down by the beginnings of their
/// names.
const STILL_TO_DO: [&str; 2] = ["todo", "git-rebase-todo"];
/// git's own least.
const SHORTEST_NAME: usize = 4;

/// Lines such as `pick 1234abc Subject` and `fixup -C 1234abc Subject`.
fn short_names(text: &[u8]) -> impl Iterator<Item = String> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    let words = lines.flat_map(|line| line.split(|byte| *byte == b' ').skip(1).take(2));
    let names = words.filter(|word| word.len() >= SHORTEST_NAME && word.iter().all(u8::is_ascii_hexdigit));
    names.map(|name| String::from_utf8_lossy(name).into_owned())
}
