//! OAuth applications that were asked about lately: while the store is down, an application is still told so at its own
//! address (contract 16.3). Nothing is issued from here.

use std::sync::Arc;

use svc_store::oauth_application::{self, Application};
use svc_store::{Store, StoreError};

use crate::lately::Lately;

/// Applications held at once.
const MAX_APPLICATIONS: u64 = 10_000;

/// OAuth applications in use, by client id: each as the store said of it at most 30 s ago.
pub struct Applications(Lately<String, Arc<Application>>);

impl Default for Applications {
    fn default() -> Self {
        Self(Lately::new(MAX_APPLICATIONS))
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
        let asked = self.0.asking();
        let found = match oauth_application::find_by_client_id(store, client_id).await {
            Ok(found) => found.map(|(application, _)| application),
            Err(error) if error.is_outage() => {
                let known = self.0.known(client_id);
                return known.map(Some).ok_or(error);
            }
            Err(error) => return Err(error),
        };
        let in_use = found.filter(|application| application.revoked_at.is_none());
        let Some(application) = in_use.map(Arc::new) else {
            self.0.forget(client_id);
            return Ok(None);
        };
        let kept = Arc::clone(&application);
        self.0.keep(client_id.to_owned(), kept, asked);
        Ok(Some(application))
    }
}
