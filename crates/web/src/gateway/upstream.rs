//! The connections to the makers of models.
//!
//! The proxy variables of whoever runs the server are heeded, as by every program of theirs; an API on this very machine
//! is reached directly. A redirect is not followed: it would carry the key to somebody else.

use std::net::IpAddr;
use std::sync::{Once, OnceLock};
use std::time::Duration;

use axum::http::Method;
use hedgerow_engine::gateway::Upstream;
use reqwest::{Client, RequestBuilder, Url, redirect};

use super::headers;

const LONGEST_CONNECT: Duration = Duration::from_secs(10);
/// So long a connection is kept for the next call.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// The way to one maker.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) to: Upstream,
    /// Made by the first call: reading the system's certificates takes a moment.
    client: OnceLock<Result<Client, String>>,
}

impl Lane {
    pub(super) fn new(to: Upstream) -> Self {
        Self { to, client: OnceLock::new() }
    }

    /// A request with the true key in it.
    pub(super) fn request(&self, method: Method, path: &str, query: Option<&str>) -> Result<RequestBuilder, String> {
        let mut url = Url::parse(&format!("{}/{path}", self.to.url)).map_err(|error| error.to_string())?;
        url.set_query(query);
        let client = self.client.get_or_init(|| client(&url)).as_ref().map_err(Clone::clone)?;
        let key = headers::key(self.to.maker, self.to.key.reveal()).ok_or("the key cannot stand in a header")?;
        Ok(client.request(method, url).header(key.0, key.1))
    }
}

fn client(url: &Url) -> Result<Client, String> {
    static CRYPTOGRAPHY: Once = Once::new();
    CRYPTOGRAPHY.call_once(|| {
        // It can be there already only when somebody else in this process has chosen, which is as good.
        _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .connect_timeout(LONGEST_CONNECT)
        .redirect(redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        // Before the other side thinks of closing it: a request that has begun cannot be sent again.
        .pool_idle_timeout(LONGEST_REST);
    if is_here(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.to_string())
}

/// Whether it is on this machine.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
