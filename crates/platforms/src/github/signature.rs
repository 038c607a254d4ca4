//! Whether a delivery is GitHub's: `X-Hub-Signature-256` over the raw body.

use hedgerow_core::Secret;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

/// What the header must begin with.
const SCHEME: &[u8] = b"sha256=";

/// A signature as it was shown, not compared with anything yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown([u8; 32]);

impl Shown {
    /// `None` when the header holds no signature of the form that we take.
    pub(super) fn read(header: &[u8]) -> Option<Self> {
        let digits = header.strip_prefix(SCHEME)?;
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Whether one of the secrets signed the body so. Each is tried, so that the time does not tell which.
    pub(super) fn fits(self, body: &[u8], secrets: &[Secret]) -> bool {
        let tried = secrets.iter().filter(|secret| is_secret(secret));
        let fits = tried.fold(Choice::from(0), |fits, secret| fits | sign(body, secret).ct_eq(&self.0));
        bool::from(fits)
    }
}

/// An empty one is none: everybody knows it.
pub(super) fn is_secret(secret: &Secret) -> bool {
    !secret.reveal().trim().is_empty()
}

/// What GitHub would send in the header, for who replays a delivery.
pub fn header(body: &[u8], secret: &Secret) -> String {
    use std::fmt::Write as _;
    sign(body, secret).iter().fold("sha256=".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn sign(body: &[u8], secret: &Secret) -> [u8; 32] {
    let key = secret.reveal().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    mac.update(body);
    mac.finalize().into_bytes().into()
}

const fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        b'A'..=b'F' => Some(character - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(header: &str, body: &[u8], secrets: &[&str]) -> bool {
        let secrets: Vec<Secret> = secrets.iter().map(|text| Secret::new(*text)).collect();
        Shown::read(header.as_bytes()).is_some_and(|shown| shown.fits(body, &secrets))
    }

    /// The example of GitHub's own documentation.
    const DOCUMENTED: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn the_documented_example_fits() {
        assert!(fits(DOCUMENTED, b"Hello, World!", &["It's a Secret to Everybody"]));
        assert!(fits(&DOCUMENTED.replace('e', "E"), b"Hello, World!", &["It's a Secret to Everybody"]));
        assert_eq!(header(b"Hello, World!", &Secret::new("It's a Secret to Everybody")), DOCUMENTED);
    }

    #[test]
    fn either_of_two_secrets_will_do() {
        for secrets in [["old", "It's a Secret to Everybody"], ["It's a Secret to Everybody", "new"]] {
            assert!(fits(DOCUMENTED, b"Hello, World!", &secrets));
        }
    }

    #[test]
    fn nothing_else_fits() {
        let secret = ["It's a Secret to Everybody"];
        assert!(!fits(DOCUMENTED, b"Hello, World", &secret));
        assert!(!fits(DOCUMENTED, b"Hello, World!", &["another"]));
        assert!(!fits(DOCUMENTED, b"Hello, World!", &[]));
        for bad in [
            "",
            "sha256=",
            "sha1=757107ea0eb2509fc211221cce984b8a37570b6d",
            &DOCUMENTED[..70],
            &DOCUMENTED[7..],
            &format!("{DOCUMENTED}0"),
            &DOCUMENTED.replace('7', "g"),
        ] {
            assert!(!fits(bad, b"Hello, World!", &secret), "{bad}");
        }
    }

    #[test]
    fn an_empty_secret_is_none() {
        let signed = header(b"{}", &Secret::new(""));
        assert!(!fits(&signed, b"{}", &["", " "]));
    }
}
