//! Evil repositories: whatever a repository, a fork or an agent lays out, Hedgerow's own git calls run none of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hedgerow_testkit::cli::Said;
use hedgerow_testkit::evil::{Lair, OF_FILES, OF_REMOTES, OF_TREES, Trap, doorman};
use hedgerow_testkit::{Cli, TestRepo};
use tempfile::TempDir;

/// A lair, and a person at a terminal in its checkout.
struct Scene {
    lair: Lair,
    cli: Cli,
    _folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("hedgerow-evil-").tempdir().expect("a temporary folder");
        let cli = Cli::new(env!("CARGO_BIN_EXE_hedgerow"), folder.path().join("home"));
        Self { lair: Lair::new(folder.path()), cli, _folder: folder }
    }

    fn repo(&self) -> &TestRepo {
        &self.lair.repo
    }

    /// Runs a command in the checkout, and looks whether anything sprang.
    fn run(&self, args: &[&str]) -> Said {
        self.run_at(self.repo().path(), args)
    }

    fn run_at(&self, at: &Path, args: &[&str]) -> Said {
        let said = self.cli.run(at, args);
        assert!(!self.lair.is_bitten(), "{args:?} ran a program of the repository:\n{said}");
        assert_eq!(self.lair.strays(), Vec::<PathBuf>::new(), "{args:?} wrote where it should not:\n{said}");
        assert!((0..=6).contains(&said.status()), "{args:?}:\n{said}");
        said
    }

    /// The folder of a new environment with changes in it.
    fn given_an_environment(&self) -> PathBuf {
        let place = PathBuf::from(self.run(&["env", "create", "issue", "1"]).success().last_line());
        change(&place);
        place
    }

    /// Everything that looks at an environment, refuses, removes and brings back.
    fn look_and_remove(&self) {
        let name = "issue-1";
        for line in [
            &["env", "list", "--full"][..],
            &["env", "show", name, "--full"],
            &["env", "diff", name],
            &["env", "remove", name],
            &["env", "remove", name, "--force"],
            &["env", "restore", name],
            &["env", "cleanup", "merged"],
            &["doctor"],
        ] {
            let _ = self.run(line);
        }
    }
}

fn change(place: &Path) {
    fs::write(place.join("a.txt"), "mine\n").expect("a change");
    fs::write(place.join("new.txt"), "mine\n").expect("a new file");
}

/// All verbs in a repository with this trap, laid before anyone registered it.
fn meets(trap: &Trap) {
    let scene = Scene::new();
    trap.lay(&scene.lair);
    trap.spring(&scene.lair);
    let fork = scene.lair.fork();
    let _ = scene.run(&["codebase", "add"]);
    let created = scene.run(&["env", "create", "issue", "1"]);
    assert!(created.status() == 0 || trap.may_fail, "{trap:?}: {created}");
    let _ = scene.run(&["env", "create", "pr", "2", "--branch", "feature"]);
    let _ = scene.run(&["env", "create", "review", "3", "--fork", "--sha", fork.as_str()]);
    if created.status() == 0 {
        let place = PathBuf::from(created.last_line());
        change(&place);
        let nested = place.join("nested");
        if nested.is_dir() {
            let _ = scene.run_at(&nested, &["env", "list"]);
            let _ = scene.run_at(&nested, &["doctor"]);
        }
    }
    scene.look_and_remove();
    let _ = scene.run(&["codebase", "remove", "lair"]);
}

fn meet_all(traps: &[Trap]) {
    // Two at a time: each is a story of its own, and they mostly wait for git. All of them are told before one fails.
    let (left, right) = traps.split_at(traps.len() / 2);
    let bitten_by = |traps: &[Trap]| -> Vec<&'static str> {
        traps.iter().filter(|trap| std::panic::catch_unwind(|| meets(trap)).is_err()).map(|trap| trap.name).collect()
    };
    let bitten = std::thread::scope(|scope| {
        let left = scope.spawn(|| bitten_by(left));
        let right = bitten_by(right);
        [left.join().expect("it counts only"), right].concat()
    });
    assert_eq!(bitten, Vec::<&str>::new());
}

#[test]
fn nothing_springs_from_hooks_filters_and_drivers() {
    meet_all(OF_FILES);
}

#[test]
fn nothing_springs_on_the_way_to_a_remote() {
    meet_all(OF_REMOTES);
}

#[test]
fn nothing_springs_from_trees_and_submodules() {
    meet_all(OF_TREES);
}

#[test]
fn without_a_trap_every_step_of_the_story_works() {
    let scene = Scene::new();
    let fork = scene.lair.fork();
    for (line, status) in [
        (&["codebase", "add"][..], 0),
        (&["env", "create", "issue", "1"], 0),
        (&["env", "create", "pr", "2", "--branch", "feature"], 0),
        (&["env", "create", "review", "3", "--fork", "--sha", fork.as_str()], 0),
        (&["env", "list", "--full"], 0),
        (&["env", "show", "issue-1", "--full"], 0),
        (&["env", "diff", "issue-1"], 0),
        (&["env", "diff", "issue-1", "--stat"], 0),
        (&["env", "cleanup", "merged"], 0),
        (&["env", "orphans"], 0),
        (&["doctor"], 0),
        (&["codebase", "remove", "lair"], 0),
    ] {
        assert_eq!(scene.run(line).status(), status, "{line:?}");
    }
    let refused = Scene::new();
    refused.given_an_environment();
    let remove = |extra: &[&str]| refused.run(&[&["env", "remove", "issue-1"], extra].concat()).status();
    assert_eq!((remove(&[]), remove(&["--force"])), (3, 0));
    let _ = refused.run(&["env", "restore", "issue-1"]).success();
}

/// What an agent can write once it works in an environment: looking, removing and restoring stay safe.
fn agent_writes(story: &str, act: impl FnOnce(&Scene, &Path)) {
    let scene = Scene::new();
    let place = scene.given_an_environment();
    act(&scene, &place);
    assert!(!scene.lair.is_bitten(), "{story}: the test itself sprang the trap");
    scene.look_and_remove();
    let _ = scene.run(&["env", "create", "issue", "1"]);
    // It was dangerous all along.
    let _ = hedgerow_testkit::git::try_git(&place, &["status"]);
    let _ = hedgerow_testkit::git::try_git(&place, &["diff"]);
    assert!(scene.lair.is_bitten(), "{story}: plain git was not bitten");
}

#[test]
fn an_agent_that_edits_the_shared_configuration_gets_nothing_run() {
    agent_writes("shared configuration", |scene, _| {
        scene.lair.config("core.fsmonitor", &scene.lair.bite());
        scene.lair.config("diff.external", &scene.lair.bite());
        scene.lair.config("filter.evil.clean", &scene.lair.bite_cat());
        scene.lair.config("filter.evil.smudge", &scene.lair.bite_cat());
        scene.lair.config("core.hooksPath", &scene.lair.folder().to_string_lossy());
    });
}

#[test]
fn an_agent_that_edits_its_own_worktrees_configuration_gets_nothing_run() {
    agent_writes("worktree configuration", |scene, place| {
        let there = place.to_string_lossy();
        scene.repo().git(&["config", "extensions.worktreeConfig", "2"]);
        for (key, value) in [
            ("filter.evil.clean", scene.lair.bite_cat()),
            ("filter.evil.smudge", scene.lair.bite_cat()),
            ("core.worktree", scene.lair.elsewhere().to_string_lossy().into_owned()),
        ] {
            scene.repo().git(&["-C", &there, "config", "--worktree", key, &value]);
        }
        fs::write(scene.lair.elsewhere().join(".gitattributes"), "*.txt filter=evil\n").expect("attributes");
        fs::remove_file(scene.lair.elsewhere().join(".gitattributes")).expect("nothing stays there");
        // For the proof at the end: plain git compares files in this worktree again.
        scene.repo().git(&["-C", &there, "config", "--worktree", "--unset", "core.worktree"]);
    });
}

#[test]
fn an_agent_that_points_its_worktree_at_another_folder_changes_nothing_there() {
    let scene = Scene::new();
    let place = scene.given_an_environment();
    scene.repo().git(&["config", "extensions.worktreeConfig", "true"]);
    let elsewhere = scene.lair.elsewhere().to_string_lossy().into_owned();
    scene.repo().git(&["-C", &place.to_string_lossy(), "config", "--worktree", "core.worktree", &elsewhere]);
    let diff = scene.run(&["env", "diff", "issue-1"]).success();
    assert!(diff.stdout().contains("+mine"), "it still shows this environment: {diff}");
    scene.look_and_remove();
}

#[test]
fn an_agent_that_points_its_worktree_at_another_repository_gets_nothing_run() {
    for story in ["commondir", "git file", "git folder"] {
        agent_writes(story, |scene, place| {
            let den = scene.lair.den();
            fs::write(den.path().join(".git/info/attributes"), "*.txt filter=evil\n").expect("attributes");
            let dot_git = place.join(".git");
            match story {
                "commondir" => {
                    let text = fs::read_to_string(&dot_git).expect("a file");
                    let admin = PathBuf::from(text.trim().strip_prefix("gitdir: ").expect("a linked worktree"));
                    let line = format!("{}/.git\n", den.path().display());
                    fs::write(admin.join("commondir"), line).expect("writes");
                }
                "git file" => {
                    fs::write(&dot_git, format!("gitdir: {}/.git\n", den.path().display())).expect("writes");
                }
                _ => {
                    fs::remove_file(&dot_git).expect("removes");
                    symlink(den.path().join(".git"), &dot_git).expect("a link");
                }
            }
        });
    }
}

#[test]
fn an_agent_that_edits_a_submodules_configuration_gets_nothing_run() {
    let scene = Scene::new();
    let module = TestRepo::without_remote(scene.lair.folder(), "module");
    module.commit("a.txt", "1\n");
    module.commit(".gitattributes", "*.txt filter=evil\n");
    let global = scene.lair.folder().join("gitconfig");
    fs::write(&global, "[protocol \"file\"]\n\tallow = always\n").expect("the user's configuration");
    let scene = Scene { cli: scene.cli.clone().env("GIT_CONFIG_GLOBAL", global.to_string_lossy()), ..scene };
    scene.repo().git(&["submodule", "--quiet", "add", &module.path().to_string_lossy(), "sub"]);
    scene.repo().git(&["commit", "--quiet", "-m", "Add a submodule"]);
    scene.repo().push("main");
    let place = scene.given_an_environment();
    let sub = place.join("sub");
    assert!(sub.join("a.txt").is_file(), "the submodule is there");
    for (key, value) in [("core.fsmonitor", scene.lair.bite()), ("filter.evil.clean", scene.lair.bite_cat())] {
        hedgerow_testkit::git::git(&sub, &["config", key, &value]);
    }
    fs::write(sub.join("a.txt"), "mine\n").expect("a change in the submodule");
    scene.look_and_remove();
    let _ = hedgerow_testkit::git::try_git(&place, &["status"]);
    assert!(scene.lair.is_bitten(), "plain git was not bitten");
}

#[test]
fn what_hedgerow_inherits_does_not_steer_git() {
    let scene = Scene::new();
    let den = scene.lair.den();
    let steered = [
        ("GIT_DIR", format!("{}/.git", den.path().display())),
        ("GIT_WORK_TREE", scene.lair.elsewhere().to_string_lossy().into_owned()),
        ("GIT_INDEX_FILE", scene.lair.elsewhere().join("index").to_string_lossy().into_owned()),
        ("GIT_OBJECT_DIRECTORY", scene.lair.elsewhere().join("objects").to_string_lossy().into_owned()),
        ("GIT_COMMON_DIR", format!("{}/.git", den.path().display())),
        ("GIT_NAMESPACE", "elsewhere".to_owned()),
        ("GIT_CONFIG_PARAMETERS", format!("'core.fsmonitor'='{}'", scene.lair.bite())),
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        ("GIT_CONFIG_KEY_0", "filter.evil.smudge".to_owned()),
        ("GIT_CONFIG_VALUE_0", scene.lair.bite_cat()),
        ("GIT_EXTERNAL_DIFF", scene.lair.bite()),
        ("GIT_ASKPASS", scene.lair.bite()),
        ("GIT_PROXY_COMMAND", scene.lair.bite()),
        ("GIT_EXEC_PATH", scene.lair.folder().to_string_lossy().into_owned()),
        ("GIT_TRACE", scene.lair.elsewhere().join("trace").to_string_lossy().into_owned()),
        ("GIT_TEMPLATE_DIR", scene.lair.folder().to_string_lossy().into_owned()),
    ];
    let cli = steered.into_iter().fold(scene.cli.clone(), |cli, (name, value)| cli.env(name, value));
    let scene = Scene { cli, ..scene };
    let place = scene.given_an_environment();
    assert_eq!(fs::read_to_string(place.join("a.txt")).expect("a file"), "mine\n");
    assert!(scene.run(&["env", "diff", "issue-1"]).success().stdout().contains("+mine"));
    scene.look_and_remove();
    assert_eq!(den.branches(), ["main"], "the other repository is as it was");
}

#[test]
fn a_fetch_moves_no_branch_and_drops_no_tag_of_the_user() {
    let scene = Scene::new();
    let repo = scene.repo();
    repo.git(&["branch", "feature", "main"]);
    repo.git(&["tag", "mine"]);
    repo.git(&["config", "--replace-all", "remote.origin.fetch", "+refs/heads/*:refs/heads/*"]);
    repo.git(&["config", "remote.origin.prune", "true"]);
    repo.git(&["config", "fetch.pruneTags", "true"]);
    let before = repo.rev("refs/heads/feature");
    let _ = scene.run(&["env", "create", "issue", "1", "--base", "feature"]).success();
    assert_eq!(repo.rev("refs/heads/feature"), before);
    assert!(repo.rev("refs/tags/mine").is_some());
}

#[test]
fn a_replaced_commit_does_not_change_what_is_checked_out() {
    let scene = Scene::new();
    let repo = scene.repo();
    let real = repo.rev("main").expect("a commit");
    repo.git(&["checkout", "--quiet", "-b", "other"]);
    let fake = repo.commit("a.txt", "fake\n");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["replace", real.as_str(), fake.as_str()]);
    let place = PathBuf::from(scene.run(&["env", "create", "issue", "1"]).success().last_line());
    assert_eq!(fs::read_to_string(place.join("a.txt")).expect("a file"), "3\n");
    let _ = scene.run(&["env", "list", "--full"]).success();
}

#[test]
fn configuration_that_changes_is_refused_until_it_is_trusted_and_then_runs() {
    let scene = Scene::new();
    let upper = |place: &Path| fs::read_to_string(place.join("README.md")).expect("a file");
    scene.repo().commit(".gitattributes", "README.md filter=up\n");
    scene.repo().push("main");
    let create = |number: &str| scene.run(&["env", "create", "issue", number]);
    let _ = create("1").success();
    // Harmless settings do not matter.
    scene.repo().git(&["config", "user.name", "Alice"]);
    scene.repo().git(&["config", "branch.main.rebase", "true"]);
    let _ = create("2").success();

    scene.repo().git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    let refused = create("3");
    assert_eq!(refused.status(), 3, "{refused}");
    assert!(refused.stderr().contains("`filter.up.smudge` was added"), "{refused}");
    assert!(refused.stderr().contains("hedgerow codebase trust lair"), "{refused}");
    assert!(!scene.repo().branches().contains(&"issue-3".to_owned()));
    // Looking and removing are possible all the same, and run nothing.
    let _ = scene.run(&["env", "list", "--full"]).success();

    let trusted = scene.run(&["codebase", "trust", "lair"]).success();
    assert!(trusted.stdout().contains("filter.up.smudge"), "{trusted}");
    let place = create("3").success().last_line();
    assert_eq!(upper(Path::new(&place)), "HELLO\n", "the filter was applied");

    scene.repo().git(&["config", "filter.up.smudge", &scene.lair.bite_cat()]);
    let refused = create("4");
    assert_eq!(refused.status(), 3, "{refused}");
    assert!(refused.stderr().contains("`filter.up.smudge` was changed"), "{refused}");
    let _ = scene.run(&["env", "list", "--full"]).success();
    let _ = scene.run(&["env", "remove", "issue-3", "--force"]).success();
    let _ = scene.run(&["env", "restore", "issue-3"]).success();
}

#[test]
fn what_a_trusted_repository_includes_in_one_worktree_only_is_not_trusted() {
    let scene = Scene::new();
    let more = scene.lair.folder().join("more");
    fs::write(&more, "").expect("nothing yet");
    scene.lair.config("includeIf.gitdir:**/worktrees/**.path", &more.to_string_lossy());
    let _ = scene.run(&["codebase", "add"]).success();
    let _ = scene.run(&["codebase", "trust", "lair"]).success();
    fs::write(&more, format!("[filter \"evil\"]\n\tsmudge = {}\n", scene.lair.bite_cat())).expect("writes");
    let _ = scene.run(&["env", "create", "issue", "1"]).success();
}

#[test]
fn configuration_found_at_registration_is_noted_and_not_run() {
    let scene = Scene::new();
    scene.lair.config("filter.evil.smudge", &scene.lair.bite_cat());
    let added = scene.run(&["codebase", "add"]).success();
    assert!(added.stderr().contains("not run: filter.evil.smudge"), "{added}");
    let created = scene.run(&["env", "create", "issue", "1"]).success();
    assert!(created.stderr().contains("not run: filter.evil.smudge"), "{created}");
}

#[test]
fn the_users_own_filters_and_helpers_stay_in_force() {
    let scene = Scene::new();
    let global = scene.lair.folder().join("gitconfig");
    let asked = scene.lair.folder().join("asked");
    let helper = format!("!touch {}; :", asked.display());
    fs::write(
        &global,
        format!("[filter \"evil\"]\n\tsmudge = tr 3 9\n\tclean = tr 9 3\n[credential]\n\thelper = \"{helper}\"\n"),
    )
    .expect("the user's configuration");
    // The repository hides them behind its own.
    scene.lair.config("filter.evil.smudge", &scene.lair.bite_cat());
    scene.lair.config("credential.helper", &scene.lair.bite());
    let scene = Scene { cli: scene.cli.clone().env("GIT_CONFIG_GLOBAL", global.to_string_lossy()), ..scene };
    let place = PathBuf::from(scene.run(&["env", "create", "issue", "1"]).success().last_line());
    assert_eq!(fs::read_to_string(place.join("a.txt")).expect("a file"), "9\n");
    scene.repo().git(&["remote", "set-url", "origin", &doorman()]);
    let _ = scene.run(&["env", "create", "issue", "2"]).success();
    assert!(asked.exists(), "the user's helper is asked");
}

#[test]
fn names_that_a_shell_or_git_would_take_for_something_else_are_names() {
    let scene = Scene::new();
    let bite = format!("touch${{IFS}}{}", scene.lair.canary().display());
    let repo = scene.repo();
    let main = repo.rev("main").expect("a commit");
    repo.git(&["tag", "same"]);
    fs::write(repo.path().join(".git/FETCH_HEAD"), format!("{main}\t\tbranch 'x' of y\n")).expect("writes");
    let names = [
        format!("x$({bite})"),
        format!("a;{bite}"),
        format!("a|{bite}"),
        "it's\"quoted\"".to_owned(),
        "same".to_owned(),
        "FETCH_HEAD".to_owned(),
        "refs/heads/deep".to_owned(),
        "é".to_owned(),
    ];
    for name in names {
        let created = scene.run(&["env", "create", "branch", &name]).success();
        let place = PathBuf::from(created.last_line());
        let on = hedgerow_testkit::git::git(&place, &["symbolic-ref", "HEAD"]);
        assert_eq!(on, format!("refs/heads/{name}"));
        assert!(place.starts_with(scene.lair.folder().join("home/worktrees/lair")), "{}", place.display());
        let _ = scene.run(&["env", "diff", &name]).success();
        let _ = scene.run(&["env", "remove", &name, "--force"]).success();
        let _ = scene.run(&["env", "restore", &name]).success();
    }
    let _ = scene.run(&["env", "list", "--full"]).success();
}

#[test]
fn no_control_byte_reaches_the_terminal() {
    let scene = Scene::new();
    let repo = scene.repo();
    let escape = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", escape]);
    repo.git(&["config", "branch.main.description", escape]);
    repo.git(&["remote", "set-url", "origin", &format!("https://localhost:1/acme/{escape}.git")]);
    repo.git(&["config", &format!("filter.{escape}.smudge"), "cat"]);
    for line in [
        &["codebase", "add"][..],
        &["codebase", "list"],
        &["codebase", "show"],
        &["env", "create", "issue", "1", "--description", escape],
        &["env", "list", "--full"],
        &["env", "show", "issue-1", "--full"],
        &["env", "show", escape],
        &["env", "list", "--json"],
        &["env", "orphans"],
        &["doctor"],
        &["env", "remove", "issue-1"],
        &["env", "trash"],
    ] {
        let said = scene.run(line);
        let text = said.stdout() + &said.stderr();
        let bad = |c: &char| c.is_control() && *c != '\n';
        assert_eq!(text.chars().find(bad), None, "{line:?}: {text:?}");
    }
}

#[test]
fn passwords_in_urls_are_neither_shown_nor_stored() {
    let scene = Scene::new();
    scene.repo().git(&["remote", "set-url", "origin", "https://alice:hunter2@localhost:1/acme/shop.git"]);
    for line in [
        &["codebase", "add"][..],
        &["env", "create", "issue", "1"],
        &["env", "create", "review", "3"],
        &["codebase", "list"],
        &["codebase", "show"],
        &["env", "show", "issue-1", "--json"],
        &["env", "cleanup", "merged"],
        &["doctor"],
    ] {
        let said = scene.run(line);
        assert!(!(said.stdout() + &said.stderr()).contains("hunter2"), "{line:?}: {said}");
    }
    let home = scene.lair.folder().join("home");
    for entry in fs::read_dir(home).expect("a home").filter_map(Result::ok).filter(|entry| entry.path().is_file()) {
        let content = fs::read(entry.path()).expect("it can be read");
        let stored = content.windows(7).any(|window| window == b"hunter2");
        assert!(!stored, "{} holds the password", entry.path().display());
    }
}

#[test]
fn clone_urls_are_taken_or_refused_by_their_form() {
    let scene = Scene::new();
    let origin = scene.repo().origin().to_string_lossy().into_owned();
    let _ = scene.run(&["codebase", "add", &format!("file://{origin}"), "--name", "clone"]).success();
    let _ = scene.run(&["env", "create", "issue", "1", "--codebase", "clone"]).success();
    let bite = scene.lair.bite();
    for url in [
        format!("ext::{bite}"),
        format!("ext::{bite} https://localhost/x"),
        format!("fd::https://{bite}"),
        "ftp://localhost/x".to_owned(),
        "https://alice:hunter2@localhost:1/acme/shop".to_owned(),
        "https://alice:hun/ter2@localhost:1/acme/shop".to_owned(),
        "https://localhost:1/a\nb".to_owned(),
    ] {
        let said = scene.run(&["codebase", "add", &url]);
        assert_eq!(said.status(), 2, "{url}: {said}");
        assert!(!said.stderr().contains("hunter2") && !said.stderr().contains("ter2@"), "{said}");
    }
    for url in [format!("ssh://-oProxyCommand={bite}/x"), "https://localhost:1/acme/shop".to_owned()] {
        assert_eq!(scene.run(&["codebase", "add", &url]).status(), 1, "{url}");
    }
    let listed = scene.run(&["codebase", "list"]).success();
    assert_eq!(listed.stdout().lines().count(), 2, "a head line and one codebase: {listed}");
    let clones = fs::read_dir(scene.lair.folder().join("home/codebases")).expect("the clones").count();
    assert_eq!(clones, 1, "no half-made clone is left");
}
