//! `with-postgres <command…>` runs a command beside a PostgreSQL server of its own, and cleans up after both.
//!
//! The server lives in a scratch folder on a free port of the loopback, without syncing: quick, and nobody else's.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context as _, bail};
use hedgerow_testkit::database::{SERVER, WHICH};
use rustix::process::{Pid, Signal, getuid, kill_process};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// More than the tests' pools together.
const CONNECTIONS: u32 = 300;

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).collect()).await {
        Ok(code) => code,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "this program's only words to a person")]
            {
                eprintln!("error: {error:#}");
            }
            ExitCode::from(2)
        }
    }
}

async fn run(command: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let [program, arguments @ ..] = command.as_slice() else {
        bail!("no command given\nhint: with-postgres cargo test");
    };
    // Asked for before the server starts, so that no signal finds it without someone to stop it.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let server = Server::start().await?;
    let mut child = Command::new(program)
        .args(arguments)
        .env(WHICH, "postgres")
        .env(SERVER, server.url())
        .spawn()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            // A terminal has sent this to the child as well; a person's `kill` has not.
            _ = interrupt.recv() => pass_on(&child, Signal::INT),
            _ = terminate.recv() => pass_on(&child, Signal::TERM),
        }
    };
    server.stop().await;
    Ok(exit_code(status))
}

fn pass_on(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended this very moment.
        let _ = kill_process(pid, signal);
    }
}

/// The child's own, or 128 and the signal as shells have it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// A running server and all that is needed to be rid of it. Dropping it stops it too.
struct Server {
    programs: PathBuf,
    user: Option<User>,
    folder: tempfile::TempDir,
    port: u16,
    running: bool,
}

impl Server {
    async fn start() -> anyhow::Result<Self> {
        let programs = programs()?;
        // PostgreSQL refuses to run as root.
        let user = if getuid().is_root() { Some(User::unprivileged()?) } else { None };
        let folder = tempfile::Builder::new().prefix("with-postgres-").tempdir()?;
        if let Some(user) = &user {
            chown(folder.path(), Some(user.uid), Some(user.gid))?;
        }
        let mut server = Self { programs, user, folder, port: free_port()?, running: false };
        let data = server.data();
        let mut initdb = server.program("initdb");
        initdb.args(["--auth=trust", "--username=postgres", "--no-sync", "--no-instructions"]);
        initdb.args(["--locale=C", "--encoding=UTF8"]).arg("--pgdata").arg(&data);
        finish("initdb", initdb).await?;
        let settings = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c synchronous_commit=off \
             -c full_page_writes=off -c max_connections={CONNECTIONS}",
            server.port
        );
        let mut start = server.control("start");
        start.arg("--log").arg(server.folder.path().join("log")).arg("--options").arg(settings);
        server.running = true;
        finish("pg_ctl start", start).await?;
        Ok(server)
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = std::process::Command::new(self.programs.join(name));
        command.current_dir(self.folder.path()).stdin(std::process::Stdio::null());
        if let Some(user) = &self.user {
            use std::os::unix::process::CommandExt as _;
            command.uid(user.uid).gid(user.gid);
        }
        Command::from(command)
    }

    fn control(&self, action: &str) -> Command {
        let mut command = self.program("pg_ctl");
        command.arg(action).args(["--wait", "--timeout=60", "--silent"]).arg("--pgdata").arg(self.data());
        command
    }

    async fn stop(mut self) {
        self.running = false;
        let mut stop = self.control("stop");
        stop.arg("--mode=immediate");
        // Nothing in it is worth keeping, and the folder goes whatever happens.
        let _ = finish("pg_ctl stop", stop).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.running {
            let mut stop = self.control("stop");
            stop.arg("--mode=immediate");
            let _ = stop.as_std_mut().output();
        }
    }
}

/// Runs to the end; its words are shown only if it fails.
async fn finish(what: &str, mut command: Command) -> anyhow::Result<()> {
    // Not through a pipe: the server inherits it and would keep it open.
    let said = tempfile::tempfile()?;
    let status = command.stdout(said.try_clone()?).stderr(said.try_clone()?).status().await;
    let status = status.with_context(|| format!("cannot run {what}"))?;
    if status.success() {
        return Ok(());
    }
    let mut said = said;
    io::Seek::rewind(&mut said)?;
    bail!("{what} failed ({status}): {}", io::read_to_string(said)?.trim());
}

/// The folder of the server's programs: on the path, else where Debian puts its newest.
fn programs() -> anyhow::Result<PathBuf> {
    let complete = |folder: &PathBuf| ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find(complete);
    on_path.or_else(|| newest(Path::new("/usr/lib/postgresql")).filter(complete)).context(
        "PostgreSQL is not installed (initdb, pg_ctl and postgres are not on the path)\n\
         hint: apt-get install postgresql",
    )
}

fn newest(versions: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(versions).ok()?;
    let numbered = entries.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    numbered.max().map(|(_, bin)| bin)
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Whom the server runs as when we are root.
struct User {
    uid: u32,
    gid: u32,
}

impl User {
    fn unprivileged() -> anyhow::Result<Self> {
        let users = std::fs::read_to_string("/etc/passwd").context("cannot read the list of users")?;
        ["postgres", "nobody"].iter().find_map(|name| Self::named(&users, name)).context(
            "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`\nhint: run as another user",
        )
    }

    fn named(users: &str, name: &str) -> Option<Self> {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(str::parse);
        Some(Self { uid: numbers.next()?.ok()?, gid: numbers.next()?.ok()? })
    }
}
