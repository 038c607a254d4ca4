//! Sockets of others.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use hedgerow_core::RunId;

use super::calls::perl;
use super::{a_cage, cages, fail};

/// Connects to a socket with a file, or, where `before` is `\\0`, to one without.
fn connect(before: &str, name: &str) -> String {
    perl(&format!(
        "use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or exit 1; \
         connect($s, pack_sockaddr_un(\"{before}{name}\")) or exit 1"
    ))
}

/// The same attempt goes well outside, so that it is the cage where it fails inside.
fn goes_well_outside(attempt: &str, listener: &UnixListener) {
    let status = Command::new("sh").args(["-c", attempt]).status().expect("a shell");
    assert!(status.success() && listener.accept().is_ok(), "{attempt}");
}

fn nobody_came(listener: &UnixListener) {
    listener.set_nonblocking(true).expect("it is ours");
    assert!(listener.accept().is_err(), "somebody was there");
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_without_a_file() {
    for caged in cages().await {
        let name = format!("hedgerow-{}", RunId::new());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let listener = UnixListener::bind_addr(&address).expect("it can be bound");
        let attempt = connect("\\0", &name);
        goes_well_outside(&attempt, &listener);
        fail(&caged, &[attempt]).await;
        nobody_came(&listener);
        let own = format!(
            "use Socket; my $n = \"\\0own-{name}\"; socket(my $l, PF_UNIX, SOCK_STREAM, 0); bind($l, pack_sockaddr_un($n)) or exit 1; \
             listen($l, 1); socket(my $s, PF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un($n)) or exit 2"
        );
        assert_eq!(caged.sh(&perl(&own)).await.status, 0, "one of its own is its own business");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_with_a_file() {
    for caged in cages().await {
        let folder = caged.world.folder();
        fs::create_dir_all(caged.person().join(".ssh")).expect("a folder");
        let names =
            [folder.join("docker.sock"), caged.person().join(".ssh/agent"), caged.world.settings().home.join("s")];
        let listeners = names.each_ref().map(|name| UnixListener::bind(name).expect("it can be bound"));
        let attempts = names.each_ref().map(|name| connect("", &name.to_string_lossy()));
        for (attempt, listener) in attempts.iter().zip(&listeners) {
            goes_well_outside(attempt, listener);
        }
        let usual = ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"];
        let usual = usual.map(|name| connect("", name));
        fail(&caged, &attempts.into_iter().chain(usual).collect::<Vec<_>>()).await;
        listeners.iter().for_each(nobody_came);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_users_sockets_are_is_not_told() {
    let Some(caged) = a_cage().await else { return };
    let told = caged.sh("env").await.well();
    for name in
        ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XDG_RUNTIME_DIR", "DOCKER_HOST", "GPG_AGENT_INFO"]
    {
        assert!(!told.contains(&format!("{name}=")), "{told}");
    }
}

/// The network is the machine's: packets and settings of it are not for an agent.
#[tokio::test(flavor = "multi_thread")]
async fn the_network_beneath_its_connections() {
    for caged in cages().await {
        let socket = |kind: &str| perl(&format!("socket(my $s, {kind}) or exit 1"));
        // Packets as they are on the wire, to see those of others.
        let attempts = [socket("17, 3, 0x300"), socket("2, 3, 255"), "ip link set lo up".to_owned()];
        fail(&caged, &attempts).await;
    }
}
