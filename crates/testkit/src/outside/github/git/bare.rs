//! A bare repository, asked and changed without a checkout.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::git::{command, git, try_git};

/// Who commits when somebody presses a button.
const GITHUB: [(&str, &str); 2] = [("GIT_COMMITTER_NAME", "GitHub"), ("GIT_COMMITTER_EMAIL", "noreply@github.com")];

/// Refuses what is listed in the file `protected`, in GitHub's words.
const UPDATE_HOOK: &str = "#!/bin/sh
if grep -qxF \"$1\" protected 2>/dev/null; then
    echo \"error: GH006: Protected branch update failed for $1.\" >&2
    exit 1
fi
";

pub(crate) fn make(path: &Path) {
    fs::create_dir_all(path).expect("a folder for a repository");
    git(path, &["init", "--quiet", "--bare"]);
    let settings = [
        ("http.receivepack", "true"),
        ("uploadpack.allowAnySHA1InWant", "true"),
        ("uploadpack.allowReachableSHA1InWant", "true"),
        ("uploadpack.allowFilter", "true"),
        // Nobody pushes there.
        ("receive.hideRefs", "refs/pull"),
        ("gc.auto", "0"),
    ];
    for (name, value) in settings {
        git(path, &["config", name, value]);
    }
    let hook = path.join("hooks/update");
    fs::create_dir_all(path.join("hooks")).expect("a folder for hooks");
    fs::write(&hook, UPDATE_HOOK).expect("the hook");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, executable).expect("a hook that runs");
}

/// A first commit, as the button "Add a README" makes it.
pub(crate) fn first_commit(path: &Path, branch: &str, name: &str) {
    let blob = put(path, &format!("# {name}\n"));
    let tree = piped(path, &["mktree"], &format!("100644 blob {blob}\tREADME.md\n"));
    let sha = git(path, &["commit-tree", &tree, "-m", "Initial commit"]);
    git(path, &["update-ref", &format!("refs/heads/{branch}"), &sha]);
}

/// Copies everything another repository has under heads and tags.
pub(crate) fn copy(path: &Path, from: &Path) {
    let from = from.to_string_lossy().into_owned();
    git(path, &["fetch", "--quiet", &from, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]);
}

pub(crate) fn heads(path: &Path) -> BTreeMap<String, String> {
    let list = git(path, &["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/"]);
    let pairs = list.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(sha, branch)| (branch.to_owned(), sha.to_owned())).collect()
}

/// What a revision is; `None` when there is no such thing.
pub(crate) fn rev(path: &Path, revision: &str) -> Option<String> {
    let output = try_git(path, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]);
    let sha = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!sha.is_empty()).then_some(sha)
}

pub(crate) fn set_ref(path: &Path, name: &str, sha: &str) {
    git(path, &["update-ref", name, sha]);
}

/// Makes a commit of one repository known in another, under a name there.
pub(crate) fn bring(to: &Path, from: &Path, sha: &str, name: &str) {
    let from = from.to_string_lossy().into_owned();
    git(to, &["fetch", "--quiet", &from, &format!("+{sha}:{name}")]);
}

pub(crate) fn is_ancestor(path: &Path, old: &str, new: &str) -> bool {
    try_git(path, &["merge-base", "--is-ancestor", old, new]).status.success()
}

/// Commits that one has and the other has not, oldest first.
pub(crate) fn between(path: &Path, base: &str, head: &str) -> Vec<String> {
    let list = git(path, &["rev-list", "--reverse", "--topo-order", &format!("{base}..{head}")]);
    list.lines().map(str::to_owned).collect()
}

/// A commit with one file changed, on top of another (or of nothing).
pub(crate) fn commit(path: &Path, parent: Option<&str>, file: &str, content: &str, author: &str, time: i64) -> String {
    let index = tempfile::Builder::new().prefix("index-").tempdir_in(path).expect("a folder for an index");
    let index = index.path().join("index");
    let run = |args: &[&str]| {
        let output = command(path).env("GIT_INDEX_FILE", &index).args(args).output().expect("git can be started");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    if let Some(parent) = parent {
        run(&["read-tree", parent]);
    }
    let blob = put(path, content);
    run(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{file}")]);
    let tree = run(&["write-tree"]);
    let author =
        Author { name: author.to_owned(), email: format!("{author}@example.com"), date: format!("@{time} +0000") };
    let parents: Vec<&str> = parent.into_iter().collect();
    commit_tree(path, &tree, &parents, &format!("Change {file}"), &author, time)
}

/// Who wrote a commit.
#[derive(Debug, Clone)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) date: String,
}

pub(crate) fn commit_tree(
    path: &Path,
    tree: &str,
    parents: &[&str],
    message: &str,
    author: &Author,
    time: i64,
) -> String {
    let mut command = command(path);
    command.envs(GITHUB).env("GIT_COMMITTER_DATE", format!("@{time} +0000"));
    command.env("GIT_AUTHOR_NAME", &author.name).env("GIT_AUTHOR_EMAIL", &author.email);
    command.env("GIT_AUTHOR_DATE", &author.date).args(["commit-tree", tree, "-m", message]);
    for parent in parents {
        command.args(["-p", parent]);
    }
    let output = command.output().expect("git can be started");
    assert!(output.status.success(), "git commit-tree: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Facts of a commit: message, author, parents, times.
pub(crate) fn facts(path: &Path, sha: &str) -> Value {
    let format = "--format=%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%T%x00%P%x00%B";
    let text = git(path, &["show", "--no-patch", format, sha]);
    let part = |nth: usize| text.split('\0').nth(nth).unwrap_or_default().trim().to_owned();
    let parents: Vec<String> = part(7).split_whitespace().map(str::to_owned).collect();
    json!({
        "message": part(8), "tree": part(6), "parents": parents,
        "author": {"name": part(0), "email": part(1), "date": part(2)},
        "committer": {"name": part(3), "email": part(4), "date": part(5)},
    })
}

/// The files that differ since two parted: name, what happened, lines added and deleted, the patch.
pub(crate) fn files(path: &Path, base: &str, head: &str) -> Vec<Value> {
    let range = format!("{base}...{head}");
    let names = git(path, &["diff", "--name-status", "--no-renames", "-z", &range]);
    let numbers = git(path, &["diff", "--numstat", "--no-renames", "-z", &range]);
    let counts: BTreeMap<&str, (u64, u64)> = numbers.split('\0').filter_map(count).collect();
    let parts: Vec<&str> = names.split('\0').filter(|part| !part.is_empty()).collect();
    parts
        .chunks_exact(2)
        .map(|pair| {
            let (status, name) = (pair[0], pair[1]);
            let status = match status {
                "A" => "added",
                "D" => "removed",
                _ => "modified",
            };
            let (added, deleted) = counts.get(name).copied().unwrap_or_default();
            let patch = git(path, &["diff", "--no-renames", &range, "--", name]);
            let patch = patch.find("@@").map(|start| patch[start..].to_owned());
            json!({
                "sha": rev_of_blob(path, head, name), "filename": name, "status": status, "additions": added,
                "deletions": deleted, "changes": added + deleted, "patch": patch,
            })
        })
        .collect()
}

fn count(line: &str) -> Option<(&str, (u64, u64))> {
    let mut parts = line.splitn(3, '\t');
    let (added, deleted, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some((name, (added.parse().unwrap_or(0), deleted.parse().unwrap_or(0))))
}

fn rev_of_blob(path: &Path, head: &str, name: &str) -> String {
    let output = try_git(path, &["rev-parse", "--verify", "--quiet", &format!("{head}:{name}")]);
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn put(path: &Path, content: &str) -> String {
    piped(path, &["hash-object", "-w", "--stdin"], content)
}

/// Runs git with something to read.
fn piped(path: &Path, args: &[&str], input: &str) -> String {
    use std::io::{Seek as _, Write as _};
    let mut file = tempfile::tempfile().expect("a scratch file");
    file.write_all(input.as_bytes()).expect("a little room");
    file.rewind().expect("a file has a start");
    let output = command(path).args(args).stdin(file).output().expect("git can be started");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
