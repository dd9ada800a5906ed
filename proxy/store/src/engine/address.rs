//! Addresses of databases, as the operator writes them: what is wrong with one, and what is rarely meant. They hold
//! passwords, so that no error shows more of one than names of parameters.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::sqlite::SqliteConnectOptions;

use crate::error::StoreError;

/// The file that an address names, `None` where it names no SQLite file. Nothing is opened.
///
/// # Errors
/// [`StoreError::Address`].
pub(crate) fn file(url: &str) -> Result<Option<PathBuf>, StoreError> {
    if url.starts_with("sqlite:") {
        sqlite(url).map(|connect| Some(connect.get_filename().to_owned()))
    } else {
        Ok(None)
    }
}

/// Whether an address can be one of a database.
///
/// # Errors
/// [`StoreError::Address`], without the address.
pub(crate) fn judge(url: &str) -> Result<(), StoreError> {
    if url.starts_with("sqlite:") {
        sqlite(url).map(drop)
    } else {
        postgres(url).map(drop)
    }
}

/// What a valid address rarely means: a server elsewhere, spoken to without encryption wherever somebody on the way
/// wants it so.
pub(crate) fn doubt(url: &str) -> Option<String> {
    if url.starts_with("sqlite:") {
        return None;
    }
    let connect = postgres(url).ok()?;
    let host = connect.get_host();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_here = connect.get_socket().is_some()
        // The folder of a socket, where the address names no host.
        || host.starts_with('/')
        || host == "localhost"
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let is_encrypted = matches!(
        connect.get_ssl_mode(),
        PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull
    );
    (!is_here && !is_encrypted).then(|| {
        format!(
            "the connection to the database at {host} may go unencrypted; set sslmode=verify-full (or verify-ca, \
             require)"
        )
    })
}

pub(super) fn sqlite(url: &str) -> Result<SqliteConnectOptions, StoreError> {
    let connect = SqliteConnectOptions::from_str(url)
        .map_err(|error| StoreError::Address(error.to_string()))?;
    if connect.get_filename().as_os_str().is_empty() || url.contains(":memory:") {
        return Err(StoreError::Address(
            "an SQLite store is a file, not memory".to_owned(),
        ));
    }
    Ok(connect)
}

pub(super) fn postgres(url: &str) -> Result<PgConnectOptions, StoreError> {
    let refused = |why: &str| StoreError::Address(why.to_owned());
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    match PgConnectOptions::from_str(address) {
        Ok(connect) if connect.get_port() > 0 => {}
        _ => return Err(refused(POSTGRES)),
    }
    // Before sqlx reads them, which would log their values.
    parameters(query)?;
    match PgConnectOptions::from_str(url) {
        Ok(connect) if connect.get_port() > 0 => Ok(connect),
        _ => Err(refused(WRONG_VALUE)),
    }
}

/// A parameter that sqlx does not know would be passed over, and with it what it was to switch on.
fn parameters(query: &str) -> Result<(), StoreError> {
    let query = query.split('#').next().unwrap_or_default();
    let names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    let unknown: Vec<String> = names.filter(|name| !is_known(name)).map(shown).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(StoreError::Address(format!(
        "unknown {}; known are {} and options[name]",
        unknown.join(", "),
        POSTGRES_PARAMETERS.join(", "),
    )))
}

fn is_known(name: &str) -> bool {
    let is_option = name.starts_with("options[") && name.ends_with(']');
    is_option || POSTGRES_PARAMETERS.contains(&name)
}

/// What is no name may be the end of a password with a question mark in it.
fn shown(name: std::borrow::Cow<'_, str>) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    match name.bytes().all(is_name) {
        true => format!("parameter {name}"),
        false => "parameter".to_owned(),
    }
}

const POSTGRES: &str = "must be postgres://[user][:password@]host[:port]/database";
const WRONG_VALUE: &str = "a parameter has a value that it cannot have (sslmode, hostaddr, port, \
                           statement-cache-capacity)";

/// What sqlx's `PgConnectOptions` reads from an address.
const POSTGRES_PARAMETERS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const ELSEWHERE: &str = "postgres://svc:secretpw@db.example/svc";

    #[test]
    fn a_parameter_that_nobody_knows_is_refused_by_its_name_alone() {
        for (parameters, told) in [
            ("sslmod=verify-full", "parameter sslmod;"),
            ("sslmode=require&hots=secretpw", "parameter hots;"),
            ("a=1&b=2", "parameter a, parameter b;"),
            ("sslmode=verify-ful", "sslmode"),
            ("port=0", "port"),
            ("end of secretpw@db.example/svc", "unknown parameter;"),
        ] {
            let error = judge(&format!("{ELSEWHERE}?{parameters}")).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(told), "{parameters}: {error}");
            assert!(!error.contains("secretpw"), "{error}");
        }
        for name in POSTGRES_PARAMETERS {
            assert!(is_known(name));
        }
        for parameters in [
            "sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "host=/run/postgresql",
            "options[search_path]=a&application_name=b#end",
        ] {
            judge(&format!("{ELSEWHERE}?{parameters}")).unwrap();
        }
    }

    #[test]
    fn a_server_elsewhere_without_encryption_is_doubtful() {
        for parameters in ["", "?sslmode=prefer", "?sslmode=disable"] {
            let doubt = doubt(&format!("{ELSEWHERE}{parameters}")).unwrap();
            assert!(
                doubt.contains("db.example") && doubt.contains("sslmode"),
                "{doubt}"
            );
            assert!(!doubt.contains("secretpw"), "{doubt}");
        }
        for url in [
            "postgres://svc@db.example/svc?sslmode=require",
            "postgres://svc@db.example/svc?sslmode=verify-full",
            "postgres://svc@localhost/svc",
            "postgres://svc@127.0.0.1/svc",
            "postgres://svc@[::1]/svc",
            "postgres://svc@db.example/svc?host=/run/postgresql",
            "postgres:///svc?host=/run/postgresql&user=svc",
            "sqlite://a.sqlite",
        ] {
            judge(url).unwrap();
            assert_eq!(doubt(url), None, "{url}");
        }
    }
}
