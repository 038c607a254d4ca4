//! What the App signs, and how it is checked: JSON web tokens with its one key.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::APP_KEY;

/// A token that says this, signed by the App.
pub fn signed(claims: &Value) -> String {
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let said = format!("{}.{}", encoded(&json!({"alg": "RS256", "typ": "JWT"})), encoded(claims));
    let key = key();
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), said.as_bytes(), &mut signature).expect("it can be signed");
    format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// What a token says, if the App signed it. Whether it still holds is not looked at.
pub fn claims_of(token: &str) -> Option<Value> {
    let (said, signature) = token.rsplit_once('.')?;
    let (header, claims) = said.split_once('.')?;
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    let header: Value = serde_json::from_slice(&decoded(header)?).ok()?;
    if header["alg"] != "RS256" {
        return None;
    }
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key().public().as_ref().to_vec());
    key.verify(said.as_bytes(), &decoded(signature)?).ok()?;
    serde_json::from_slice(&decoded(claims)?).ok()
}

fn key() -> RsaKeyPair {
    let lines: String = APP_KEY.lines().filter(|line| !line.starts_with('-')).collect();
    RsaKeyPair::from_der(&STANDARD.decode(lines).expect("it is base64")).expect("a key of RSA")
}
