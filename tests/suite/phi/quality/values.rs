//! Made-up values of every kind, in the form of the real thing and with check digits that fit. One seed, one sequence.

use svc_tests::program;

/// What fills the slots of one text.
pub(crate) struct Values {
    /// State of the generator (SplitMix64).
    state: u64,
    lists: toml::Table,
    /// City and state of one text belong together.
    place: usize,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const HEXADECIMAL: [&str; 16] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f",
];
const ORDINALS: [&str; 10] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "tenth",
    "twelfth",
    "twentieth",
    "twenty first",
    "thirtieth",
];

impl Values {
    pub(crate) fn new(seed: u64, is_held_out: bool) -> Self {
        let file = program::repository().join("tests/phi/values.toml");
        let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        let lists = if is_held_out {
            file["held_out"].as_table().unwrap().clone()
        } else {
            file
        };
        let mut values = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            lists,
            place: 0,
        };
        values.place = values.below(values.lists["city"].as_array().unwrap().len());
        values
    }

    pub(crate) fn state(&self) -> String {
        self.lists["state"][self.place].as_str().unwrap().to_owned()
    }

    pub(crate) fn make(&mut self, kind: &str, form: &str) -> String {
        match (kind, form) {
            ("NAME", form) => self.name(form),
            ("DATE", form) => self.date(form),
            ("LOCATION", "city") => self.lists["city"][self.place].as_str().unwrap().to_owned(),
            ("LOCATION", "zip") => self.digits(5),
            ("ADDRESS", "street") => {
                format!("{} {}", self.between(10, 9_000), self.one_of("street"))
            }
            ("ADDRESS", "hl7") => {
                let street = format!("{} {}", self.between(10, 9_000), self.one_of("street"));
                let city = self.make("LOCATION", "city");
                format!("{street}^^{city}^{}^{}", self.state(), self.digits(5))
            }
            ("ORGANIZATION", "facility") => self.one_of("facility"),
            ("AGE_OVER_89", "age") => self.between(90, 105).to_string(),
            ("AGE_OVER_89", "spelt") => {
                format!("ninety {}", self.pick(&["one", "two", "four", "seven"]))
            }
            ("PHONE", "packed") => format!("{}{}", self.area(), self.digits(4)),
            ("PHONE" | "FAX", "us") => self.phone(),
            ("EMAIL", "mail") => {
                let user = self.name("lowerlast").replace(['\'', ' '], "");
                format!(
                    "{user}{}@{}",
                    self.between(1, 99),
                    self.pick(&["lakemail.org", "mail.kessler-health.com", "posteo.net"])
                )
            }
            ("SSN", "dashed") => format!(
                "{}-{}-{}",
                self.between(101, 665),
                self.between(10, 99),
                self.between(1_000, 9_999)
            ),
            ("SSN", "packed") => format!(
                "{}{}{}",
                self.between(101, 665),
                self.between(10, 99),
                self.between(1_000, 9_999)
            ),
            (_, "woven") => self.woven(),
            ("MRN", "dotted") => format!(
                "{}.{}.{}",
                self.between(10, 99),
                self.digits(3),
                self.digits(3)
            ),
            ("MRN", "digest") => (0..64).map(|_| self.pick(&HEXADECIMAL)).collect(),
            ("MRN", "logical") => self.logical(),
            ("MRN", "digits") => self.between(100_000, 99_999_999).to_string(),
            ("HEALTH_PLAN_ID", "member") => format!("{}{}", self.letters(3), self.digits(9)),
            ("HEALTH_PLAN_ID", "group") => self.between(10_000, 999_999).to_string(),
            ("HEALTH_PLAN_ID", "mbi") => self.mbi(),
            ("ACCOUNT_NUMBER", "account") => format!(
                "{}{}",
                self.pick(&["", "AC", "H"]),
                self.between(1_000_000, 99_999_999)
            ),
            ("CREDIT_CARD", "card") => self.card(),
            ("LICENSE_NUMBER", "npi") => self.npi(),
            ("LICENSE_NUMBER", "dea") => self.dea(),
            ("LICENSE_NUMBER", "driver") => format!("{}{}", self.letters(1), self.digits(8)),
            ("VEHICLE_ID", "plate") => format!("{}{}", self.letters(3), self.between(1_000, 9_999)),
            ("VEHICLE_ID", "vin") => self.vin(),
            ("DEVICE_ID", "serial") => format!("{}{}", self.letters(2), self.digits(7)),
            ("DEVICE_ID", "udi") => format!(
                "(01)00{}(17)2{}(21){}",
                self.digits(12),
                self.digits(5),
                self.digits(8)
            ),
            ("DEVICE_ID", "mac") => format!(
                "3c:{:02x}:{:02x}:4f:{:02x}:{:02x}",
                self.below(256),
                self.below(256),
                self.below(256),
                self.below(256)
            ),
            ("URL", "portal") => format!(
                "https://portal.{}/u/{}",
                self.pick(&["lakeside-clinic.com", "myhealth.net"]),
                self.digits(5)
            ),
            ("IP_ADDRESS", "v4") => format!(
                "{}.{}.{}.{}",
                self.between(128, 220),
                self.below(256),
                self.below(256),
                self.between(1, 254)
            ),
            ("OTHER_ID", "handle") => {
                format!("{}{}", self.name("lowerfirst"), self.between(10, 99))
            }
            ("OTHER_ID", "claim") => format!("{}CL{}", self.between(2_019, 2_025), self.digits(6)),
            ("OTHER_ID", "uid") => {
                let (series, image) = (self.digits(9), self.between(1, 999));
                format!("1.2.840.113619.2.55.3.1{series}.{image}")
            }
            ("OTHER_ID", "accession") => format!("S{}-{}", self.between(19, 25), self.digits(5)),
            (kind, form) => panic!("no value {kind}:{form}"),
        }
    }

    fn name(&mut self, form: &str) -> String {
        let (given, surname) = (self.one_of("given"), self.one_of("surname"));
        match form {
            "first" => given,
            "last" => surname,
            "full" => match self.below(4) {
                0 => format!("{given} {}. {surname}", self.letters(1).replace('I', "J")),
                _ => format!("{given} {surname}"),
            },
            "long" => {
                let more: Vec<String> = (0..3).map(|_| self.one_of("given")).collect();
                let last = self.one_of("surname");
                format!("{given} {} {surname} {last}", more.join(" "))
            }
            "reversed" => format!("{surname}, {given}"),
            "reversedupper" => format!("{surname}, {given}").to_uppercase(),
            "lowerfull" => format!("{given} {surname}").to_lowercase(),
            "lowerfirst" => given.to_lowercase(),
            "lowerlast" => surname.to_lowercase(),
            "firstupper" => given.to_uppercase(),
            "lastupper" => surname.to_uppercase(),
            "hl7" => format!("{surname}^{given}").to_uppercase(),
            other => panic!("no name {other}"),
        }
    }

    fn date(&mut self, form: &str) -> String {
        let (month, day) = (self.between(1, 12), self.between(1, 28));
        let year = if form == "birth" || form == "packed" {
            self.between(1_931, 2_003)
        } else {
            self.between(2_019, 2_025)
        };
        let name = MONTHS[usize::try_from(month).unwrap() - 1];
        match form {
            "birth" | "recent" => match self.below(4) {
                0 => format!("{month}/{day}/{year}"),
                1 => format!("{name} {day}, {year}"),
                2 => format!("{day} {} {year}", &name[..3]),
                _ => format!("{year}-{month:02}-{day:02}"),
            },
            "slash" => format!("{month:02}/{day:02}/{year}"),
            "short" => match self.below(2) {
                0 => format!("{month}/{day}"),
                _ => format!("{name} {day}"),
            },
            "month" => format!("{name} {year}"),
            "iso" => format!("{year}-{month:02}-{day:02}"),
            "packed" => format!("{year}{month:02}{day:02}"),
            "stamp" => format!("{year}{month:02}{day:02}083000"),
            "spoken" => format!("{} {}", name.to_lowercase(), self.pick(&ORDINALS)),
            other => panic!("no date {other}"),
        }
    }

    fn phone(&mut self) -> String {
        let (area, exchange, line) = (
            self.between(201, 989),
            self.between(202, 998),
            self.digits(4),
        );
        match self.below(4) {
            0 => format!("({area}) {exchange}-{line}"),
            1 => format!("{area}.{exchange}.{line}"),
            2 => format!("+1 {area} {exchange} {line}"),
            _ => format!("{area}-{exchange}-{line}"),
        }
    }

    fn area(&mut self) -> String {
        format!("{}{}", self.between(201, 989), self.between(202, 998))
    }

    fn mbi(&mut self) -> String {
        let letters: Vec<char> = "ACDEFGHJKMNPQRTUVWXY".chars().collect();
        "9A90A90AA00".chars().fold(String::new(), |mut code, form| {
            code.push(match (form, code.len()) {
                ('9', 0) => char::from(b'1' + u8::try_from(self.below(9)).unwrap()),
                ('A', _) => letters[self.below(letters.len())],
                _ => char::from(b'0' + u8::try_from(self.below(10)).unwrap()),
            });
            code
        })
    }

    fn card(&mut self) -> String {
        let head = format!("4{}", self.digits(14));
        let whole = format!("{head}{}", luhn_digit(&head));
        format!(
            "{} {} {} {}",
            &whole[..4],
            &whole[4..8],
            &whole[8..12],
            &whole[12..]
        )
    }

    fn npi(&mut self) -> String {
        let head = format!("1{}", self.digits(8));
        format!("{head}{}", luhn_digit(&format!("80840{head}")))
    }

    fn dea(&mut self) -> String {
        let digits = self.digits(6);
        let at = |index: usize| u32::from(digits.as_bytes()[index] - b'0');
        let check = (at(0) + at(2) + at(4) + 2 * (at(1) + at(3) + at(5))) % 10;
        format!(
            "{}{}{digits}{check}",
            self.pick(&["A", "B", "F", "M"]),
            self.letters(1)
        )
    }

    fn vin(&mut self) -> String {
        const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
        // Digits and letters whose values are the digits 1 to 9 in order.
        let mut code: Vec<u8> = format!("1HGCM826{}A{}", 0, self.digits(7)).into_bytes();
        let value = |byte: u8| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'A'..=b'H' => u32::from(byte - b'A') + 1,
            b'J'..=b'N' => u32::from(byte - b'J') + 1,
            other => panic!("{other}"),
        };
        let sum: u32 = code
            .iter()
            .zip(WEIGHTS)
            .map(|(byte, weight)| value(*byte) * weight)
            .sum();
        code[8] = match sum % 11 {
            10 => b'X',
            digit => b'0' + u8::try_from(digit).unwrap(),
        };
        String::from_utf8(code).unwrap()
    }

    /// Eight letters, one to three of them made digits.
    fn woven(&mut self) -> String {
        let mut code = self.letters(8).into_bytes();
        for _ in 0..self.between(1, 3) {
            let at = self.below(code.len());
            code[at] = b'2' + u8::try_from(self.below(8)).unwrap();
        }
        String::from_utf8(code).unwrap()
    }

    /// As servers of FHIR call a resource: letters of both cases and a digit.
    fn logical(&mut self) -> String {
        let code = self.letters(20);
        let small = |(at, letter): (usize, char)| match at % 3 {
            0 => letter,
            _ => letter.to_ascii_lowercase(),
        };
        let mixed: String = code.chars().enumerate().map(small).collect();
        format!("e{mixed}{}", self.digits(1))
    }

    fn one_of(&mut self, list: &str) -> String {
        let len = self.lists[list].as_array().unwrap().len();
        let at = self.below(len);
        self.lists[list][at].as_str().unwrap().to_owned()
    }

    fn pick<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.below(list.len())]
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| char::from(b'0' + u8::try_from(self.below(10)).unwrap()))
            .collect()
    }

    fn letters(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| char::from(b'A' + u8::try_from(self.below(26)).unwrap()))
            .collect()
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

fn luhn_digit(head: &str) -> u32 {
    let sum: u32 = head
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, byte)| match (at % 2, u32::from(byte - b'0') * 2) {
            (0, double) if double > 9 => double - 9,
            (0, double) => double,
            _ => u32::from(byte - b'0'),
        })
        .sum();
    (10 - sum % 10) % 10
}
