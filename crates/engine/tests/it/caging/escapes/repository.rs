//! The repository that an agent's environment is a part of: its git folder is there, and not all of it is the agent's.

use std::fs;
use std::path::PathBuf;

use hedgerow_core::Work;
use hedgerow_testkit::world::alice;

use super::{Prey, a_cage, cages, fail, only_read};
use crate::caging::office::Caged;

fn guarded(caged: &Caged, names: &[&str]) -> Vec<Prey> {
    names.iter().map(|name| Prey::found(caged.git_folder().join(name))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shared_configuration() {
    for caged in cages().await {
        only_read(&caged, &guarded(&caged, &["config", "HEAD", "info/exclude"])).await;
        let set = ["core.fsmonitor", "core.hooksPath", "core.pager", "filter.x.clean", "include.path"];
        let set = set.map(|name| format!("git config {name} /tmp/x"));
        fail(&caged, &set).await;
        let words = fs::read_to_string(caged.git_folder().join("config")).expect("it is there");
        assert!(!words.contains("/tmp/x"), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hooks() {
    for mut caged in cages().await {
        let hook = Prey::at(caged.git_folder().join("hooks/post-checkout"));
        caged.bounds.guard.push(caged.git_folder().join("hooks"));
        only_read(&caged, &[hook]).await;
        let hooks = caged.git_folder().join("hooks");
        let before = fs::read_dir(&hooks).expect("a folder").count();
        let hooks = hooks.display();
        fail(
            &caged,
            &[
                format!("echo x >{hooks}/pre-commit"),
                format!("mkdir {hooks}/new"),
                format!("ln -s /tmp/x {hooks}/pre-push"),
                format!("rm -r {hooks}"),
                format!("mv {hooks} {hooks}-away"),
                format!("mkdir mine && mv -T mine {hooks}"),
                format!("rmdir {hooks}"),
            ],
        )
        .await;
        assert_eq!(fs::read_dir(caged.git_folder().join("hooks")).expect("a folder").count(), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_folders_of_other_environments() {
    for caged in cages().await {
        let codebase = caged.world.engine.store().codebases().await.expect("the store answers").remove(0);
        let sibling = caged.world.environment(&codebase, Work::Task("sibling".to_owned())).await;
        let link = fs::read_to_string(sibling.path.join(".git")).expect("a worktree");
        let admin = PathBuf::from(link.trim().strip_prefix("gitdir: ").expect("it says where"));
        only_read(&caged, &["HEAD", "gitdir", "commondir"].map(|name| Prey::found(admin.join(name)))).await;
        let (admin, all) = (admin.display(), caged.git_folder().join("worktrees"));
        let all = all.display();
        fail(
            &caged,
            &[
                format!("touch {admin}/index.lock"),
                format!("echo x >{admin}/config.worktree"),
                format!("rm -r {admin}"),
                format!("mkdir {all}/new"),
                format!("mv {all} {all}-away"),
                format!("git worktree remove --force {}", sibling.path.display()),
                format!("git worktree lock {}", sibling.path.display()),
                format!("git worktree add {all}/../x && test -e {all}/x"),
            ],
        )
        .await;
        assert!(sibling.path.join(".git").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn moving_what_a_guard_is_in() {
    for mut caged in cages().await {
        let git = caged.git_folder();
        let kept = [Prey::at(git.join("refs/hedgerow/keep/one")), Prey::at(git.join("logs/refs/hedgerow/one"))];
        for folder in ["refs/hedgerow", "logs/refs/hedgerow", "logs/HEAD"] {
            caged.bounds.guard.push(git.join(folder));
        }
        let git = git.display();
        fail(
            &caged,
            &[
                format!("mv {git}/refs {git}/refs2"),
                format!("mv {git}/logs {git}/logs2"),
                format!("mv {git}/logs/refs {git}/logs/refs2"),
                format!("mv {git} {git}2"),
                format!("rm -r {git}/refs/hedgerow"),
                format!("rm -r {git}/refs"),
                format!("rm -r {git}"),
                format!("perl -e 'rename(\"{git}/refs\", \"{git}/x\") or exit 1'"),
                format!("git update-ref refs/hedgerow/new HEAD && test -e {git}/refs/hedgerow/new"),
                format!("git update-ref -d refs/hedgerow/keep/one && test ! -e {git}/refs/hedgerow/keep/one"),
            ],
        )
        .await;
        kept.iter().for_each(Prey::is_unharmed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hard_links_to_what_is_guarded() {
    for caged in cages().await {
        let prey = guarded(&caged, &["config", "HEAD"]);
        let git = caged.git_folder();
        let attempts = prey.iter().flat_map(|prey| {
            let path = prey.shown();
            [
                format!("ln {path} mine && echo x >>mine"),
                format!("ln {path} {}/mine && echo x >>{0}/mine", git.display()),
            ]
        });
        fail(&caged, &attempts.collect::<Vec<_>>()).await;
        prey.iter().for_each(Prey::is_unharmed);
    }
}

/// What the git of the server reads is found by its own knowledge of the repository, not by what the environment says.
#[tokio::test(flavor = "multi_thread")]
async fn a_repository_of_its_own_in_the_place_of_the_link() {
    let Some(caged) = a_cage().await else { return };
    let canary = caged.world.folder().join("canary");
    let trap = format!("touch {}", canary.display());
    let plant = format!(
        "set -e; link=$(cat .git); rm .git; git init -q .; git config core.fsmonitor '{trap}'; \
         git config filter.x.clean '{trap}'; git config core.hooksPath .hooks; echo '* filter=x' >.gitattributes; \
         mkdir .hooks; printf '#!/bin/sh\\n{trap}\\n' >.hooks/post-index-change; chmod +x .hooks/*; echo x >new"
    );
    caged.sh(&plant).await.well();
    let checked = caged.world.engine.checkpoint(&caged.environment, None, &alice()).await;
    assert!(!canary.exists(), "{checked:?}");
    let asked = caged.world.asks(
        &caged.world.engine.store().codebases().await.expect("the store answers").remove(0),
        Work::Task("try".to_owned()),
    );
    let resolved = caged.world.resolve(&asked).await;
    assert!(!canary.exists(), "{resolved:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_its_own_worktree() {
    let Some(caged) = a_cage().await else { return };
    let canary = caged.world.folder().join("canary");
    let trap = format!("touch {}", canary.display());
    let plant = format!(
        "admin=$(git rev-parse --git-dir); printf '[core]\\nfsmonitor = {trap}\\nhooksPath = .hooks\\n\
         [filter \"x\"]\\nclean = {trap}\\n[diff]\\nexternal = {trap}\\n' >$admin/config.worktree; \
         echo '* filter=x' >.gitattributes; echo x >new; printf %s {}/other >$admin/commondir; true",
        caged.place().display()
    );
    caged.sh(&plant).await.well();
    let checked = caged.world.engine.checkpoint(&caged.environment, None, &alice()).await;
    assert!(!canary.exists(), "{checked:?}");
}
