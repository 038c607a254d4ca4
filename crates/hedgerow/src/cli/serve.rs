//! `hedgerow serve`: everything at once, until it is told to go. This is where the parts are joined.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hedgerow_core::message::Inbox;
use hedgerow_core::platform::{Platform, PlatformKind};
use hedgerow_core::{Kind, RepositoryName, Timestamp, UserError};
use hedgerow_engine::assistant::Assistants;
use hedgerow_engine::dispatch::Dispatcher;
use hedgerow_engine::engine::Round;
use hedgerow_engine::{Engine, Outcome, pull_requests, timer};
use hedgerow_platforms::github::catch_up::{self, Looked, keep_looking};
use hedgerow_platforms::github::{GitHub, webhook};
use hedgerow_web::{Hook, HttpPlatform, Token, Web};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::context::{Context, hosted};
use super::signals::Signals;
use crate::settings::{GitHubSettings, Server, token};
use crate::words;

/// So long runs may take to finish when the server is told to go. One that is longer is stopped, and its conversation
/// is told.
const GRACE: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hedgerow serve
  hedgerow serve --listen 127.0.0.1:8080
  curl -H \"Authorization: Bearer $(cat ~/.hedgerow/token)\" http://127.0.0.1:4747/api/v1/codebases

The log goes to stderr; with --json it is JSON, one object on each line. Ctrl-C or SIGTERM ends the server when what \
is under way is done, after 30 seconds at most; a second one ends it at once, and the next start takes up what was \
left.")]
pub(super) struct Arguments {
    /// Where to listen; otherwise HEDGEROW_LISTEN, otherwise 127.0.0.1:4747
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
}

/// 1. The port and the token: what is wrong with them is known before anything begins.
/// 2. What happened while nobody looked is put right.
/// 3. Messages, the timer and HTTP, until a signal comes.
pub(super) async fn run(arguments: &Arguments, context: &Context<'_>, server: &Server) -> Outcome<ExitCode> {
    let mut signals = Signals::listen()?;
    let engine = &context.engine;
    let listener = bind(arguments.listen.unwrap_or(server.listen)).await?;
    let address = listener.local_addr().map_err(anyhow::Error::from)?;
    if let Some(gateway) = engine.gateway() {
        gateway.listens_at(address);
    }
    let secret = token::token(server.token.as_ref(), &engine.settings().home)?;
    let reconciled = engine.reconcile().await?;
    tracing::debug!(?reconciled, "looked at every environment");

    let platform = Arc::new(HttpPlatform::new());
    let assistants = Assistants::new(&engine.settings().runs, &engine.settings().home);
    if assistants.names().is_empty() {
        tracing::warn!("no assistant is configured, so only commands are answered; docs/assistants.md tells how");
    }
    if let Some(words) = engine.sandbox_words() {
        tracing::warn!("{words}");
    }
    tell_of_github(&server.github, address);
    let mut platforms: Vec<Arc<dyn Platform>> = vec![platform.clone()];
    platforms.extend(server.github.door.clone().map(|door| door as Arc<dyn Platform>));
    let last_heard = engine.store().last_delivery(PlatformKind::Github).await?;
    let dispatcher = Dispatcher::start(engine.clone(), platforms, assistants).await?;
    let inbox: Arc<dyn Inbox> = Arc::new(dispatcher.clone());
    let web = Web::new(engine.clone(), Arc::clone(&inbox), &platform, Token::new(secret.reveal()));
    announce(context, server, address)?;

    let closing = watch::Sender::new(false);
    let goes = || {
        let mut closing = closing.subscribe();
        // An error would mean that nobody is left who could say so, which comes to the same.
        async move { drop(closing.wait_for(|closing| *closing).await) }
    };
    let github = server.github.door.as_ref();
    let hooks = github.map(|door| Hook {
        path: webhook::PATH,
        summary: "Hear from GitHub",
        routes: webhook::routes(Arc::clone(door), Arc::clone(&inbox)),
    });
    let routes = hedgerow_web::router_with(web.clone(), hooks.into_iter().collect());
    let everything = async {
        tokio::join!(
            hedgerow_web::serve(web, listener, routes, goes()),
            timer::run(engine, goes(), |round| tell(&round)),
            pull_requests::follow(engine, goes()),
            async {
                if let Some(door) = github {
                    Box::pin(look(door, inbox.as_ref(), engine, last_heard, goes())).await;
                }
            },
            async {
                goes().await;
                dispatcher.shutdown(GRACE).await;
            },
        );
    };
    let stopped = async {
        let signal = signals.next().await;
        tracing::info!(signal = signal.as_raw(), "going down when what is under way is done; once more, and at once");
        closing.send_replace(true);
        signals.stop().await
    };
    tokio::select! {
        () = everything => Ok(ExitCode::SUCCESS),
        code = stopped => Ok(ExitCode::from(code)),
    }
}

async fn bind(listen: SocketAddr) -> Outcome<TcpListener> {
    let error = match TcpListener::bind(listen).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    let elsewhere = "listen elsewhere with `--listen` or HEDGEROW_LISTEN";
    Err(match error.kind() {
        ErrorKind::AddrInUse => UserError::new(Kind::Busy, format!("{listen} is taken: something else listens there"))
            .hint("if that is another `hedgerow serve`, it is serving already")
            .hint(elsewhere),
        _ => UserError::new(Kind::Failed, format!("cannot listen on {listen}: {error}")).hint(elsewhere),
    }
    .into())
}

/// One line that says where we are, for people and for scripts that wait for it.
fn announce(context: &Context<'_>, server: &Server, address: SocketAddr) -> Outcome<()> {
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "others can reach this address, and there is no TLS: put a proxy with TLS before it");
    }
    let kept = server.token.is_none().then(|| token::file(&context.engine.settings().home));
    if context.out.is_json() {
        let url = format!("http://{address}");
        return context.out.json_line(&serde_json::json!({"listening": url, "token_file": kept}));
    }
    context.out.say(&words::listening(address, kept.as_deref()));
    Ok(())
}

/// What looking for missed deliveries needs of the engine.
struct Diary<'a> {
    engine: &'a Engine,
    door: &'a GitHub,
}

#[async_trait]
impl catch_up::Diary for Diary<'_> {
    async fn repositories(&self) -> Option<Vec<(RepositoryName, Timestamp)>> {
        let hosted = hosted(self.engine, self.door).await;
        hosted.inspect_err(|error| tracing::warn!(%error, "the repositories to look at are not known")).ok()
    }

    async fn looked(&self, repository: &RepositoryName) -> Option<Looked> {
        let looked = self.engine.store().looked(PlatformKind::Github, &repository.to_string()).await;
        let looked = looked.inspect_err(|error| tracing::warn!(%error, "how far GitHub was looked at is not known"));
        looked.ok().flatten().map(|(since, until)| Looked { since, until })
    }

    async fn looks(&self, repository: &RepositoryName, looked: Looked) {
        let (store, place) = (self.engine.store(), repository.to_string());
        if let Err(error) = store.set_looked(PlatformKind::Github, &place, (looked.since, looked.until)).await {
            tracing::warn!(%error, "how far GitHub was looked at cannot be written down");
        }
    }

    fn now(&self) -> Timestamp {
        self.engine.now()
    }
}

/// Looks for what GitHub did not deliver, in the repositories of all codebases as they are at each look.
async fn look(
    door: &GitHub,
    inbox: &dyn Inbox,
    engine: &Engine,
    last_heard: Option<Timestamp>,
    shutdown: impl Future<Output = ()>,
) {
    keep_looking(door, inbox, &Diary { engine, door }, last_heard, shutdown).await;
}

/// What keeps GitHub from reaching us, or us from hearing it.
fn tell_of_github(github: &GitHubSettings, address: SocketAddr) {
    let has_secret = !github.webhook_secrets.is_empty();
    if github.door.is_none() {
        if has_secret {
            tracing::warn!("a webhook secret is set, and neither a token nor an App, so GitHub is off");
        }
        return;
    }
    if github.has_unused_token {
        tracing::info!("there are a token and an App for GitHub; the App is used");
    }
    if !has_secret {
        tracing::warn!(
            "no webhook secret is set, so no delivery of GitHub is accepted; mentions are found only by looking for them"
        );
    } else if address.ip().is_loopback() {
        tracing::info!("only this machine reaches the server: GitHub's deliveries need a proxy or a tunnel before it");
    }
}

fn tell(round: &Round) {
    let (summary, machine) = (words::sweep_summary(round.lines()), words::round_summary(round));
    tracing::info!(summary, machine, "a round of cleanup is done");
}
