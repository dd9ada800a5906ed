//! The lists of organizations as requests use them: at most as old as the other settings (contract 19.5).

use std::sync::Arc;

use svc_core::fault::Fault;
use svc_core::phi::ValueLists;
use svc_store::{Store, StoreError, phi_list};

use crate::lately::Lately;

/// Organizations whose lists are held at once; those of more are read from the store each time.
const MAX_ORGANIZATIONS: u64 = 10_000;

/// Lists that were read lately, by organization.
pub struct Lists(Lately<String, Held>);

/// Lists as they were at a revision; none where nothing is listed.
#[derive(Clone)]
pub struct Held {
    /// Tells lists from what they are after a change.
    pub revision: i64,
    pub lists: Option<Arc<ValueLists>>,
}

impl Default for Lists {
    fn default() -> Self {
        Self(Lately::new(MAX_ORGANIZATIONS))
    }
}

impl Lists {
    /// The lists of an organization.
    ///
    /// # Errors
    /// 503 where they cannot be read: without them what is denied would pass.
    pub async fn of(&self, store: &Store, org_id: &str) -> Result<Held, Fault> {
        let reading = || read(store, org_id, self.0.known(org_id));
        let held = self.0.get(org_id, reading).await;
        held.map_err(|error| Fault::unavailable(format_args!("PHI lists: {error}")))
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
