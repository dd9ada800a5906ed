//! OAuth applications that were asked about lately: while the store is down, an application is still told so at its own
//! address (contract 16.3). Nothing is issued from here.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use svc_store::oauth_application::{self, Application};
use svc_store::{Store, StoreError};

/// Contract 19.5: as old as a verdict may be while the store is down.
const WHILE_STORE_IS_DOWN: Duration = Duration::from_secs(30);
/// Applications held at once.
const MAX_APPLICATIONS: u64 = 10_000;

pub struct Applications(Cache<String, Arc<Application>>);

impl Default for Applications {
    fn default() -> Self {
        let cache = Cache::builder()
            .max_capacity(MAX_APPLICATIONS)
            .time_to_live(WHILE_STORE_IS_DOWN);
        Self(cache.build())
    }
}

impl Applications {
    /// The application in use that has this client id: as the store says, or has said lately where it does not answer.
    ///
    /// # Errors
    /// Those of the database, where nothing is known.
    pub async fn find(
        &self,
        store: &Store,
        client_id: &str,
    ) -> Result<Option<Arc<Application>>, StoreError> {
        let found = match oauth_application::find_by_client_id(store, client_id).await {
            Ok(found) => found.map(|(application, _)| application),
            Err(error) if error.is_outage() => {
                let known = self.0.get(client_id).await;
                return known.map(Some).ok_or(error);
            }
            Err(error) => return Err(error),
        };
        let in_use = found.filter(|application| application.revoked_at.is_none());
        let Some(application) = in_use.map(Arc::new) else {
            self.0.invalidate(client_id).await;
            return Ok(None);
        };
        let kept = Arc::clone(&application);
        self.0.insert(client_id.to_owned(), kept).await;
        Ok(Some(application))
    }
}
