//! The page on this machine that sends a person to GitHub with the form for an App, and where GitHub sends them back to.
//!
//! Its path cannot be guessed, and what comes back must carry the word that was sent along: nobody else, on this machine or on a
//! web page, can slip in an App of theirs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use hedgerow_core::{Kind, UserError};
use hedgerow_engine::{Outcome, Token};
use hedgerow_platforms::github::manifest::{self, Wish};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// So long a person may take.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// Who comes back, and what they bring.
#[derive(Deserialize)]
struct Back {
    code: Option<String>,
    state: Option<String>,
}

struct Page {
    html: String,
    state: Token,
    code: Mutex<Option<oneshot::Sender<String>>>,
}

/// A page that waits for one person.
pub(super) struct Waiting {
    /// To be opened in a browser.
    pub(super) url: String,
    listener: TcpListener,
    page: Arc<Page>,
    secret: String,
    code: oneshot::Receiver<String>,
}

impl Waiting {
    pub(super) async fn open(name: &str, server_url: &str, web_url: &str, organization: Option<&str>) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| {
            UserError::new(Kind::Failed, format!("cannot open a page on this machine: {error}"))
                .hint("without `--create` the steps are for you to do by hand")
        })?;
        let address = listener.local_addr().map_err(anyhow::Error::from)?;
        let random = || hedgerow_engine::token::new_secret().map_err(anyhow::Error::from);
        let (secret, state) = (random()?, random()?);
        let back = format!("http://{address}/{secret}/created");
        let manifest = manifest::manifest(&Wish { name, server_url, redirect_url: Some(&back) });
        let html = form(&manifest::creation_url(web_url, organization, &state), &manifest.to_string(), web_url);
        let (sender, code) = oneshot::channel();
        let page = Page { html, state: Token::new(&state), code: Mutex::new(Some(sender)) };
        Ok(Self { url: format!("http://{address}/{secret}"), listener, page: Arc::new(page), secret, code })
    }

    /// Until the person is back with a code.
    pub(super) async fn code(self) -> Outcome<String> {
        let Self { listener, page, secret, mut code, .. } = self;
        let routes = Router::new()
            .route(&format!("/{secret}"), get(begin))
            .route(&format!("/{secret}/created"), get(end))
            .with_state(page);
        let (done, is_done) = oneshot::channel::<()>();
        let serving = hedgerow_web::serve_routes(listener, routes, async { drop(is_done.await) });
        let waiting = async {
            let came = tokio::time::timeout(LONGEST_WAIT, &mut code).await;
            drop(done);
            came
        };
        let (came, ()) = tokio::join!(waiting, serving);
        came.ok().and_then(Result::ok).ok_or_else(|| {
            UserError::new(Kind::Failed, "nobody came back from GitHub within 10 minutes; nothing was changed here")
                .hint("run it again when you are ready; without `--create` the steps are for you to do by hand")
                .into()
        })
    }
}

async fn begin(State(page): State<Arc<Page>>) -> Response {
    // The form may go to where it says and nowhere else, and nobody learns this address from it.
    let headers = [("referrer-policy", "no-referrer"), ("cache-control", "no-store"), ("x-frame-options", "DENY")];
    (headers, Html(page.html.clone())).into_response()
}

async fn end(State(page): State<Arc<Page>>, Query(back): Query<Back>) -> Response {
    let is_ours = back.state.is_some_and(|state| page.state.is(state.as_bytes()));
    let Some(code) = back.code.filter(|_| is_ours) else {
        return (StatusCode::BAD_REQUEST, "This did not come from GitHub at the end of what was begun here.\n")
            .into_response();
    };
    let sender = page.code.lock().expect("nobody panics while holding it").take();
    if let Some(sender) = sender {
        // Whoever waited may have given up just now; then there is nobody to tell.
        _ = sender.send(code);
    }
    "The App is made. The rest is in your terminal; you can close this page.\n".into_response()
}

fn form(action: &str, manifest: &str, web_url: &str) -> String {
    let (action, manifest, web_url) = (escaped(action), escaped(manifest), escaped(web_url));
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Hedgerow</title>\n\
         <body style=\"font-family: sans-serif; max-width: 36em; margin: 4em auto\">\n\
         <h1>A GitHub App for Hedgerow</h1>\n\
         <p>This takes you to {web_url}, with the form filled in. There you choose its name and create it.</p>\n\
         <form method=\"post\" action=\"{action}\"><input type=\"hidden\" name=\"manifest\" value=\"{manifest}\">\n\
         <button style=\"font-size: 1.2em\">Go to GitHub</button></form></body></html>\n"
    )
}

/// A text inside of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
