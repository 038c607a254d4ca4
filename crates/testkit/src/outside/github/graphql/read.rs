//! Reads a GraphQL document: operations, fragments, selections, arguments. What is not in it: subscriptions, block
//! strings, and types, which nobody checks.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Document {
    pub(super) operations: Vec<Operation>,
    pub(super) fragments: BTreeMap<String, (String, Vec<Selection>)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Operation {
    pub(super) name: Option<String>,
    pub(super) is_mutation: bool,
    /// Variables with what they are when nobody says, and whether somebody must.
    pub(super) variables: Vec<(String, Option<Value>, bool)>,
    pub(super) selections: Vec<Selection>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Selection {
    Field(Field),
    /// `...Name`.
    Spread(String),
    /// `... on Issue { … }`; without a type it is always meant.
    Inline(Option<String>, Vec<Selection>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) alias: Option<String>,
    pub(super) name: String,
    /// With variables as `{"$": name}`, which no value of JSON in a query can be.
    pub(super) arguments: Map<String, Value>,
    pub(super) selections: Vec<Selection>,
    /// `@include` and `@skip`: whether it is skipped when the value is true.
    pub(super) conditions: Vec<(bool, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Number(String),
    Mark(char),
    Spread,
}

type Read<T> = Result<T, String>;

pub(super) fn document(text: &str) -> Read<Document> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0 };
    let mut document = Document::default();
    while reader.at < reader.tokens.len() {
        if reader.is_mark('{') {
            let selections = reader.selections()?;
            document.operations.push(Operation { selections, ..Operation::default() });
            continue;
        }
        match reader.name()?.as_str() {
            "fragment" => {
                let name = reader.name()?;
                reader.word("on")?;
                let kind = reader.name()?;
                document.fragments.insert(name, (kind, reader.selections()?));
            }
            word @ ("query" | "mutation") => {
                let operation = reader.operation(word == "mutation")?;
                document.operations.push(operation);
            }
            other => return Err(format!("`{other}` begins nothing")),
        }
    }
    Ok(document)
}

fn tokens(text: &str) -> Read<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let mut run = |first: char, goes_on: fn(char) -> bool| {
            let mut run = String::from(first);
            while let Some(next) = rest.next_if(|next| goes_on(*next)) {
                run.push(next);
            }
            run
        };
        match letter {
            '#' => drop(run('#', |letter| letter != '\n')),
            '.' => {
                if run('.', |letter| letter == '.') != "..." {
                    return Err("a dot that is none of three".to_owned());
                }
                found.push(Token::Spread);
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                found.push(Token::Name(run(letter, |letter| letter.is_alphanumeric() || letter == '_')));
            }
            letter if letter.is_ascii_digit() || letter == '-' => {
                found.push(Token::Number(run(letter, |letter| letter.is_ascii_digit() || ".eE+-".contains(letter))));
            }
            '"' => found.push(Token::Text(quoted(&mut rest)?)),
            letter if letter.is_whitespace() || letter == ',' || letter == '\u{feff}' => {}
            letter if "{}()[]:$!=@".contains(letter) => found.push(Token::Mark(letter)),
            other => return Err(format!("`{other}` is nothing in GraphQL")),
        }
    }
    Ok(found)
}

/// The rest of a text in quotes, with escapes as JSON has them.
fn quoted(rest: &mut impl Iterator<Item = char>) -> Read<String> {
    let mut raw = String::from("\"");
    let mut is_escaped = false;
    for letter in rest {
        raw.push(letter);
        match letter {
            '"' if !is_escaped => return serde_json::from_str(&raw).map_err(|error| error.to_string()),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    Err("a text without an end".to_owned())
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Read<Token> {
        let token = self.tokens.get(self.at).cloned().ok_or("it ends too early")?;
        self.at += 1;
        Ok(token)
    }

    fn is_mark(&self, mark: char) -> bool {
        self.tokens.get(self.at) == Some(&Token::Mark(mark))
    }

    /// Goes over a mark if it is there.
    fn took(&mut self, mark: char) -> bool {
        let is_there = self.is_mark(mark);
        self.at += usize::from(is_there);
        is_there
    }

    fn mark(&mut self, mark: char) -> Read<()> {
        if self.took(mark) { Ok(()) } else { Err(format!("`{mark}` is missing before {:?}", self.tokens.get(self.at))) }
    }

    fn name(&mut self) -> Read<String> {
        match self.next()? {
            Token::Name(name) => Ok(name),
            other => Err(format!("{other:?} is no name")),
        }
    }

    fn word(&mut self, wanted: &str) -> Read<()> {
        let name = self.name()?;
        if name == wanted { Ok(()) } else { Err(format!("`{name}` where `{wanted}` belongs")) }
    }

    fn operation(&mut self, is_mutation: bool) -> Read<Operation> {
        let name = if matches!(self.tokens.get(self.at), Some(Token::Name(_))) { Some(self.name()?) } else { None };
        let mut variables = Vec::new();
        if self.took('(') {
            while !self.took(')') {
                self.mark('$')?;
                let variable = self.name()?;
                self.mark(':')?;
                let is_needed = self.kind()?;
                let default = if self.took('=') { Some(self.value()?) } else { None };
                variables.push((variable, default, is_needed));
            }
        }
        Ok(Operation { name, is_mutation, variables, selections: self.selections()? })
    }

    /// Goes over a type; whether there must be a value.
    fn kind(&mut self) -> Read<bool> {
        if self.took('[') {
            self.kind()?;
            self.mark(']')?;
        } else {
            self.name()?;
        }
        Ok(self.took('!'))
    }

    fn selections(&mut self) -> Read<Vec<Selection>> {
        self.mark('{')?;
        let mut selections = Vec::new();
        while !self.took('}') {
            selections.push(self.selection()?);
        }
        if selections.is_empty() { Err("a selection of nothing".to_owned()) } else { Ok(selections) }
    }

    fn selection(&mut self) -> Read<Selection> {
        if self.tokens.get(self.at) == Some(&Token::Spread) {
            self.at += 1;
            if self.is_mark('{') {
                return Ok(Selection::Inline(None, self.selections()?));
            }
            let name = self.name()?;
            if name != "on" {
                return Ok(Selection::Spread(name));
            }
            let kind = self.name()?;
            return Ok(Selection::Inline(Some(kind), self.selections()?));
        }
        let first = self.name()?;
        let (alias, name) = if self.took(':') { (Some(first), self.name()?) } else { (None, first) };
        let arguments = if self.is_mark('(') { self.arguments()? } else { Map::new() };
        let mut conditions = Vec::new();
        while self.took('@') {
            let directive = self.name()?;
            let mut given = self.arguments()?;
            let condition = given.remove("if").ok_or("a condition without `if`")?;
            match directive.as_str() {
                "include" => conditions.push((false, condition)),
                "skip" => conditions.push((true, condition)),
                other => return Err(format!("@{other} is not known")),
            }
        }
        let selections = if self.is_mark('{') { self.selections()? } else { Vec::new() };
        Ok(Selection::Field(Field { alias, name, arguments, selections, conditions }))
    }

    fn arguments(&mut self) -> Read<Map<String, Value>> {
        self.mark('(')?;
        let mut arguments = Map::new();
        while !self.took(')') {
            let name = self.name()?;
            self.mark(':')?;
            arguments.insert(name, self.value()?);
        }
        Ok(arguments)
    }

    fn value(&mut self) -> Read<Value> {
        match self.next()? {
            Token::Text(text) => Ok(json!(text)),
            Token::Number(number) => serde_json::from_str(&number).map_err(|error| error.to_string()),
            Token::Name(name) => Ok(match name.as_str() {
                "true" => json!(true),
                "false" => json!(false),
                "null" => Value::Null,
                // A word of an enum is its name.
                _ => json!(name),
            }),
            Token::Mark('$') => Ok(json!({"$": self.name()?})),
            Token::Mark('[') => {
                let mut values = Vec::new();
                while !self.took(']') {
                    values.push(self.value()?);
                }
                Ok(Value::Array(values))
            }
            Token::Mark('{') => {
                let mut values = Map::new();
                while !self.took('}') {
                    let name = self.name()?;
                    self.mark(':')?;
                    values.insert(name, self.value()?);
                }
                Ok(Value::Object(values))
            }
            other => Err(format!("{other:?} is no value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_with_all_that_it_can_have() {
        let text = r#"
            # what it is about
            query Look($owner: String!, $count: Int = 20, $ids: [ID!]!) {
              it: repository(owner: $owner, name: "sh\"op") {
                issue(number: 42) { ...Words @include(if: true) comments(last: $count) { nodes { body } } }
                ... on Repository { id @skip(if: $count) }
              }
            }
            fragment Words on Issue { title, body }
        "#;
        // A condition belongs to a field.
        assert!(document(text).is_err());
        let read = document(&text.replace("...Words @include(if: true)", "...Words")).expect("a query");
        let operation = &read.operations[0];
        assert_eq!(operation.name.as_deref(), Some("Look"));
        let variables: Vec<_> = operation.variables.iter().map(|(name, _, needed)| (name.as_str(), *needed)).collect();
        assert_eq!(variables, [("owner", true), ("count", false), ("ids", true)]);
        let Selection::Field(field) = &operation.selections[0] else { panic!("a field") };
        assert_eq!((field.alias.as_deref(), field.name.as_str()), (Some("it"), "repository"));
        assert_eq!(field.arguments["owner"], json!({"$": "owner"}));
        assert_eq!(field.arguments["name"], "sh\"op");
        assert_eq!(read.fragments["Words"].0, "Issue");
    }

    #[test]
    fn what_is_no_query_says_why() {
        for wrong in ["{ a", "query { }", "{ a(b: ) }", "{ a ~ b }", "subscription { a }", "{ a(b: \"c) }"] {
            assert!(document(wrong).is_err(), "{wrong}");
        }
    }
}
