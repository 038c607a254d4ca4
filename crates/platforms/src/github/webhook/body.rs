//! The body of a delivery: bounded in size and time, and taken out of a form when it is in one.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Refusal;

/// What GitHub sends at most is 25 MB.
pub const LARGEST: usize = 25 * 1024 * 1024;
/// For a whole body.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Bodies of up to this size are read as they come.
const SMALL: u64 = 1024 * 1024;
/// How many larger ones are read at once: until it is read, nobody knows who sent it.
const LARGE_AT_ONCE: usize = 8;

pub(super) struct Reading {
    large: Semaphore,
    patience: Duration,
}

impl Default for Reading {
    fn default() -> Self {
        Self { large: Semaphore::new(LARGE_AT_ONCE), patience: PATIENCE }
    }
}

impl Reading {
    pub(super) async fn read(&self, body: Body) -> Result<Bytes, Refusal> {
        let too_large = || {
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body is larger than {LARGEST} bytes"))
        };
        let announced = body.size_hint();
        // What is announced to be too large is not waited for.
        if announced.lower() > LARGEST as u64 {
            return Err(too_large());
        }
        let is_small = announced.upper().is_some_and(|most| most <= SMALL);
        let read = async {
            let _seat =
                if is_small { None } else { Some(self.large.acquire().await.expect("the semaphore is never closed")) };
            Limited::new(body, LARGEST).collect().await
        };
        match timeout(self.patience, read).await {
            Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the body took too long to arrive")),
            Ok(Ok(read)) => Ok(read.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => Err(Refusal::bad("the body ended before its end")),
        }
    }
}

/// Whether the webhook sends forms. JSON is what is taken otherwise, whatever the type says.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes().trim_ascii());
    let form = b"application/x-www-form-urlencoded";
    kind.and_then(|kind| kind.get(..form.len())).is_some_and(|kind| kind.eq_ignore_ascii_case(form))
}

/// The field `payload` of a form, decoded.
pub(super) fn of_form(form: &[u8]) -> Option<Vec<u8>> {
    let field = form.split(|byte| *byte == b'&').find_map(|field| field.strip_prefix(b"payload="))?;
    let mut decoded = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        decoded.push(match first {
            b'+' => b' ',
            b'%' => {
                let byte = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
                rest = after.get(2..)?;
                u8::from_str_radix(byte.filter(|pair| !pair.starts_with('+'))?, 16).ok()?
            }
            other => *other,
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_body_that_never_ends_is_not_waited_for() {
        let reading = Reading { patience: Duration::from_millis(20), ..Reading::default() };
        // One that holds no more than its seat, and as many as there are seats.
        for _ in 0..=LARGE_AT_ONCE {
            let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
            let refusal = reading.read(never).await.expect_err("it never ends");
            assert_eq!(refusal.status, StatusCode::REQUEST_TIMEOUT);
        }
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_refused() {
        let pieces = [Ok(Bytes::from_static(b"{")), Err("gone")];
        let refusal = Reading::default().read(Body::from_stream(stream::iter(pieces))).await.expect_err("it broke off");
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn a_form_has_one_field_for_us() {
        assert_eq!(of_form(b"a=b&payload=%7b%22a%22%3A+1%7D&payload=2").as_deref(), Some(&b"{\"a\": 1}"[..]));
        assert_eq!(of_form(b"payload=").as_deref(), Some(&b""[..]));
        for bad in ["", "a=b", "payload", "payload=%", "payload=%7", "payload=%zz", "payload=%+7", "xpayload=1"] {
            assert_eq!(of_form(bad.as_bytes()), None, "{bad}");
        }
    }
}
