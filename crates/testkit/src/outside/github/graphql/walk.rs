//! Along the selections of a document, from thing to thing.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fields;
use super::page;
use super::read::{Field, Selection};
use super::thing::{Missing, Out, Thing};
use crate::outside::github::access::Who;
use crate::outside::github::state::World;

pub(super) struct Walk<'a> {
    pub(super) world: &'a mut World,
    pub(super) who: &'a Who,
    pub(super) fragments: &'a BTreeMap<String, (String, Vec<Selection>)>,
    pub(super) variables: Map<String, Value>,
    /// Things that were not found; what was found is answered all the same.
    pub(super) errors: Vec<Value>,
}

impl Walk<'_> {
    /// What is selected of a thing. An error is about the document itself: then there is no answer at all.
    pub(super) fn object(
        &mut self,
        thing: &Thing,
        selections: &[Selection],
        path: &mut Vec<String>,
    ) -> Result<Map<String, Value>, String> {
        let mut answer = Map::new();
        self.select(thing, selections, path, &mut answer)?;
        Ok(answer)
    }

    fn select(
        &mut self,
        thing: &Thing,
        selections: &[Selection],
        path: &mut Vec<String>,
        answer: &mut Map<String, Value>,
    ) -> Result<(), String> {
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    if self.is_skipped(field) {
                        continue;
                    }
                    let key = field.alias.clone().unwrap_or_else(|| field.name.clone());
                    path.push(key.clone());
                    let value = self.field(thing, field, path)?;
                    path.pop();
                    merge(answer.entry(key).or_insert(Value::Null), value);
                }
                Selection::Spread(name) => {
                    let (kind, inner) =
                        self.fragments.get(name).ok_or(format!("Fragment {name} was used, but not defined"))?;
                    if let Some(narrowed) = thing.narrowed(kind, self.world) {
                        self.select(&narrowed, inner, path, answer)?;
                    }
                }
                Selection::Inline(kind, inner) => {
                    let narrowed = match kind {
                        Some(kind) => thing.narrowed(kind, self.world),
                        None => Some(thing.clone()),
                    };
                    if let Some(narrowed) = narrowed {
                        self.select(&narrowed, inner, path, answer)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_skipped(&self, field: &Field) -> bool {
        field.conditions.iter().any(|(skips, condition)| (self.filled(condition) == json!(true)) == *skips)
    }

    /// A value with its variables filled in.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => match map.get("$").and_then(Value::as_str) {
                Some(name) if map.len() == 1 => self.variables.get(name).cloned().unwrap_or_default(),
                _ => map.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect(),
            },
            Value::Array(values) => values.iter().map(|value| self.filled(value)).collect(),
            other => other.clone(),
        }
    }

    fn field(&mut self, thing: &Thing, field: &Field, path: &mut Vec<String>) -> Result<Value, String> {
        if field.name == "__typename" {
            return Ok(json!(thing.kind(self.world)));
        }
        if let Some(unknown) = field.arguments.values().find_map(|value| self.undeclared(value)) {
            return Err(format!("Variable ${unknown} is used and not declared"));
        }
        let arguments = self.filled(&Value::Object(field.arguments.clone()));
        let found = match thing {
            Thing::Connection(things, how) => page::part(things, how, &field.name),
            _ => fields::find(self.world, self.who, thing, &field.name, &arguments),
        };
        let found = match found {
            Ok(found) => found,
            Err(Missing::Unknown) => {
                let kind = thing.kind(self.world);
                return Err(format!("Field '{}' doesn't exist on type '{kind}'", field.name));
            }
            Err(Missing::Wrong(kind, why)) => {
                self.errors.push(json!({"type": kind, "path": path, "message": why}));
                return Ok(Value::Null);
            }
            Err(Missing::NotFound(why)) => {
                self.errors.push(json!({"type": "NOT_FOUND", "path": path, "message": why}));
                return Ok(Value::Null);
            }
        };
        let is_leaf = matches!(found, Out::Value(_));
        if is_leaf != field.selections.is_empty() && !matches!(found, Out::Nothing) {
            return Err(format!("Field '{}' must have selections, or none, and it is not so", field.name));
        }
        match found {
            Out::Value(value) => Ok(value),
            Out::Nothing => Ok(Value::Null),
            Out::Thing(inner) => Ok(Value::Object(self.object(&inner, &field.selections, path)?)),
            Out::Things(things) => {
                let inner = things.iter().map(|thing| self.object(thing, &field.selections, path).map(Value::Object));
                inner.collect()
            }
        }
    }

    fn undeclared(&self, value: &Value) -> Option<String> {
        match value {
            Value::Object(map) => match map.get("$").and_then(Value::as_str) {
                Some(name) => (!self.variables.contains_key(name)).then(|| name.to_owned()),
                None => map.values().find_map(|value| self.undeclared(value)),
            },
            Value::Array(values) => values.iter().find_map(|value| self.undeclared(value)),
            _ => None,
        }
    }
}

/// Two selections of the same field are one.
fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(more)) if into.len() == more.len() => {
            for (into, more) in into.iter_mut().zip(more) {
                merge(into, more);
            }
        }
        (into, more) => *into = more,
    }
}
