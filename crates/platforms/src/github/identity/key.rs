//! The private key of an App: read from its PEM file, and what it signs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Serialize;

const HEADER: &str = r#"{"alg":"RS256","typ":"JWT"}"#;

pub(super) struct Key(RsaKeyPair);

impl Key {
    /// `None` when it is no private key of RSA, or one that is too short to be safe.
    pub(super) fn read(pem: &str) -> Option<Self> {
        // A key in a variable often has its ends of lines spelled out.
        let pem = pem.trim().replace("\\n", "\n");
        let pair = match PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? {
            PrivateKeyDer::Pkcs1(key) => RsaKeyPair::from_der(key.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(key) => RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()),
            _ => return None,
        };
        pair.ok().map(Self)
    }

    /// A JSON web token. `None` when this machine has no randomness to give.
    pub(super) fn sign(&self, claims: &impl Serialize) -> Option<String> {
        let claims = serde_json::to_vec(claims).ok()?;
        let said = format!("{}.{}", URL_SAFE_NO_PAD.encode(HEADER), URL_SAFE_NO_PAD.encode(claims));
        let mut signature = vec![0; self.0.public().modulus_len()];
        self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), said.as_bytes(), &mut signature).ok()?;
        Some(format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
