//! One call of git: how it is started, watched and bounded.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hedgerow_core::Secret;
use hedgerow_core::provider::Progress;
use tokio::process::Command;
use tokio::sync::mpsc;

use super::input::Input;
use super::remains::Note;
use super::watch::{Group, Patience, Sink, Watch};
use super::{GitError, GitResult};
use crate::forges::Forges;

/// Reading from a repository is over in this time.
const READING: Duration = Duration::from_secs(30);
/// Going through all files of a worktree says nothing until it is done, and takes its time on a cold disk.
const WALKING: Duration = Duration::from_mins(10);
/// Fetching, cloning and checking out may take long, as long as something moves.
const SILENCE: Duration = Duration::from_mins(2);

/// Inherited variables that stay: they choose the *user's* configuration or how this machine reaches its remotes.
/// Every other `GIT_*` is removed, because `GIT_DIR` and its like redirect any call to another repository.
const KEPT: [&str; 8] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
];

/// The git program.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    env: Vec<(OsString, OsString)>,
    /// Entries that were mended in passing, until somebody writes them down.
    pub(super) mended: Arc<Mutex<Vec<PathBuf>>>,
    /// Who opens remotes that are theirs.
    pub(super) forges: Forges,
}

impl Git {
    /// `env` is added to the surroundings of every call.
    pub fn new(program: impl Into<PathBuf>, env: Vec<(OsString, OsString)>) -> Self {
        Self { program: program.into(), env, mended: Arc::default(), forges: Forges::default() }
    }

    /// The same, with those who open remotes that are theirs.
    #[must_use]
    pub fn with_forges(self, forges: Forges) -> Self {
        Self { forges, ..self }
    }

    /// Begins a call that runs in `at`. git looks for a repository there and never above.
    pub(crate) fn call(&self, at: &Path) -> Call<'_> {
        Call {
            git: self,
            at: at.to_owned(),
            discover_above: false,
            config: Vec::new(),
            env: Vec::new(),
            args: Vec::new(),
            stdin: Input::Nothing,
            notes: None,
            hidden: None,
        }
    }
}

/// A call being put together.
pub(crate) struct Call<'a> {
    git: &'a Git,
    at: PathBuf,
    discover_above: bool,
    config: Vec<Setting>,
    env: Vec<(OsString, OsString)>,
    args: Vec<OsString>,
    stdin: Input,
    /// Where a call that changes something says that it is under way.
    notes: Option<PathBuf>,
    /// What must not be in anything that git says.
    hidden: Option<Secret>,
}

/// What a finished call left.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Call<'_> {
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    /// A setting of this call; it wins over every configuration file.
    pub(crate) fn config(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings([(key.into(), value.into())])
    }

    pub(crate) fn settings(mut self, settings: impl IntoIterator<Item = Setting>) -> Self {
        self.config.extend(settings);
        self
    }

    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// What git says is told without this.
    pub(super) fn hiding(mut self, secret: Secret) -> Self {
        self.hidden = Some(secret);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.stdin = if bytes.is_empty() { Input::Nothing } else { Input::Bytes(bytes) };
        self
    }

    /// Standard input that is read while git works on it.
    pub(crate) fn stdin_pieces(mut self, pieces: mpsc::Receiver<Vec<u8>>) -> Self {
        self.stdin = Input::Pieces(pieces);
        self
    }

    /// git reads this file itself, however large it is.
    pub(crate) fn stdin_file(mut self, file: File) -> Self {
        self.stdin = Input::File(Some(file));
        self
    }

    /// The common folder of the repository it is about.
    pub(super) fn in_repository(mut self, common_dir: &Path) -> Self {
        self.notes = Some(common_dir.to_owned());
        self
    }

    /// It changes nothing in the repository, so that nobody who does has to wait for one that works on alone.
    pub(super) fn changes_nothing_here(self) -> Self {
        Self { notes: None, ..self }
    }

    /// Lets git look for the repository in the folders above as well.
    pub(crate) fn discover_above(mut self) -> Self {
        self.discover_above = true;
        self
    }

    /// Reads: quick, takes no locks. Any exit code is an answer.
    pub(crate) async fn answer(self) -> GitResult<Answer> {
        self.only_reads().run(Patience::Total(READING), None, Sink::Gather).await
    }

    fn only_reads(self) -> Self {
        self.changes_nothing_here().env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1")
    }

    /// Reads, and only exit code 0 will do.
    pub(crate) async fn read(self) -> GitResult<Vec<u8>> {
        let what = self.what();
        self.answer().await?.require_success(&what)
    }

    /// Reads an answer of any length, record by record as it comes; records end with a NUL.
    pub(crate) async fn records(self, each: impl FnMut(&[u8]) + Send) -> GitResult<()> {
        self.records_within(READING, each).await
    }

    /// The same of a call that goes through all files of a worktree, for acts that must not fail because it is large.
    /// Nobody waits at a prompt for it.
    pub(crate) async fn records_of_all_files(self, each: impl FnMut(&[u8]) + Send) -> GitResult<()> {
        self.records_within(WALKING, each).await
    }

    async fn records_within(self, time: Duration, mut each: impl FnMut(&[u8]) + Send) -> GitResult<()> {
        let what = self.what();
        let answer = self.only_reads().run(Patience::Total(time), None, Sink::Records(&mut each)).await?;
        answer.require_success(&what).map(drop)
    }

    /// Reads an answer of any length, piece by piece as it comes.
    pub(crate) async fn pieces(self, mut each: impl FnMut(&[u8]) -> std::io::Result<()> + Send) -> GitResult<()> {
        let what = self.what();
        let call = self.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
        let answer = call.run(Patience::Silence(SILENCE), None, Sink::Pieces(&mut each)).await?;
        answer.require_success(&what).map(drop)
    }

    /// A yes or no by exit code: 0 is yes, 1 is no, anything else a failure.
    pub(crate) async fn ask(self) -> GitResult<bool> {
        let what = self.what();
        let answer = self.answer().await?;
        match answer.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => answer.require_success(&what).map(|_| true),
        }
    }

    /// Changes something, quickly.
    pub(crate) async fn write(self) -> GitResult<Vec<u8>> {
        let what = self.what();
        self.run(Patience::Total(READING), None, Sink::Gather).await?.require_success(&what)
    }

    /// May take long; told to `progress` what git says about it.
    pub(crate) async fn long(self, progress: &dyn Progress) -> GitResult<Vec<u8>> {
        let what = self.what();
        self.run(Patience::Silence(SILENCE), Some(progress), Sink::Gather).await?.require_success(&what)
    }

    /// The same, and any exit code is an answer.
    pub(crate) async fn long_answer(self, progress: &dyn Progress) -> GitResult<Answer> {
        self.run(Patience::Silence(SILENCE), Some(progress), Sink::Gather).await
    }

    /// The subcommand, for messages. Arguments may hold what a user wrote and stay out.
    fn what(&self) -> String {
        let words = self.args.iter().map(|arg| arg.to_string_lossy());
        words.take_while(|word| !word.starts_with('-')).take(2).collect::<Vec<_>>().join(" ")
    }

    fn command(&mut self) -> Command {
        let mut command = Command::new(&self.git.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") && !KEPT.iter().any(|kept| name == **kept) {
                command.env_remove(name);
            }
        }
        command
            .envs(self.git.env.iter().map(|(name, value)| (name, value)))
            // Messages in one language, bytes as bytes.
            .env("LC_ALL", "C")
            // Never wait for a password nobody sees; an empty askpass also stops a configured one.
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "")
            .env("SSH_ASKPASS_REQUIRE", "never")
            // A replaced object would show other content under a commit's name.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // Grafts would make any commit an ancestor of any other.
            .env("GIT_GRAFT_FILE", "/dev/null")
            // Pathspecs are paths, never patterns.
            .env("GIT_LITERAL_PATHSPECS", "1");
        if !self.discover_above
            && let Some(parent) = self.at.parent()
        {
            // An environment whose `.git` is lost must not be taken for part of a repository around it.
            command.env("GIT_CEILING_DIRECTORIES", parent);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.arg("--no-pager").arg("-C").arg(&self.at);
        // As variables: a `-c` ends its key at the first `=`, which the name of a filter may hold.
        let own = self.config.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let settings: Vec<(&str, &str)> = FIXED.into_iter().chain(own).collect();
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (nth, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{nth}"), key).env(format!("GIT_CONFIG_VALUE_{nth}"), value);
        }
        command.args(&self.args);
        command.stdin(match self.stdin {
            Input::Nothing => Stdio::null(),
            Input::File(ref mut file) => file.take().map_or_else(Stdio::null, Stdio::from),
            Input::Bytes(_) | Input::Pieces(_) => Stdio::piped(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its own group: a Ctrl-C at the terminal reaches us, and we stop git with everything it started.
        command.process_group(0).kill_on_drop(true);
        command
    }

    async fn run<'w>(
        mut self,
        patience: Patience,
        progress: Option<&'w dyn Progress>,
        sink: Sink<'w>,
    ) -> GitResult<Answer> {
        let what = self.what();
        let note = self.notes.as_deref().and_then(|common_dir| Note::leave(common_dir, &self.at).ok());
        let mut command = self.command();
        let reads_nothing = matches!(self.stdin, Input::Nothing);
        if let Some(inherited) = note.as_ref().filter(|_| reads_nothing).and_then(|note| note.stdin().ok()) {
            command.stdin(inherited);
        }
        let mut child = command
            .spawn()
            .map_err(|source| GitError::Missing { program: self.git.program.display().to_string(), source })?;
        let group = Group::of(&child);
        let stdin = child.stdin.take();
        let input = std::mem::replace(&mut self.stdin, Input::Nothing);
        let mut watch = Watch::new(what, patience, progress, sink);
        let fed = watch.fed();
        let feed = async move {
            if let Some(pipe) = stdin {
                input.feed(pipe, &fed).await;
            }
        };
        let (mut feed, mut fed) = (std::pin::pin!(feed), false);
        let mut watching = std::pin::pin!(watch.until_it_ends(&mut child));
        let (status, stdout, stderr) = loop {
            tokio::select! {
                watched = &mut watching => break watched?,
                () = &mut feed, if !fed => fed = true,
            }
        };
        group.finished();
        // One that failed may have been killed, or a child of its own: the next one looks what is left.
        if let Some(note) = note.filter(|_| status.success()) {
            note.done();
        }
        let stderr = match self.hidden.as_ref().map(Secret::reveal).filter(|secret| !secret.is_empty()) {
            Some(secret) => stderr.replace(secret, "***"),
            None => stderr,
        };
        Ok(Answer { status, stdout, stderr })
    }
}

/// A configuration key and its value.
pub(crate) type Setting = (String, String);

/// Settings of every call, each with its reason.
const FIXED: [(&str, &str); 11] = [
    // A repository's hooks are its own programs.
    ("core.hooksPath", "/dev/null"),
    // The value may be a program to run on every status.
    ("core.fsmonitor", "false"),
    // `ext::` runs its URL as a command.
    ("protocol.ext.allow", "never"),
    // Somebody else's repository is not ours to repack, and pruning could drop what only a reflog holds.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // No downloads from an address that the other side picks.
    ("transfer.bundleURI", "false"),
    // A file's name in full, whatever its bytes.
    ("core.quotePath", "false"),
    // A merge or rename heuristics setting must not change verdicts.
    ("diff.renames", "false"),
    // Submodules are ours to ask for, never a side effect.
    ("submodule.recurse", "false"),
    // A git that works on when we are gone does not wait for ever either: bytes in a second, and for how many.
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "120"),
];

impl Answer {
    pub(crate) fn require_success(self, what: &str) -> GitResult<Vec<u8>> {
        if self.status.success() {
            return Ok(self.stdout);
        }
        Err(GitError::Failed { what: what.to_owned(), code: self.status.code(), stderr: self.stderr })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_git_that_takes_what_it_is_told_is_alive() {
        const SILENCE: Duration = Duration::from_millis(800);
        const BETWEEN: Duration = Duration::from_millis(150);
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("git");
        let (sender, pieces) = mpsc::channel(1);
        let told = tokio::spawn(async move {
            for _ in 0..8 {
                tokio::time::sleep(BETWEEN).await;
                sender.send(b"piece".to_vec()).await.expect("it is still listened to");
            }
        });
        // A file that this process has open for writing while a neighbour forks cannot be run.
        let script = "printf '#!/bin/sh\\nexec cat > /dev/null\\n' > \"$0\"";
        let written = std::process::Command::new("sh").args(["-c", script]).arg(&program).status();
        assert!(written.expect("a shell").success());
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
        let git = Git::new(program, Vec::new());
        let call = git.call(folder.path()).arg("fast-import").stdin_pieces(pieces);
        let answer = call.run(Patience::Silence(SILENCE), None, Sink::Gather).await;
        assert!(answer.is_ok(), "{answer:?}");
        told.await.expect("all was told");
    }
}
