//! The thread that serves, from its first moment to its last.

use std::sync::{Arc, Mutex};

use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

use super::delivery::Post;
use super::state::World;
use super::{GitHub, Office, posting, serving};

pub(super) fn start(port: u16) -> std::io::Result<GitHub> {
    // The port is taken here, so that what goes wrong is told here.
    let listener = std::net::TcpListener::bind(("127.0.0.1", port))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let folder = tempfile::Builder::new().prefix("fake-github-").tempdir()?;
    let (outgoing, parcels) = mpsc::unbounded_channel();
    let (count, on_their_way) = watch::channel(0);
    let world = World::new(url.clone(), folder.path().to_owned(), Post::new(outgoing, count));
    let office = Arc::new(Office { world: Mutex::new(world), on_their_way });
    let (stop, stopped) = oneshot::channel::<()>();
    let serves = Arc::clone(&office);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let serve = move || {
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).expect("a listener of this thread");
            let routes = serving::routes(Arc::clone(&serves));
            tokio::select! {
                served = axum::serve(listener, routes) => served.expect("it serves until it is stopped"),
                () = posting::deliver(serves, parcels) => {}
                _ = stopped => {}
            }
        });
        // A caller that hangs would be waited for otherwise.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("fake-github".to_owned()).spawn(serve)?;
    Ok(GitHub { office, url, stop: Some(stop), thread: Some(thread), _folder: folder })
}
