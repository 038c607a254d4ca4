//! What cannot be done safely is not done: nothing is gone, the words are clear, and once the cause is gone the very
//! same command works.
//!
//! Root is stopped by no permission, so where the tests run as root the program runs in a user namespace of its own, in
//! which files of other owners are out of its reach. Full and read-only disks are mounts that only the program sees.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hedgerow_testkit::Tokens;
use hedgerow_testkit::tokens::{Kind, Plan, Planted};

use crate::desk::Desk;

/// Nobody here.
const STRANGER: u32 = 54_321;

/// A desk with tokens in the environment of issue 42.
struct Guarded {
    desk: Desk,
    path: PathBuf,
    planted: Planted,
}

impl Guarded {
    async fn with(plan: Plan) -> Self {
        let desk = Desk::new().await;
        let path = PathBuf::from(desk.run(&["env", "create", "issue", "42"]).success().last_line());
        let planted = Tokens::plant(plan, &desk.repo, &path);
        Self { desk, path, planted }
    }

    /// The program, run by someone whom permissions stop.
    fn run(&self, args: &[&str]) -> Output {
        let line = self.desk.cli.command(self.desk.repo.path(), args);
        if !is_root(self.desk.folder()) {
            return { line }.output().expect("the program starts");
        }
        let mut command = Command::new("unshare");
        command.arg("--user").arg("--map-root-user").arg(line.get_program()).args(line.get_args());
        same_surroundings(&mut command, &line);
        command.output().expect("unshare starts")
    }

    fn succeeds(&self, args: &[&str]) {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", said(&output));
    }

    /// It fails with this status and these words, and everything is where it was.
    fn is_refused(&self, args: &[&str], status: i32, words: &str) {
        let before = self.desk.repo.fingerprint();
        let output = self.run(args);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
        assert!(text.contains(words) && text.contains("hint: ") && !text.contains("panicked"), "{args:?}: {text}");
        assert_eq!(self.desk.repo.fingerprint(), before, "{args:?} changed the checkout");
    }

    fn is_whole(&self) {
        assert_eq!(self.planted.missing(&self.path), []);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_root(folder: &Path) -> bool {
    fs::metadata(folder).expect("a folder").uid() == 0
}

fn same_surroundings(command: &mut Command, line: &Command) {
    command.env_clear().envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(line.get_current_dir().expect("it has one"));
}

/// Something that the program has no right to; dropped, it has.
struct OutOfReach {
    path: PathBuf,
    mode: u32,
}

impl OutOfReach {
    fn new(path: &Path) -> Self {
        let mode = fs::metadata(path).expect("it is there").permissions().mode();
        if is_root(path.parent().expect("it is in a folder")) {
            lchown(path, Some(STRANGER), Some(STRANGER)).expect("root may");
            fs::set_permissions(path, Permissions::from_mode(mode & 0o755 & !0o044)).expect("root may");
        } else {
            fs::set_permissions(path, Permissions::from_mode(0o000)).expect("the owner may");
        }
        Self { path: path.to_owned(), mode }
    }
}

impl Drop for OutOfReach {
    fn drop(&mut self) {
        let above = fs::metadata(self.path.parent().expect("it is in a folder")).expect("it is there");
        if above.uid() == 0 {
            let _ = lchown(&self.path, Some(0), Some(above.gid()));
        }
        let _ = fs::set_permissions(&self.path, Permissions::from_mode(self.mode));
    }
}

#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn namespaces_work() -> bool {
    let work = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !work {
        eprintln!("SKIPPED: this machine forbids namespaces, without which nothing can be put out of reach");
    }
    work
}

/// A rename reads nothing, so what cannot be read is kept like everything else.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_file_goes_to_the_trash_and_comes_back() {
    if !namespaces_work() {
        return;
    }
    let guarded = Guarded::with(Plan::BUSY).await;
    let secret = guarded.path.join("prod.secret");
    let stranger = OutOfReach::new(&secret);
    guarded.succeeds(&["env", "remove", "issue-42", "--force"]);
    assert!(!guarded.path.exists());
    guarded.succeeds(&["env", "restore", "issue-42"]);
    drop(stranger);
    guarded.is_whole();
}

/// Without `--force` everything is looked at first, and what cannot be looked at is no reason to remove it.
#[tokio::test(flavor = "multi_thread")]
async fn an_environment_with_a_file_that_cannot_be_judged_stays() {
    if !namespaces_work() {
        return;
    }
    let plan = Plan { name: "clean to git", kinds: &[Kind::Reflog, Kind::Ignored], pushed: true };
    let guarded = Guarded::with(plan).await;
    {
        let _stranger = OutOfReach::new(&guarded.path.join("tracked/unstaged"));
        guarded.is_refused(&["env", "remove", "issue-42"], 3, "uncommitted changes");
    }
    guarded.is_whole();
    guarded.succeeds(&["env", "remove", "issue-42"]);
    guarded.succeeds(&["env", "restore", "issue-42"]);
    guarded.is_whole();
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_folder_is_neither_removed_nor_half_removed() {
    if !namespaces_work() {
        return;
    }
    let guarded = Guarded::with(Plan::MERGING).await;
    {
        let _stranger = OutOfReach::new(&guarded.path);
        guarded.is_refused(&["env", "remove", "issue-42", "--force"], 1, "Permission denied");
    }
    guarded.is_whole();
    guarded.succeeds(&["env", "remove", "issue-42", "--force"]);
    guarded.succeeds(&["env", "restore", "issue-42"]);
    guarded.is_whole();
    assert_eq!(guarded.planted.operation_continues(&guarded.path), []);
}

/// The trash, and the place to come back to, belong to somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_right_to_the_place_nothing_moves() {
    if !namespaces_work() {
        return;
    }
    let guarded = Guarded::with(Plan::REBASING).await;
    let trash = guarded.desk.home().join("worktrees/.trash");
    fs::create_dir_all(&trash).expect("a folder");
    {
        let _stranger = OutOfReach::new(&trash);
        guarded.is_refused(&["env", "remove", "issue-42", "--force"], 1, "annot use");
        assert!(guarded.path.exists());
    }
    guarded.is_whole();
    guarded.succeeds(&["env", "remove", "issue-42", "--force"]);
    {
        let _stranger = OutOfReach::new(guarded.path.parent().expect("it is in a folder"));
        guarded.is_refused(&["env", "restore", "issue-42"], 1, "annot use");
        assert!(fs::read_dir(&trash).expect("a folder").next().is_some(), "it is still in the trash");
    }
    guarded.succeeds(&["env", "restore", "issue-42"]);
    guarded.is_whole();
    assert_eq!(guarded.planted.operation_continues(&guarded.path), []);
}

/// A purge reads everything before it deletes anything.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_not_purged() {
    if !namespaces_work() {
        return;
    }
    let guarded = Guarded::with(Plan::BUSY).await;
    for name in ["prod.secret", "nested/new", "library/new", "tracked/unstaged", "scratch"] {
        guarded.succeeds(&["env", "remove", "issue-42", "--force"]);
        let trash = guarded.desk.home().join("worktrees/.trash");
        let place = fs::read_dir(&trash).expect("the trash").next().expect("one thing in it").expect("an entry").path();
        {
            let _stranger = OutOfReach::new(&place.join(name));
            guarded.is_refused(&["env", "purge", "issue-42"], 1, "Permission denied");
        }
        guarded.succeeds(&["env", "restore", "issue-42"]);
        guarded.is_whole();
    }
    guarded.succeeds(&["env", "remove", "issue-42", "--force"]);
    guarded.succeeds(&["env", "purge", "issue-42"]);
    guarded.succeeds(&["env", "restore", "issue-42"]);
    guarded.is_whole();
}

/// A shell with mounts of its own, in which `$disk` is an empty folder and `refuses` is a command that must fail.
fn alone(desk: &Desk, script: &str) {
    let disk = desk.folder().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let line = desk.cli.command(desk.repo.path(), &[]);
    let program = Path::new(line.get_program()).to_owned();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-eu", "-c"]).arg(format!("{PRELUDE}{script}"));
    same_surroundings(&mut command, &line);
    command.env("disk", disk).env("hedgerow", program).env("repo", desk.repo.path()).env("home", desk.home());
    let output = command.output().expect("unshare starts");
    assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stdout), said(&output));
}

const PRELUDE: &str = r#"
exec 2>&1
refuses() {
    code=$1; words=$2; shift 2
    if said=$("$@" 2>&1); then echo "did not fail: $* $said"; exit 1; else got=$?; fi
    echo "$said"
    [ "$got" = "$code" ] || { echo "left $got, not $code: $*"; exit 1; }
    case "$said" in *"$words"*hint:*) ;; *) echo "without the words: $words"; exit 1;; esac
    case "$said" in *panicked*) exit 1;; *) ;; esac
}
# What is in an environment: names, modes, contents; the index; the branch.
picture() {
    (cd "$env" && find . ! -name .git -exec stat -c "%n %a" {} + | sort
     find "$env" -type f ! -name .git -exec sha256sum {} + | sort
     git -C "$env" ls-files --stage; git -C "$env" symbolic-ref HEAD)
}
begin() {
    env=$("$hedgerow" env create issue 42 | tail -n 1)
    echo only here > "$env/untracked"; echo changed > "$env/README.md"; mkdir "$env/empty"
    echo staged > "$env/staged"; git -C "$env" add staged; echo over it > "$env/staged"
    before=$(picture)
}
is_whole() { now=$(picture); [ "$now" = "$before" ] || { echo "was $before"; echo "is $now"; exit 1; }; }
fill() {
    dd if=/dev/zero of="$disk/filler" bs=1k || true
    while echo x >> "$disk/filler2"; do :; done
} 2> /dev/null
make_room() { rm "$disk"/filler*; }
"#;

/// A folder of the same disk that is mounted inside an environment cannot be told by its device.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_mounted_inside_an_environment_is_not_deleted_with_it() {
    let desk = Desk::new().await;
    if !namespaces_work() {
        return;
    }
    alone(
        &desk,
        r#"
        begin
        mkdir "$disk/mine" "$env/inside"; echo precious > "$disk/mine/file"
        "$hedgerow" env remove issue-42 --force
        place=$(ls -d "$home"/worktrees/.trash/*)
        mount --bind "$disk/mine" "$place/inside"
        refuses 1 "something is mounted there" "$hedgerow" env purge issue-42
        [ "$(cat "$disk/mine/file")" = precious ]
        umount "$place/inside"
        "$hedgerow" env purge issue-42
        [ "$(cat "$disk/mine/file")" = precious ]
        "#,
    );
}

/// The oldest goes before its time, saved first, and no more than is needed.
#[tokio::test(flavor = "multi_thread")]
async fn when_the_disk_runs_short_the_oldest_of_the_trash_makes_room() {
    let desk = Desk::new().await;
    if !namespaces_work() {
        return;
    }
    desk.configure("[trash]\nlow_space_percent = 50");
    alone(
        &desk,
        r#"
        mount -t tmpfs -o size=24m tmpfs "$disk"
        export WORKTREE_BASE="$disk/worktrees"
        for n in 1 2 3; do
            env=$("$hedgerow" env create issue $n | tail -n 1)
            head -c 5000000 /dev/urandom > "$env/large"
            "$hedgerow" env remove issue-$n --force
        done
        "$hedgerow" env cleanup --all --dry-run | grep "would purge.*issue-1.*the disk runs short"
        said=$("$hedgerow" env cleanup --all)
        echo "$said" | grep "purged.*issue-1.*the disk runs short; saved in the vault"
        echo "$said" | grep "Undo: hedgerow env restore issue-1 --codebase shop"
        "$hedgerow" env trash | awk 'NR > 1 { print $1, $4 }' | sort > "$disk/left"
        printf 'issue-1 vault\nissue-2 trash\nissue-3 trash\n' | cmp - "$disk/left" || { cat "$disk/left"; exit 1; }
        "$hedgerow" env restore issue-1
        [ "$(stat -c %s "$disk/worktrees/shop/issue-1/large")" = 5000000 ]
        "#,
    );
}

/// A rename needs no room: a full disk of environments does not keep one from being moved away, and back.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_full_disk_the_way_into_the_trash_and_back_is_open() {
    if !namespaces_work() {
        return;
    }
    let desk = Desk::new().await;
    alone(
        &desk,
        r#"
mount -t tmpfs -o size=400k none "$disk"
export WORKTREE_BASE="$disk/trees"
begin
fill
"$hedgerow" env remove issue-42 --force
[ ! -e "$env" ]
"$hedgerow" env restore issue-42
is_whole
"#,
    );
}

/// git must write when an environment goes and when it comes back, and there is no room for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_of_the_repository_loses_nothing_and_the_same_command_works_when_there_is_room() {
    if !namespaces_work() {
        return;
    }
    let desk = Desk::new().await;
    alone(
        &desk,
        r#"
mount -t tmpfs -o size=2m none "$disk"
git clone --quiet "$repo" "$disk/shop"; cd "$disk/shop"
begin
fill
refuses 1 "No space left on device" "$hedgerow" env remove issue-42 --force
is_whole
make_room
"$hedgerow" env remove issue-42 --force
[ ! -e "$env" ]
fill
refuses 1 "No space left on device" "$hedgerow" env restore issue-42
make_room
"$hedgerow" env restore issue-42
is_whole
"#,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_disk_or_repository_loses_nothing() {
    if !namespaces_work() {
        return;
    }
    for read_only in ["$home/worktrees", "$repo"] {
        let desk = Desk::new().await;
        let script = r#"
begin
shut() { mount --bind "READ_ONLY" "READ_ONLY"; mount -o remount,bind,ro "READ_ONLY"; }
shut
refuses 1 "Read-only file system" "$hedgerow" env remove issue-42 --force
umount "READ_ONLY"
is_whole
"$hedgerow" env remove issue-42 --force
[ ! -e "$env" ]
shut
refuses 1 "Read-only file system" "$hedgerow" env restore issue-42
umount "READ_ONLY"
"$hedgerow" env restore issue-42
is_whole
"#;
        alone(&desk, &script.replace("READ_ONLY", read_only));
    }
}

/// The vault has no room, and then cannot be written at all.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_vault_nothing_is_purged() {
    if !namespaces_work() {
        return;
    }
    let desk = Desk::new().await;
    alone(
        &desk,
        r#"
vault="$home/vault"; mkdir -p -m 700 "$vault"
begin
head -c 600000 /dev/urandom > "$env/large"; before=$(picture)
"$hedgerow" env remove issue-42 --force
for options in size=200k ro,size=10m; do
    mount -t tmpfs -o "mode=700,$options" none "$vault"
    refuses 1 "" "$hedgerow" env purge issue-42
    umount "$vault"
    "$hedgerow" env trash | grep issue-42
    "$hedgerow" env restore issue-42
    is_whole
    "$hedgerow" env remove issue-42 --force
done
"$hedgerow" env purge issue-42
"$hedgerow" env restore issue-42
is_whole
"#,
    );
}
