//! Deeds of an agent that was talked into them: what it can write from its environment, and what that would do to others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::Lair;
use crate::git::{git, try_git};

/// One deed.
#[derive(Clone, Copy)]
pub struct Deed {
    pub name: &'static str,
    act: fn(&Lair, &Path),
    /// What a person types who is bitten then; `None` where nothing runs, and something is only gone or led astray.
    bite: Option<fn(&Lair, &Path)>,
}

impl std::fmt::Debug for Deed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Deed {
    /// Does it, from an environment; and shows that it would have bitten.
    ///
    /// # Panics
    /// When plain git was not bitten.
    pub fn act(&self, lair: &Lair, place: &Path) {
        (self.act)(lair, place);
        assert!(!lair.is_bitten(), "`{}` springs by itself", self.name);
        if let Some(bite) = self.bite {
            bite(lair, place);
            assert!(lair.is_bitten(), "`{}` does not bite", self.name);
            fs::remove_file(lair.canary()).expect("the canary is a file");
        }
    }
}

const fn deed(name: &'static str, act: fn(&Lair, &Path), bite: Option<fn(&Lair, &Path)>) -> Deed {
    Deed { name, act, bite }
}

fn looks(_: &Lair, place: &Path) {
    let _ = try_git(place, &["status"]);
    let _ = try_git(place, &["diff"]);
}

fn commits(_: &Lair, place: &Path) {
    let _ = try_git(place, &["commit", "--allow-empty", "-m", "x"]);
}

/// The admin folder of an environment.
fn admin(place: &Path) -> PathBuf {
    PathBuf::from(git(place, &["rev-parse", "--absolute-git-dir"]))
}

/// Without a view around it, an agent can do all of these.
pub const OF_AGENTS: &[Deed] = &[
    deed("settings", |lair, _| lair.config("core.fsmonitor", &lair.bite()), Some(looks)),
    deed(
        "settings_git_cannot_read",
        |lair, _| fs::write(lair.git_folder().join("config"), "[core\n").expect("writes"),
        None,
    ),
    deed("settings_of_the_future", |lair, _| lair.config("core.repositoryformatversion", "99"), None),
    deed(
        "settings_behind_a_link",
        |lair, _| {
            let config = lair.git_folder().join("config");
            fs::copy(&config, lair.folder.join("other-config")).expect("a copy");
            fs::remove_file(&config).expect("removes");
            symlink(lair.folder.join("other-config"), &config).expect("a link");
            lair.config("core.fsmonitor", &lair.bite());
        },
        Some(looks),
    ),
    deed(
        "settings_of_its_worktree",
        |lair, place| {
            lair.config("extensions.worktreeConfig", "true");
            git(place, &["config", "--worktree", "core.fsmonitor", &lair.bite()]);
        },
        Some(looks),
    ),
    deed(
        "settings_of_the_main_checkout",
        |lair, _| fs::write(lair.git_folder().join("config.worktree"), "[core]\n\tbare = true\n").expect("writes"),
        None,
    ),
    deed("hook", |lair, _| lair.hook(&lair.git_folder().join("hooks"), "pre-commit"), Some(commits)),
    deed(
        "hooks_behind_a_link",
        |lair, _| {
            let (hooks, moved) = (lair.git_folder().join("hooks"), lair.folder.join("moved"));
            fs::rename(&hooks, &moved).expect("moves");
            lair.hook(&moved, "pre-commit");
            symlink(&moved, &hooks).expect("a link");
        },
        Some(commits),
    ),
    deed(
        "attributes_and_a_filter",
        |lair, place| {
            fs::write(lair.git_folder().join("info/attributes"), "* filter=bad\n").expect("attributes");
            lair.config("filter.bad.clean", &lair.bite_cat());
            fs::write(place.join("a.txt"), "changed\n").expect("writes");
        },
        Some(looks),
    ),
    deed(
        "alternates",
        |lair, _| {
            let line = format!("{}\n", lair.repo.origin().join("objects").display());
            fs::write(lair.git_folder().join("objects/info/alternates"), line).expect("writes");
        },
        None,
    ),
    deed(
        "shallow",
        |lair, place| {
            let head = git(place, &["rev-parse", "HEAD"]);
            fs::write(lair.git_folder().join("shallow"), format!("{head}\n")).expect("writes");
        },
        None,
    ),
    deed("replaced_commit", |_, place| drop(git(place, &["replace", "HEAD", "HEAD~1"])), None),
    deed("moved_branch", |_, place| drop(git(place, &["update-ref", "refs/heads/main", "HEAD~1"])), None),
    deed("deleted_branch", |_, place| drop(git(place, &["update-ref", "-d", "refs/heads/old"])), None),
    deed("moved_tag", |_, place| drop(git(place, &["tag", "--force", "v1", "HEAD~1"])), None),
    deed("deleted_tag", |_, place| drop(git(place, &["tag", "--delete", "v1"])), None),
    deed(
        "deleted_checkpoints",
        |lair, place| {
            git(place, &["pack-refs", "--all"]);
            let packed = lair.git_folder().join("packed-refs");
            let text = fs::read_to_string(&packed).expect("they are packed");
            let kept = text.lines().filter(|line| !line.contains("refs/hedgerow/checkpoints/"));
            fs::write(packed, kept.fold(String::new(), |text, line| text + line + "\n")).expect("writes");
        },
        None,
    ),
    deed(
        "head_of_the_main_checkout",
        |lair, _| fs::write(lair.git_folder().join("HEAD"), "ref: refs/heads/old\n").expect("writes"),
        None,
    ),
    deed(
        "git_file_to_another_repository",
        |lair, place| {
            let text = format!("gitdir: {}/.git\n", lair.den().path().display());
            fs::write(place.join(".git"), text).expect("writes");
        },
        Some(looks),
    ),
    deed(
        "repository_of_its_own",
        |lair, place| {
            fs::remove_file(place.join(".git")).expect("removes");
            git(place, &["init", "--quiet"]);
            git(place, &["config", "core.fsmonitor", &lair.bite()]);
        },
        Some(looks),
    ),
    deed(
        "admin_folder_of_another_place",
        |lair, place| {
            let text = format!("{}/.git\n", lair.elsewhere().display());
            fs::write(admin(place).join("gitdir"), text).expect("writes");
        },
        None,
    ),
    deed(
        "admin_folder_of_another_repository",
        |lair, place| {
            let text = format!("{}/.git\n", lair.den().path().display());
            fs::write(admin(place).join("commondir"), text).expect("writes");
        },
        Some(looks),
    ),
    deed("unlocked", |_, place| fs::remove_file(admin(place).join("locked")).expect("removes"), None),
];
