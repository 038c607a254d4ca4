//! `fake-github [port] [--repository acme/shop] [--deliver-to url secret]` is the GitHub of the tests, to be tried by
//! hand. It prints where it is and a token; people's deeds come by `POST /control/…`, such as
//! `curl -d '{"number": 1, "text": "@hedgerow hello"}' http://127.0.0.1:4711/control/says`.

use std::time::Duration;

use anyhow::Context as _;
use hedgerow_testkit::outside::github::{GitHub, Role};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "this program's words to a person")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut port, mut name, mut target) = (0, "acme/shop".to_owned(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--repository" => name = arguments.next().context("--repository needs a name")?,
            "--deliver-to" => {
                let words = "--deliver-to needs a URL and a secret";
                target = Some((arguments.next().context(words)?, arguments.next().context(words)?));
            }
            other => port = other.parse().with_context(|| format!("`{other}` is no port"))?,
        }
    }
    let github = GitHub::start_at(port).await?;
    let repository = github.repository(&name).with("alice", Role::Write).with("hedgerow", Role::Admin);
    let issue = repository.issue(1).titled("The first issue").opened_by("alice").await;
    if let Some((url, secret)) = target {
        github.delivers_to(&url, &secret);
    }
    println!("GITHUB_API_URL={}", github.api_url());
    println!("GITHUB_TOKEN={}", github.token_of("hedgerow"));
    println!("git clone {}", repository.clone_url());
    println!("{} waits", issue.conversation());
    let (mut told, mut warned, mut delivered) = (0, 0, 0);
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let (requests, faults, deliveries) = (github.requests(), github.faults(), github.deliveries());
        for request in &requests[told..] {
            println!("{} {} {} {:?}", request.status, request.method, request.path, request.login);
        }
        for fault in &faults[warned..] {
            println!("fault: {fault}");
        }
        for delivery in &deliveries[delivered..] {
            println!("delivery {} {} {}", delivery.event, delivery.action, delivery.guid);
        }
        (told, warned, delivered) = (requests.len(), faults.len(), deliveries.len());
    }
}
