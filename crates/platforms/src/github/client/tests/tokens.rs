//! As an App: who we say we are, and the tokens we are given.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hedgerow_core::platform::PlatformError;
use hedgerow_testkit::outside::github::claims_of;
use serde::de::IgnoredAny;
use tracing_subscriber::fmt::MakeWriter;

use super::server::{Said, Seen, Server};
use super::*;

/// Gives tokens `ghs_1`, `ghs_2`, … that live for so many minutes, and answers calls with the token that they came with.
async fn giving_tokens(minutes: i64, refused: &'static [&'static str]) -> Server {
    let given = AtomicUsize::new(0);
    Server::start(move |seen, _| {
        if seen.target.ends_with("/installation") {
            return Said::json(200, &json!({ "id": 99 }));
        }
        if seen.target.ends_with("/access_tokens") {
            let number = given.fetch_add(1, Ordering::SeqCst) + 1;
            let end = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
            return Said::json(201, &json!({ "token": format!("ghs_{number}"), "expires_at": end.to_string() }));
        }
        let token = bearer(seen);
        if refused.contains(&token) {
            Said::json(401, &json!({ "message": "Bad credentials" }))
        } else {
            Said::json(200, &json!(token))
        }
    })
    .await
}

fn bearer(seen: &Seen) -> &str {
    seen.header("authorization").strip_prefix("Bearer ").unwrap_or_default()
}

#[tokio::test]
async fn an_app_proves_itself_and_is_given_a_token_for_one_repository() {
    let server = giving_tokens(60, &[]).await;
    let client = client(&server.url, app());
    for _ in 0..3 {
        assert_eq!(client.get::<String>(&shop(), "/issues/1").await.as_deref(), Ok("ghs_1"));
    }
    assert_eq!(client.token(&shop()).await.expect("a token").reveal(), "ghs_1");

    let seen = server.seen();
    let targets: Vec<_> = seen.iter().map(|seen| seen.target.as_str()).collect();
    let call = "/repos/acme/shop/issues/1";
    let first = ["/repos/acme/shop/installation", "/app/installations/99/access_tokens"];
    assert_eq!(targets, [first[0], first[1], call, call, call]);
    assert_eq!(seen[1].json(), json!({ "repositories": ["shop"] }));
    for proof in [bearer(&seen[0]), bearer(&seen[1])] {
        let claims = claims_of(proof).expect("a good signature");
        let now = jiff::Timestamp::now().as_second();
        let (issued, ends) = (claims["iat"].as_i64().expect("a time"), claims["exp"].as_i64().expect("a time"));
        assert_eq!(claims["iss"], "4711");
        assert!((now - 70..=now - 60).contains(&issued), "{issued} at {now}");
        assert!(ends > now && ends - issued <= 600, "{claims}");
    }
}

#[tokio::test]
async fn an_app_is_given_a_token_for_a_repository_of_another_name() {
    let server = Server::start(|seen, _| match seen.target.strip_prefix("/repos/acme/shop") {
        Some(rest) => Said::json(301, &json!({}))
            .with("location", &format!("http://{}/repositories/7{rest}", seen.header("host"))),
        None if seen.target.ends_with("/installation") => Said::json(200, &json!({ "id": 99 })),
        None if seen.target.ends_with("/access_tokens") => {
            Said::json(201, &json!({ "token": "ghs_1", "expires_at": "2099-01-01T00:00:00Z" }))
        }
        None => Said::json(200, &json!(bearer(seen))),
    })
    .await;
    let client = client(&server.url, app());
    assert_eq!(client.get::<String>(&shop(), "/pulls/1").await.as_deref(), Ok("ghs_1"));
    let seen = server.seen();
    let wish = seen.iter().find(|seen| seen.target.ends_with("/access_tokens")).map(Seen::json);
    assert_eq!(wish, Some(json!({ "repository_ids": [7] })));
    assert_eq!(seen.last().map(|seen| seen.target.as_str()), Some("/repositories/7/pulls/1"));
}

#[tokio::test]
async fn of_many_who_need_a_token_one_fetches_it() {
    let server = giving_tokens(60, &[]).await;
    let client = Arc::new(client(&server.url, app()));
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.get::<String>(&shop(), "/x").await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.expect("no panic").as_deref(), Ok("ghs_1"));
    }
    assert_eq!((server.count("/access_tokens"), server.count("/x")), (1, 50));
}

#[tokio::test]
async fn each_repository_has_its_own_token() {
    let server = giving_tokens(60, &[]).await;
    let client = client(&server.url, app());
    let other = RepositoryName::new("acme", "blog").expect("a name");
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_1"));
    assert_eq!(client.get::<String>(&other, "/x").await.as_deref(), Ok("ghs_2"));
    let same = RepositoryName::new("Acme", "SHOP").expect("a name");
    assert_eq!(client.get::<String>(&same, "/x").await.as_deref(), Ok("ghs_1"));
}

#[tokio::test]
async fn a_token_is_replaced_before_it_ends() {
    // It has four minutes; in the last five it is not used for anything new.
    let server = giving_tokens(4, &[]).await;
    let client = client(&server.url, app());
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_1"));
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_2"));
    let server = giving_tokens(6, &[]).await;
    let client = super::client(&server.url, app());
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_1"));
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_1"));
}

#[tokio::test]
async fn a_token_that_is_no_longer_known_is_replaced_once() {
    let server = giving_tokens(60, &["ghs_1"]).await;
    let client = client(&server.url, app());
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_2"));
    assert_eq!(client.get::<String>(&shop(), "/x").await.as_deref(), Ok("ghs_2"));
    assert_eq!((server.count("/access_tokens"), server.count("/x")), (2, 3));

    let server = giving_tokens(60, &["ghs_1", "ghs_2", "ghs_3"]).await;
    let error = super::client(&server.url, app()).get::<String>(&shop(), "/x").await.expect_err("refused");
    assert_eq!(error, CallError::Refused { status: 401, message: "Bad credentials".to_owned() });
    assert_eq!((server.count("/access_tokens"), server.count("/x")), (2, 2));
}

#[tokio::test]
async fn a_personal_token_that_is_not_known_is_not_tried_again() {
    let server = giving_tokens(60, &["ghp_of_a_person"]).await;
    let error = client(&server.url, person()).get::<String>(&shop(), "/x").await.expect_err("refused");
    assert!(matches!(error, CallError::Refused { status: 401, .. }));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn an_app_that_is_not_there_says_nothing_about_what_is() {
    let server = Server::saying(Said::json(404, &json!({ "message": "Not Found" }))).await;
    let error = client(&server.url, app()).get::<IgnoredAny>(&shop(), "/issues/1").await.expect_err("refused");
    assert!(
        matches!(&error, CallError::Refused { status: 404, message } if message.contains("not installed on acme/shop"))
    );
}

#[tokio::test]
async fn we_know_who_we_are() {
    let server = Server::start(|seen, _| match seen.target.as_str() {
        "/user" => Said::json(200, &json!({ "login": "robot", "id": 7 })),
        "/app" => Said::json(200, &json!({ "slug": "hedgerow-acme", "id": 4711 })),
        _ => Said::json(404, &json!({})),
    })
    .await;
    let (person, app) = (client(&server.url, person()), client(&server.url, app()));
    for _ in 0..2 {
        assert_eq!(person.who().await, Ok(Me { login: "robot".to_owned(), id: Some(7) }));
        assert_eq!(app.who().await, Ok(Me { login: "hedgerow-acme[bot]".to_owned(), id: None }));
    }
    assert_eq!(server.seen().len(), 2);
    assert!(claims_of(bearer(&server.seen()[1])).is_some());
}

/// The same key in the other form that PEM files have.
fn in_pkcs8() -> String {
    /// What says that a key of RSA follows: the version 0, the kind, and how long it is.
    const OPENS: [u8; 18] = [2, 1, 0, 0x30, 13, 6, 9, 42, 134, 72, 134, 247, 13, 1, 1, 1, 5, 0];
    let length = |bytes: usize| u16::try_from(bytes).expect("a short key").to_be_bytes();
    let lines: String = APP_KEY.lines().filter(|line| !line.starts_with('-')).collect();
    let key = STANDARD.decode(lines).expect("it is base64");
    let inner = [OPENS.as_slice(), &[4, 0x82], &length(key.len()), &key].concat();
    let all = [[0x30, 0x82].as_slice(), &length(inner.len()), &inner].concat();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(all))
}

#[test]
fn a_key_is_taken_in_every_form_it_comes_in() {
    let made = |id: &str, key: &str| {
        let identity = Identity::App { id: id.to_owned(), key: Secret::new(key) };
        Client::new(Arc::new(config("https://api.github.com", identity)))
    };
    let pem = APP_KEY.to_owned();
    let (crlf, spelled) = (pem.replace('\n', "\r\n"), pem.replace('\n', "\\n"));
    let other = in_pkcs8();
    for good in [pem.clone(), crlf, format!("\n{pem}\n\n"), spelled, other.replace('\n', "\r\n"), other] {
        made("4711", &good).expect("a good key");
    }
    let public = pem.replace("PRIVATE", "PUBLIC");
    let broken = pem.lines().enumerate().filter(|(number, _)| *number != 3).map(|(_, line)| format!("{line}\n"));
    for bad in [String::new(), "nonsense".to_owned(), public, broken.collect(), pem.replace("RSA", "EC")] {
        let error = made("4711", &bad).expect_err("no key");
        assert!(error.contains("private key of the GitHub App cannot be read"), "{error}");
    }
    assert!(made(" ", &pem).expect_err("no id").contains("id of the GitHub App"));
    let empty = Identity::Token(Secret::new(" \n"));
    assert!(Client::new(Arc::new(config("https://api.github.com", empty))).is_err());
    assert!(Client::new(Arc::new(config("api.github.com", person()))).is_err());
}

/// What was logged, by all tests of this process: what each thread has for itself is not asked by all of `tracing`.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no test panics while holding it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_secret_is_ever_shown() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    tracing::subscriber::set_global_default(subscriber).expect("no other test listens to the log");
    let server = giving_tokens(60, &["ghs_1", "ghs_2"]).await;
    let mut shown = Vec::new();
    for identity in [app(), person()] {
        let client = client(&server.url, identity);
        let outcomes = [
            client.get::<String>(&shop(), "/x").await.map(|_| ()),
            client.get::<String>(&shop(), "/y").await.map(|_| ()),
            client.get::<u64>(&shop(), "/x").await.map(|_| ()),
            client.graphql::<Value>(&shop(), "query { a }", json!({})).await.map(|_| ()),
        ];
        for error in outcomes.into_iter().filter_map(Result::err) {
            shown.push(format!("{error} {error:?} {:?}", PlatformError::from(error.clone())));
        }
        shown.push(format!("{client:?}"));
    }
    shown.push(String::from_utf8_lossy(&log.0.lock().expect("no test panics while holding it")).into_owned());
    let shown = shown.join("\n");
    assert!(shown.contains("called GitHub"), "the log is empty");
    let proof =
        server.seen().iter().find(|seen| seen.target == "/repos/acme/shop/installation").map(|s| bearer(s).to_owned());
    let signature = proof.as_deref().and_then(|proof| proof.rsplit('.').next()).expect("a proof");
    let of_key = APP_KEY.lines().nth(1).expect("a line");
    for secret in ["ghs_1", "ghs_2", "ghs_3", "ghp_of_a_person", signature, of_key] {
        assert!(!shown.contains(secret), "{secret} is shown");
    }
}
