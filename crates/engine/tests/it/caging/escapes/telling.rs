//! Variables: what a program is told must not tell its supervisor, which is outside.

use std::fs;

use super::{Prey, a_cage, cages, fail};

/// Our own words to the supervisor, said by somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn words_that_are_for_the_supervisor() {
    for mut caged in cages().await {
        let outside = Prey::at(caged.world.folder().join("outside/file"));
        let path = outside.shown();
        let view = r#"{"layer":"Tree","folder":"/","home":"/","is_trial":false,
            "parts":[{"Bind":{"from":"/","at":"/","access":"Write"}}]}"#;
        let mounts = || fs::read_to_string("/proc/self/mountinfo").expect("it can be read");
        let before = mounts();
        // Whoever believes such a word takes the file tree apart that it is in: not that of the machine.
        if caged.before.is_empty() && rustix::process::geteuid().is_root() {
            caged.before = ["unshare", "--mount", "--"].map(Into::into).into();
        }
        for told in [
            vec![("HEDGEROW_CAGE", view)],
            vec![("HEDGEROW_CAGE", "")],
            vec![("HEDGEROW_INSIDE", "1")],
            vec![("HEDGEROW_INSIDE", "1"), ("HEDGEROW_CAGE", view)],
            vec![("HEDGEROW_SERVER", "1")],
            vec![("HEDGEROW_RUN", "other")],
        ] {
            caged.variables = told.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let ran = fail(
                &caged,
                &[
                    format!("cat {path}"),
                    format!("echo x >{path}"),
                    "env | grep -E '^HEDGEROW_(CAGE|INSIDE|SERVER)='".to_owned(),
                ],
            )
            .await;
            outside.is_unread(&caged, &ran);
            outside.is_unharmed();
            let run = caged.sh("echo $HEDGEROW_RUN").await.well();
            assert_ne!(run, "other", "it would be taken for another run");
        }
        assert_eq!(mounts(), before);
    }
}

/// The loader of programs does what variables say, in the supervisor too, which starts outside.
#[tokio::test(flavor = "multi_thread")]
async fn words_that_are_for_the_loader() {
    for mut caged in cages().await {
        let canary = caged.world.folder().join("canary");
        let told = [("LD_DEBUG", "files".to_owned()), ("LD_DEBUG_OUTPUT", canary.display().to_string())];
        caged.variables = told.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(caged.sh("echo $LD_DEBUG").await.well(), "files", "the program itself may be told");
        let names = fs::read_dir(caged.world.folder()).expect("a folder").flatten().map(|entry| entry.file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("canary")).collect();
        assert!(left.is_empty(), "the loader of a process outside wrote {left:?}");
    }
}

/// What the server was started with is not passed on.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_was_told() {
    let Some(caged) = a_cage().await else { return };
    let told = caged.sh("cat /proc/[0-9]*/environ | tr '\\0' '\\n' | sed 's/=.*//' | sort -u").await.well();
    let server: Vec<_> = std::env::vars().map(|(name, _)| name).filter(|name| name.starts_with("CARGO_")).collect();
    assert!(!server.is_empty(), "cargo tells its tests something");
    let passed: Vec<_> = server.iter().filter(|name| told.lines().any(|line| line == *name)).collect();
    assert!(passed.is_empty(), "{passed:?}");
}

/// Redirecting git inside redirects nothing outside.
#[tokio::test(flavor = "multi_thread")]
async fn variables_of_git() {
    let Some(mut caged) = a_cage().await else { return };
    let main = caged.git_folder();
    let head = Prey::found(main.join("HEAD"));
    caged.variables = vec![("GIT_DIR".to_owned(), main.display().to_string())];
    fail(
        &caged,
        &["git symbolic-ref HEAD refs/heads/x", "git config a.b c", "git checkout --orphan x"].map(str::to_owned),
    )
    .await;
    head.is_unharmed();
    let checked = caged.world.engine.checkpoint(&caged.environment, None, &hedgerow_testkit::world::alice()).await;
    assert!(checked.is_ok(), "{checked:?}");
}
