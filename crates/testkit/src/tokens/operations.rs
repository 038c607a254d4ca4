//! Tokens in operations that stopped half-way, and how each of them ends.

use std::path::Path;

use super::fact::{Fact, answer, blob, is_at};
use super::place::{Crop, Place};
use crate::git::{command, git, try_git};
use crate::repo::write;

/// What has to happen to finish a stopped operation, and what must be true then.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// Files that a person settles first.
    resolved: Vec<(&'static str, String)>,
    /// The commands that carry it on.
    commands: Vec<Vec<&'static str>>,
    /// True at the end.
    ends: Vec<Fact>,
}

impl Operation {
    pub(super) fn end(&self, at: &Path) -> Result<(), String> {
        for (name, content) in &self.resolved {
            if !at.is_dir() {
                return Err("the environment is gone".to_owned());
            }
            write(at, name, content);
            run(at, &["add", "--", name])?;
        }
        self.commands.iter().try_for_each(|args| run(at, args))?;
        self.ends.iter().find_map(|fact| fact.is_broken(at)).map_or(Ok(()), |what| Err(format!("in the end, {what}")))
    }
}

fn run(at: &Path, args: &[&str]) -> Result<(), String> {
    let output = command(at).args(["-c", "core.editor=true"]).args(args).output().expect("git can be started");
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("`git {}`: {}", args.join(" "), said())) }
}

/// Two commits are rebased: the first is amended, the second still to come, and changes wait in the autostash.
pub(super) fn rebase(place: &Place) -> Crop {
    let (first, amended, second, aside) =
        (place.token("rebased"), place.token("amended"), place.token("still to come"), place.token("in the autostash"));
    let onto = place.head();
    place.commit("rebased", &first, "Rebased");
    let tip = place.commit("to-come", &second, "To come");
    place.write("tracked/autostashed", &aside);
    place.git(&["-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "--quiet", "-i", "--autostash", "HEAD~2"]);
    place.write("rebased", &amended);
    place.git(&["commit", "--quiet", "--all", "--amend", "-m", "Amended"]);
    let head = place.head();
    let stash = place.git(&["rev-parse", "--path-format=absolute", "--git-path", "rebase-merge/autostash"]);
    let stash = std::fs::read_to_string(stash).expect("an autostash").trim_end().to_owned();
    let branch = format!("refs/heads/{}", place.branch);
    let facts = vec![
        is_at("HEAD", &head),
        is_at(&branch, &tip),
        is_at("REBASE_HEAD", &place.git(&["rev-parse", "REBASE_HEAD"])),
        blob("HEAD:rebased", &amended),
        blob(&format!("{tip}:to-come"), &second),
        blob(&format!("{tip}~1:rebased"), first),
        blob(&format!("{stash}:tracked/autostashed"), &aside),
        Fact::File { name: "rebased".into(), bytes: amended.clone().into(), mode: 0o644 },
    ];
    let ends = vec![
        answer(&["symbolic-ref", "HEAD"], format!("{branch}\n")),
        answer(&["log", "--format=%s", "HEAD", &format!("^{onto}")], "To come\nAmended\n"),
        is_at("HEAD~1", &head),
        blob("HEAD:rebased", amended),
        blob("HEAD:to-come", second),
        Fact::File { name: "tracked/autostashed".into(), bytes: aside.into(), mode: 0o644 },
    ];
    let operation = Operation { resolved: Vec::new(), commands: vec![vec!["rebase", "--continue"]], ends };
    Crop { facts, operation: Some(operation) }
}

/// The three stages of a conflict and the file between them, edited by hand.
fn conflict(place: &Place, mine: &str, theirs: &str, disk: &str) -> Vec<Fact> {
    vec![
        blob(":1:tracked/conflicted", place.token("conflicted at first")),
        blob(":2:tracked/conflicted", mine),
        blob(":3:tracked/conflicted", theirs),
        place.file("tracked/conflicted", disk),
    ]
}

/// The other side is on no branch any more: only the stopped merge names it.
pub(super) fn merge(place: &Place) -> Crop {
    let (mine, theirs) = (place.token("my side"), place.token("their side"));
    let side = place.loose_commit("HEAD", "tracked/conflicted", &theirs, "Theirs");
    let clean = place.token("their side, without a conflict");
    let side = place.loose_commit(&side, "from-their-side", &clean, "Theirs, too");
    let head = place.commit("tracked/conflicted", &mine, "Mine");
    assert!(!try_git(&place.path, &["merge", "--quiet", "-m", "Take theirs", &side]).status.success(), "it conflicts");
    let edited = place.token("between the markers");
    let disk = format!("<<<<<<< HEAD\n{mine}=======\n{edited}>>>>>>> {side}\n");
    let mut facts = conflict(place, &mine, &theirs, &disk);
    facts.extend([is_at("MERGE_HEAD", &side), is_at("HEAD", &head), blob(":from-their-side", &clean)]);
    let ends = vec![
        answer(&["log", "-1", "--format=%P %s"], format!("{head} {side} Take theirs\n")),
        blob("HEAD:tracked/conflicted", &edited),
        blob("HEAD:from-their-side", clean),
    ];
    let commands = vec![vec!["commit", "--quiet", "--no-edit"]];
    let operation = Operation { resolved: vec![("tracked/conflicted", edited)], commands, ends };
    Crop { facts, operation: Some(operation) }
}

pub(super) fn cherry_pick(place: &Place) -> Crop {
    let (mine, theirs, later) = (place.token("my side"), place.token("picked"), place.token("picked later"));
    let first = place.loose_commit("HEAD", "tracked/conflicted", &theirs, "Picked");
    let second = place.loose_commit(&first, "picked-later", &later, "Picked later");
    let head = place.commit("tracked/conflicted", &mine, "Mine");
    assert!(!try_git(&place.path, &["cherry-pick", &first, &second]).status.success(), "it conflicts");
    let edited = place.token("between the markers");
    let mut facts = conflict(place, &mine, &theirs, &format!("{edited}<<<<<<< {first}\n"));
    facts.extend([
        is_at("CHERRY_PICK_HEAD", &first),
        is_at("HEAD", &head),
        blob(&format!("{second}:picked-later"), &later),
    ]);
    let ends = vec![
        answer(&["log", "-3", "--format=%s"], "Picked later\nPicked\nMine\n"),
        blob("HEAD:tracked/conflicted", &edited),
        blob("HEAD:picked-later", later),
    ];
    let commands = vec![vec!["cherry-pick", "--continue"]];
    let operation = Operation { resolved: vec![("tracked/conflicted", edited)], commands, ends };
    Crop { facts, operation: Some(operation) }
}

/// The bad commit is the second of eight; the branch's own tip is on no other.
pub(super) fn bisect(place: &Place) -> Crop {
    let token = place.token("bisected");
    let commits: Vec<String> =
        (1..=8).map(|nth| place.commit("bisected", &format!("{nth} {token}"), &format!("Step {nth}"))).collect();
    git(&place.path, &["bisect", "start", &commits[7], &commits[0]]);
    git(&place.path, &["bisect", "bad"]);
    let branch = format!("refs/heads/{}", place.branch);
    let facts = vec![
        is_at(&branch, &commits[7]),
        blob(&format!("{}:bisected", commits[7]), format!("8 {token}")),
        is_at("refs/bisect/bad", &commits[3]),
        is_at(&format!("refs/bisect/good-{}", commits[0]), &commits[0]),
    ];
    let ends = vec![
        answer(&["symbolic-ref", "HEAD"], format!("{branch}\n")),
        is_at("HEAD", &commits[7]),
        Fact::File { name: "bisected".into(), bytes: format!("8 {token}").into(), mode: 0o644 },
    ];
    let commands = vec![vec!["bisect", "bad"], vec!["bisect", "reset"]];
    Crop { facts, operation: Some(Operation { resolved: Vec::new(), commands, ends }) }
}
