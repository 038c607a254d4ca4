//! Sessions as a person sees them: every verb, its words and its exit status.

use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use insta::assert_snapshot;

use crate::desk::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_work_gets_its_own_environment() {
    let desk = Desk::new().await;
    let head = desk.repo.commit_on_origin("feature/auth", "auth.rs", "fn auth() {}\n");
    let pr = format!("hedgerow env create pr 99 --branch feature/auth --sha {head}");
    let session = desk.session(&[
        "hedgerow env create issue 42",
        "hedgerow env create issue 42",
        &pr,
        "hedgerow env create pr 7 --branch issue-42 --fixes 42",
        "hedgerow env create task \"add dark mode\"",
        "hedgerow env create branch my-branch --quiet",
        "hedgerow env create thread general/1 --description 'who is on call'",
        "hedgerow env list",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env create issue 42
    Working in isolated branch `issue-42`
    ~/.hedgerow/worktrees/shop/issue-42
    ------- stderr -------
    note: registered codebase `shop` (~/code/shop)

    $ hedgerow env create issue 42
    Reusing worktree `issue-42`
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env create pr 99 --branch feature/auth --sha c96bcc6c425499bd1e84f3d2a42b9ee6934095fb
    Reviewing PR at commit `c96bcc6` (branch: `feature/auth`)
    ~/.hedgerow/worktrees/shop/feature-auth

    $ hedgerow env create pr 7 --branch issue-42 --fixes 42
    Reusing worktree from issue #42
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env create task "add dark mode"
    Working in isolated branch `task-add-dark-mode`
    ~/.hedgerow/worktrees/shop/task-add-dark-mode

    $ hedgerow env create branch my-branch --quiet
    ~/.hedgerow/worktrees/shop/my-branch

    $ hedgerow env create thread general/1 --description 'who is on call'
    Working in isolated branch `thread-9ff5a8fb`
    ~/.hedgerow/worktrees/shop/thread-9ff5a8fb

    $ hedgerow env list
    NAME                BRANCH              STATE   CHANGES  COMMITS  LAST ACTIVE
    issue-42, pr-7      issue-42            active  clean             just now
    pr-99               feature/auth        active  clean    ↑1       just now
    task-add-dark-mode  task-add-dark-mode  active  clean             just now
    task-my-branch      my-branch           active  clean             just now
    thread-9ff5a8fb     thread-9ff5a8fb     active  clean             just now
    "#);
    assert_eq!(desk.repo.git(&["status", "--porcelain"]), "");
    assert_eq!(desk.repo.git(&["symbolic-ref", "--short", "HEAD"]), "main");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_shown_used_and_compared() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let place = desk.environment("issue-42");
    commit(&place, "shop.txt", "open\n");
    write(&place, "README.md", "Hello there\n");
    write(&place, "notes.txt", "later\n");
    desk.repo.commit("elsewhere.txt", "meanwhile\n");
    let session = desk.session(&[
        "hedgerow env list",
        "hedgerow env list --full",
        "hedgerow env list --names",
        "hedgerow env show issue-42",
        "hedgerow env show issue-42 --full | grep -E 'Merged|Conflicts'",
        "hedgerow env path issue-42",
        "hedgerow env diff issue-42 --stat",
        "hedgerow env diff issue-42 | grep '^[+-]'",
        "hedgerow env exec issue-42 -- git status --short",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env list
    NAME      BRANCH    STATE   CHANGES                  COMMITS  LAST ACTIVE
    issue-42  issue-42  active  1 modified, 1 untracked  ↑1       just now

    $ hedgerow env list --full
    NAME      BRANCH    STATE   CHANGES                  COMMITS  MERGED    SIZE  LAST ACTIVE
    issue-42  issue-42  active  1 modified, 1 untracked  ↑1       unmerged  <size>  just now

    $ hedgerow env list --names
    issue-42

    $ hedgerow env show issue-42
    Name  issue-42
    Codebase  shop
    Branch  issue-42
    Base  main at b87ef20
    Path  ~/.hedgerow/worktrees/shop/issue-42
    State  active
    Changes  1 modified, 1 untracked
    Commits  1 ahead
    Ports  4800–4809
    Created  <time> (just now) by terminal:alice
    Last active  <time> (just now)
    Machine  workbench
    Id  <id>

    $ hedgerow env show issue-42 --full | grep -E 'Merged|Conflicts'
    Merged       not merged: 1 commit is not in main
    Conflicts    none

    $ hedgerow env path issue-42
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env diff issue-42 --stat
     README.md | 2 +-
     notes.txt | 1 +
     shop.txt  | 1 +
     3 files changed, 3 insertions(+), 1 deletion(-)

    $ hedgerow env diff issue-42 | grep '^[+-]'
    --- a/README.md
    +++ b/README.md
    -Hello
    +Hello there
    --- /dev/null
    +++ b/notes.txt
    +later
    --- /dev/null
    +++ b/shop.txt
    +open

    $ hedgerow env exec issue-42 -- git status --short
     M README.md
    ?? notes.txt
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn letting_go_is_refused_forced_and_undone() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let _ = desk.run(&["env", "create", "issue", "43"]).success();
    write(&desk.environment("issue-42"), "notes.txt", "later\n");
    let session = desk.session(&[
        "hedgerow env remove issue-42",
        "hedgerow env remove issue-42 --force",
        "hedgerow env trash",
        "hedgerow env show issue-42",
        "hedgerow env restore issue-42",
        "hedgerow env exec issue-42 -- cat notes.txt",
        "hedgerow env remove",
        "hedgerow env remove issue-43",
        "hedgerow env create issue 43",
        "hedgerow env restore \"$(hedgerow env trash | awk 'END { print $NF }')\"",
        "hedgerow env keep issue-42",
        "hedgerow env list",
        "hedgerow env unkeep issue-42",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env remove issue-42
    ------- stderr -------
    error: Cannot remove worktree - you have uncommitted changes.
    hint: commit them (1 untracked)
    hint: discard them
    hint: use `--force`: it moves the worktree to the trash and can be undone
    [exit status: 3]

    $ hedgerow env remove issue-42 --force
    Moved `issue-42` to the trash and deleted its branch `issue-42`
    Undo: hedgerow env restore issue-42

    $ hedgerow env trash
    NAME      BRANCH    CODEBASE  WHERE  BECAUSE  SIZE  AGE       ID
    issue-42  issue-42  shop      trash  asked    <size>  just now  <short id>

    $ hedgerow env show issue-42
    Name  issue-42
    Codebase  shop
    Branch  issue-42
    Base  main at b87ef20
    Path  ~/.hedgerow/worktrees/shop/issue-42
    State  trashed
    In the trash  <time> (just now), ~/.hedgerow/worktrees/.trash/<id>
    Ports  4800–4809
    Created  <time> (just now) by terminal:alice
    Last active  <time> (just now)
    Machine  workbench
    Id  <id>
    Bring it back: hedgerow env restore issue-42

    $ hedgerow env restore issue-42
    Restored `issue-42` as it was on <day>
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env exec issue-42 -- cat notes.txt
    later

    $ hedgerow env remove
    ------- stderr -------
    error: no environment is named, and the current folder is in none
    hint: `hedgerow env list` shows them
    [exit status: 2]

    $ hedgerow env remove issue-43
    Moved `issue-43` to the trash and deleted its branch `issue-43`
    Undo: hedgerow env restore issue-43

    $ hedgerow env create issue 43
    Working in isolated branch `issue-43`
    ~/.hedgerow/worktrees/shop/issue-43
    ------- stderr -------
    note: an earlier one is in the trash; `hedgerow env restore issue-43` brings it back

    $ hedgerow env restore "$(hedgerow env trash | awk 'END { print $NF }')"
    Restored `task-issue-43-restored-<short id>` as it was on <day>
    ~/.hedgerow/worktrees/shop/issue-43-restored-<short id>
    ------- stderr -------
    note: `issue-43` is taken, so it was restored on `issue-43-restored-<short id>`
    note: its old place is taken, so it was restored in ~/.hedgerow/worktrees/shop/issue-43-restored-<short id>

    $ hedgerow env keep issue-42
    Keeping `issue-42`: automation leaves it alone

    $ hedgerow env list
    NAME                             BRANCH                      STATE          CHANGES      COMMITS  LAST ACTIVE
    issue-42                         issue-42                    active (kept)  1 untracked           just now
    task-issue-43-restored-<short id>  issue-43-restored-<short id>  active         clean                 just now
    issue-43                         issue-43                    active         clean                 just now

    $ hedgerow env unkeep issue-42
    No longer keeping `issue-42`: cleanup may remove it when it is merged or stale
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn cleanup_reports_what_went_and_what_stayed() {
    let desk = Desk::new().await;
    for number in ["1", "2", "3", "4"] {
        let _ = desk.run(&["env", "create", "issue", number]).success();
    }
    for branch in ["issue-1", "issue-2"] {
        commit(&desk.environment(branch), branch, "done\n");
        desk.repo.git(&["merge", "--quiet", "--no-ff", "-m", "Merge it", branch]);
    }
    write(&desk.environment("issue-2"), "notes.txt", "not yet\n");
    commit(&desk.environment("issue-3"), "three", "not merged\n");
    git(desk.repo.path(), &["worktree", "add", "--quiet", "-b", "by-hand", "../by-hand"]);
    let session = desk.session(&[
        "hedgerow env cleanup merged --dry-run",
        "hedgerow env cleanup merged",
        "hedgerow env restore issue-1",
        "hedgerow env cleanup stale",
        "hedgerow env cleanup orphans",
        "hedgerow env orphans",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env cleanup merged --dry-run
    would remove  issue-1  merged: all its commits are in main
    kept          issue-2  uncommitted changes
    kept          issue-3  not merged: 1 commit is not in the base
    kept          issue-4  new: nothing was committed in it yet
    1 would be removed, 3 kept

    $ hedgerow env cleanup merged
    removed  issue-1  merged: all its commits are in main
    kept     issue-2  uncommitted changes
    kept     issue-3  not merged: 1 commit is not in the base
    kept     issue-4  new: nothing was committed in it yet
    1 removed, 3 kept
    Undo: hedgerow env restore issue-1

    $ hedgerow env restore issue-1
    Restored `issue-1` as it was on <day>
    ~/.hedgerow/worktrees/shop/issue-1

    $ hedgerow env cleanup stale
    kept  issue-1  active today
    kept  issue-2  active today
    kept  issue-3  active today
    kept  issue-4  active today
    4 kept

    $ hedgerow env cleanup orphans
    not ours  by-hand  not made by Hedgerow
    1 not ours

    $ hedgerow env orphans
    PATH  BRANCH  ENVIRONMENT
    ~/.hedgerow/worktrees/shop/issue-1  issue-1  issue-1
    ~/.hedgerow/worktrees/shop/issue-2  issue-2  issue-2
    ~/.hedgerow/worktrees/shop/issue-3  issue-3  issue-3
    ~/.hedgerow/worktrees/shop/issue-4  issue-4  issue-4
    ~/code/by-hand  by-hand  unknown to Hedgerow
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_made_by_hand_is_taken_in_and_let_go_of() {
    let desk = Desk::new().await;
    git(desk.repo.path(), &["worktree", "add", "--quiet", "-b", "feature/auth", "../by-hand"]);
    let session = desk.session(&[
        "hedgerow env adopt nowhere",
        "hedgerow env adopt .",
        "hedgerow env adopt ../by-hand",
        "hedgerow env adopt ../by-hand",
        "hedgerow env create pr 99 --branch feature/auth",
        "hedgerow env list",
        "hedgerow env remove feature/auth",
        "ls -d ../by-hand",
        "hedgerow env adopt feature/auth",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env adopt nowhere
    ------- stderr -------
    note: registered codebase `shop` (~/code/shop)
    error: there is no folder ~/code/shop/nowhere: No such file or directory (os error 2)
    hint: `hedgerow env orphans` lists the worktrees there are
    [exit status: 4]

    $ hedgerow env adopt .
    ------- stderr -------
    error: ~/code/shop is the main checkout; it is never an environment
    hint: `hedgerow env create branch <name>` makes one
    [exit status: 3]

    $ hedgerow env adopt ../by-hand
    Adopted the existing worktree on `feature/auth`
    ~/code/by-hand

    $ hedgerow env adopt ../by-hand
    ------- stderr -------
    error: ~/code/by-hand is an environment already: `task-feature/auth`
    [exit status: 1]

    $ hedgerow env create pr 99 --branch feature/auth
    Reusing worktree `task-feature/auth`
    ~/code/by-hand

    $ hedgerow env list
    NAME                      BRANCH        STATE             CHANGES  COMMITS  LAST ACTIVE
    task-feature/auth, pr-99  feature/auth  active (adopted)  clean             just now

    $ hedgerow env remove feature/auth
    Let go of `task-feature/auth`; its folder stays in ~/code/by-hand
    Undo: hedgerow env adopt ~/code/by-hand

    $ ls -d ../by-hand
    ../by-hand

    $ hedgerow env adopt feature/auth
    Adopted the existing worktree on `feature/auth`
    ~/code/by-hand
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_codebase_says_what_could_go() {
    let desk = Desk::new().await;
    desk.configure("[worktrees]\nmax_per_codebase = 3");
    for number in ["1", "2", "3"] {
        let _ = desk.run(&["env", "create", "issue", number]).success();
    }
    commit(&desk.environment("issue-1"), "one", "done\n");
    desk.repo.git(&["merge", "--quiet", "--no-ff", "-m", "Merge it", "issue-1"]);
    write(&desk.environment("issue-1"), "notes.txt", "not yet\n");
    let session = desk.session(&["hedgerow env create issue 4"]);
    assert_snapshot!(session, @r#"
    $ hedgerow env create issue 4
    ------- stderr -------
    error: You have 3 active worktrees for **shop** (limit reached).

      Worktree status:
      • 1 merged but kept: uncommitted changes
      • 2 active

      Options:
      • `/worktree cleanup merged` - remove merged worktrees (1)
      • `/worktree list` - see all
      • `/worktree remove <name>` - remove one
    hint: in a terminal `/worktree` is `hedgerow env`
    [exit status: 5]
    "#);
    assert_eq!(desk.repo.branches(), ["issue-1", "issue-2", "issue-3", "main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn codebases_come_and_go() {
    let desk = Desk::new().await;
    let session = desk.session(&[
        "hedgerow codebase list",
        "hedgerow codebase add",
        "hedgerow codebase add --name other",
        "hedgerow codebase add ../shop-origin.git --name bare",
        "hedgerow codebase add file://$PWD/../shop-origin.git --name clone",
        "hedgerow codebase list",
        "hedgerow codebase show",
        "hedgerow codebase show nobody",
        "hedgerow env create issue 42 --codebase bare --quiet",
        "hedgerow codebase trust bare",
        "hedgerow codebase remove bare",
        "hedgerow codebase list",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow codebase list
    ------- stderr -------
    note: no codebases yet; `hedgerow codebase add` in a repository registers it

    $ hedgerow codebase add
    Registered codebase `shop`
    ~/code/shop

    $ hedgerow codebase add --name other
    ------- stderr -------
    error: ~/code/shop is registered already, as `shop`
    hint: leave out `--name`, or forget it first: `hedgerow codebase remove shop`
    [exit status: 1]

    $ hedgerow codebase add ../shop-origin.git --name bare
    Registered codebase `bare`
    ~/code/shop-origin.git

    $ hedgerow codebase add file://$PWD/../shop-origin.git --name clone
    Registered codebase `clone`
    ~/.hedgerow/codebases/shop-origin

    $ hedgerow codebase list
    NAME  PATH  REMOTE
    bare  ~/code/shop-origin.git
    clone  ~/.hedgerow/codebases/shop-origin  file://~/code/shop/../shop-origin.git
    shop  ~/code/shop  ~/code/shop-origin.git

    $ hedgerow codebase show
    Name  shop
    Path  ~/code/shop
    Remote  ~/code/shop-origin.git
    Environments  0
    Registered  <time> (just now)
    Id  <id>

    $ hedgerow codebase show nobody
    ------- stderr -------
    error: there is no codebase `nobody`
    hint: there are: bare, clone, shop
    [exit status: 4]

    $ hedgerow env create issue 42 --codebase bare --quiet
    ~/.hedgerow/worktrees/shop-origin/issue-42

    $ hedgerow codebase trust bare
    Accepted the configuration of `bare` as it is now

    $ hedgerow codebase remove bare
    Moved `issue-42` to the trash and deleted its branch `issue-42`
    Forgot codebase `bare`; its repository stays as it is
    Undo: hedgerow codebase add ~/code/shop-origin.git

    $ hedgerow codebase list
    NAME  PATH  REMOTE
    clone  ~/.hedgerow/codebases/shop-origin  file://~/code/shop/../shop-origin.git
    shop  ~/code/shop  ~/code/shop-origin.git
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_changed_must_be_accepted() {
    let desk = Desk::new().await;
    let _ = desk.run(&["codebase", "add", "--name", "shop"]).success();
    desk.repo.git(&["config", "filter.evil.smudge", "touch canary"]);
    let session = desk.session(&[
        "hedgerow env create issue 42",
        "hedgerow doctor | grep shop -A1",
        "hedgerow codebase trust shop",
        "hedgerow env create issue 42",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env create issue 42
    ------- stderr -------
    error: Failed to create isolated worktree for branch `issue-42`. The configuration of `shop` that can run programs has changed
    hint: `filter.evil.smudge` was added
    hint: look at `git config --local --list`, then accept it with `hedgerow codebase trust shop`
    [exit status: 3]

    $ hedgerow doctor | grep shop -A1
    problem  codebase shop  its configuration has changed: `filter.evil.smudge` was added
                            hint: look at it, then `hedgerow codebase trust shop`

    $ hedgerow codebase trust shop
    Accepted the configuration of `shop` as it is now
    In it, these can run programs:
      filter.evil.smudge

    $ hedgerow env create issue 42
    Working in isolated branch `issue-42`
    ~/.hedgerow/worktrees/shop/issue-42
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_from_wherever_a_person_stands() {
    let desk = Desk::new().await;
    write(desk.repo.path(), "src/deep/x.txt", "");
    let below = desk.repo.path().join("src/deep");
    let inside = desk.environment("issue-42");
    let from_below = desk.session_at(&below, &["hedgerow env create issue 42"]);
    write(&inside, "src/x.txt", "");
    let from_inside = desk.session_at(
        &inside.join("src"),
        &[
            "hedgerow env list",
            "hedgerow env path",
            "hedgerow env create issue 43 --quiet",
            "hedgerow env remove --force",
        ],
    );
    let from_outside = desk.session_at(
        desk.folder(),
        &["hedgerow env list", "hedgerow env list --codebase shop", "hedgerow env list --all", "hedgerow env path"],
    );
    assert_snapshot!([from_below, from_inside, from_outside].join("\n"), @r#"
    $ hedgerow env create issue 42
    Working in isolated branch `issue-42`
    ~/.hedgerow/worktrees/shop/issue-42
    ------- stderr -------
    note: registered codebase `shop` (~/code/shop)

    $ hedgerow env list
    NAME      BRANCH    STATE   CHANGES      COMMITS  LAST ACTIVE
    issue-42  issue-42  active  1 untracked           just now     ← active

    $ hedgerow env path
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env create issue 43 --quiet
    ~/.hedgerow/worktrees/shop/issue-43

    $ hedgerow env remove --force
    Moved `issue-42` to the trash and deleted its branch `issue-42`
    Undo: hedgerow env restore issue-42
    ------- stderr -------
    note: your shell is still in the folder that moved; `cd ~/code/shop`

    $ hedgerow env list
    ------- stderr -------
    error: ~ is not inside a git repository
    hint: run this inside a git checkout, or name one with `--codebase` or `hedgerow codebase add <path>`
    [exit status: 2]

    $ hedgerow env list --codebase shop
    NAME      BRANCH    STATE   CHANGES  COMMITS  LAST ACTIVE
    issue-43  issue-43  active  clean             just now

    $ hedgerow env list --all
    CODEBASE  NAME      BRANCH    STATE   CHANGES  COMMITS  LAST ACTIVE
    shop      issue-43  issue-43  active  clean             just now

    $ hedgerow env path
    ------- stderr -------
    error: ~ is not inside a git repository
    hint: run this inside a git checkout, or name one with `--codebase` or `hedgerow codebase add <path>`
    [exit status: 2]
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_told_with_what_is() {
    let desk = Desk::new().await;
    let session = desk.session(&[
        "hedgerow env list",
        "hedgerow env trash",
        "hedgerow env show issue-42",
        "hedgerow env create issue 42 --quiet",
        "hedgerow env show isue-42",
        "hedgerow env restore issue-42",
        "hedgerow env create pr 5",
        "hedgerow env create pr 6 --sha 0123456789abcdef0123456789abcdef01234567",
        "hedgerow env create branch 'two words'",
        "hedgerow env create issue 0",
        "hedgerow env exec issue-42 -- no-such-program",
        "hedgerow env exec issue-42",
        "hedgerow env lst",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env list
    ------- stderr -------
    note: registered codebase `shop` (~/code/shop)
    note: no environments yet; `hedgerow env create issue 42` makes one

    $ hedgerow env trash
    ------- stderr -------
    note: the trash is empty

    $ hedgerow env show issue-42
    ------- stderr -------
    error: `shop` has no environment `issue-42`
    hint: `hedgerow env create` makes one
    [exit status: 4]

    $ hedgerow env create issue 42 --quiet
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env show isue-42
    ------- stderr -------
    error: `shop` has no environment `isue-42`
    hint: there are: issue-42
    [exit status: 4]

    $ hedgerow env restore issue-42
    ------- stderr -------
    error: there is no `issue-42` in the trash of `shop`
    hint: `hedgerow env trash` lists what is there
    [exit status: 4]

    $ hedgerow env create pr 5
    ------- stderr -------
    error: Failed to create isolated worktree for branch `pr-5`. Pull request 5 cannot be found on the remote
    hint: check the number, and `worktrees.pull_ref` if the forge is not GitHub
    [exit status: 4]

    $ hedgerow env create pr 6 --sha 0123456789abcdef0123456789abcdef01234567
    ------- stderr -------
    error: Failed to create isolated worktree for branch `pr-6`. The commit 0123456789abcdef0123456789abcdef01234567 cannot be had
    hint: couldn't find remote ref refs/pull/6/head
    [exit status: 4]

    $ hedgerow env create branch 'two words'
    ------- stderr -------
    error: invalid value 'two words' for '<NAME>': it contains a space, a control character, or one of ~ ^ : ? * [ \
    hint: `--help` explains
    [exit status: 2]

    $ hedgerow env create issue 0
    ------- stderr -------
    error: invalid value '0' for '<NUMBER>': it must be a whole number above 0, such as 42
    hint: `--help` explains
    [exit status: 2]

    $ hedgerow env exec issue-42 -- no-such-program
    ------- stderr -------
    error: cannot run `no-such-program`: No such file or directory (os error 2)
    [exit status: 127]

    $ hedgerow env exec issue-42
    ------- stderr -------
    error: the following required arguments were not provided:
        <COMMAND>...
    hint: usage: hedgerow env exec <NAME> <COMMAND>...
    hint: `--help` explains
    [exit status: 2]

    $ hedgerow env lst
    ------- stderr -------
    error: unrecognized subcommand 'lst'
    hint: a similar subcommand exists: 'list'
    hint: usage: hedgerow env [OPTIONS] <COMMAND>
    hint: `--help` explains
    [exit status: 2]
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_is_away_is_told_and_no_reason_to_stop() {
    let desk = Desk::new().await;
    desk.repo.goes_offline();
    let session = desk.session(&["hedgerow env create issue 42"]);
    assert_snapshot!(session, @r#"
    $ hedgerow env create issue 42
    Working in isolated branch `issue-42`
    ~/.hedgerow/worktrees/shop/issue-42
    ------- stderr -------
    note: registered codebase `shop` (~/code/shop)
    note: `origin` could not be reached, so its last known state was used (Could not read from remote repository.)
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_and_config_say_how_things_are() {
    let desk = Desk::new().await;
    let _ = desk.run(&["codebase", "add"]).success();
    let session = desk.session(&[
        "hedgerow doctor | sed -E 's/[0-9]+ MiB free .*/<space>/; s/^(warning|ok)( +)git .*/ok git <version>/' | grep -v '^ok  store\\| cage \\|hint: '",
        "hedgerow config | grep -v database_url",
        "hedgerow config path",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow doctor | sed -E 's/[0-9]+ MiB free .*/<space>/; s/^(warning|ok)( +)git .*/ok git <version>/' | grep -v '^ok  store\| cage \|hint: '
    ok git <version>
    ok  home  ~/.hedgerow
    ok  worktrees  ~/.hedgerow/worktrees (made with the first environment)
    ok  disk  <space>
    ok  assistants  none is found; Claude Code, Codex, Gemini CLI and opencode are when they are installed, any other is named in hedgerow.toml
    ok  codebase shop  ~/code/shop

    $ hedgerow config | grep -v database_url
    KEY  VALUE  FROM
    home  ~/.hedgerow  environment variable HEDGEROW_HOME
    listen  127.0.0.1:4747  default
    token  (not set)  default
    bot_name  hedgerow  default
    admins  (not set)  default
    assistant  (not set)  default
    assistants.<name>.command  (not set)  default
    sandbox.mode  on  default
    sandbox.read  (not set)  default
    sandbox.write  (not set)  default
    sandbox.variables  (not set)  default
    sandbox.uncovered_forks  false  default
    run.max_concurrent  10  default
    run.timeout_minutes  60  default
    run.idle_timeout_minutes  10  default
    run.lease_seconds  60  default
    queue.limit  10000  default
    retention_days  90  default
    worktrees.base  ~/.hedgerow/worktrees  default
    worktrees.max_per_codebase  25  default
    worktrees.branch_prefix  (empty)  default
    worktrees.pull_ref  refs/pull/{number}/head  default
    cleanup.stale_after_days  14  default
    cleanup.every_hours  6  default
    trash.keep_days  7  default
    trash.low_space_percent  5  default
    vault.keep_days  30  default
    llm.anthropic_key  (not set)  default
    llm.anthropic_url  https://api.anthropic.com  default
    llm.openai_key  (not set)  default
    llm.openai_url  https://api.openai.com  default
    llm.gemini_key  (not set)  default
    llm.gemini_url  https://generativelanguage.googleapis.com  default
    llm.budget.run  (not set)  default
    llm.budget.codebase_day  (not set)  default
    llm.budget.person_day  (not set)  default
    llm.prices.<model>  (not set)  default
    github.token  (not set)  default
    github.app_id  (not set)  default
    github.private_key_file  (not set)  default
    github.webhook_secrets  (not set)  default
    github.api_url  https://api.github.com  default
    github.url  https://github.com  default
    github.allow  (not set)  default
    github.clone  true  default
    github.look_minutes  15  default
    remote  (not set)  default
    base_branch  (not set)  default
    allowed_root  (not set)  default
    node  workbench  ~/.hedgerow/hedgerow.toml, line 1
    git  git  default
    git_name  (not set)  default
    git_email  (not set)  default

    $ hedgerow config path
    ~/.hedgerow/hedgerow.toml
    "#);
}
