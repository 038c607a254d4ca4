//! The hidden verb that the server puts before an assistant's command line.

use insta::assert_snapshot;

use crate::desk::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn the_program_under_the_supervisor_keeps_its_streams_and_its_status() {
    let desk = Desk::new().await;
    let session = desk.session(&[
        "echo in and out | hedgerow supervise -- cat",
        "hedgerow supervise -- sh -c 'echo wrong >&2; exit 7'",
        "hedgerow supervise -- sh -c 'kill -KILL $$'",
        "hedgerow supervise -- sh -c 'sleep 600 & echo done'",
        "hedgerow supervise -- no-such-program",
        "hedgerow supervise -- /etc",
        "hedgerow --help | grep -c supervise",
    ]);
    assert_snapshot!(session, @r"
    $ echo in and out | hedgerow supervise -- cat
    in and out

    $ hedgerow supervise -- sh -c 'echo wrong >&2; exit 7'
    ------- stderr -------
    wrong
    [exit status: 7]

    $ hedgerow supervise -- sh -c 'kill -KILL $$'
    [exit status: 137]

    $ hedgerow supervise -- sh -c 'sleep 600 & echo done'
    done

    $ hedgerow supervise -- no-such-program
    ------- stderr -------
    error: cannot run `no-such-program`: No such file or directory (os error 2)
    [exit status: 127]

    $ hedgerow supervise -- /etc
    ------- stderr -------
    error: cannot run `/etc`: Permission denied (os error 13)
    [exit status: 126]

    $ hedgerow --help | grep -c supervise
    0
    [exit status: 1]
    ");
}
