//! `hedgerow github setup`: what it says, and an App that is made in a browser.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::Desk;

const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n";
const SECRET: &str = "hunter3-hunter3-hunter3";

#[tokio::test(flavor = "multi_thread")]
async fn setup_says_everything_that_github_must_be_told() {
    let desk = Desk::new().await;
    assert_snapshot!(desk.session(&["hedgerow github setup --url https://hedgerow.example/ --org acme"]), @r#"
    $ hedgerow github setup --url https://hedgerow.example/ --org acme
    Webhook URL: https://hedgerow.example/webhooks/github
    Content type: application/json

    Permissions on repositories:
      Contents         write  fetch the repository and push branches
      Issues           write  read issues, comment on them and react
      Pull requests    write  read and open pull requests, comment and answer reviews
      Metadata         read   see who may write to the repository; every App has it
      Checks           read   tell whether the checks of a pull request pass; for Apps, a token has no such permission
      Commit statuses  read   the same, for CI that reports in the older way
    Nothing else; above all neither Workflows nor Administration.

    Events:
      Issues                       somebody opens an issue with a mention, closes or transfers one
      Issue comment                a mention in a comment, also of a pull request
      Pull request                 one is opened with a mention, closed or merged; a review is asked for
      Pull request review          a mention in a review
      Pull request review comment  a mention on a line of code
      Branch or tag deletion       the branch of an environment is gone

    As a GitHub App (recommended):
      1. `hedgerow github setup --url https://hedgerow.example --org acme --create` makes it in your browser and keeps its key.
         By hand: https://github.com/organizations/acme/settings/apps/new, with what is above and a webhook secret of your own.
      2. Install it on your repositories.
      3. Set GITHUB_APP_ID, GITHUB_PRIVATE_KEY_FILE and GITHUB_WEBHOOK_SECRET, and start `hedgerow serve`.

    With a personal token (of an account of its own, if you can):
      1. Make a fine-grained token at https://github.com/settings/personal-access-tokens/new with these permissions.
      2. In each repository, Settings > Webhooks: add the URL above, application/json, a secret and these events.
      3. Set GITHUB_TOKEN and GITHUB_WEBHOOK_SECRET, and start `hedgerow serve`.

    `hedgerow doctor` checks all of it.

    The manifest of the App:
    {
      "name": "hedgerow-acme",
      "url": "https://hedgerow.example",
      "description": "Hands work to coding agents, each in an isolated environment of its repository.",
      "hook_attributes": {
        "url": "https://hedgerow.example/webhooks/github",
        "active": true
      },
      "public": false,
      "default_permissions": {
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "metadata": "read",
        "checks": "read",
        "statuses": "read"
      },
      "default_events": [
        "issues",
        "issue_comment",
        "pull_request",
        "pull_request_review",
        "pull_request_review_comment",
        "delete"
      ]
    }
    "#);
    let told = desk.json(&["github", "setup", "--url", "https://hedgerow.example", "--name", "Hedge"]);
    assert_eq!(told["webhook_url"], "https://hedgerow.example/webhooks/github");
    assert_eq!(told["manifest"]["name"], "Hedge");
    assert_eq!(told["permissions"].as_array().map(Vec::len), Some(6));
    assert_eq!(told["events"][1]["name"], "issue_comment");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_set_up_is_refused() {
    let desk = Desk::new().await;
    for line in [
        &["--url", "hedgerow.example"][..],
        &["--url", "https://"],
        &["--url", "https://bob@h.example"],
        &["--url", "https://h.example", "--org", "a/b"],
        &["--url", "https://h.example", "--name", ""],
        &["--url", "https://h.example", "--name", "a name that is longer than GitHub takes"],
        &[],
    ] {
        let said = desk.run(&[&["github", "setup"], line].concat());
        assert_eq!(said.status(), 2, "{said}");
    }
    let said = desk.run(&["github", "setup", "--url", "http://h.example"]).success();
    assert!(said.stderr().contains("can be read on its way"), "{said}");
}

/// A GitHub that makes one App from one code, and what it was asked.
fn github(status: u16, answer: &Value) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let body = answer.to_string();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a call");
        let mut asked = String::new();
        let mut lines = BufReader::new(stream.try_clone().expect("a socket"));
        while !asked.ends_with("\r\n\r\n") {
            assert!(lines.read_line(&mut asked).expect("a head") > 0, "{asked}");
        }
        let length = body.len();
        write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .expect("it is read");
        asked
    });
    (address, answering)
}

/// `hedgerow github setup --create`, at the point where somebody opens its page.
struct Setup {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
    page: String,
}

impl Setup {
    fn begin(desk: &Desk, api: SocketAddr) -> Self {
        let line = ["github", "setup", "--url", "https://h.example", "--org", "acme", "--create", "--json"];
        let mut command = desk.cli.command(desk.repo.path(), &line);
        command.env("GITHUB_API_URL", format!("http://{api}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says which page to open");
        let opened: Value = serde_json::from_str(&line).expect("JSON");
        Self { child, said, page: opened["open"].as_str().expect("a page").to_owned() }
    }

    /// Where the form goes, and the manifest in it.
    fn form(&self) -> (String, Value) {
        let (status, html) = fetch(&self.page);
        assert_eq!(status, 200, "{html}");
        let attribute = |name: &str| {
            let value = html.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.unwrap_or_else(|| panic!("{name}: {html}")).replace("&quot;", "\"").replace("&amp;", "&")
        };
        (attribute("action"), serde_json::from_str(&attribute("value")).expect("a manifest"))
    }

    /// All the rest that it said, and its status.
    fn ends(mut self) -> (i32, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.said.read_to_string(&mut out).expect("text");
        self.child.stderr.take().expect("its stderr").read_to_string(&mut err).expect("text");
        (self.child.wait().expect("it ends").code().unwrap_or(-1), out, err)
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn fetch(url: &str) -> (u16, String) {
    let rest = url.strip_prefix("http://").expect("a page of this machine");
    let (address, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

fn app() -> Value {
    json!({"id": 4711, "slug": "hedgerow-acme", "html_url": "https://github.com/apps/hedgerow-acme", "pem": KEY,
        "webhook_secret": SECRET, "client_id": "Iv1.x", "client_secret": "hunter4"})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_is_made_in_the_browser_and_its_secrets_are_kept() {
    let desk = Desk::new().await;
    let (api, github) = github(201, &app());
    let setup = Setup::begin(&desk, api);
    let (action, manifest) = setup.form();
    let (place, state) = action.split_once("?state=").expect("a state");
    assert_eq!(place, format!("http://{api}/organizations/acme/settings/apps/new"));
    assert_eq!(manifest["hook_attributes"]["url"], "https://h.example/webhooks/github");
    let back = manifest["redirect_url"].as_str().expect("a way back").to_owned();
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");

    let elsewhere = setup.page.rsplit_once('/').expect("a path").0.to_owned();
    assert_eq!(fetch(&format!("{elsewhere}/")).0, 404, "nobody finds the page who was not told");
    for wrong in ["?code=c0de", "?code=c0de&state=", "?code=c0de&state=wrong", &format!("?state={state}")] {
        assert_eq!(fetch(&format!("{back}{wrong}")).0, 400, "{wrong}");
    }
    assert_eq!(fetch(&format!("{back}?code=c0de&state={state}")).0, 200);

    let (status, out, err) = setup.ends();
    assert_eq!(status, 0, "{out}{err}");
    assert!(github.join().expect("it was called").starts_with("POST /app-manifests/c0de/conversions HTTP/1.1\r\n"));
    assert!(!format!("{out}{err}").contains("hunter"), "{out}{err}");
    let told: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&told["app_id"], &told["slug"]), (&json!(4711), &json!("hedgerow-acme")));
    assert_eq!(told["install"], "https://github.com/apps/hedgerow-acme/installations/new");
    let (key, variables) = (desk.home().join("github-app.pem"), desk.home().join("github.env"));
    for file in [&key, &variables] {
        assert_eq!(fs::metadata(file).expect("it is there").mode() & 0o7777, 0o600, "{}", file.display());
    }
    assert_eq!(fs::read_to_string(&key).expect("text"), KEY);
    let expected = format!(
        "GITHUB_APP_ID=4711\nGITHUB_PRIVATE_KEY_FILE={}\nGITHUB_WEBHOOK_SECRET={SECRET}\nGITHUB_API_URL=http://{api}\n\
         GITHUB_URL=http://{api}\n",
        key.display()
    );
    assert_eq!(fs::read_to_string(&variables).expect("text"), expected);

    let again = desk.run(&["github", "setup", "--url", "https://h.example", "--create"]);
    assert_eq!(again.status(), 3, "{again}");
    assert!(again.stderr().contains("github-app.pem is there already, and is not written over"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_whose_key_does_not_come_leaves_nothing_behind_and_says_what_to_do() {
    let desk = Desk::new().await;
    for (status, answer, told) in [
        (404, json!({"message": "Not Found"}), "GitHub does not know the code: it is good once, and for an hour"),
        (500, json!({}), "GitHub answered 500"),
        (201, json!({"id": 4711}), "GitHub's answer is not that of an App that was made"),
    ] {
        let (api, github) = github(status, &answer);
        let setup = Setup::begin(&desk, api);
        let (action, manifest) = setup.form();
        let state = action.split_once("?state=").expect("a state").1.to_owned();
        let back = manifest["redirect_url"].as_str().expect("a way back").to_owned();
        assert_eq!(fetch(&format!("{back}?code=c0de&state={state}")).0, 200);
        let (code, out, err) = setup.ends();
        github.join().expect("it was called");
        assert_eq!(code, 1, "{out}{err}");
        assert!(err.contains(told) && err.contains(&format!("http://{api}/organizations/acme/settings/apps")), "{err}");
        assert!(!desk.home().join("github-app.pem").exists() && !desk.home().join("github.env").exists());
    }
}
