//! A PostgreSQL server that falls silent, as one does whose machine or network is gone: it refuses nothing, closes
//! nothing and answers nothing.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use svc_store::{StoreError, api_key};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

use crate::database::TestDb;
use crate::fixture;
use crate::opening::key;

/// 60 s: far above the store's own limits, far below the quarter of an hour that the kernel waits.
const PATIENCE: Duration = Duration::from_secs(60);
/// The name that clients look for in a server's folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// Stands between a store and its server.
struct Line {
    /// The server, over this line.
    db: TestDb,
    cut_at: Arc<Mutex<Option<&'static str>>>,
    _passing: JoinSet<()>,
    _folder: TempDir,
}

impl Line {
    fn to(mut db: TestDb) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = db.files.parent().unwrap().to_owned();
        let host = |folder: &std::path::Path| format!("host={}", folder.display());
        db.url = db.url.replace(&host(&server), &host(folder.path()));
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let cut_at = Arc::new(Mutex::new(None));
        let cutting = Arc::clone(&cut_at);
        let mut passing = JoinSet::new();
        passing.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(server.join(SOCKET)).await.unwrap();
                lines.spawn(pass(client, server, Arc::clone(&cutting)));
            }
        });
        Self {
            db,
            cut_at,
            _passing: passing,
            _folder: folder,
        }
    }

    /// A connection on which a client says this word hears nothing any more.
    fn cut_at(&self, word: &'static str) {
        *self.cut_at.lock() = Some(word);
    }

    /// Further connections are not cut; those that were stay silent.
    fn mend(&self) {
        *self.cut_at.lock() = None;
    }
}

async fn pass(
    mut client: UnixStream,
    mut server: UnixStream,
    cut_at: Arc<Mutex<Option<&'static str>>>,
) {
    let (mut asked, mut told) = ([0; 4_096], [0; 4_096]);
    loop {
        tokio::select! {
            count = client.read(&mut asked) => {
                let Ok(count @ 1..) = count else { return };
                let asked = &asked[..count];
                server.write_all(asked).await.unwrap();
                let word = *cut_at.lock();
                if word.is_some_and(|word| String::from_utf8_lossy(asked).contains(word)) {
                    std::future::pending::<()>().await;
                }
            }
            count = server.read(&mut told) => {
                let Ok(count @ 1..) = count else { return };
                if client.write_all(&told[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work)
        .await
        .expect("an answer of the store")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_beginning_that_nobody_answers_is_an_outage() {
    let line = Line::to(TestDb::postgres().await);
    let store = line.db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    line.cut_at("BEGIN");
    let lost = in_time(api_key::create(&store, &key(1, &org), &[1; 32])).await;
    assert!(matches!(lost, Err(StoreError::TimedOut)), "{lost:?}");
    line.mend();
    // On another connection.
    in_time(api_key::create(&store, &key(2, &org), &[2; 32]))
        .await
        .unwrap();
    let found = in_time(api_key::find(&store, &org, "key_1")).await;
    assert!(found.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_nobody_answers_is_an_outage_and_may_hold() {
    let line = Line::to(TestDb::postgres().await);
    let store = line.db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    line.cut_at("COMMIT");
    let unknown = in_time(api_key::create(&store, &key(1, &org), &[1; 32])).await;
    assert!(matches!(unknown, Err(StoreError::TimedOut)), "{unknown:?}");
    line.mend();
    let found = in_time(api_key::find(&store, &org, "key_1")).await;
    assert!(found.unwrap().is_some());
    in_time(api_key::create(&store, &key(2, &org), &[2; 32]))
        .await
        .unwrap();
}
