//! Who calls, and what they may.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::call::{Refusal, not_found, refused};
use super::seal::claims_of;
use super::state::{Repository, Role, Token, World};

#[derive(Debug, Clone)]
pub(crate) enum Who {
    Nobody,
    /// Somebody with a token.
    Holder(Token),
    /// The App itself, by what it signed.
    App,
}

impl World {
    /// Who this header says it is.
    pub(crate) fn caller(&self, authorization: Option<&str>) -> Result<Who, Refusal> {
        let Some(shown) = authorization else { return Ok(Who::Nobody) };
        let (scheme, rest) = shown.split_once(' ').unwrap_or((shown, ""));
        let token = match scheme.to_ascii_lowercase().as_str() {
            "bearer" | "token" => rest.trim().to_owned(),
            "basic" => password(rest).unwrap_or_default(),
            _ => String::new(),
        };
        if token.split('.').count() == 3 {
            return self.signed(&token).map(|()| Who::App).map_err(|why| refused(401, why));
        }
        let token = self.tokens.get(&token).filter(|token| token.expires_at.is_none_or(|end| end > self.clock.now()));
        token.cloned().map(Who::Holder).ok_or_else(|| refused(401, "Bad credentials"))
    }

    /// Whether the App signed this, and for now.
    fn signed(&self, token: &str) -> Result<(), &'static str> {
        const UNREADABLE: &str = "A JSON web token could not be decoded";
        let claims = claims_of(token).ok_or(UNREADABLE)?;
        // Times are told by our own clock.
        let now = self.clock.now();
        let issuer =
            claims["iss"].as_str().map(str::to_owned).or_else(|| claims["iss"].as_u64().map(|id| id.to_string()));
        if issuer.as_deref() != Some(self.app.id.to_string().as_str()) {
            return Err("'Issuer' claim ('iss') must be an Integer");
        }
        match (claims["iat"].as_i64(), claims["exp"].as_i64()) {
            (Some(issued), _) if issued > now + 60 => Err("'Issued at' claim ('iat') must be in the past"),
            (Some(_), Some(end)) if end <= now => {
                Err("'Expiration time' claim ('exp') must be a numeric value representing the future time at which \
                     the assertion expires")
            }
            (Some(_), Some(end)) if end > now + 660 => Err("'Expiration time' claim ('exp') is too far in the future"),
            (Some(_), Some(_)) => Ok(()),
            _ => Err(UNREADABLE),
        }
    }

    /// What a caller may do in a repository.
    pub(crate) fn may(&self, who: &Who, repository: &Repository) -> Role {
        match who {
            Who::Holder(token) => match &token.only {
                Some(only) if only.contains(&repository.id) => Role::Write,
                Some(_) if repository.is_private => Role::None,
                Some(_) => Role::Read,
                None => self.role(repository, token.who),
            },
            Who::Nobody | Who::App if repository.is_private => Role::None,
            Who::Nobody | Who::App => Role::Read,
        }
    }

    /// Makes sure that a caller may at least this. Who may not even read does not learn that there is something.
    pub(crate) fn demand(&self, who: &Who, repository: &Repository, role: Role) -> Result<u64, Refusal> {
        let has = self.may(who, repository);
        if has < Role::Read {
            return Err(not_found());
        }
        let Who::Holder(token) = who else {
            return if role <= Role::Read { Ok(0) } else { Err(refused(401, "Requires authentication")) };
        };
        if has < role {
            let message = match token.only {
                Some(_) => "Resource not accessible by integration",
                None => "Must have write access to the repository.",
            };
            return Err(refused(403, message));
        }
        Ok(token.who)
    }
}

impl Who {
    /// The user who acts.
    pub(crate) fn user(&self) -> Result<u64, Refusal> {
        match self {
            Self::Holder(token) => Ok(token.who),
            Self::Nobody => Err(refused(401, "Requires authentication")),
            Self::App => Err(refused(403, "Resource not accessible by integration")),
        }
    }

    /// Makes sure that it is the App itself.
    pub(crate) fn is_app(&self) -> Result<(), Refusal> {
        match self {
            Self::App => Ok(()),
            _ => Err(refused(401, "A JSON web token could not be decoded")),
        }
    }
}

/// The password in what Basic authorization shows. GitHub takes any name with a token.
fn password(encoded: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    Some(text.split_once(':')?.1.to_owned())
}
