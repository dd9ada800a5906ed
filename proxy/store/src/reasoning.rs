//! A model's reasoning as its provider signed it, sealed under the organization's key for the caller to keep and to
//! bring back. Nothing of it is stored.

use crate::org_key;
use crate::seal::{self, Place};
use crate::{Store, StoreError};

/// Reasoning and the provider's signature over it. Holds content.
pub struct Signed {
    /// Empty where the provider has sealed it.
    pub text: String,
    /// Or what the provider has sealed.
    pub signature: String,
    /// Id of the driver that gave it, where that was kept.
    pub driver: Option<String>,
}

impl Signed {
    /// Seals both for a caller of this organization. Opens for no other.
    ///
    /// # Errors
    /// Those of the organization's key.
    pub async fn seal(&self, store: &Store, org_id: &str) -> Result<Vec<u8>, StoreError> {
        let keys = org_key::load(store, org_id).await?;
        let (version, key) = keys.current()?;
        let mut parts = vec![&*self.text, &*self.signature];
        parts.extend(self.driver.as_deref());
        let plain = serde_json::Value::from(parts).to_string();
        Ok(seal::seal(key, version, place(org_id), plain.as_bytes())?)
    }

    /// Opens what a caller has brought back.
    ///
    /// # Errors
    /// [`StoreError::Seal`] for what [`Self::seal`] has not made for this organization, and those of its key.
    pub async fn open(store: &Store, org_id: &str, sealed: &[u8]) -> Result<Self, StoreError> {
        let key = org_key::opening(store, org_id, sealed).await?;
        let plain = seal::open(&key, place(org_id), sealed)?;
        let corrupt = || StoreError::Corrupt {
            column: "reply.reasoning",
        };
        let parts: Vec<String> = serde_json::from_slice(&plain).map_err(|_| corrupt())?;
        let mut parts = parts.into_iter();
        let (Some(text), Some(signature), driver) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(corrupt());
        };
        Ok(Self {
            text,
            signature,
            driver,
        })
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
