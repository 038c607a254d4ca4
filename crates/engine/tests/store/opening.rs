use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hedgerow_engine::store::{Database, Store, StoreError};
use hedgerow_testkit::database::TestDatabase;
use tokio::task::JoinSet;

use crate::{Scene, alice, codebase};

async fn refusal(database: &Database) -> String {
    match Store::open(database).await {
        Err(StoreError::Unavailable(sentence)) => sentence,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_open_a_fresh_database_at_once_find_it_made_once() {
    let database = TestDatabase::new().await;
    let mut opening = JoinSet::new();
    for n in 0..20 {
        let database = database.database();
        opening.spawn(async move {
            let store = Store::open(&database).await.expect("opened");
            store.add_codebase(&codebase(&format!("c{n}")), &alice()).await.expect("written");
            store.close().await;
        });
    }
    opening.join_all().await;
    assert_eq!(database.store().await.codebases().await.expect("read").len(), 20);
}

#[tokio::test]
async fn what_was_written_is_there_when_opened_again() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    scene.store.close().await;
    let store = Store::open(&scene.database.database()).await.expect("opened again");
    assert_eq!(store.environment(issue.id).await.expect("read"), Some(issue));
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let scene = Scene::begin().await;
    scene
        .database
        .meddle(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (9999, 'from the future', true, '00', 1)",
        )
        .await
        .expect("written");
    let sentence = refusal(&scene.database.database()).await;
    assert!(sentence.contains("newer version of Hedgerow") && sentence.contains("9999"), "{sentence}");
}

#[tokio::test]
async fn a_database_whose_steps_differ_is_refused() {
    let scene = Scene::begin().await;
    scene.database.meddle("UPDATE _sqlx_migrations SET checksum = '00'").await.expect("written");
    let sentence = refusal(&scene.database.database()).await;
    assert!(sentence.contains("another build of Hedgerow"), "{sentence}");
}

#[tokio::test]
async fn the_file_and_its_folder_are_for_their_owner_only_whatever_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("a b?c#d%20é.x");
    let path = home.join("hedge row?#%.db");
    let store = Store::open(&Database::Sqlite(path.clone())).await.expect("opened");
    store.add_codebase(&codebase("shop"), &alice()).await.expect("written");
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for entry in home.read_dir().expect("readable").flatten() {
        assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
    }
    assert!(path.metadata().expect("there").len() > 0, "the database is where it was asked for");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.txt");
    let notes = "my notes\n".repeat(1000);
    std::fs::write(&path, &notes).expect("written");
    let sentence = refusal(&Database::Sqlite(path.clone())).await;
    assert!(sentence.contains("notes.txt") && sentence.contains("not a database"), "{sentence}");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), notes);
}

#[tokio::test]
async fn a_damaged_database_is_an_error_and_no_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hedgerow.db");
    let store = Store::open(&Database::Sqlite(path.clone())).await.expect("opened");
    store.add_codebase(&codebase("shop"), &alice()).await.expect("written");
    store.close().await;
    let mut bytes = std::fs::read(&path).expect("there");
    bytes[200..].fill(0xa5);
    std::fs::write(&path, bytes).expect("written");
    let sentence = refusal(&Database::Sqlite(path)).await;
    assert!(sentence.contains("damaged"), "{sentence}");
}

#[tokio::test]
async fn a_place_where_no_file_can_be_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let sentence = refusal(&Database::Sqlite(folder.path().to_owned())).await;
    assert!(sentence.contains(&*folder.path().to_string_lossy()), "{sentence}");
    std::fs::write(folder.path().join("file"), "").expect("written");
    let sentence = refusal(&Database::Sqlite(folder.path().join("file/hedgerow.db"))).await;
    assert!(sentence.contains("file"), "{sentence}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_at_once_and_without_the_password() {
    let database = Database::Postgres("postgres://alice:hunter2@127.0.0.1:1/shop".to_owned());
    let sentence = tokio::time::timeout(std::time::Duration::from_secs(5), refusal(&database)).await.expect("at once");
    assert!(sentence.contains("`shop` at 127.0.0.1:1 as `alice`"), "{sentence}");
    for said in [sentence, format!("{database:?}")] {
        assert!(!said.contains("hunter2"), "{said}");
    }
    let wrong = Database::Postgres("postgres://alice:hunter2@host:port/shop".to_owned());
    for said in [refusal(&wrong).await, format!("{wrong:?} {wrong}")] {
        assert!(!said.contains("hunter2"), "{said}");
    }
}
