//! `hedgerow.toml` as a flat list of known keys, each with its line. What is not known is refused: a misspelt key that
//! is silently ignored costs an afternoon.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use hedgerow_core::{Kind, UserError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, Key};
use super::{Given, Origin, refuse};

/// What the file gives; nothing when there is no file.
pub(super) fn read(path: &Path) -> Result<BTreeMap<&'static str, Given>, UserError> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes)
                .map_err(|_| UserError::new(Kind::Usage, format!("{} is not UTF-8", path.display())))?;
            parse(path, &text)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(BTreeMap::new()),
        Err(error) => Err(UserError::new(Kind::Usage, format!("cannot read {}: {error}", path.display()))),
    }
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<&'static str, Given>, UserError> {
    let mut walk = Walk { path, text, found: BTreeMap::new() };
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
    found: BTreeMap<&'static str, Given>,
}

impl Walk<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), UserError> {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let line = self.line(key.span().start);
            let is_table = keys::ALL.iter().any(|known| known.name.starts_with(&format!("{name}.")));
            match (keys::ALL.iter().find(|known| known.name == name), value.get_ref()) {
                (Some(known), _) => {
                    let given = self.value(known, value)?;
                    self.found.insert(known.name, given);
                }
                (None, DeValue::Table(inner)) if is_table => self.table(&format!("{name}."), inner)?,
                (None, other) if is_table => {
                    let message = format!("`{name}` must be a table, not {}", other.type_str());
                    return Err(self.error(&message, line));
                }
                (None, _) => {
                    let known: Vec<_> = keys::ALL.iter().map(|key| format!("`{}`", key.name)).collect();
                    return Err(self
                        .error(&format!("unknown key `{name}`"), line)
                        .hint(format!("the keys are {}", known.join(", "))));
                }
            }
        }
        Ok(())
    }

    /// The value as text, if it has the type of its key.
    fn value(&self, key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Given, UserError> {
        let origin = Origin::File { path: self.path.to_owned(), line: self.line(value.span().start) };
        let given = |text: String| Given { value: OsString::from(text), origin: origin.clone() };
        match (value.get_ref(), key.range) {
            (DeValue::String(text), None) => Ok(given(text.clone().into_owned())),
            (DeValue::Integer(number), Some(_)) => {
                // Digits beyond 64 bits stay text, which no range accepts.
                let digits = number.as_str().to_owned();
                Ok(given(i64::from_str_radix(&digits, number.radix()).map_or(digits, |number| number.to_string())))
            }
            (other, range) => {
                let wanted = if range.is_some() { "a number" } else { "a string" };
                let shown = &self.text[value.span()];
                Err(refuse(key, &given(shown.to_owned()), &format!("must be {wanted} (it is {})", other.type_str())))
            }
        }
    }

    fn error(&self, message: &str, line: usize) -> UserError {
        UserError::new(Kind::Usage, format!("{message} ({}, line {line})", self.path.display()))
    }
}
