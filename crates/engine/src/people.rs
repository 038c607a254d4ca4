//! Who somebody is: by the id that never changes, or by a name where a platform's names are unique.

use hedgerow_core::environment::Actor;
use hedgerow_core::message::Author;
use hedgerow_core::platform::PlatformKind;

use crate::engine::Engine;
use crate::failure::Outcome;

/// Between a name and the id of somebody who is not the first behind it. No such name holds it.
const ANOTHER: char = '~';

/// Whoever sits at the machine can do anything there anyway, and whoever has the API's token speaks for its owner.
const TRUSTED_PLATFORM: &str = "terminal";
const TOKEN_BEARER: (&str, &str) = ("http", "api");

impl Engine {
    /// An author as they are called in rows, rules and messages. A name can pass to somebody else, who is not them.
    pub(crate) async fn actor(&self, platform: PlatformKind, author: &Author) -> Outcome<Actor> {
        let name = author.name.to_lowercase();
        if !has_unique_names(platform.as_str()) || name.is_empty() || name.contains(ANOTHER) {
            return Ok(Actor::new(platform.as_str(), &author.id));
        }
        let first = self.store.person_behind(platform, &name, &author.id, self.clock.now()).await?;
        let person = if first == author.id { name } else { format!("{name}{ANOTHER}{}", author.id) };
        Ok(Actor::new(platform.as_str(), person))
    }

    /// Whether a person may act on what is not theirs. Where names can pass to somebody else, admins are named by either.
    pub async fn is_admin(&self, by: &Actor) -> Outcome<bool> {
        if by.platform == TRUSTED_PLATFORM || (by.platform.as_str(), by.person.as_str()) == TOKEN_BEARER {
            return Ok(true);
        }
        let mut admins = self.settings.runs.admins.iter().filter(|admin| admin.platform == by.platform);
        if !has_unique_names(&by.platform) {
            return Ok(admins.any(|admin| admin == by));
        }
        let id = match by.person.split_once(ANOTHER) {
            Some((_, id)) => Some(id.to_owned()),
            None => self.store.known_person(&by.platform, &by.person).await?,
        };
        // A name may be all digits as well. An admin of that form is an id, or anybody could choose to be one.
        let is_it = |admin: &Actor| {
            if is_id(&admin.person) {
                id.as_ref() == Some(&admin.person)
            } else {
                admin.person.to_lowercase() == by.person
            }
        };
        Ok(admins.any(is_it))
    }
}

fn has_unique_names(platform: &str) -> bool {
    platform == PlatformKind::Github.as_str()
}

fn is_id(person: &str) -> bool {
    !person.is_empty() && person.bytes().all(|byte| byte.is_ascii_digit())
}
