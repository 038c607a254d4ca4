//! GraphQL: a reader of documents, a walk along their selections, and the fields that are known. An unknown field is an
//! error, as at GitHub, and fails the test.

mod fields;
mod page;
mod read;
mod thing;
mod walk;

use serde_json::{Map, Value, json};

use super::access::Who;
use super::call::{Answer, Answered, Call, refused};
use super::state::World;
use thing::Thing;
use walk::Walk;

pub(super) fn answer(world: &mut World, call: &Call) -> Answered {
    if matches!(call.who, Who::Nobody | Who::App) {
        return Err(refused(401, "This endpoint requires you to be authenticated."));
    }
    let query = call.body["query"].as_str().unwrap_or_default();
    match run(world, call, query) {
        Ok((data, errors)) if errors.is_empty() => Ok(Answer::new(200, json!({"data": data}))),
        Ok((data, errors)) => Ok(Answer::new(200, json!({"data": data, "errors": errors}))),
        Err(why) => {
            world.log.fault(format!("GraphQL: {why} in {query}"));
            Ok(Answer::new(200, json!({"errors": [{"message": why, "extensions": {"code": "invalid"}}]})))
        }
    }
}

fn run(world: &mut World, call: &Call, query: &str) -> Result<(Map<String, Value>, Vec<Value>), String> {
    let document = read::document(query)?;
    let wanted = call.body["operationName"].as_str();
    let operations = document.operations.iter();
    let operation = operations.into_iter().find(|operation| wanted.is_none() || operation.name.as_deref() == wanted);
    let operation = operation.ok_or("no such operation")?;
    let mut variables = Map::new();
    for (name, default, is_needed) in &operation.variables {
        let given = call.body["variables"].get(name).cloned().or_else(|| default.clone());
        if *is_needed && given.as_ref().is_none_or(Value::is_null) {
            return Err(format!("Variable ${name} was provided invalid value: it must not be null"));
        }
        variables.insert(name.clone(), given.unwrap_or_default());
    }
    if let Some(unknown) =
        call.body["variables"].as_object().and_then(|given| given.keys().find(|name| !variables.contains_key(*name)))
    {
        return Err(format!("variable ${unknown} is given and not declared"));
    }
    let root = if operation.is_mutation { Thing::Mutation } else { Thing::Query };
    let mut walk = Walk { world, who: &call.who, fragments: &document.fragments, variables, errors: Vec::new() };
    let data = walk.object(&root, &operation.selections, &mut Vec::new())?;
    Ok((data, walk.errors))
}
