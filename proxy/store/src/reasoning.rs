//! A model's reasoning as its provider signed it, sealed under the organization's key for the caller to keep and to
//! bring back. Nothing of it is stored.

use serde::{Deserialize, Serialize};

use svc_core::secret::Mode;

use crate::org_key;
use crate::seal::{self, Place};
use crate::{Store, StoreError};

/// Reasoning and the provider's signature over it. Holds content.
#[derive(Deserialize, Serialize)]
pub struct Signed {
    /// Empty where the provider has sealed it.
    pub text: String,
    /// Or what the provider has sealed.
    pub signature: String,
    /// Id of the driver that gave it, where that was kept.
    pub driver: Option<String>,
    /// Placeholders of the text: kind, number, what they stand for and, where that differs, what it reads as.
    pub placeholders: Vec<(String, u32, String, Option<String>)>,
}

impl Signed {
    /// Seals it for callers of this organization in this mode. Opens for no others.
    ///
    /// # Errors
    /// Those of the organization's key.
    pub async fn seal(
        &self,
        store: &Store,
        org_id: &str,
        mode: Mode,
    ) -> Result<Vec<u8>, StoreError> {
        let keys = org_key::load(store, org_id).await?;
        let (version, key) = keys.current()?;
        let plain = serde_json::to_vec(self).map_err(|_| corrupt())?;
        Ok(seal::seal(
            key,
            version,
            place(org_id, mode.word()),
            &plain,
        )?)
    }

    /// Opens what a caller has brought back.
    ///
    /// # Errors
    /// [`StoreError::Seal`] for what [`Self::seal`] has not made for this organization and mode, and those of its key.
    pub async fn open(
        store: &Store,
        org_id: &str,
        mode: Mode,
        sealed: &[u8],
    ) -> Result<Self, StoreError> {
        let key = org_key::opening(store, org_id, sealed).await?;
        match seal::open(&key, place(org_id, mode.word()), sealed) {
            Ok(plain) => serde_json::from_slice(&plain).map_err(|_| corrupt()),
            Err(error) if mode == Mode::Live => {
                let before = seal::open(&key, place(org_id, NO_MODE), sealed);
                before.map_or(Err(error.into()), |plain| Self::of_before(&plain))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What was sealed before modes were told apart: text, signature, and the driver where that was kept.
    fn of_before(plain: &[u8]) -> Result<Self, StoreError> {
        let parts: Vec<String> = serde_json::from_slice(plain).map_err(|_| corrupt())?;
        let mut parts = parts.into_iter();
        let (Some(text), Some(signature), driver) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(corrupt());
        };
        Ok(Self {
            text,
            signature,
            driver,
            placeholders: Vec::new(),
        })
    }
}

const NO_MODE: &str = "";

const fn corrupt() -> StoreError {
    StoreError::Corrupt {
        column: "reply.reasoning",
    }
}

const fn place<'a>(org_id: &'a str, mode: &'a str) -> Place<'a> {
    Place {
        table: "reply",
        row_id: mode,
        column: "reasoning",
        org_id,
    }
}
