//! Addresses of the web that belong to public works, to programs or to nobody: they say nothing of a patient.

use crate::text::{byte, starts};

/// Hosts, and all below them, that publish standards and knowledge and know nothing of a patient.
const PUBLIC_HOSTS: &[&str] = &[
    "hl7.org",
    "loinc.org",
    "snomed.info",
    "unitsofmeasure.org",
    "nubc.org",
    "ama-assn.org",
    "who.int",
    "w3.org",
    "ietf.org",
    "rfc-editor.org",
    "iana.org",
    "json-schema.org",
    "schema.org",
    "doi.org",
    "wikipedia.org",
    "uptodate.com",
    "medscape.com",
    "nejm.org",
    "bmj.com",
    "thelancet.com",
    "jamanetwork.com",
    "cochrane.org",
    "heart.org",
    "cancer.org",
    "diabetes.org",
    "aafp.org",
    "acog.org",
    "nccn.org",
    "nice.org.uk",
    "xmlsoap.org",
    "opengis.net",
    "python.org",
    "pydantic.dev",
    "docs.langchain.com",
    "python.langchain.com",
    "js.langchain.com",
    "sqlalche.me",
    "sqlalchemy.org",
    "platform.openai.com",
    "docs.anthropic.com",
    "platform.claude.com",
    "rust-lang.org",
    "localhost",
    "0.0.0.0",
    "host.docker.internal",
    "mozilla.org",
    "nodejs.org",
    "apache.org",
    "kernel.org",
    "debian.org",
    "readthedocs.io",
    "golang.org",
    "go.dev",
    "gopkg.in",
    "k8s.io",
    "crates.io",
    "docs.rs",
    "npmjs.com",
    "npmjs.org",
    "pypi.org",
    "pythonhosted.org",
    "rubygems.org",
    "nuget.org",
    "packagist.org",
    "unpkg.com",
    "jsdelivr.net",
];

/// Where programs are kept, under their owners: `github.com/jackc/pgx`. An owner alone may be a person.
const CODE_HOSTS: &[&str] = &[
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "ghcr.io",
    "quay.io",
    "huggingface.co",
    "go.uber.org",
];

/// Whether names of hosts have such a sign.
pub const fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

/// Whether the address that begins with its host is one of a public work.
pub fn is_public(address: &[u8]) -> bool {
    let len = address.iter().take_while(|byte| is_host(**byte)).count();
    let host = address.get(..len).unwrap_or_default();
    let is_below = |top: &str| {
        let Some(head) = host.len().checked_sub(top.len()) else {
            return false;
        };
        starts(host.get(head..).unwrap_or_default(), top.as_bytes())
            && (head == 0 || byte(host, head - 1) == b'.')
    };
    // The machine itself (RFC 1122, 3.2.1.3).
    let is_loopback = host.starts_with(b"127.")
        && host
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let path = address.get(len..).unwrap_or_default();
    is_loopback
        || PUBLIC_HOSTS.iter().any(|top| is_below(top))
        || is_below("gov")
        || CODE_HOSTS.iter().any(|top| is_below(top)) && is_program(path)
        || is_interface(host, path)
}

/// Whether a path has an owner and a program of it.
fn is_program(path: &[u8]) -> bool {
    let mut steps = path.split(|byte| *byte == b'/').skip(1);
    let is_step =
        |step: Option<&[u8]>| step.is_some_and(|step| byte(step, 0).is_ascii_alphanumeric());
    is_step(steps.next()) && is_step(steps.next())
}

/// `api.example.com/v1/users`: an interface of nobody (RFC 2606, 3), where the path asks for nobody.
fn is_interface(host: &[u8], path: &[u8]) -> bool {
    const HOSTS: [&[u8]; 3] = [b"api.example.com", b"api.example.org", b"api.example.net"];
    let asks = path.iter().any(|byte| b"?@=%".contains(byte));
    let mut runs = path.split(|byte| !byte.is_ascii_digit());
    HOSTS.iter().any(|known| host.eq_ignore_ascii_case(known))
        && !asks
        && runs.all(|run| run.len() < 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_errors_point_to_are_public() {
        for address in [
            "errors.pydantic.dev/2.11/v/missing",
            "docs.langchain.com/oss/errors",
            "docs.python.org/3/library/json.html",
        ] {
            assert!(is_public(address.as_bytes()), "{address}");
        }
        assert!(!is_public(b"smith.langchain.com/o/1"));
        assert!(!is_public(b"mypydantic.dev/2"));
    }
}
