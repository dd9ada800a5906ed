//! The operator's configuration of this driver.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::bindings::exports::gateway::plugin::lifecycle::ConfigError;

/// JSON Schema of [`Config`], for editors.
pub const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"properties":{"api_version":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$","description":"Version of the Messages API to ask for."}}}"#;

/// The first version that takes no sampling parameters (wire notes, section 1).
pub const FIRST_WITHOUT_SAMPLING: &str = "2026-10-21";
/// The version that every Messages endpoint speaks.
pub const OLDEST: &str = "2023-06-01";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default = "oldest")]
    pub api_version: String,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

fn oldest() -> String {
    OLDEST.to_owned()
}

/// The configuration; the defaults before `configure`.
pub fn get() -> &'static Config {
    CONFIG.get_or_init(|| Config {
        api_version: oldest(),
    })
}

pub fn set(bytes: &[u8]) -> Result<(), ConfigError> {
    let refuse = |path: &str, message: String| {
        Err(ConfigError {
            path: path.to_owned(),
            message,
        })
    };
    let config: Config = match serde_json::from_slice(bytes) {
        Ok(config) => config,
        Err(error) => return refuse("", error.to_string()),
    };
    let is_date = config
        .api_version
        .bytes()
        .enumerate()
        .all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if config.api_version.len() != OLDEST.len() || !is_date {
        return refuse("/api_version", "must be a date, YYYY-MM-DD".to_owned());
    }
    match CONFIG.set(config) {
        Ok(()) => Ok(()),
        Err(_) => refuse("", "configured twice".to_owned()),
    }
}
