//! A path where another service tells us things. It proves itself its own way, so neither our token nor the rules for web
//! pages are asked of it; everything else that holds for a request does.

use std::sync::Arc;

use axum::Router;
use serde_json::{Value, json};

use crate::error::Problem;

/// A path, and what answers there.
#[derive(Debug, Clone)]
pub struct Hook {
    pub path: &'static str,
    /// For the description of the API.
    pub summary: &'static str,
    /// Answers at the path, with `POST`, and at no other.
    pub routes: Router,
}

/// What is described of them.
#[derive(Debug, Clone)]
pub(crate) struct Hooks(Arc<[(&'static str, &'static str)]>);

impl Hooks {
    pub(crate) fn of(hooks: &[Hook]) -> Self {
        Self(hooks.iter().map(|hook| (hook.path, hook.summary)).collect())
    }

    /// Adds them to the paths of a description.
    pub(crate) fn describe(&self, document: &mut Value) {
        for (path, summary) in self.0.iter() {
            document["paths"][*path] = json!({"post": {
                "summary": summary,
                "operationId": format!("post {path}"),
                "parameters": [],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {
                    "2XX": {"description": "It was taken, or is of no concern to us."},
                    "default": {"description": "It was not taken."},
                },
            }});
        }
    }
}

/// The routes of all of them.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(hooks: Vec<Hook>) -> Router<S> {
    let one = |hook: Hook| hook.routes.method_not_allowed_fallback(async || Problem::wrong_method());
    hooks.into_iter().map(one).fold(Router::new(), Router::merge).with_state(())
}
