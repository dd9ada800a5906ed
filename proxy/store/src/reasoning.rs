//! A model's reasoning as its provider signed it, sealed under the organization's key for the caller to keep and to
//! bring back. Nothing of it is stored.

use crate::org_key;
use crate::seal::{self, Place};
use crate::{Store, StoreError};

/// Reasoning and the provider's signature over it. Holds content.
pub struct Signed {
    pub text: String,
    pub signature: String,
}

impl Signed {
    /// Seals both for a caller of this organization. Opens for no other.
    ///
    /// # Errors
    /// Those of the organization's key.
    pub async fn seal(&self, store: &Store, org_id: &str) -> Result<Vec<u8>, StoreError> {
        let keys = org_key::load(store, org_id).await?;
        let (version, key) = keys.current()?;
        let plain = serde_json::Value::from(vec![&*self.text, &*self.signature]).to_string();
        Ok(seal::seal(key, version, place(org_id), plain.as_bytes())?)
    }

    /// Opens what a caller has brought back.
    ///
    /// # Errors
    /// [`StoreError::Seal`] for what [`Self::seal`] has not made for this organization, and those of its key.
    pub async fn open(store: &Store, org_id: &str, sealed: &[u8]) -> Result<Self, StoreError> {
        let key = org_key::opening(store, org_id, sealed).await?;
        let plain = seal::open(&key, place(org_id), sealed)?;
        let corrupt = |_| StoreError::Corrupt {
            column: "reply.reasoning",
        };
        let (text, signature) = serde_json::from_slice(&plain).map_err(corrupt)?;
        Ok(Self { text, signature })
    }
}

const fn place(org_id: &str) -> Place<'_> {
    Place {
        table: "reply",
        row_id: "",
        column: "reasoning",
        org_id,
    }
}
