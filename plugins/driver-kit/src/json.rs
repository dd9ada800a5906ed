//! JSON that passes through a driver as it came.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::bindings::gateway::provider::types::DriverError;
use crate::fault::invalid;

/// The bytes of a parameter as JSON.
///
/// # Errors
/// An invalid request, with the parameter's name, for what is no JSON.
pub fn raw(bytes: &[u8], param: &str) -> Result<Box<RawValue>, DriverError> {
    serde_json::from_slice(bytes).map_err(|_| invalid(param, "bad_json"))
}

/// Parameters that pass as they came, by name; to be flattened into a request.
#[derive(Default)]
pub struct Passed<'a>(Vec<(&'a str, Box<RawValue>)>);

impl<'a> Passed<'a> {
    /// Takes a parameter in. The last one of a name wins: the request's own stands behind the catalogue's.
    ///
    /// # Errors
    /// As [`raw`].
    pub fn put(&mut self, name: &'a str, value: &[u8]) -> Result<(), DriverError> {
        let value = raw(value, name)?;
        self.0.retain(|(earlier, _)| *earlier != name);
        self.0.push((name, value));
        Ok(())
    }
}

impl Serialize for Passed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
