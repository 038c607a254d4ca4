//! What opens a remote is shown to that remote, and is nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_core::platform::Credential;
use hedgerow_core::provider::{NoProgress, Note};
use hedgerow_core::{Codebase, Secret, Work};
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::Source;
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{Board, TestRepo, World};

use super::SHOP;
use super::shelf::{Manner, Shelf};

const SECRET: &str = "s3cret-t0ken-of-acme";
/// The name `x-access-token` and the secret, as HTTP has it.
const SHOWN: &str = "Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LXQwa2VuLW9mLWFjbWU=";

/// A machine whose git writes down how it is called, with a forge for `acme/shop.git`.
struct Gate {
    world: World,
    board: Arc<Board>,
    /// Holds `acme/shop.git`.
    remotes: PathBuf,
    repo: TestRepo,
    folder: tempfile::TempDir,
}

impl Gate {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (calls, kept) = (folder.path().join("calls"), folder.path().join("kept"));
        let helper = folder.path().join("git");
        script(&helper, &format!("echo \"$@\" >> {}\nexec git \"$@\"", calls.display()));
        let own = folder.path().join("gitconfig");
        fs::write(
            &own,
            format!("[credential]\n\thelper = \"!f() {{ echo $1 >> {}; cat >> {0}; }}; f\"\n", kept.display()),
        )
        .expect("a person's own configuration");
        let board = Board::new();
        let world = World::with(|settings| {
            settings.forges = board.forges();
            settings.git = helper;
            settings.git_env.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
            settings.git_env.push(("GIT_CONFIG_GLOBAL".into(), own.into()));
        })
        .await;
        let repo = TestRepo::with_origin(&folder.path().join("code"), "shop");
        let remotes = folder.path().join("remotes");
        fs::create_dir_all(remotes.join("acme")).expect("a folder");
        fs::rename(repo.origin(), remotes.join("acme/shop.git")).expect("it can be moved");
        board.hosts(SHOP, remotes.join("acme/shop.git").display().to_string());
        let gate = Self { world, board, remotes, repo, folder };
        gate.repo.git(&["remote", "set-url", "origin", &gate.bare().display().to_string()]);
        gate.publishes();
        gate
    }

    fn bare(&self) -> PathBuf {
        self.remotes.join("acme/shop.git")
    }

    fn publishes(&self) {
        git(&self.bare(), &["update-server-info"]);
    }

    /// A server of the remotes, which is the forge's too.
    async fn shelf(&self, manner: Manner) -> Shelf {
        let shelf = Shelf::of(self.remotes.clone(), manner).await;
        self.board.hosts(SHOP, format!("{}/acme/shop.git", shelf.url()));
        shelf
    }

    /// The forge gives the secret for this URL.
    fn gives(&self, url: &str) {
        let password = Secret::new(SECRET);
        self.board.gives(Credential { url: url.to_owned(), username: "x-access-token".to_owned(), password });
    }

    async fn clones(&self, url: &str) -> Outcome<Codebase> {
        let source = Source::Url(url.to_owned());
        Ok(self.world.engine.add_codebase(&source, None, &alice(), &NoProgress).await?.codebase)
    }

    /// Nothing on disk holds the secret: no configuration, no reflog, no call, no other helper's file.
    fn keeps_the_secret(&self) {
        for folder in [self.folder.path(), self.world.folder()] {
            holds_none(folder);
        }
        let kept = fs::read_to_string(self.folder.path().join("kept")).unwrap_or_default();
        assert!(!kept.contains("store") && !kept.contains("erase"), "another helper was told: {kept}");
    }
}

fn script(path: &Path, text: &str) {
    // A file that this process has open for writing while a neighbour forks cannot be run.
    let write = "cat > \"$0\"";
    let mut child = std::process::Command::new("sh")
        .args(["-c", write])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut stdin = child.stdin.take().expect("it listens");
    std::io::Write::write_all(&mut stdin, format!("#!/bin/sh\n{text}\n").as_bytes()).expect("it is written");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

fn holds_none(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            holds_none(&path);
        } else if kind.is_file() {
            let content = fs::read(&path).unwrap_or_default();
            let found = content.windows(SECRET.len()).any(|piece| piece == SECRET.as_bytes());
            assert!(!found, "the secret is in {}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_remote_is_cloned_and_fetched_and_the_secret_is_kept() {
    let gate = Gate::begin().await;
    let shelf = gate.shelf(Manner::Guarded(SHOWN.to_owned())).await;
    let url = format!("{}/acme/shop.git", shelf.url());
    gate.gives(&url);
    let codebase = gate.clones(&url).await.expect("it is cloned");
    let news = gate.repo.commit("news.txt", "news\n");
    gate.repo.push("main");
    gate.publishes();
    let resolved = gate.world.gets(&gate.world.asks(&codebase, Work::Issue(42))).await;
    assert_eq!(resolved.environment.base_sha, Some(news), "it was fetched");
    assert!(resolved.notes.is_empty(), "{:?}", resolved.notes);
    assert!(shelf.shown().iter().all(|shown| shown == SHOWN) && !shelf.shown().is_empty());
    gate.keeps_the_secret();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_does_not_carry_it_elsewhere() {
    let gate = Gate::begin().await;
    for manner in [Manner::SendsAway, Manner::AsksAndSendsAway] {
        let elsewhere = gate.shelf(Manner::Guarded(SHOWN.to_owned())).await;
        let shelf = gate.shelf(manner(elsewhere.url())).await;
        let url = format!("{}/acme/shop.git", shelf.url());
        gate.gives(&url);
        gate.clones(&url).await.expect_err("nobody opens it there");
        assert!(elsewhere.requests() > 0, "it was sent there");
        assert_eq!(elsewhere.shown(), Vec::<String>::new());
    }
    // Nor to another repository of the same place.
    let neighbour = gate.shelf(Manner::Guarded(SHOWN.to_owned())).await;
    gate.gives(&format!("{}/acme/shop.git", neighbour.url()));
    fs::create_dir_all(gate.remotes.join("evil")).expect("a folder");
    gate.clones(&format!("{}/evil/shop.git", neighbour.url())).await.expect_err("it is no forge's");
    assert_eq!(neighbour.shown(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_repeats_it_is_not_heard() {
    let gate = Gate::begin().await;
    let shelf = gate.shelf(Manner::Blabs(format!("you said {SECRET}, and that is wrong"))).await;
    let url = format!("{}/acme/shop.git", shelf.url());
    gate.gives(&url);
    let failure = gate.clones(&url).await.expect_err("it is refused");
    assert!(!words(&failure).contains(SECRET), "{}", words(&failure));
    assert!(!format!("{failure:?}").contains(SECRET));
    gate.keeps_the_secret();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_address_than_the_forges_own_is_shown_nothing() {
    let gate = Gate::begin().await;
    let shelf = gate.shelf(Manner::Guarded(SHOWN.to_owned())).await;
    let url = format!("{}/acme/shop.git", shelf.url());
    gate.gives(&url.replace("http://", "https://"));
    gate.clones(&url).await.expect_err("nobody opens it");
    assert_eq!(shelf.shown(), Vec::<String>::new(), "in the clear");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forge_that_refuses_leaves_public_remotes_open_and_a_silent_one_is_like_being_offline() {
    let gate = Gate::begin().await;
    let shelf = gate.shelf(Manner::Open).await;
    let url = format!("{}/acme/shop.git", shelf.url());
    let codebase = gate.clones(&url).await.expect("a public one needs nothing");
    gate.board.fails(u32::MAX);
    let resolved = gate.world.gets(&gate.world.asks(&codebase, Work::Issue(1))).await;
    let offline = resolved.notes.iter().find_map(|note| match note {
        Note::Offline { why, .. } => Some(why.as_str()),
        _ => None,
    });
    assert_eq!(offline, Some("the forge of `acme/shop` does not answer: nobody is there"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_forge_does_not_open_is_not_pushed_as_somebody_else() {
    let gate = Gate::begin().await;
    let shelf = gate.shelf(Manner::Open).await;
    let url = format!("{}/acme/shop.git", shelf.url());
    let codebase = gate.clones(&url).await.expect("a public one needs nothing");
    let environment = gate.world.environment(&codebase, Work::Issue(1)).await;
    commit(&environment.path, "a.txt", "a\n");
    let failure = gate.world.engine.propose(&environment, &alice()).await.expect_err("nothing is given for it");
    let told = words(&failure);
    assert!(told.contains("the forge of `acme/shop` does not let me write: nothing to give"), "{told}");
    assert!(!gate.folder.path().join("kept").exists(), "nobody's own helper was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_repository_that_lead_through_others_get_nothing_shown() {
    let gate = Gate::begin().await;
    let shelf = gate.shelf(Manner::Guarded(SHOWN.to_owned())).await;
    let url = format!("{}/acme/shop.git", shelf.url());
    gate.gives(&url);
    gate.repo.git(&["remote", "set-url", "origin", &url]);
    gate.repo.git(&["config", "http.sslVerify", "false"]);
    let codebase = gate.world.register(&gate.repo).await;
    gate.world.gets(&gate.world.asks(&codebase, Work::Issue(1))).await;
    assert!(shelf.requests() > 0);
    assert_eq!(shelf.shown(), Vec::<String>::new());
    // A helper that the repository brings along is neither asked nor told.
    gate.repo.git(&["config", "--unset", "http.sslVerify"]);
    let trap = gate.world.folder().join("trap");
    gate.repo.git(&["config", &format!("credential.{url}.helper"), &format!("!touch {}; cat >", trap.display())]);
    gate.repo.git(&["remote", "rename", "origin", "upstream"]);
    let other = World::with(|settings| settings.forges = gate.board.forges()).await;
    let codebase = other.register(&gate.repo).await;
    let resolved = other.gets(&other.asks(&codebase, Work::Issue(2))).await;
    assert!(!resolved.notes.iter().any(|note| matches!(note, Note::Offline { .. })), "{:?}", resolved.notes);
    assert!(!shelf.shown().is_empty(), "ours was asked");
    assert!(!trap.exists(), "its helper ran");
}
