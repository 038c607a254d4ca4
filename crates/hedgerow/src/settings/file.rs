//! `hedgerow.toml` as a flat list of known keys, each with its line. What is not known is refused: a misspelt key that
//! is silently ignored costs an afternoon.

mod assistants;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use hedgerow_core::{Kind, UserError};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::keys::{self, Form, Key};
use super::llm::{PAID_FOR, Prices};
use super::{Given, Origin, refuse};
pub(super) use assistants::{McpServers, Table};

/// What the file gives.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) values: BTreeMap<&'static str, Given>,
    pub(super) lists: BTreeMap<&'static str, List>,
    pub(super) assistants: BTreeMap<String, Table>,
    /// Each with all of what is paid for.
    pub(super) prices: Prices,
}

/// A list: its parts, each with its own line, and where it begins.
pub(super) type List = (Vec<Given>, Origin);

/// Nothing when there is no file.
pub(super) fn read(path: &Path) -> Result<Contents, UserError> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes)
                .map_err(|_| UserError::new(Kind::Usage, format!("{} is not UTF-8", path.display())))?;
            parse(path, &text)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Contents::default()),
        Err(error) => Err(UserError::new(Kind::Usage, format!("cannot read {}: {error}", path.display()))),
    }
}

fn parse(path: &Path, text: &str) -> Result<Contents, UserError> {
    let mut walk = Walk { path, text, found: Contents::default() };
    let table = DeTable::parse(text).map_err(|error| {
        let line = walk.line(error.span().map_or(0, |span| span.start));
        UserError::new(Kind::Usage, format!("{} is not valid TOML, line {line}: {}", path.display(), error.message()))
    })?;
    walk.table("", table.get_ref())?;
    Ok(walk.found)
}

struct Walk<'a> {
    path: &'a Path,
    text: &'a str,
    found: Contents,
}

impl Walk<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    fn origin(&self, value: &Spanned<DeValue<'_>>) -> Origin {
        Origin::File { path: self.path.to_owned(), line: self.line(value.span().start) }
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), UserError> {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let line = self.line(key.span().start);
            let is_table = keys::ALL.iter().any(|known| known.name.starts_with(&format!("{name}.")));
            match (keys::ALL.iter().find(|known| known.name == name), value.get_ref()) {
                (None, DeValue::Table(inner)) if name == "assistants" => self.assistants(inner)?,
                (None, DeValue::Table(inner)) if name == "llm.prices" => self.prices(inner)?,
                (Some(known), _) => self.value(known, value)?,
                (None, DeValue::Table(inner)) if is_table => self.table(&format!("{name}."), inner)?,
                (None, other) if is_table => {
                    let message = format!("`{name}` must be a table, not {}", other.type_str());
                    return Err(self.error(&message, line));
                }
                (None, _) => return Err(self.unknown(&name, line)),
            }
        }
        Ok(())
    }

    /// Takes a value, if it has the type of its key.
    fn value(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) -> Result<(), UserError> {
        let origin = self.origin(value);
        let given = |text: String| Given { value: OsString::from(text), origin: origin.clone() };
        match (value.get_ref(), key.form) {
            (DeValue::String(text), Form::Text(_)) => {
                self.found.values.insert(key.name, given(text.clone().into_owned()));
            }
            (DeValue::Integer(number), Form::Number { .. }) => {
                // Digits beyond 64 bits stay text, which no range accepts.
                let digits = number.as_str().to_owned();
                let number = i64::from_str_radix(&digits, number.radix()).map_or(digits, |number| number.to_string());
                self.found.values.insert(key.name, given(number));
            }
            (DeValue::Boolean(flag), Form::Flag(_)) => {
                self.found.values.insert(key.name, given(flag.to_string()));
            }
            (DeValue::Array(parts), Form::List(_)) if parts.iter().all(|part| part.get_ref().is_str()) => {
                let list = self.parts(parts);
                self.found.lists.insert(key.name, (list, origin));
            }
            (other, form) => {
                let wanted = match form {
                    Form::Number { .. } => "a number",
                    Form::Text(_) => "a string",
                    Form::List(_) => "a list of strings",
                    Form::Flag(_) => "true or false",
                    Form::Table(_) => "a table",
                };
                let shown = &self.text[value.span()];
                let must = format!("must be {wanted} (it is {})", other.type_str());
                return Err(refuse(key, &given(shown.to_owned()), &must));
            }
        }
        Ok(())
    }

    /// What models cost: `[llm.prices."claude-opus"]`, with numbers or strings, because money has decimals.
    fn prices(&mut self, table: &DeTable<'_>) -> Result<(), UserError> {
        for (models, value) in table {
            let key = format!("llm.prices.{}", models.get_ref());
            let must = format!("`{key}` must be a table with `{}`", PAID_FOR.join("`, `"));
            let wrong = || self.error(&must, self.line(models.span().start));
            let inner = value.get_ref().as_table().ok_or_else(wrong)?;
            if let Some((other, _)) = inner.iter().find(|(name, _)| !PAID_FOR.contains(&name.get_ref().as_ref())) {
                return Err(self.unknown(&format!("{key}.{}", other.get_ref()), self.line(other.span().start)));
            }
            let mut price = BTreeMap::new();
            for name in PAID_FOR {
                let given = inner.get(name).ok_or_else(wrong)?;
                let text = match given.get_ref() {
                    DeValue::String(text) => text.to_string(),
                    DeValue::Integer(number) => number.as_str().to_owned(),
                    DeValue::Float(number) => number.as_str().to_owned(),
                    _ => return Err(wrong()),
                };
                price.insert(name, Given { value: text.into(), origin: self.origin(given) });
            }
            self.found.prices.insert(models.get_ref().to_string(), (price, self.origin(value)));
        }
        Ok(())
    }

    fn parts(&self, list: &DeArray<'_>) -> Vec<Given> {
        let part = |part: &Spanned<DeValue<'_>>| {
            Some(Given { value: part.get_ref().as_str()?.into(), origin: self.origin(part) })
        };
        list.iter().filter_map(part).collect()
    }

    fn unknown(&self, name: &str, line: usize) -> UserError {
        let known: Vec<_> = keys::ALL.iter().map(|key| format!("`{}`", key.name)).collect();
        self.error(&format!("unknown key `{name}`"), line).hint(format!("the keys are {}", known.join(", ")))
    }

    fn error(&self, message: &str, line: usize) -> UserError {
        UserError::new(Kind::Usage, format!("{message} ({}, line {line})", self.path.display()))
    }
}
