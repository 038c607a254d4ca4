//! `hedgerow chat` on a terminal, as a person has it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::{begun, desk, say, waiting};
use crate::desk::Desk;
use crate::terminal::has_script;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A terminal with a chat in it.
struct Window {
    script: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Window {
    /// `command` is a line for a shell in which `$CHAT` opens the conversation `alice@shop`.
    fn open(desk: &Desk, command: &str) -> Self {
        let model = desk.cli.command(desk.repo.path(), &[]);
        let mut script = Command::new("script");
        script.env_clear().envs(model.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
        script.env("CHAT", format!("{} chat", env!("CARGO_BIN_EXE_hedgerow"))).env("SHELL", "/bin/sh");
        script.args(["--quiet", "--return", "--command", command, "/dev/null"]).current_dir(desk.repo.path());
        let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let keyboard = script.stdin.take().expect("piped");
        let mut stdout = script.stdout.take().expect("piped");
        let (show, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 1024];
            while let Ok(read @ 1..) = stdout.read(&mut bytes) {
                let _ = show.send(bytes[..read].to_vec());
            }
        });
        Self { script, keyboard, screen, seen: String::new() }
    }

    /// Waits until something is to be seen. What is typed before the prompt is there would be read by the terminal itself.
    fn until(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let bytes = self.screen.recv_timeout(PATIENCE);
            let bytes = bytes.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.seen));
            self.seen += &String::from_utf8_lossy(&bytes);
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("typed");
        self.keyboard.flush().expect("typed");
    }

    /// Waits until the chat has ended. Everything that was to be seen.
    fn end(mut self) -> String {
        let begun = Instant::now();
        while self.script.try_wait().expect("asked").is_none() {
            if let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(20)) {
                self.seen += &String::from_utf8_lossy(&bytes);
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end: {:?}", self.seen);
        }
        for bytes in &self.screen {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        assert!(self.script.wait().expect("it ended").success(), "{:?}", self.seen);
        std::mem::take(&mut self.seen)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_there_is_a_prompt_and_ctrl_d_leaves() {
    if !has_script() {
        return;
    }
    let desk = desk().await;
    let _ = desk.run(&["chat", "-m", "look at it"]).success();
    let mut window = Window::open(&desk, "$CHAT");
    window.until("> ");
    // Two lines in one go, as they come out of a slow connection.
    window.press("/sta\t\r/repos\r");
    window.until("Platform: terminal");
    window.until("Codebases:");
    window.press("\u{4}");
    let seen = window.end();
    assert!(seen.contains("alice: look at it"), "the last things said: {seen:?}");
    assert!(seen.contains("Conversation alice@shop about shop."), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_shows_what_another_process_answered() {
    if !has_script() {
        return;
    }
    let desk = desk().await;
    let mut window = Window::open(&desk, "$CHAT");
    window.until("> ");
    let other = say(&desk, &["chat", "alice@shop", "-m", "this waits for it"]);
    let begun = begun(&desk).await;
    window.press("look at it\r");
    waiting(&desk, "alice@shop", 2).await;
    fs::write(begun.with_file_name("go"), "").expect("written");
    window.until("Seen thread-.");
    window.press("\u{4}");
    let seen = window.end();
    assert_eq!(seen.matches("Seen thread-.").count(), 1, "{seen:?}");
    let output = other.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "It came.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_interrupts_in_one_go_leave() {
    if !has_script() {
        return;
    }
    let desk = desk().await;
    let mut window = Window::open(&desk, "$CHAT");
    window.until("> ");
    window.press("this takes long\r");
    begun(&desk).await;
    window.press("\u{3}\u{3}");
    let seen = window.end();
    assert!(seen.contains("Begun."), "its last word is still shown: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_whose_terminal_closes_during_a_run_ends() {
    if !has_script() {
        return;
    }
    let desk = desk().await;
    let left = desk.folder().join("left");
    let command = format!("trap '' HUP; $CHAT 2>/dev/null; echo $? > {0}.new; mv {0}.new {0}", left.display());
    let mut window = Window::open(&desk, &command);
    window.until("> ");
    window.press("this takes long\r");
    begun(&desk).await;
    drop(window);
    let closed = Instant::now();
    while !left.exists() {
        assert!(closed.elapsed() < PATIENCE, "it does not end");
        tokio::task::yield_now().await;
    }
    waiting(&desk, "alice@shop", 0).await;
}
