//! Traps on the way to a remote.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Lair, Trap, blunt, closed, doorman, trap};

/// Through the way to a remote.
pub const OF_REMOTES: &[Trap] = &[
    trap(
        "ssh_command",
        |lair| {
            lair.repo.git(&["remote", "set-url", "origin", "ssh://git@localhost:1/acme/shop.git"]);
            lair.config("core.sshCommand", &lair.bite());
        },
        Lair::fetches,
    ),
    trap(
        "git_proxy",
        |lair| {
            lair.repo.git(&["remote", "set-url", "origin", "git://localhost:1/acme/shop.git"]);
            lair.config("core.gitProxy", &lair.bite());
        },
        Lair::fetches,
    ),
    trap(
        "askpass",
        |lair| {
            lair.repo.git(&["remote", "set-url", "origin", &doorman()]);
            lair.config("core.askPass", &lair.bite());
        },
        Lair::fetches,
    ),
    trap(
        "credential_helper",
        |lair| {
            lair.repo.git(&["remote", "set-url", "origin", &doorman()]);
            lair.config("credential.helper", &lair.bite());
        },
        Lair::fetches,
    ),
    trap(
        "credential_helper_of_a_url",
        |lair| {
            let url = doorman();
            lair.repo.git(&["remote", "set-url", "origin", &url]);
            let host = url.trim_end_matches("/acme/shop.git");
            lair.config(&format!("credential.{host}.helper"), &lair.bite());
            lair.config("credential.http://a=b@*.helper", &lair.bite());
        },
        Lair::fetches,
    ),
    trap(
        "alternate_refs_command",
        |lair| {
            let objects = lair.repo.origin().join("objects");
            fs::write(lair.git_folder().join("objects/info/alternates"), format!("{}\n", objects.display()))
                .expect("alternates");
            lair.config("core.alternateRefsCommand", &lair.bite());
            lair.repo.commit_on_origin("main", "c.txt", "new\n");
        },
        |lair| {
            lair.fetches();
            lair.repo.commit_on_origin("main", "d.txt", "new\n");
        },
    ),
    trap("upload_pack", |lair| lair.config("remote.origin.uploadpack", &lair.bite()), Lair::fetches),
    trap(
        "receive_pack",
        |lair| lair.config("remote.origin.receivepack", &lair.bite()),
        |lair| {
            lair.plain(&["push", "origin", "main"]);
        },
    ),
    blunt("remote_vcs", |lair| lair.config("remote.origin.vcs", "evil")),
    trap(
        "ext_instead_of",
        |lair| {
            lair.config("protocol.ext.allow", "always");
            let url = lair.repo.origin().to_string_lossy().into_owned();
            lair.config(&format!("url.ext::{} .insteadOf", lair.bite()), &url);
        },
        Lair::fetches,
    ),
    trap(
        "ext_remote",
        |lair| {
            lair.config("protocol.ext.allow", "always");
            lair.repo.git(&["remote", "set-url", "origin", &format!("ext::{}", lair.bite())]);
        },
        Lair::fetches,
    ),
    blunt("remote_like_an_option", |lair| {
        let url = format!("ssh://-oProxyCommand={}/x", lair.bite().replace('/', "%2f"));
        lair.repo.git(&["remote", "set-url", "origin", &url]);
        lair.config(&format!("remote.--upload-pack={}.url", lair.bite()), "/nowhere");
    }),
    closed(blunt("lock_that_is_a_link", |lair| {
        for name in ["hedgerow.lock", "hedgerow-fetch.lock"] {
            symlink(lair.elsewhere().join(name), lair.git_folder().join(name)).expect("a link");
        }
    })),
];
