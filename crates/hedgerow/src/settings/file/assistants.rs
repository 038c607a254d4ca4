//! The tables `[assistants.<name>]`: which program, how it is spoken to, and what is wanted of it.

use std::collections::BTreeMap;

use hedgerow_core::UserError;
use hedgerow_engine::settings::{AgentKind, Program};
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::{Given, Origin};
use super::{List, Walk};

/// Most steps of one turn that can be asked for.
const MOST_TURNS: u32 = 100_000;
/// The keys of such a table, in the order of the documentation.
const KEYS: [&str; 9] =
    ["kind", "command", "model", "permissions", "max_turns", "instructions", "mcp_servers", "variables", "belongings"];

/// What one table says; the types and ranges are right.
pub(in super::super) struct Table {
    pub(in super::super) origin: Origin,
    pub(in super::super) kind: Option<(AgentKind, Origin)>,
    /// Never empty.
    pub(in super::super) command: Option<List>,
    pub(in super::super) model: Option<(String, Origin)>,
    pub(in super::super) permissions: Option<(String, Origin)>,
    pub(in super::super) max_turns: Option<(u32, Origin)>,
    pub(in super::super) instructions: Option<(String, Origin)>,
    pub(in super::super) mcp_servers: Option<McpServers>,
    /// Each may be a secret.
    pub(in super::super) variables: BTreeMap<String, Given>,
    pub(in super::super) belongings: Option<(Vec<String>, Origin)>,
}

/// Either as a table, or in a file that other tools read as well. Either may hold a secret.
pub(in super::super) enum McpServers {
    Here(Value, Origin),
    File(Given),
}

type Key<'a, 'b> = (&'a str, &'a Spanned<DeValue<'b>>);

impl Walk<'_> {
    pub(super) fn assistants(&mut self, table: &DeTable<'_>) -> Result<(), UserError> {
        for (name, value) in table {
            let line = self.line(name.span().start);
            let name = name.get_ref().to_string();
            if !Program::is_name(&name) {
                let must = "an assistant's name is 1 to 64 letters, digits, `-` and `_`";
                return Err(self.error(&format!("{must}, not `{}`", name.escape_debug()), line));
            }
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(self.error(&format!("`assistants.{name}` must be a table"), line));
            };
            let origin = Origin::File { path: self.path.to_owned(), line };
            let found = self.assistant(&name, inner, origin)?;
            self.found.assistants.insert(name, found);
        }
        Ok(())
    }

    fn assistant(&self, name: &str, table: &DeTable<'_>, origin: Origin) -> Result<Table, UserError> {
        if let Some((other, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
            let line = self.line(other.span().start);
            let known: Vec<_> = KEYS.iter().map(|key| format!("`{key}`")).collect();
            let error = self.error(&format!("unknown key `assistants.{name}.{}`", other.get_ref()), line);
            return Err(error.hint(format!("the keys of an assistant are {}", known.join(", "))));
        }
        let at = |key: &str| table.get(key).map(|value| (format!("assistants.{name}.{key}"), value));
        let text = |key| at(key).map(|(key, value)| self.sentence((&key, value))).transpose();
        Ok(Table {
            origin,
            kind: at("kind").map(|(key, value)| self.kind((&key, value))).transpose()?,
            command: at("command").map(|(key, value)| self.command((&key, value))).transpose()?,
            model: text("model")?,
            permissions: text("permissions")?,
            max_turns: at("max_turns").map(|(key, value)| self.turns((&key, value))).transpose()?,
            instructions: text("instructions")?,
            mcp_servers: at("mcp_servers").map(|(key, value)| self.servers((&key, value))).transpose()?,
            variables: at("variables").map_or_else(|| Ok(BTreeMap::new()), |(key, value)| self.pairs((&key, value)))?,
            belongings: at("belongings").map(|(key, value)| self.below_home((&key, value))).transpose()?,
        })
    }

    fn wrong(&self, (key, value): Key<'_, '_>, must: &str) -> UserError {
        self.error(&format!("`{key}` must be {must}"), self.line(value.span().start))
    }

    fn sentence(&self, at: Key<'_, '_>) -> Result<(String, Origin), UserError> {
        match at.1.get_ref().as_str().filter(|text| !text.trim().is_empty() && !text.contains('\0')) {
            Some(text) => Ok((text.to_owned(), self.origin(at.1))),
            None => Err(self.wrong(at, "a string that says something")),
        }
    }

    fn kind(&self, at: Key<'_, '_>) -> Result<(AgentKind, Origin), UserError> {
        let kind = at.1.get_ref().as_str().and_then(|text| text.parse().ok());
        kind.map(|kind| (kind, self.origin(at.1))).ok_or_else(|| {
            let known: Vec<_> = AgentKind::ALL.iter().map(|kind| format!("\"{kind}\"")).collect();
            self.wrong(at, &format!("one of {}", known.join(", ")))
        })
    }

    fn turns(&self, at: Key<'_, '_>) -> Result<(u32, Origin), UserError> {
        let number = at.1.get_ref().as_integer();
        let number = number.and_then(|number| u32::from_str_radix(number.as_str(), number.radix()).ok());
        match number.filter(|number| (1..=MOST_TURNS).contains(number)) {
            Some(number) => Ok((number, self.origin(at.1))),
            None => Err(self.wrong(at, &format!("a whole number from 1 to {MOST_TURNS}"))),
        }
    }

    /// A program and its arguments.
    fn command(&self, at: Key<'_, '_>) -> Result<List, UserError> {
        let must = "a list of strings, the program first";
        let parts = at.1.get_ref().as_array().filter(|parts| !parts.is_empty());
        let Some(parts) = parts else { return Err(self.wrong(at, must)) };
        for (nth, part) in parts.iter().enumerate() {
            match part.get_ref().as_str() {
                None => return Err(self.wrong((at.0, part), must)),
                Some("") if nth == 0 => return Err(self.wrong((at.0, part), "a list that names a program first")),
                Some(text) if text.contains('\0') => return Err(self.wrong((at.0, part), "without a NUL")),
                Some(_) => {}
            }
        }
        Ok((self.parts(parts), self.origin(at.1)))
    }

    fn servers(&self, at: Key<'_, '_>) -> Result<McpServers, UserError> {
        let origin = self.origin(at.1);
        match at.1.get_ref() {
            DeValue::String(path) if !path.is_empty() => {
                Ok(McpServers::File(Given { value: path.as_ref().into(), origin }))
            }
            DeValue::Table(servers) if servers.values().all(|server| server.get_ref().is_table()) => {
                let json = servers.iter().map(|(name, server)| (name.get_ref().to_string(), as_json(server.get_ref())));
                Ok(McpServers::Here(Value::Object(json.collect()), origin))
            }
            _ => Err(self.wrong(at, "a table with a table for each server, or the path of a JSON file")),
        }
    }

    /// Names and values. A value is not repeated in an error: it may be a secret.
    fn pairs(&self, at: Key<'_, '_>) -> Result<BTreeMap<String, Given>, UserError> {
        let must = "a table of strings";
        let DeValue::Table(table) = at.1.get_ref() else { return Err(self.wrong(at, must)) };
        let mut pairs = BTreeMap::new();
        for (name, value) in table {
            let key = format!("{}.{}", at.0, name.get_ref());
            let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
            if !is_name(name.get_ref()) {
                return Err(self.wrong((&key, value), "the name of a variable"));
            }
            let text = value.get_ref().as_str().filter(|text| !text.contains('\0'));
            let Some(text) = text else { return Err(self.wrong((&key, value), "a string")) };
            let given = Given { value: text.into(), origin: self.origin(value) };
            pairs.insert(name.get_ref().to_string(), given);
        }
        Ok(pairs)
    }

    /// Paths below the user's home, plainly written: `.aws`, `.config/gcloud`.
    fn below_home(&self, at: Key<'_, '_>) -> Result<(Vec<String>, Origin), UserError> {
        let must = "a list of paths below your home, such as \".aws\"";
        let Some(parts) = at.1.get_ref().as_array() else { return Err(self.wrong(at, must)) };
        let mut paths = Vec::new();
        for part in parts {
            let is_below = |text: &&str| {
                let is_plain = |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains('\0');
                text.split('/').all(is_plain)
            };
            let text = part.get_ref().as_str().map(|text| text.strip_prefix("~/").unwrap_or(text)).filter(is_below);
            paths.push(text.ok_or_else(|| self.wrong((at.0, part), must))?.to_owned());
        }
        Ok((paths, self.origin(at.1)))
    }
}

/// A value of TOML in JSON; dates, which JSON has not, become text.
fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::from(number.as_str()), Value::from),
        DeValue::Float(number) => {
            number.as_str().parse::<f64>().map_or_else(|_| Value::from(number.as_str()), Value::from)
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(parts) => parts.iter().map(|part| as_json(part.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(
            table.iter().map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref()))).collect(),
        ),
    }
}
