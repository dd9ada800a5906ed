//! Forms whose answer is shown once, and which no endpoint of the API answers: sent again, such a form gets the answer
//! that it got, as requests with idempotency keys do (contract 4).

use svc_core::fault::{Code, Fault, invalid};
use svc_core::secret;
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_store::idempotency::{self, Envelope, Scope};
use svc_store::{Transaction, TransactionError};

use crate::form::Fields;
use crate::session::Visitor;
use crate::trouble::down;

/// One sending of such a form, or the same once more.
pub(crate) struct Once {
    scope: Scope,
    envelope: Envelope,
    now: Timestamp,
}

/// An answer, to be stored in the transaction of what it tells.
pub(crate) struct Kept {
    scope: Scope,
    sealed: Vec<u8>,
    now: Timestamp,
}

impl Once {
    /// # Errors
    /// 422 for a form that is none of ours, 503 while the store is down.
    pub(crate) async fn of(
        exchange: &Exchange,
        visitor: &Visitor,
        fields: &Fields,
    ) -> Result<Self, Fault> {
        let key = fields.once(exchange);
        if key.is_empty() {
            return Err(invalid("once", "is what forms of these pages carry"));
        }
        let scope = Scope {
            org_id: visitor.user.org_id.clone(),
            mode: visitor.mode,
            principal_id: visitor.user.id.clone(),
            key_digest: secret::digest(&key),
        };
        let envelope = Envelope::of(&exchange.gateway.store, &scope, &key).await;
        Ok(Self {
            scope,
            envelope: envelope.map_err(|error| down(&error))?,
            now: exchange.now,
        })
    }

    /// What the form was answered, where it was sent before.
    ///
    /// # Errors
    /// 503 while the store is down.
    pub(crate) async fn answered(&self, exchange: &Exchange) -> Result<Option<String>, Fault> {
        let store = &exchange.gateway.store;
        let kept = idempotency::kept(store, &self.scope, self.now).await;
        let Some(sealed) = kept.map_err(|error| down(&error))? else {
            return Ok(None);
        };
        let opened = self.envelope.open(store, &sealed).await;
        let opened = opened.map_err(|error| down(&error))?;
        String::from_utf8(opened).map(Some).map_err(Fault::internal)
    }

    /// The answer that is about to be given.
    ///
    /// # Errors
    /// 500 where it cannot be sealed.
    pub(crate) fn answer(self, text: &str) -> Result<Kept, Fault> {
        let sealed = self.envelope.seal(text.as_bytes());
        Ok(Kept {
            scope: self.scope,
            sealed: sealed.map_err(|error| down(&error))?,
            now: self.now,
        })
    }
}

impl Kept {
    /// Stores it, where no other sending of the form was faster.
    ///
    /// # Errors
    /// Those of the database; 409 where one was.
    pub(crate) async fn store(
        self,
        tx: &mut Transaction<'_>,
    ) -> Result<(), TransactionError<Fault>> {
        match idempotency::keep(tx, &self.scope, self.sealed, self.now).await? {
            None => Ok(()),
            Some(_) => {
                let message = "This form was sent twice at once. It is done; what it shows went to the first sending.";
                let fault = Fault::new(Code::IdempotencyConflict, message);
                Err(TransactionError::Refused(fault))
            }
        }
    }
}
