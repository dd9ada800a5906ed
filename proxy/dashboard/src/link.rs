//! Links by which somebody sets a password: the command line and the page of users hand them out.

use svc_core::secret;
use svc_core::time::Timestamp;
use svc_store::identity;
use svc_store::link::{self, Link, Purpose};
use svc_store::user::User;
use svc_store::{StoreError, Transaction};

use crate::session::token;

/// 7 days for an invitation: people are on leave.
const INVITATION_MS: i64 = 7 * 86_400_000;
/// 1 h for a reset: whoever asked for it waits for it.
const RESET_MS: i64 = 3_600_000;

/// A new link: what is stored of it, and its address.
pub struct NewLink {
    link: Link,
    digest: [u8; 32],
    pub url: String,
}

impl NewLink {
    /// `by` is who issues it, at a page; the command line is the operator.
    pub fn new(
        base_url: &str,
        user: &User,
        purpose: Purpose,
        by: Option<&User>,
        now: Timestamp,
    ) -> Self {
        let token = token();
        let (page, life_ms) = match purpose {
            Purpose::Invitation => ("invite", INVITATION_MS),
            Purpose::Reset => ("reset", RESET_MS),
        };
        let base = base_url.trim_end_matches('/');
        Self {
            link: Link {
                user_id: user.id.clone(),
                org_id: user.org_id.clone(),
                purpose,
                issued_by: by.map(|by| by.id.clone()),
                created_at: now,
                expires_at: now.plus_ms(life_ms),
            },
            digest: secret::digest(&token),
            url: format!("{base}/ui/{page}/{token}"),
        }
    }

    pub const fn expires_at(&self) -> Timestamp {
        self.link.expires_at
    }

    /// Makes it work, and every earlier one of the same user void. A reset is one of the whole way in: who they are at
    /// an OpenID provider is forgotten too.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn issue(&self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        link::issue(tx, &self.link, &self.digest).await?;
        if self.link.purpose == Purpose::Reset {
            identity::forget(tx, &self.link.user_id).await?;
        }
        Ok(())
    }
}
