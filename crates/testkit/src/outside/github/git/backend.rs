//! git over HTTP: `git http-backend`, started for each request as a web server starts it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::git::command;
use crate::outside::github::Office;
use crate::outside::github::access::Who;
use crate::outside::github::call::Refusal;
use crate::outside::github::state::{Role, World};

/// A path that git asks for: whose repository, and what of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    owner: String,
    name: String,
    rest: &'static str,
}

impl Wanted {
    pub(crate) fn read(path: &str) -> Option<Self> {
        let rest =
            ["/info/refs", "/git-upload-pack", "/git-receive-pack"].into_iter().find(|rest| path.ends_with(rest))?;
        let (owner, name) = path.strip_suffix(rest)?.strip_prefix('/')?.split_once('/')?;
        let name = name.strip_suffix(".git").unwrap_or(name);
        (!name.contains('/')).then(|| Self { owner: owner.to_owned(), name: name.to_owned(), rest })
    }
}

/// What may be done, by whom.
struct Permit {
    repository: u64,
    user: Option<(u64, String)>,
}

pub(crate) async fn serve(
    office: &Arc<Office>,
    wanted: &Wanted,
    asker: &Parts,
    body: Bytes,
    caller: Result<Who, Refusal>,
) -> Response {
    let query = asker.uri.query().unwrap_or_default();
    let pushes = wanted.rest == "/git-receive-pack" || query.contains("git-receive-pack");
    let permit = match office.world(|world| permit(world, wanted, pushes, caller)) {
        Ok(permit) => permit,
        Err(response) => return *response,
    };
    let folder = office.world(|world| world.folder.clone());
    let answer = run(&folder, &permit, wanted, asker, body).await;
    if wanted.rest == "/git-receive-pack" {
        let user = permit.user.map_or(0, |(user, _)| user);
        office.world(|world| world.branches_moved(permit.repository, user));
    }
    answer
}

fn permit(world: &World, wanted: &Wanted, pushes: bool, caller: Result<Who, Refusal>) -> Result<Permit, Box<Response>> {
    let Ok(who) = caller else { return Err(Box::new(ask_who("Invalid username or token."))) };
    let found = world.repository_named(&wanted.owner, &wanted.name);
    let old = format!("{}/{}", wanted.owner, wanted.name).to_ascii_lowercase();
    let renamed = world.old_names.get(&old).filter(|_| found.is_none()).map(|id| world.repository(*id));
    let is_renamed = renamed.is_some();
    let found = found.or(renamed);
    let role = found.map_or(Role::None, |repository| world.may(&who, repository));
    let user = match &who {
        Who::Holder(token) => Some((token.who, world.login(token.who).to_owned())),
        _ => None,
    };
    match found {
        // Who shows nothing is sent to where it is now; who shows a token is served under the old name, as pushes are.
        Some(repository) if is_renamed && user.is_none() && !pushes && !repository.is_deleted && role >= Role::Read => {
            let place = format!("{}/{}.git{}", world.url, repository.full_name(), wanted.rest);
            let place = if wanted.rest == "/info/refs" { format!("{place}?service=git-upload-pack") } else { place };
            Err(Box::new((StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, place)], "").into_response()))
        }
        Some(repository) if !repository.is_deleted && role >= Role::Read && (!pushes || role >= Role::Write) => {
            Ok(Permit { repository: repository.id, user })
        }
        // Who shows nothing is asked to, also for what may not be there.
        _ if user.is_none() => Err(Box::new(ask_who("Authentication is required."))),
        Some(repository) if role >= Role::Read && !repository.is_deleted => {
            let login = user.map(|(_, login)| login).unwrap_or_default();
            let words = format!("Permission to {}.git denied to {login}.", repository.full_name());
            Err(Box::new((StatusCode::FORBIDDEN, words).into_response()))
        }
        _ => Err(Box::new((StatusCode::NOT_FOUND, "Repository not found.").into_response())),
    }
}

fn ask_who(words: &'static str) -> Response {
    let challenge = HeaderValue::from_static("Basic realm=\"GitHub\"");
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)], words).into_response()
}

async fn run(folder: &Path, permit: &Permit, wanted: &Wanted, asker: &Parts, body: Bytes) -> Response {
    let text =
        |name: &str| asker.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let mut backend = command(folder);
    backend.arg("http-backend");
    backend.env("GIT_PROJECT_ROOT", folder).env("GIT_HTTP_EXPORT_ALL", "1");
    backend.env("PATH_INFO", format!("/{}.git{}", permit.repository, wanted.rest));
    backend.env("REQUEST_METHOD", asker.method.as_str()).env("REMOTE_ADDR", "127.0.0.1");
    backend.env("QUERY_STRING", asker.uri.query().unwrap_or_default());
    backend.env("CONTENT_TYPE", text("content-type")).env("CONTENT_LENGTH", body.len().to_string());
    backend.env("HTTP_CONTENT_ENCODING", text("content-encoding")).env("GIT_PROTOCOL", text("git-protocol"));
    if let Some((_, login)) = &permit.user {
        backend.env("REMOTE_USER", login);
    }
    let mut backend = Command::from(backend);
    backend.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = backend.spawn().expect("git can be started");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let writes = async move {
        // It may have seen enough before the end.
        _ = stdin.write_all(&body).await;
        drop(stdin);
    };
    let ((), output) = tokio::join!(writes, child.wait_with_output());
    let output = output.expect("git ends");
    response(&output.stdout).unwrap_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (StatusCode::INTERNAL_SERVER_ERROR, said).into_response()
    })
}

/// What a CGI program wrote, as an answer.
fn response(output: &[u8]) -> Option<Response> {
    let end = output.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&output[..end]).ok()?;
    let mut response = Response::new(Body::from(output[end + 4..].to_vec()));
    for (name, value) in head.lines().filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("status") {
            let code = value.trim().split(' ').next()?.parse().ok()?;
            *response.status_mut() = StatusCode::from_u16(code).ok()?;
        } else {
            let name: HeaderName = name.parse().ok()?;
            response.headers_mut().insert(name, HeaderValue::from_str(value.trim()).ok()?);
        }
    }
    Some(response)
}
