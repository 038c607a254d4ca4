//! Secrets that callers show. Only a digest of one is kept, so that it can neither be logged nor compared byte by byte.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// What a caller must show.
#[derive(Clone)]
pub struct Token {
    digest: [u8; 32],
}

impl Token {
    pub fn new(secret: &str) -> Self {
        Self { digest: digest(secret.as_bytes()) }
    }

    /// Takes the same time however much of it is right.
    pub fn is(&self, shown: &[u8]) -> bool {
        self.digest.ct_eq(&digest(shown)).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

fn digest(secret: &[u8]) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// A new secret that nobody can guess: 256 bits of the system's randomness, as text.
pub fn new_secret() -> io::Result<String> {
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_is_it_and_it_is_never_shown() {
        let token = Token::new("a secret");
        assert!(token.is(b"a secret"));
        for wrong in ["", "a secre", "a secret ", "A secret", "b secret"] {
            assert!(!token.is(wrong.as_bytes()), "{wrong:?}");
        }
        assert!(!format!("{token:?}").contains("secret"));
    }

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (one, other) = (new_secret().expect("random"), new_secret().expect("random"));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
    }
}
