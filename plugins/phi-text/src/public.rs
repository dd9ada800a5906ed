//! Numbers that are there for everybody, and so nobody's: lines of help, a machine's own address.

/// `(999) 999-9999` shows how a number is written; poison control and the like are there for everybody.
pub fn is_phone(number: &[u8]) -> bool {
    /// National lines of help and of offices of the United States, without their country code.
    const LINES: [&[u8; 10]; 12] = [
        b"8002221222",
        b"8007997233",
        b"8002738255",
        b"8006624357",
        b"8006564673",
        b"8007848669",
        b"8006334227",
        b"8007721213",
        b"8002324636",
        b"8003321088",
        b"8664887386",
        b"8009855990",
    ];
    let mut digits = [0; 11];
    let mut count = 0;
    for digit in number.iter().filter(|byte| byte.is_ascii_digit()) {
        let Some(slot) = digits.get_mut(count) else {
            return false;
        };
        (*slot, count) = (*digit, count + 1);
    }
    let national = match (count, &digits) {
        (11, [b'1', national @ ..]) => national,
        (10, [national @ .., _]) => national,
        _ => return false,
    };
    let [first, rest @ ..] = national;
    rest.iter().all(|digit| digit == first) || LINES.contains(&national)
}

/// The machine itself, no machine, and all of them.
pub fn is_machine(octets: [u8; 4]) -> bool {
    octets.first() == Some(&127) || octets == [0; 4] || octets == [255; 4]
}

/// The four numbers of an address of IPv4 that a text begins with, and what stands behind them.
pub fn address(text: &str) -> Option<([u8; 4], &str)> {
    let is_of_address = |sign: char| sign.is_ascii_digit() || sign == '.';
    let end = text.find(|sign| !is_of_address(sign)).unwrap_or(text.len());
    let (address, behind) = text.split_at(end);
    let address: core::net::Ipv4Addr = address.trim_end_matches('.').parse().ok()?;
    Some((address.octets(), behind))
}

/// `10.0.0.0/8`: a network, of which many machines are.
pub fn is_network(octets: [u8; 4], behind: &str) -> bool {
    let Some(bits) = behind.strip_prefix('/') else {
        return false;
    };
    let length = bits.bytes().take_while(u8::is_ascii_digit).count();
    let bits: Option<u32> = bits.get(..length).and_then(|bits| bits.parse().ok());
    bits.filter(|bits| (1..=24).contains(bits))
        .is_some_and(|bits| u32::from_be_bytes(octets) << bits == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_help_are_everybodys() {
        for number in ["1-800-222-1222", "(800) 273-8255", "999-999-9999"] {
            assert!(is_phone(number.as_bytes()), "{number}");
        }
        for number in [
            "1-800-222-1223",
            "360-555-0198",
            "800-222",
            "2-800-222-1222",
        ] {
            assert!(!is_phone(number.as_bytes()), "{number}");
        }
    }

    #[test]
    fn addresses_of_all_machines_and_of_networks_are_nobodys() {
        let read = |text| address(text).unwrap_or(([1; 4], ""));
        assert_eq!(read("127.0.0.1:8080"), ([127, 0, 0, 1], ":8080"));
        assert_eq!(read("10.0.0.0. Then").0, [10, 0, 0, 0]);
        assert!(address("300.1.1.1").is_none() && address("1.2.3").is_none());
        assert!(is_machine([127, 0, 0, 1]) && is_machine([0; 4]) && !is_machine([10, 0, 0, 1]));
        for (text, expected) in [
            ("10.0.0.0/8", true),
            ("192.168.0.0/16;", true),
            ("10.0.0.1/8", false),
            ("10.0.0.0", false),
            ("10.0.0.0/x", false),
            ("10.1.2.3/32", false),
        ] {
            let (octets, behind) = read(text);
            assert_eq!(is_network(octets, behind), expected, "{text}");
        }
    }
}
