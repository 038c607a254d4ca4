//! The body of a delivery: bounded in size and time, and taken out of a form when it is in one.

use std::error::Error;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Refusal;

/// What GitHub sends at most is 25 MB.
pub const LARGEST: usize = 25 * 1024 * 1024;
/// For a whole body. GitHub itself waits no longer for its answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Bodies of up to this size are read as they come.
const SMALL: usize = 1024 * 1024;
/// How many larger ones are read on at once: until it is read, nobody knows who sent it.
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
        let read = async {
            let (mut body, mut read, mut seat) = (Limited::new(body, LARGEST), Vec::new(), None);
            while let Some(frame) = body.frame().await {
                let Ok(piece) = frame?.into_data() else { continue };
                read.extend_from_slice(&piece);
                // Who only announces much, or nothing, takes nobody's seat.
                if seat.is_none() && read.len() > SMALL {
                    seat = Some(self.large.acquire().await.expect("the semaphore is never closed"));
                }
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(read)
        };
        match timeout(self.patience, read).await {
            Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the body took too long to arrive")),
            Ok(Ok(read)) => Ok(read.into()),
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
    use futures_util::StreamExt as _;
    use futures_util::future::join_all;
    use futures_util::stream;
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_body_that_never_ends_is_not_waited_for() {
        let reading = Reading { patience: Duration::from_millis(20), ..Reading::default() };
        // One that holds no more than its seat, and as many as there are seats.
        for size in [0, SMALL + 1] {
            for _ in 0..=LARGE_AT_ONCE {
                let refusal = reading.read(never_ending(size)).await.expect_err("it never ends");
                assert_eq!(refusal.status, StatusCode::REQUEST_TIMEOUT);
            }
        }
    }

    /// So many bytes, and then nothing more.
    fn never_ending(size: usize) -> Body {
        let first = stream::iter([Ok::<_, Infallible>(Bytes::from(vec![b' '; size]))]);
        Body::from_stream(first.chain(stream::pending()))
    }

    /// Whether one can be read while so many that never end are being read.
    async fn is_read_beside(others: usize, size_of_others: usize, size: usize) -> bool {
        let reading = Reading::default();
        let others = join_all((0..others).map(|_| reading.read(never_ending(size_of_others))));
        let one = Body::from_stream(stream::iter([Ok::<_, Infallible>(Bytes::from(vec![b' '; size]))]));
        let one = timeout(Duration::from_millis(500), reading.read(one));
        tokio::select! {
            biased;
            _ = others => false,
            read = one => read.is_ok_and(|read| read.is_ok_and(|read| read.len() == size)),
        }
    }

    #[tokio::test]
    async fn only_what_has_sent_much_takes_a_seat() {
        // They sent nothing, or little, and did not say how much it will be.
        assert!(is_read_beside(3 * LARGE_AT_ONCE, 0, 2 * SMALL).await);
        assert!(is_read_beside(3 * LARGE_AT_ONCE, SMALL, 2 * SMALL).await);
        // The seats are taken, and only who is small needs none.
        assert!(!is_read_beside(LARGE_AT_ONCE, SMALL + 1, 2 * SMALL).await);
        assert!(is_read_beside(LARGE_AT_ONCE, SMALL + 1, SMALL).await);
        assert!(is_read_beside(LARGE_AT_ONCE - 1, SMALL + 1, 2 * SMALL).await);
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
