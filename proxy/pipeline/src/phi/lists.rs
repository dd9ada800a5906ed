//! The lists of organizations as requests use them: at most as old as the other settings (contract 19.5).

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use svc_core::fault::Fault;
use svc_core::phi::ValueLists;
use svc_store::{Store, StoreError, phi_list};

/// Contract 19.5: PHI settings are at most this old, and this old while the store is down.
const FRESH: Duration = Duration::from_secs(2);
const WHILE_STORE_IS_DOWN: Duration = Duration::from_secs(30);

/// Organizations whose lists are held at once; those of more are read from the store each time.
const MAX_ORGANIZATIONS: u64 = 10_000;

/// Lists that were read lately, by organization.
pub struct Lists {
    fresh: Cache<String, Held>,
    fallback: Cache<String, Held>,
}

/// Lists as they were at a revision; none where nothing is listed.
#[derive(Clone)]
struct Held {
    revision: i64,
    lists: Option<Arc<ValueLists>>,
}

impl Default for Lists {
    fn default() -> Self {
        let cache = |age: Duration| {
            Cache::builder()
                .max_capacity(MAX_ORGANIZATIONS)
                .time_to_live(age)
                .build()
        };
        Self {
            fresh: cache(FRESH),
            fallback: cache(WHILE_STORE_IS_DOWN),
        }
    }
}

impl Lists {
    /// The lists of an organization; `None` where it has listed nothing.
    ///
    /// # Errors
    /// 503 where they cannot be read: without them what is denied would pass.
    pub async fn of(&self, store: &Store, org_id: &str) -> Result<Option<Arc<ValueLists>>, Fault> {
        if let Some(held) = self.fresh.get(org_id).await {
            return Ok(held.lists);
        }
        let before = self.fallback.get(org_id).await;
        let reading = async {
            let held = read(store, org_id, before.clone()).await?;
            self.fallback.insert(org_id.to_owned(), held.clone()).await;
            Ok(held)
        };
        let read = self
            .fresh
            .try_get_with::<_, StoreError>(org_id.to_owned(), reading);
        match (Box::pin(read).await, before) {
            (Ok(held), _) => Ok(held.lists),
            (Err(error), Some(held)) if error.is_outage() => Ok(held.lists),
            (Err(error), _) => Err(Fault::unavailable(format_args!("PHI lists: {error}"))),
        }
    }
}

/// Reads the lists, where their revision is not the one that is held.
async fn read(store: &Store, org_id: &str, before: Option<Held>) -> Result<Held, StoreError> {
    let revision = phi_list::revision(store, org_id).await?;
    if let Some(held) = before.filter(|held| held.revision == revision) {
        return Ok(held);
    }
    if revision == 0 {
        return Ok(Held {
            revision,
            lists: None,
        });
    }
    let (revision, lists) = phi_list::load(store, org_id).await?;
    let lists = (!lists.is_empty()).then(|| Arc::new(lists));
    Ok(Held { revision, lists })
}
