//! `/api/v1/conversations/{id}/messages`: what is said, and what is answered.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use hedgerow_core::message::{Accepted, DeliveryKey, RawEvent};
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::{MessageId, Timestamp, command};
use hedgerow_engine::store::Served;
use serde::{Deserialize, Serialize};

use crate::error::{Answer, Problem};
use crate::platform::{BEARER, Said};
use crate::reading::{Asked, Given, LONGEST_NAME, Named, plain};
use crate::web::Web;

/// How many messages are read when nobody says, and at most.
const USUAL: u32 = 100;
const MOST: u32 = 1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    text: String,
    codebase: Option<String>,
    author: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Written {
    message_id: MessageId,
}

/// Takes a message. When this answers, it is on disk.
pub(crate) async fn write(
    State(web): State<Web>,
    Named(conversation): Named,
    headers: HeaderMap,
    Given(body): Given<Body>,
) -> Answer<(StatusCode, Json<Written>)> {
    let delivery = delivery(&headers, &conversation)?;
    if body.text.trim().is_empty() {
        return Err(Problem::usage("`text` is empty"));
    }
    let urgent = command::is_urgent(&body.text);
    let said = Said {
        conversation: conversation.clone(),
        text: body.text,
        codebase: body.codebase.map(|name| plain("`codebase`", name)).transpose()?,
        author: body.author.map(relayed).transpose()?,
    };
    let raw = RawEvent {
        platform: PlatformKind::Http,
        delivery: DeliveryKey { id: delivery, meaning: None },
        lane: conversation,
        urgent,
        body: serde_json::to_string(&said).map_err(|_| Problem::internal())?,
        received_at: web.engine().now(),
    };
    let began = Instant::now();
    let accepted = web.inbox().accept(raw).await;
    web.metrics().message(accepted, began.elapsed());
    match accepted {
        Accepted::Queued(message_id) | Accepted::Duplicate(message_id) => {
            Ok((StatusCode::ACCEPTED, Json(Written { message_id })))
        }
        Accepted::Busy => Err(Problem::no_room("no more messages can be taken at the moment")),
    }
}

/// The person a front end speaks for. Nobody may be called what the bearer of the token is called, who may do more.
fn relayed(name: String) -> Answer<String> {
    if name.trim() == BEARER {
        return Err(Problem::usage(format!(
            "`author` must not be `{BEARER}`: that is who has the token; leave it out"
        )));
    }
    plain("`author`", name)
}

/// The name under which a repeat is recognised: the caller's key, which counts within one conversation, or a new one.
/// A key has no spaces, so the first space ends it.
fn delivery(headers: &HeaderMap, conversation: &str) -> Answer<String> {
    let mut keys = headers.get_all("idempotency-key").iter();
    let Some(key) = keys.next() else { return Ok(MessageId::new().to_string()) };
    let is_good =
        |key: &&str| (1..=LONGEST_NAME).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    match (key.to_str().ok().filter(is_good), keys.next()) {
        (Some(key), None) => Ok(format!("{key} {conversation}")),
        _ => Err(Problem::usage(format!(
            "`Idempotency-Key` must be one word of at most {LONGEST_NAME} visible ASCII characters"
        ))),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    limit: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    author: String,
    text: String,
    #[serde(rename = "final")]
    is_final: bool,
    at: Timestamp,
    /// Which message it is, or answers.
    message_id: Option<MessageId>,
}

/// The newest messages of a conversation, oldest first.
pub(crate) async fn read(
    State(web): State<Web>,
    Named(id): Named,
    Asked(query): Asked<Query>,
) -> Answer<Json<Vec<Shown>>> {
    let limit = query.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::usage(format!("`limit` must be a whole number from 1 to {MOST}")));
    }
    let store = web.engine().store();
    // In this order: a message that is not waiting any more has made its conversation known.
    let waits = store.unfinished(&Served { platform: PlatformKind::Http, only: Some(id.clone()) }).await? > 0;
    let key = ConversationKey { platform: PlatformKind::Http, id };
    let spoken = match store.known_conversation(&key).await? {
        Some(conversation) => store.spoken(conversation.id, limit).await?,
        None if waits => Vec::new(),
        None => {
            let problem = Problem::not_found(format!("there is no conversation `{}`", key.id));
            return Err(problem.hint("a `POST` to this path begins it"));
        }
    };
    let bot = &web.engine().settings().runs.bot_name;
    let shown = spoken.into_iter().map(|spoken| Shown {
        author: spoken.author.map_or_else(|| bot.clone(), |author| author.to_string()),
        text: spoken.text,
        is_final: spoken.last,
        at: spoken.at,
        message_id: spoken.message,
    });
    Ok(Json(shown.collect()))
}
