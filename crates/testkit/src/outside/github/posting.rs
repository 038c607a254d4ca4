//! Deliveries on their way, one after the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Office;
use super::delivery::{APP_HOOK, Delivery, REPOSITORY_HOOK, signature};
use crate::http::{Ask, try_ask};

/// As long as GitHub waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn deliver(office: Arc<Office>, mut parcels: mpsc::UnboundedReceiver<usize>) {
    while let Some(index) = parcels.recv().await {
        let (delivery, target, delay) = office
            .world(|world| (world.post.deliveries[index].clone(), world.post.target.clone(), world.post.mode.delay));
        if !delay.is_zero() {
            sleep(delay).await;
        }
        let status = match target {
            Some((url, secret)) => sent(&delivery, &url, &secret).await,
            None => None,
        };
        office.world(|world| {
            world.post.deliveries[index].status = status;
            world.post.arrived();
        });
    }
}

/// The answer's status; `None` when there was none.
async fn sent(delivery: &Delivery, url: &str, secret: &str) -> Option<u16> {
    let (host, path) = url.strip_prefix("http://")?.split_once('/')?;
    let address: SocketAddr = host.replace("localhost", "127.0.0.1").parse().ok()?;
    let body = delivery.body.as_bytes();
    let (hook, kind) = if delivery.is_of_app { (APP_HOOK, "integration") } else { (REPOSITORY_HOOK, "repository") };
    let ask = Ask::new("POST", &format!("/{path}"))
        .header("Host", host)
        .header("User-Agent", "GitHub-Hookshot/0a1b2c3")
        .header("Accept", "*/*")
        .header("Content-Type", "application/json")
        .header("X-GitHub-Delivery", &delivery.guid)
        .header("X-GitHub-Event", &delivery.event)
        .header("X-GitHub-Hook-ID", &hook.to_string())
        .header("X-GitHub-Hook-Installation-Target-ID", &hook.to_string())
        .header("X-GitHub-Hook-Installation-Target-Type", kind)
        .header("X-Hub-Signature-256", &signature(secret, body))
        .bytes(body);
    let answered = timeout(PATIENCE, try_ask(address, &ask)).await.ok()??;
    Some(answered.status)
}
