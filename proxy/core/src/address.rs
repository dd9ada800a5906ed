//! Addresses that callers choose (contract 15.4): which of them the gateway may speak to. Pure; names are resolved
//! elsewhere, and every address that a name has is asked about here before anything is sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// Longest address that is taken (contract 15.1).
pub const MAX_URL_CHARS: usize = 2_048;

/// What the operator allows beyond the public internet.
#[derive(Clone, Debug)]
pub struct AddressRules {
    /// Networks that may be reached although they are not global.
    pub networks: Vec<IpNet>,
    /// Ports that an address may lead to, by its own word or by its scheme; 443, 8443 and 80 by default (contract
    /// 15.4).
    pub ports: Vec<u16>,
    pub schemes: Schemes,
}

/// Which schemes an address may have; any other is refused. HTTPS alone by default (contract 15.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schemes {
    Https,
    /// Plain HTTP too: for networks of one's own.
    HttpToo,
}

/// Contract 15.4.
const PORTS: [u16; 3] = [443, 8443, 80];

impl Default for AddressRules {
    fn default() -> Self {
        Self {
            networks: Vec::new(),
            ports: PORTS.to_vec(),
            schemes: Schemes::Https,
        }
    }
}

/// A base address, taken apart. Its host is as a resolver and a `Host` header want it: lower case, no trailing dot,
/// numbers in their usual form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Whether the scheme is `https`.
    pub tls: bool,
    /// A name, or an address literal without brackets.
    pub host: String,
    /// As written, else the scheme's own.
    pub port: u16,
    /// Without a trailing slash; empty for the root.
    pub path: String,
}

impl Base {
    /// Takes an address of a caller apart.
    ///
    /// # Errors
    /// What is wrong with it, in words that repeat nothing of it.
    pub fn read(text: &str, rules: &AddressRules) -> Result<Self, &'static str> {
        let (mut base, url) = Self::parse(text, rules)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err("must not have a query or fragment");
        }
        base.path = url.path().trim_end_matches('/').to_owned();
        Ok(base)
    }

    /// As [`Self::read`], for an address that is called as it is: its path and query in one piece beside the base,
    /// whose own path is empty.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_whole(text: &str, rules: &AddressRules) -> Result<(Self, String), &'static str> {
        let (base, url) = Self::parse(text, rules)?;
        if url.fragment().is_some() {
            return Err("must not have a fragment");
        }
        let path = url.path();
        let whole = match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        };
        Ok((base, whole))
    }

    /// What both have in common; the path stays empty.
    fn parse(text: &str, rules: &AddressRules) -> Result<(Self, Url), &'static str> {
        if text.chars().count() > MAX_URL_CHARS {
            return Err("must have at most 2048 characters");
        }
        // Readers of addresses differ in what they make of these.
        let is_plain = |sign: char| !sign.is_control() && sign != '\\';
        if !text.chars().all(is_plain) {
            return Err("must not hold control characters or backslashes");
        }
        if text.trim() != text {
            return Err("must not begin or end with a blank");
        }
        let url = Url::parse(text).map_err(|_| "is not an absolute address")?;
        // This one takes `https:host` and `https:///host` for `https://host`.
        let behind = text.get(url.scheme().len()..);
        let behind = behind.and_then(|rest| rest.strip_prefix("://"));
        if behind.is_none_or(|rest| rest.starts_with('/')) {
            return Err("is not an absolute address");
        }
        let tls = match (url.scheme(), rules.schemes) {
            ("https", _) => true,
            ("http", Schemes::HttpToo) => false,
            _ => return Err("must start with https://"),
        };
        if names_a_user(text) {
            return Err("must not hold a user name or password");
        }
        let port = url
            .port_or_known_default()
            .filter(|port| rules.ports.contains(port));
        let port = port.ok_or(match (url.port(), tls) {
            (Some(_), _) => "names a port that is not allowed",
            (None, true) => "uses port 443, which is not allowed",
            (None, false) => "uses port 80, which is not allowed",
        })?;
        let base = Self {
            tls,
            host: host(&url, rules)?,
            port,
            path: String::new(),
        };
        Ok((base, url))
    }
}

/// The parser has already turned decimal, octal and hexadecimal numbers into the address that they are.
fn host(url: &Url, rules: &AddressRules) -> Result<String, &'static str> {
    let literal = |address: IpAddr| match rules.allow(address) {
        true => Ok(address.to_string()),
        false => Err("names an address that is not allowed"),
    };
    match url.host() {
        Some(Host::Ipv4(address)) => literal(address.into()),
        Some(Host::Ipv6(address)) => literal(address.into()),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            if name.is_empty() {
                return Err("has no host");
            }
            // `localhost` is loopback by definition (RFC 6761, 6.3), whatever a resolver says.
            let is_local = name == "localhost" || name.ends_with(".localhost");
            if is_local && !rules.allow(Ipv4Addr::LOCALHOST.into()) {
                return Err("names an address that is not allowed");
            }
            Ok(name.to_owned())
        }
        None => Err("has no host"),
    }
}

impl AddressRules {
    /// Whether a connection may go to this address.
    pub fn allow(&self, address: IpAddr) -> bool {
        self.networks
            .iter()
            .any(|network| network.contains(&address))
            || !is_forbidden(address)
    }
}

/// Whether an address is not one of the public internet.
pub fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => FORBIDDEN_V4.iter().any(|network| network.contains(&v4)),
        IpAddr::V6(v6) => match embedded(v6) {
            Some(v4) => is_forbidden(v4.into()),
            None => {
                let is_special = FORBIDDEN_V6.iter().any(|network| network.contains(&v6));
                is_special && !GLOBAL_V6.iter().any(|network| network.contains(&v6))
            }
        },
    }
}

/// The IPv4 address that a NAT64 gateway would connect to.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    if !NAT64.contains(&address) {
        return None;
    }
    let [.., a, b, c, d] = address.octets();
    Some(Ipv4Addr::new(a, b, c, d))
}

const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), prefix)
}

const fn v6(a: u16, b: u16, c: u16, d: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), prefix)
}

/// RFC 6052.
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 0, 96);

/// IANA's special-purpose registry for IPv4: what is not globally reachable, multicast and the reserved block.
static FORBIDDEN_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 8),
    v4(10, 0, 0, 8),
    v4(100, 64, 0, 10),
    v4(127, 0, 0, 8),
    v4(169, 254, 0, 16),
    v4(172, 16, 0, 12),
    v4(192, 0, 0, 24),
    v4(192, 0, 2, 24),
    v4(192, 88, 99, 24),
    v4(192, 168, 0, 16),
    v4(198, 18, 0, 15),
    v4(198, 51, 100, 24),
    v4(203, 0, 113, 24),
    v4(224, 0, 0, 4),
    v4(240, 0, 0, 4),
];

/// The same registry for IPv6. The first entry covers loopback, the unspecified address and IPv4 in disguise.
static FORBIDDEN_V6: &[Ipv6Net] = &[
    v6(0, 0, 0, 0, 8),
    v6(0x100, 0, 0, 0, 64),
    v6(0x2001, 0, 0, 0, 23),
    v6(0x2001, 0xdb8, 0, 0, 32),
    v6(0x2002, 0, 0, 0, 16),
    v6(0x3fff, 0, 0, 0, 20),
    v6(0x5f00, 0, 0, 0, 16),
    v6(0xfc00, 0, 0, 0, 7),
    v6(0xfe80, 0, 0, 0, 10),
    v6(0xfec0, 0, 0, 0, 10),
    v6(0xff00, 0, 0, 0, 8),
];

/// Members of `2001::/23` that the registry lists as globally reachable.
static GLOBAL_V6: &[Ipv6Net] = &[
    Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 1), 128),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 2), 128),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 3), 128),
    v6(0x2001, 3, 0, 0, 32),
    v6(0x2001, 4, 0x112, 0, 48),
    v6(0x2001, 0x20, 0, 0, 28),
    v6(0x2001, 0x30, 0, 0, 28),
];

/// Whether an address has room for a user name, be it empty (RFC 3986, 3.2.1): what is in front of an `@` of its
/// authority. A parser forgets an empty one.
pub(crate) fn names_a_user(text: &str) -> bool {
    let authority = text.split_once("://").map(|(_, rest)| rest);
    let authority = authority.and_then(|rest| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|authority| authority.contains('@'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn forbidden(text: &str) -> bool {
        is_forbidden(text.parse().unwrap())
    }

    #[test]
    fn nothing_but_the_public_internet_is_reachable() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(forbidden(address), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "64:ff9b::8.8.8.8",
            "2001:1::1",
            "2001:4:112::1",
            "2001:20::1",
            "2001:200::1",
            "2606:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(!forbidden(address), "{address}");
        }
    }

    #[test]
    fn an_address_is_judged_whatever_it_is_written_as() {
        let rules = AddressRules::default();
        for url in [
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://017700000001/",
            "https://127.0.0.1./",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://１２７.0.0.1/",
        ] {
            let refused = Base::read(url, &rules);
            assert_eq!(
                refused,
                Err("names an address that is not allowed"),
                "{url}"
            );
        }
    }

    #[test]
    fn a_base_address_is_taken_apart() {
        let base = Base::read(
            "https://EHR.Example.org.:8443/api/v2/",
            &AddressRules::default(),
        );
        let expected = Base {
            tls: true,
            host: "ehr.example.org".into(),
            port: 8443,
            path: "/api/v2".into(),
        };
        assert_eq!(base, Ok(expected));
        assert!(Base::read("HTTPS://ehr.example.org", &AddressRules::default()).is_ok());
    }

    #[test]
    fn an_address_that_is_called_as_it_is_keeps_its_query() {
        let rules = AddressRules::default();
        let (base, path) = Base::read_whole("https://hooks.example.org/in/?a=b c", &rules).unwrap();
        assert_eq!((base.path.as_str(), path.as_str()), ("", "/in/?a=b%20c"));
        let (_, path) = Base::read_whole("https://hooks.example.org", &rules).unwrap();
        assert_eq!(path, "/");
        for url in [
            "https://hooks.example.org/#x",
            "https://hooks.example.org/x\r\nX-Inj: y",
            "https://hooks.example.org\\@10.0.0.1/",
            "https://u:p@hooks.example.org/",
            "https://10.0.0.1/?x",
            "http://hooks.example.org/",
        ] {
            assert!(Base::read_whole(url, &rules).is_err(), "{url}");
        }
    }

    #[test]
    fn what_is_no_base_address_is_refused() {
        for url in [
            "ehr.example.org",
            "http://ehr.example.org",
            "ftp://ehr.example.org",
            "https://",
            "https://u@ehr.example.org",
            "https://@ehr.example.org",
            "https://:@ehr.example.org/v1@2",
            "https://u:p@ehr.example.org",
            "https://ehr.example.org/?x",
            "https://ehr.example.org/#x",
            "https://ehr.example.org:22/",
            "file:///etc/passwd",
            "https://./",
            "https:ehr.example.org",
            "https:/ehr.example.org",
            "https:///ehr.example.org",
            "https:ehr.example.org://x",
            " https://ehr.example.org",
            "https://ehr.example.org ",
            "https://ehr.example.org/x\u{3000}",
        ] {
            assert!(Base::read(url, &AddressRules::default()).is_err(), "{url}");
        }
        let long = format!("https://ehr.example.org/{}", "a".repeat(MAX_URL_CHARS));
        assert!(Base::read(&long, &AddressRules::default()).is_err());
    }

    #[test]
    fn an_operator_opens_networks_ports_and_plain_http() {
        let rules = AddressRules {
            networks: vec!["127.0.0.0/8".parse().unwrap()],
            ports: vec![9000],
            schemes: Schemes::HttpToo,
        };
        assert!(Base::read("http://127.0.0.1:9000/x", &rules).is_ok());
        assert!(Base::read("http://localhost:9000/x", &rules).is_ok());
        assert!(Base::read("http://10.0.0.1:9000/x", &rules).is_err());
        assert!(Base::read("http://127.0.0.1:9001/x", &rules).is_err());
    }
}
