//! A single request that carries no token of ours: the code of a new App is exchanged so, and a saved delivery is replayed.

use std::time::Duration;

use hedgerow_core::Secret;
use reqwest::redirect;

use super::manifest::{Created, read_created};
use super::signature;

const LONGEST_CONNECT: Duration = Duration::from_secs(10);
const LONGEST_EXCHANGE: Duration = Duration::from_secs(30);
/// Most bytes of an answer that are read.
const MOST_BYTES: usize = 256 * 1024;

/// What was answered.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Exchanges the code that a new App was made with for the App and its secrets. It works once, within an hour.
///
/// # Errors
/// In words.
pub async fn fetch_created(api_url: &str, code: &str) -> Result<Created, String> {
    // It becomes a part of a path.
    if !is_code(code) {
        return Err("that is not a code of GitHub".to_owned());
    }
    let headers = [("accept", "application/vnd.github+json".to_owned())];
    let answered = post(&format!("{api_url}/app-manifests/{code}/conversions"), &headers, Vec::new()).await?;
    match answered.status {
        200..=299 => read_created(&answered.body),
        404 => Err("GitHub does not know the code: it is good once, and for an hour".to_owned()),
        status => Err(format!("GitHub answered {status}")),
    }
}

/// Whether it can be the code of a new App.
fn is_code(text: &str) -> bool {
    (1..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// A delivery as GitHub would send it.
#[derive(Debug)]
pub struct Delivery<'a> {
    pub event: &'a str,
    pub id: &'a str,
    pub body: Vec<u8>,
}

/// Sends a delivery to a server, signed.
///
/// # Errors
/// In words, when nobody answers.
pub async fn deliver(url: &str, secret: &Secret, delivery: Delivery<'_>) -> Result<Answered, String> {
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("x-github-event", delivery.event.to_owned()),
        ("x-github-delivery", delivery.id.to_owned()),
        ("x-hub-signature-256", signature::header(&delivery.body, secret)),
    ];
    post(url, &headers, delivery.body).await
}

async fn post(url: &str, headers: &[(&str, String)], body: Vec<u8>) -> Result<Answered, String> {
    // It can be there already only when somebody else in this process has chosen, which is as good.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(LONGEST_CONNECT)
        .timeout(LONGEST_EXCHANGE)
        .redirect(redirect::Policy::none())
        .user_agent(concat!("hedgerow/", env!("CARGO_PKG_VERSION")));
    if ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|here| url.starts_with(here)) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(|error| told(&error))?;
    let mut request = client.post(url).body(body);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let mut response = request.send().await.map_err(|error| told(&error.without_url()))?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| told(&error.without_url()))? {
        body.extend_from_slice(&piece);
        if body.len() > MOST_BYTES {
            return Err("the answer is longer than anything that should come".to_owned());
        }
    }
    Ok(Answered { status, body })
}

/// What happened, without the layers of who noticed.
fn told(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
