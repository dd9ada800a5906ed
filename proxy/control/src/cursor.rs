//! Cursors of lists: the place of the last row, authenticated and bound to the organization, the list and its
//! filters (contract 1.4). Callers cannot read or make one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use svc_core::fault::Fault;
use svc_core::time::Timestamp;
use svc_store::page::Position;

use crate::call::{Call, store_fault};

/// What a cursor is bound to beside the filters.
pub(crate) struct Binding<'b> {
    key: [u8; 32],
    organization_id: &'b str,
    mode: &'static str,
}

impl<'b> Binding<'b> {
    /// # Errors
    /// 500 without a master key.
    pub(crate) fn of(call: &'b Call) -> Result<Self, Fault> {
        let key = call.gateway.store.key_for("list cursor");
        Ok(Self {
            key: key.map_err(|error| store_fault(&error))?,
            organization_id: &call.caller.organization_id,
            mode: call.caller.mode.word(),
        })
    }
}

/// Bytes of a cursor before the row's id: its tag and its time.
const TAG_BYTES: usize = 32;
const TIME_BYTES: usize = 8;
const HASH_BLOCK_BYTES: usize = 64;
const PREFIX: &str = "c_";
/// Longer than the cursor of any id.
const MAX_CHARS: usize = 256;

pub(crate) fn write(position: &Position, binding: &Binding<'_>, filters: &[u8; 32]) -> String {
    let mut bytes = mac(position, binding, filters)
        .finalize()
        .into_bytes()
        .to_vec();
    bytes.extend(position.at.0.to_be_bytes());
    bytes.extend(position.id.as_bytes());
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// `None` for what this list did not issue.
pub(crate) fn read(text: &str, binding: &Binding<'_>, filters: &[u8; 32]) -> Option<Position> {
    let encoded = text
        .strip_prefix(PREFIX)
        .filter(|_| text.len() <= MAX_CHARS)?;
    let bytes = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    let (tag, rest) = bytes.split_at_checked(TAG_BYTES)?;
    let (at, id) = rest.split_at_checked(TIME_BYTES)?;
    let position = Position {
        at: Timestamp(i64::from_be_bytes(at.try_into().ok()?)),
        id: String::from_utf8(id.to_vec()).ok()?,
    };
    mac(&position, binding, filters)
        .verify_slice(tag)
        .ok()
        .map(|()| position)
}

fn mac(position: &Position, binding: &Binding<'_>, filters: &[u8; 32]) -> Hmac<Sha256> {
    let Binding {
        key,
        organization_id,
        mode,
    } = binding;
    // HMAC fills a short key up with zeros (RFC 2104).
    let mut block = [0; HASH_BLOCK_BYTES];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for part in [
        organization_id.as_bytes(),
        mode.as_bytes(),
        &filters[..],
        &position.at.0.to_be_bytes(),
        position.id.as_bytes(),
    ] {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac
}
