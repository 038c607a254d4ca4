//! The supervisor when things go wrong around it: its parent is killed, or it is killed itself.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use hedgerow_core::RunId;
use hedgerow_engine::assistant::processes::end_run;
use hedgerow_testkit::brain;

use super::office::{self, Office, eventually, is_alive};

/// A server that starts a supervisor, and is not ours to wait for.
fn server(office: &Office, prompt: &str, run: &str) -> Child {
    let turn = serde_json::json!({"type": "turn", "run": run, "prompt": prompt, "session": null});
    fs::write(office.place().join("turn"), format!("{turn}\n")).expect("it can be written");
    let script = "\"$0\" --supervise -- \"$0\" < turn & echo $! > supervisor; wait";
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).arg(brain::binary()).current_dir(office.place()).env("HEDGEROW_RUN", run);
    bash.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("bash starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_takes_the_whole_tree_with_it() {
    let office = Office::open().await;
    let mut server = server(&office, "spawn-daemon daemon\ntouch up\nhang", &RunId::new().to_string());
    let (supervisor, daemon) = (office.pid_in("supervisor"), office.pid_in("daemon"));
    eventually(|| office.place().join("up").exists());
    server.kill().expect("SIGKILL");
    server.wait().expect("it is gone");
    eventually(|| !is_alive(daemon) && !is_alive(supervisor));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_for_a_server_that_is_gone_already() {
    let office = Office::open().await;
    let mut gone = Command::new("true").spawn().expect("it starts");
    gone.wait().expect("it ends");
    let supervisor = brain::supervisor();
    let mut command = Command::new(&supervisor[0]);
    command.args(&supervisor[1..]).args(["touch", "started"]).current_dir(office.place());
    let status = command.env("HEDGEROW_SERVER", gone.id().to_string()).status().expect("it starts");
    assert_eq!(status.code(), Some(143));
    assert!(!office.place().join("started").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_supervisor_that_is_asked_ends_the_tree_and_says_how() {
    let office = Office::open().await;
    for (signal, script, expected) in [
        ("TERM", "sleep 600 & echo $! > pid; wait", 143),
        ("INT", "trap 'exit 5' TERM; sleep 600 & echo $! > pid; wait", 5),
        ("HUP", "sleep 600 & echo $! > pid; kill -STOP $$", 143),
    ] {
        let supervisor = brain::supervisor();
        let mut command = Command::new(&supervisor[0]);
        command.args(&supervisor[1..]).args(["bash", "-c", script]).current_dir(office.place());
        let mut child = command.spawn().expect("it starts");
        let sleeper = office.pid_in("pid");
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().expect("kill");
        let status = child.wait().expect("it ends");
        assert_eq!((status.code(), status.signal()), (Some(expected), None), "{signal}");
        assert!(!is_alive(sleeper), "{signal}");
        fs::remove_file(office.place().join("pid")).expect("it was there");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_outlives_its_supervisor_is_found_by_its_run() {
    let office = Office::open().await;
    let (run, other) = (RunId::new().to_string(), RunId::new().to_string());
    let mut bystander = Command::new("sleep").arg("600").env("HEDGEROW_RUN", &other).spawn().expect("it starts");
    let mut server = server(&office, "spawn-daemon daemon\ntouch up\nhang", &run);
    let (supervisor, daemon) = (office.pid_in("supervisor"), office.pid_in("daemon"));
    eventually(|| office.place().join("up").exists());
    Command::new("kill").args(["-KILL", &supervisor.to_string()]).status().expect("kill");
    eventually(|| !is_alive(supervisor));
    assert!(is_alive(daemon), "nobody is left to end it");
    assert!(end_run(&run));
    assert!(!is_alive(daemon));
    assert!(is_alive(bystander.id()), "it is of another run");
    bystander.kill().expect("SIGKILL");
    bystander.wait().expect("it ends");
    server.wait().expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_supervisor_is_killed_fails_and_leaves_nothing() {
    let office = Office::open().await;
    let mut updates = office.starts(&office.supervised(), "spawn-daemon daemon\nsay up\nhang");
    office::next(&mut updates).await.expect("an update").expect("it is up");
    let daemon = office.pid_in("daemon");
    let (supervisor, started) = family(daemon);
    assert!(started.contains(&daemon) && started.len() >= 2, "{started:?}");
    Command::new("kill").args(["-KILL", &supervisor.to_string()]).status().expect("kill");
    let (_, ending) = office::all(updates).await;
    assert!(ending.expect_err("it was killed").to_string().contains("it was ended by signal 9"));
    assert!(started.iter().all(|process| !is_alive(*process)));
}

/// The supervisor that an orphan came to, and its children.
fn family(orphan: u32) -> (u32, Vec<u32>) {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let supervisor = parent(orphan).expect("it is there");
    // Whoever else adopts orphans on this machine is not for us to kill.
    let command = fs::read_to_string(format!("/proc/{supervisor}/cmdline")).expect("it is there");
    assert!(command.contains("--supervise"), "{command}");
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    (supervisor, all.filter(|pid| parent(*pid) == Some(supervisor)).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_process_is_never_ended() {
    if let Some(run) = std::env::var("HEDGEROW_RUN").ok().filter(|run| run.starts_with("own-")) {
        assert!(end_run(&run), "nobody but us has it");
        return;
    }
    let office = Office::open().await;
    let mut own = Command::new(std::env::current_exe().expect("this test"));
    own.args(["--exact", "assisting::supervising::our_own_process_is_never_ended"]);
    own.env("HEDGEROW_RUN", format!("own-{}", RunId::new()));
    let out = File::create(office.place().join("out")).expect("a file");
    let status = own.stdout(out).status().expect("it starts");
    assert!(status.success(), "{status}");
}
