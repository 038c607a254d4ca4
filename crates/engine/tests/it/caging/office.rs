//! An environment of a real repository, and a shell that is caged in it as any agent's program is.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;
use std::{env, fs};

use hedgerow_core::assistant::{AssistantError, Bounds, Outcome, Turn, Update, Updates};
use hedgerow_core::environment::{Exec, Place, Tenant};
use hedgerow_core::{ConversationId, Environment, Lease, Work};
use hedgerow_engine::assistant::Assistants;
use hedgerow_engine::assistant::surroundings::Surroundings;
use hedgerow_engine::settings::{Program, Runs, Sandbox, SandboxMode};
use hedgerow_testkit::{TestRepo, World, brain};

/// A user without any power, and without a home.
const NOBODY: u32 = 65534;

/// What the git folder has that is nobody's but Hedgerow's and the main checkout's.
const GUARDED: [&str; 11] = [
    "config",
    "config.worktree",
    "hooks",
    "info",
    "worktrees",
    "HEAD",
    "index",
    "logs/HEAD",
    "modules",
    "refs/hedgerow",
    "logs/refs/hedgerow",
];

/// Runs a script and writes down what it said and how it ended, where the test finds it.
const SHELL: &str = r#"( eval "$0" ) >"$NOTES/out" 2>"$NOTES/err"; echo $? >"$NOTES/status""#;

pub(super) struct Caged {
    pub(super) world: World,
    pub(super) repo: TestRepo,
    pub(super) environment: Environment,
    pub(super) sandbox: Sandbox,
    pub(super) bounds: Bounds,
    /// What the program is told besides.
    pub(super) variables: Vec<(String, String)>,
    /// Below the user's home: what belongs to the agent.
    pub(super) belongings: Vec<String>,
    /// What stands before the supervisor: another user, or a system that can do less.
    pub(super) before: Vec<OsString>,
    supervisor: Vec<OsString>,
    /// Whose files everything is; otherwise those of whoever runs the tests.
    owner: Option<u32>,
    conversation: ConversationId,
}

/// What a script came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) status: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    /// What it said; it must have gone well.
    pub(super) fn well(self) -> String {
        assert_eq!(self.status, 0, "{self:?}");
        self.out.trim_end().to_owned()
    }

    /// It must have failed, each line of it that matters with a status of its own.
    pub(super) fn badly(self) -> Self {
        assert_ne!(self.status, 0, "{self:?}");
        self
    }
}

/// The supervisor's program where every user can start it: a build folder may be in a home that is closed to others.
fn for_anyone() -> PathBuf {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    let binary = brain::binary();
    let is_open = |folder: &Path| fs::metadata(folder).is_ok_and(|about| about.permissions().mode() & 0o001 != 0);
    if binary.ancestors().all(is_open) {
        return binary;
    }
    let copy = || {
        let made = fs::metadata(&binary).and_then(|about| about.modified()).expect("it is there");
        let made = made.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_nanos();
        let copy = env::temp_dir().join(format!("hedgerow-fake-assistant-{made}"));
        if !copy.exists() {
            let aside = copy.with_extension(std::process::id().to_string());
            fs::copy(&binary, &aside).expect("it can be copied");
            fs::rename(&aside, &copy).expect("it can be put there");
        }
        copy
    };
    COPY.get_or_init(copy).clone()
}

impl Caged {
    pub(super) async fn new() -> Self {
        let world = World::new().await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        let environment = world.environment(&codebase, Work::Task("try".to_owned())).await;
        let folders = ["notes", "person", "agents"].map(|name| world.folder().join(name));
        for folder in &folders {
            fs::create_dir_all(folder).expect("a folder");
        }
        let git = repo.path().join(".git");
        let bounds = Bounds {
            home: Some(world.folder().join("agents")),
            write: vec![git.clone()],
            guard: GUARDED.iter().map(|name| git.join(name)).filter(|path| path.exists()).collect(),
            own: vec![admin_folder(&environment.path)],
            ..Bounds::default()
        };
        let read = vec![repo.origin().to_owned()];
        let sandbox =
            Sandbox { mode: SandboxMode::Required, read, write: vec![folders[0].clone()], ..Sandbox::default() };
        Self {
            world,
            repo,
            environment,
            sandbox,
            bounds,
            variables: Vec::new(),
            belongings: Vec::new(),
            before: Vec::new(),
            supervisor: brain::supervisor(),
            owner: None,
            conversation: ConversationId::new(),
        }
    }

    /// The same for a user without any power.
    pub(super) async fn nobody() -> Self {
        let mut caged = Self::new().await;
        if rustix::process::geteuid().is_root() {
            caged.before = vec![brain::binary().into(), "--as".into(), NOBODY.to_string().into()];
            caged.supervisor = brain::supervisor_at(for_anyone());
            caged.owner = Some(NOBODY);
        }
        caged
    }

    /// The same on a system that lets nobody make namespaces.
    pub(super) async fn without_namespaces() -> Self {
        let mut caged = Self::new().await;
        caged.before = vec![brain::binary().into(), "--without-namespaces".into()];
        caged.sandbox.mode = SandboxMode::On;
        caged
    }

    /// The user's own home.
    pub(super) fn person(&self) -> PathBuf {
        self.world.folder().join("person")
    }

    /// The agents' home of this codebase, on the disk.
    pub(super) fn agents(&self) -> PathBuf {
        self.world.folder().join("agents")
    }

    /// The environment's folder.
    pub(super) fn place(&self) -> &Path {
        &self.environment.path
    }

    pub(super) fn git_folder(&self) -> PathBuf {
        self.repo.path().join(".git")
    }

    /// A bash script, to its end, in the cage.
    pub(super) async fn sh(&self, script: &str) -> Ran {
        let notes = self.world.folder().join("notes");
        for name in ["out", "err", "status"] {
            let _ = fs::remove_file(notes.join(name));
        }
        let (updates, ending) = self.program(&["bash", "-c", SHELL, script]).await;
        let noted = |name: &str| fs::read_to_string(notes.join(name));
        let status = noted("status").unwrap_or_else(|_| panic!("it did not run: {updates:?}, {ending:?}"));
        let (out, err) = (noted("out").expect("it was said"), noted("err").expect("it was said"));
        Ran { status: status.trim().parse().expect("a number"), out, err }
    }

    /// Scripts that must not succeed, each in a shell of its own and all in one cage. A test says which of them did.
    pub(super) async fn refuses<Script: AsRef<str>>(&self, attempts: &[Script]) {
        let mut script = String::new();
        for (number, attempt) in attempts.iter().enumerate() {
            write!(script, "( {}\n) && echo {number} >&3\n", attempt.as_ref()).expect("into a string");
        }
        let ran = self.sh(&format!("exec 3>&1 1>&2\n{script}true")).await;
        let succeeded = ran.out.lines().filter_map(|line| line.parse::<usize>().ok());
        let succeeded: Vec<_> = succeeded.map(|number| attempts[number].as_ref()).collect();
        assert!(ran.status == 0 && succeeded.is_empty(), "{succeeded:#?}\n{ran:?}");
    }

    /// Any program, to its end.
    pub(super) async fn program(&self, command: &[&str]) -> (Vec<Update>, Result<Outcome, AssistantError>) {
        let mut updates = self.starts(command);
        let mut heard = Vec::new();
        loop {
            match next(&mut updates).await.expect("it ends with a last update") {
                Ok(Update::Finished(outcome)) => return (heard, Ok(outcome)),
                Ok(update) => heard.push(update),
                Err(error) => return (heard, Err(error)),
            }
        }
    }

    pub(super) fn starts(&self, command: &[&str]) -> Updates {
        self.hand_over();
        let assistant = self.assistants(command).require(None).expect("the only one");
        assistant.run(&self.lease(), self.turn())
    }

    pub(super) fn lease(&self) -> Lease {
        self.world.engine.scratch_lease(self.conversation)
    }

    pub(super) fn turn(&self) -> Turn {
        let of = Tenant::Scratch(self.conversation);
        let place = Place { of, generation: 0, path: self.place().to_owned(), branch: None, exec: Exec::Host };
        let notes = self.world.folder().join("notes").to_string_lossy().into_owned();
        let variables = self.variables.iter().cloned().chain([("NOTES".to_owned(), notes)]).collect();
        Turn { bounds: self.bounds.clone(), variables, ..brain::turn(place, "go") }
    }

    pub(super) fn assistants(&self, command: &[&str]) -> Assistants {
        let mut program = Program::script("caged", command);
        program.belongings.clone_from(&self.belongings);
        let supervisor = self.before.iter().chain(&self.supervisor).cloned().collect();
        let runs = Runs { assistants: vec![program], supervisor, sandbox: self.sandbox.clone(), ..Runs::default() };
        Assistants::around(&runs, &self.world.settings().home, self.around())
    }

    /// Of whoever runs the tests, except for the home.
    fn around(&self) -> Surroundings {
        let mut around = Surroundings::of_this_process(&[]);
        around.variables.retain(|(name, _)| name != "HOME" && name != "TMPDIR");
        around.variables.push(("HOME".into(), self.person().into()));
        let toolchains = env::home_dir().map(|home| home.join(".rustup")).filter(|folder| folder.exists());
        if let Some(toolchains) = toolchains.filter(|_| self.owner.is_none()) {
            around.variables.push(("RUSTUP_HOME".into(), toolchains.clone().into()));
            around.tools.push(toolchains);
        }
        Surroundings { home: self.person(), ..around }
    }

    /// To whom it belongs.
    fn hand_over(&self) {
        if let Some(owner) = self.owner {
            give(self.world.folder(), owner);
        }
    }
}

/// The folder in the repository that is this worktree's own.
fn admin_folder(place: &Path) -> PathBuf {
    let link = fs::read_to_string(place.join(".git")).expect("a worktree");
    PathBuf::from(link.trim().strip_prefix("gitdir: ").expect("it says where"))
}

fn give(path: &Path, owner: u32) {
    std::os::unix::fs::lchown(path, Some(owner), Some(owner)).expect("root may give");
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).expect("it can be listed") {
            give(&entry.expect("an entry").path(), owner);
        }
    }
}

pub(super) async fn next(updates: &mut Updates) -> Option<Result<Update, AssistantError>> {
    poll_fn(|context| updates.as_mut().poll_next(context)).await
}
