//! Every path there is, in one table: the router and its description are both made of it, so that they cannot differ.

use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, delete, get, post};
use axum::{Extension, Router};

use crate::api::{codebases, environments, events, messages, probes, runs, spending};
use crate::error::Problem;
use crate::gateway;
use crate::guard;
use crate::hook::{self, Hook, Hooks};
use crate::web::Web;

/// One thing that can be asked for.
pub(crate) struct Operation {
    /// In lower case, as OpenAPI has it.
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) is_open: bool,
    pub(crate) summary: &'static str,
    /// Names in the query and in headers, with what they are.
    pub(crate) parameters: &'static [Parameter],
    /// The schema of its body.
    pub(crate) takes: Option<&'static str>,
    pub(crate) gives: Gives,
    handler: MethodRouter<Web>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) place: &'static str,
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) what: &'static str,
}

/// What a request that went well is answered with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gives {
    One(u16, &'static str),
    Many(&'static str),
    /// Of this content type.
    Text(&'static str),
    /// Any object.
    Document,
}

const fn query(name: &'static str, kind: &'static str, what: &'static str) -> Parameter {
    Parameter { place: "query", name, kind, what }
}

const fn header(name: &'static str, what: &'static str) -> Parameter {
    Parameter { place: "header", name, kind: "string", what }
}

const OF: Parameter = query("codebase", "string", "The codebase it is of; needed when several have one of that name.");
const FULL: Parameter =
    query("full", "boolean", "Also whether it is merged, whether it conflicts, and its size; slower.");
const FORCE: Parameter = query("force", "boolean", "Even with uncommitted work in it, or when it was adopted.");
const LIMIT: Parameter = query("limit", "integer", "How many of the newest, from 1 to 1000; otherwise 100.");
const FIRST: Parameter = query("limit", "integer", "How many at most, from 1 to 1000; otherwise 100.");
const RUNS_OF: Parameter = query("codebase", "string", "Only runs of this codebase.");
const AFTER: Parameter = query("after", "integer", "Only what came after the event of this `seq`.");
const OF_ONE: Parameter = query("conversation", "string", "Only events of this conversation of the API.");
const KEY: Parameter =
    header("Idempotency-Key", "A repeat with the same key gets the same answer and is not done again.");
const LAST: Parameter = header("Last-Event-ID", "Begins after this event; otherwise now.");

const TEXT: &str = "text/plain; charset=utf-8";
const MESSAGES: &str = "/api/v1/conversations/{id}/messages";
const CODEBASES: &str = "/api/v1/codebases";
const ENVIRONMENTS: &str = "/api/v1/environments";
const RUNS: &str = "/api/v1/runs";
const RUN: &str = "/api/v1/runs/{id}";
const RUN_EVENTS: &str = "/api/v1/runs/{id}/events";
const SPENDING: &str = "/api/v1/spending";
const ENVIRONMENT: &str = "/api/v1/environments/{id}";

/// Everything that can be asked for.
pub(crate) fn operations() -> Vec<Operation> {
    use Gives::{Document, Many, One, Text};
    let row = |method, path, parameters, takes, gives, summary, handler| Operation {
        method,
        path,
        is_open: false,
        summary,
        parameters,
        takes,
        gives,
        handler,
    };
    let open = |operation| Operation { is_open: true, ..operation };
    let (env, made) = (One(200, "Environment"), Some("NewEnvironment"));
    vec![
        row("post", MESSAGES, &[KEY], Some("NewMessage"), One(202, "Written"), "Say something", post(messages::write)),
        row("get", MESSAGES, &[LIMIT], None, Many("Message"), "Read what was said", get(messages::read)),
        row("get", CODEBASES, &[], None, Many("Codebase"), "List codebases", get(codebases::list)),
        row("post", CODEBASES, &[], Some("NewCodebase"), One(200, "Codebase"), "Add a codebase", post(codebases::add)),
        row("get", ENVIRONMENTS, &[OF, FULL], None, Many("Environment"), "List environments", get(environments::list)),
        row("post", ENVIRONMENTS, &[], made, env, "Find or make an environment", post(environments::create)),
        row("get", ENVIRONMENT, &[OF, FULL], None, env, "Look at an environment", get(environments::show)),
        row(
            "delete",
            ENVIRONMENT,
            &[OF, FORCE],
            None,
            One(200, "Removed"),
            "Move an environment to the trash",
            delete(environments::remove),
        ),
        row(
            "post",
            "/api/v1/environments/{id}/restore",
            &[OF],
            None,
            env,
            "Bring an environment back",
            post(environments::restore),
        ),
        row("get", RUNS, &[RUNS_OF, LIMIT], None, Many("Run"), "List the newest runs", get(runs::list)),
        row("get", RUN, &[], None, One(200, "Run"), "Look at a run", get(runs::show)),
        row("get", RUN_EVENTS, &[AFTER, FIRST], None, Many("RunEvent"), "Read the log of a run", get(runs::events)),
        row(
            "get",
            "/api/v1/events",
            &[OF_ONE, LAST],
            None,
            Text("text/event-stream"),
            "Follow what happens",
            get(events::follow),
        ),
        row("get", SPENDING, &[], None, One(200, "Spending"), "What models cost", get(spending::show)),
        row("get", "/metrics", &[], None, Text(TEXT), "Numbers for Prometheus", get(probes::metrics)),
        open(row("get", "/", &[], None, Text(TEXT), "What this is", get(probes::root))),
        open(row("get", "/healthz", &[], None, Text(TEXT), "Whether the process is alive", get(probes::healthz))),
        open(row("get", "/readyz", &[], None, Text(TEXT), "Whether messages can be taken", get(probes::readyz))),
        open(row("get", "/api/v1/openapi.json", &[], None, Document, "This description", get(probes::openapi))),
    ]
}

/// All routes, with what guards them.
pub fn router(web: Web) -> Router {
    router_with(web, Vec::new())
}

/// The same, and paths where other services tell us things.
pub fn router_with(web: Web, hooks: Vec<Hook>) -> Router {
    let (open, guarded): (Vec<_>, Vec<_>) = operations().into_iter().partition(|operation| operation.is_open);
    let routes = |operations: Vec<Operation>| {
        operations.into_iter().fold(Router::new(), |router, operation| router.route(operation.path, operation.handler))
    };
    let guarded = routes(guarded).route_layer(from_fn_with_state(web.clone(), guard::require_token));
    // Agents have tokens of their own, each good for one run.
    let calls = web.engine().gateway().map(|models| gateway::routes(models, web.limits().calls));
    let described = Hooks::of(&hooks);
    routes(open)
        .merge(guarded)
        .merge(calls.unwrap_or_default())
        .method_not_allowed_fallback(async || Problem::wrong_method())
        .fallback(async || Problem::no_such_path())
        .layer(Extension(described))
        .layer(from_fn_with_state(web.clone(), guard::check_origin))
        // What comes from here on is theirs too.
        .merge(hook::routes(hooks))
        .layer(map_response(harmless))
        .layer(from_fn_with_state(web.clone(), guard::trace))
        .with_state(web)
}

/// Nothing we answer is a page, and nothing of it may be shown inside of one.
async fn harmless(response: Response) -> Response {
    let headers = [("x-content-type-options", "nosniff"), ("content-security-policy", "default-src 'none'")];
    (headers, response).into_response()
}
