//! Attempts to get out of the cage, one story each, by real programs on real targets. An attempt fails when nothing was
//! got that is not the agent's, and when what it was after is as it was.
//!
//! An attempt that goes well must harm nobody either: what it is after belongs to the test, or is set to what it is
//! already, and a signal is one that nobody minds. The machine of whoever breaks the cage is still there afterwards.

mod calls;
mod devices;
mod ending;
mod folders;
mod hogging;
mod home;
mod honest;
mod kernel;
mod links;
mod namespaces;
mod processes;
mod repository;
mod sockets;
mod strangers;
mod telling;
mod weaker;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow_core::RunId;

use super::office::{Caged, Ran};

/// Says that this machine need not be able to build views.
const NO_VIEW: &str = "HEDGEROW_NO_VIEW";
/// Printed behind an attempt that went well, on a line of its own whatever the attempt has said.
const OUT: &str = "IS OUT:";

/// A cage to break out of; `None`, said aloud, where the machine cannot build one.
async fn a_cage() -> Option<Caged> {
    let caged = Caged::new().await;
    has_view(&caged).then_some(caged)
}

/// The same, and once more for a user without any power when the tests run as root.
async fn cages() -> Vec<Caged> {
    let Some(first) = a_cage().await else { return Vec::new() };
    let second = Caged::nobody().await;
    if rustix::process::geteuid().is_root() && has_view(&second) { vec![first, second] } else { vec![first] }
}

#[expect(clippy::print_stderr, reason = "a story that is not told must not look like one that went well")]
fn has_view(caged: &Caged) -> bool {
    match caged.assistants(&["true"]).cage().ability().view {
        Ok(()) => true,
        Err(why) => {
            eprintln!("SKIPPED, no cage can be built here: {why}");
            false
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_attempts_are_really_made() {
    if env::var_os(NO_VIEW).is_none() {
        for caged in [Caged::new().await, Caged::nobody().await] {
            let able = caged.assistants(&["true"]).cage().ability();
            assert_eq!(able.view, Ok(()), "set {NO_VIEW} where it cannot be helped");
        }
    }
}

/// Makes attempts, each in a shell of its own, all in one cage: every one must fail. What they said is returned.
async fn fail(caged: &Caged, attempts: &[String]) -> Ran {
    let shells =
        attempts.iter().enumerate().map(|(nth, attempt)| format!("( {attempt}\n) && printf '\\n{OUT} {nth}\\n'\n"));
    let ran = caged.sh(&format!("{}true", shells.collect::<String>())).await;
    assert_eq!(ran.status, 0, "{ran:?}");
    let out: Vec<_> = ran.out.lines().filter_map(|line| line.strip_prefix(OUT)?.trim().parse::<usize>().ok()).collect();
    let out: Vec<_> = out.into_iter().map(|nth| &attempts[nth]).collect();
    assert!(out.is_empty(), "{out:#?} went well: {ran:#?}");
    ran
}

/// The same with words that need not be made.
async fn all_fail(caged: &Caged, attempts: &[&str]) -> Ran {
    fail(caged, &attempts.iter().map(|attempt| (*attempt).to_owned()).collect::<Vec<_>>()).await
}

/// A file outside. Its words are nowhere else.
#[derive(Debug)]
struct Prey {
    path: PathBuf,
    words: String,
}

impl Prey {
    fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let words = format!("secret {}\n", RunId::new());
        fs::write(&path, &words).expect("a file");
        Self { path, words }
    }

    /// What is there already.
    fn found(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let words = fs::read_to_string(&path).expect("it is there");
        Self { path, words }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn folder(&self) -> &Path {
        self.path.parent().expect("a folder")
    }

    /// Neither changed nor moved nor replaced.
    fn is_unharmed(&self) {
        let is_file = fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_file());
        let words = fs::read_to_string(&self.path).unwrap_or_default();
        assert!(is_file && words == self.words, "{}: {words}", self.shown());
    }

    /// Its words got neither into what was said nor into anything that the agent can write.
    fn is_unread(&self, caged: &Caged, ran: &Ran) {
        let secret = self.words.trim();
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{} was read: {ran:?}", self.shown());
        let mut grep = Command::new("grep");
        grep.args(["-rqsF", secret]).arg(caged.place()).arg(caged.agents()).arg(caged.git_folder());
        assert_eq!(grep.status().expect("grep is there").code(), Some(1), "{} was taken along", self.shown());
    }
}

/// Every way to read a file that a shell knows.
fn reads(prey: &Prey) -> Vec<String> {
    let (path, folder) = (prey.shown(), prey.folder().display());
    vec![
        format!("cat {path}"),
        format!("head -c 1 <{path}"),
        format!("cp {path} stolen"),
        format!("tar cf stolen.tar {path}"),
        format!("ln {path} hard && cat hard"),
        format!("ln -sf {path} soft && cat soft"),
        format!("git hash-object -w {path}"),
        format!("cat /proc/1/root{path}"),
        format!("cat /proc/self/root/../../..{path}"),
        format!("cp -r {folder} stolen-folder && cat stolen-folder/{}", name(&prey.path)),
    ]
}

/// Every way to harm it.
fn writes(prey: &Prey) -> Vec<String> {
    let path = prey.shown();
    vec![
        format!("echo x >>{path}"),
        format!("echo x >{path}"),
        format!("echo x | tee {path}"),
        format!("truncate -s 0 {path}"),
        format!("rm {path}"),
        format!("mv {path} moved"),
        format!("echo x >mine && mv mine {path}"),
        format!("echo x >mine && cp mine {path}"),
        format!("ln -sf /etc/passwd {path}"),
        format!("chmod 777 {path}"),
        format!("echo x >/proc/1/root{path}"),
    ]
}

/// It is not there. Where it is outside, the agent may have something of its own: what it does there harms nobody.
async fn out_of_reach(caged: &Caged, prey: &[Prey]) {
    let there = |prey: &Prey| format!("test -e {}", prey.shown());
    let ran = fail(caged, &prey.iter().flat_map(reads).chain(prey.iter().map(there)).collect::<Vec<_>>()).await;
    let folders = |prey: &Prey| {
        let folder = prey.folder().display();
        [format!("touch {folder}/new"), format!("mv {folder} moved"), format!("rm -r {folder}")]
    };
    let harm: Vec<_> = prey.iter().flat_map(writes).chain(prey.iter().flat_map(folders)).collect();
    let count = |prey: &Prey| fs::read_dir(prey.folder()).map(Iterator::count).ok();
    let before: Vec<_> = prey.iter().map(count).collect();
    let harm: Vec<_> = harm.iter().map(|attempt| format!("( {attempt}\n)\n")).collect();
    caged.sh(&harm.concat()).await;
    assert_eq!(prey.iter().map(count).collect::<Vec<_>>(), before, "nothing came to it");
    for prey in prey {
        prey.is_unread(caged, &ran);
        prey.is_unharmed();
    }
}

/// It can be read, and not be written.
async fn only_read(caged: &Caged, prey: &[Prey]) {
    let tried: Vec<_> = prey.iter().flat_map(writes).collect();
    fail(caged, &tried).await;
    for prey in prey {
        assert_eq!(caged.sh(&format!("cat {}", prey.shown())).await.well(), prey.words.trim_end());
        prey.is_unharmed();
    }
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}
