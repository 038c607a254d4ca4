//! The server itself: it takes connections, bounds them, and lets what is under way end before it goes.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use futures_util::FutureExt as _;
use hedgerow_engine::gateway::Gateway;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt as _;

use crate::gateway::{self, CallLimits};
use crate::patient::Patient;
use crate::web::{Limits, Web, until_set};

/// After an error of the system, such as no file descriptors left, before the next try.
const BREATHER: Duration = Duration::from_millis(100);

/// Serves until `shutdown`. Then it stops listening, sends followers home and lets requests end.
pub async fn serve(web: Web, listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let tail = tokio::spawn(web.feed().clone().tail(web.engine().store().clone()));
    attend(listener, &router, web.limits(), shutdown, || web.close()).await;
    tail.abort();
}

/// Serves nothing but the gateway until `shutdown`: for a process that starts agents and is no server.
pub async fn serve_models(gateway: Arc<Gateway>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    serve_routes(listener, gateway::routes(&gateway, CallLimits::default()), shutdown).await;
}

/// Serves these routes, as they are, until `shutdown`.
pub async fn serve_routes(listener: TcpListener, routes: Router, shutdown: impl Future<Output = ()>) {
    attend(listener, &routes, &Limits::default(), shutdown, || {}).await;
}

/// Takes connections until `shutdown`, and lets requests end.
async fn attend(
    listener: TcpListener,
    router: &Router,
    limits: &Limits,
    shutdown: impl Future<Output = ()>,
    goes: impl FnOnce(),
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let (closing, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown.fuse());
    loop {
        // Room first: who finds none waits in the system's own queue.
        let accepted = async {
            let seat = Arc::clone(&room).acquire_owned().await.expect("the semaphore is never closed");
            listener.accept().await.map(|(stream, _)| (seat, stream))
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = accepted => match accepted {
                Ok((seat, stream)) => {
                    let connection = talk(stream, router.clone(), limits.clone(), closing.subscribe());
                    connections.spawn(async move {
                        connection.await;
                        drop(seat);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    sleep(BREATHER).await;
                }
            },
        }
    }
    drop(listener);
    goes();
    closing.send_replace(true);
    let ended = timeout(limits.grace, async { while connections.join_next().await.is_some() {} }).await;
    if ended.is_err() {
        tracing::warn!(left = connections.len(), "requests were still under way and are cut off");
        connections.shutdown().await;
    }
}

/// One connection, to its end.
async fn talk(stream: TcpStream, router: Router, limits: Limits, mut closing: watch::Receiver<bool>) {
    // Small pieces of live text go out at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small pieces may wait for each other");
    }
    let io = TokioIo::new(Patient::new(stream, limits.write));
    let routes = service_fn(|request: Request<Incoming>| router.clone().oneshot(request));
    let connection =
        http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(limits.head).serve_connection(io, routes);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = until_set(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
