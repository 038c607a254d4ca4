//! A run has its environment to itself, or it ends.

use std::time::Duration;

use hedgerow_testkit::Office;

use super::{at_work, environment, finish, issue, long, reads};

async fn brisk() -> Office {
    let office = Office::with(|settings| settings.runs.lease = Duration::from_secs(4)).await;
    office.given_a_repo("shop").await;
    office
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_keep_its_environment_stops_itself_and_leaves_who_came_after_alone() {
    let office = brisk().await;
    office.gets(issue(&office, 42, &format!("write half.txt half\nsay begun\n{}", long(&office, "run")))).await;
    at_work(&office, "run").await;
    let place = environment(&office, "issue-42").await;
    let take = format!(
        "UPDATE environments SET lease_owner = 'wren:1', lease_epoch = lease_epoch + 1, lease_until = 9000000000000 WHERE id = '{}'",
        place.id
    );
    office.database().meddle(&take).await.expect("the store is there");
    office.is_idle().await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write half.txt half
          say begun
          touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `issue-42`
        bot: begun

          Interrupted: the environment could not be kept for this run. It is not run again; its changes are kept.
    ",
    );
    assert!(place.path.join("half.txt").exists());
    let leases = office.engine.store().leases(office.engine.store_now().await.expect("a time")).await;
    assert_eq!(leases.expect("the store answers"), [(place.id, "wren:1".to_owned())]);
    assert_eq!(office.engine.checkpoints(&place).await.expect("the store answers").len(), 1, "none after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_made_under_a_lease_that_passed_on_is_not_the_last_word() {
    // So long a lease that the run does not look at it again.
    let office = Office::with(|settings| settings.runs.lease = Duration::from_hours(1)).await;
    office.given_a_repo("shop").await;
    office.gets(issue(&office, 42, &format!("{}\nsay everything is fine", long(&office, "run")))).await;
    at_work(&office, "run").await;
    let place = environment(&office, "issue-42").await;
    let take = format!("UPDATE environments SET lease_epoch = lease_epoch + 1 WHERE id = '{}'", place.id);
    office.database().meddle(&take).await.expect("the store is there");
    finish(&office, "run");
    office.is_idle().await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: touch run-began
          wait-for run-may-end
          say everything is fine
        bot… Working in isolated branch `issue-42`
        bot: Interrupted: the environment could not be kept for this run. It is not run again; its changes are kept.
    ",
    );
    assert_eq!(office.engine.store().running().await.expect("the store answers"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_kept_for_as_long_as_the_run_takes() {
    let office = Office::with(|settings| settings.runs.lease = Duration::from_secs(4)).await;
    office.given_a_repo("shop").await;
    office.gets(issue(&office, 42, &format!("{}\nsay done", long(&office, "run")))).await;
    at_work(&office, "run").await;
    for _ in 0..3 {
        super::seconds_pass(&office, 3);
        let is_renewed = || async {
            let soon = office.engine.store_now().await.expect("a time").plus_seconds(3);
            office.engine.store().leases(soon).await.is_ok_and(|leases| leases.len() == 1)
        };
        super::until("its renewal", is_renewed).await;
    }
    finish(&office, "run");
    office.is_idle().await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: touch run-began
          wait-for run-may-end
          say done
        bot… Working in isolated branch `issue-42`
        bot: done
    ",
    );
}
