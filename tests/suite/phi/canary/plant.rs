//! What is planted: made-up values of every kind, the same for the same number and different for any other, around a
//! word that no detector takes for anything.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use svc_tests::fake::mark;

/// The kind of the word that is no PHI. It reaches the provider wherever the text around it does.
pub(super) const TRACER: &str = "TRACER";

/// A value and what must never be seen of it.
#[derive(Clone)]
pub(super) struct Canary {
    pub(super) kind: &'static str,
    pub(super) secret: String,
}

/// One planting: a value of each kind, and the tracer.
#[derive(Clone)]
pub(super) struct Plant {
    pub(super) tracer: String,
    ssn: String,
    phone: String,
    email: String,
    mrn: String,
    card: String,
    date: String,
    plan: String,
    first_name: &'static str,
    surname: String,
}

const FIRST_NAMES: [&str; 10] = [
    "Ruth", "Helen", "Marta", "Paula", "Diane", "Joyce", "Irene", "Nadia", "Sonia", "Carla",
];
const SYLLABLES: [[&str; 10]; 3] = [
    [
        "Var", "Kel", "Mor", "Tan", "Bel", "Dor", "Hul", "Rav", "Sol", "Wen",
    ],
    ["en", "is", "or", "ak", "um", "et", "ar", "ol", "in", "us"],
    [
        "dale", "wick", "ova", "ski", "berg", "ford", "man", "sson", "field", "gren",
    ],
];
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
/// Letters of a Medicare number: never S, L, O, I, B, Z.
const PLAN_LETTERS: [char; 20] = [
    'A', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'M', 'N', 'P', 'Q', 'R', 'T', 'U', 'V', 'W', 'X',
    'Y',
];

impl Plant {
    /// The values of a number below 1,000, around a tracer of their own.
    pub(super) fn new(number: usize) -> Self {
        assert!(number < 1_000, "values would repeat");
        let letter = |at: usize| PLAN_LETTERS[at % PLAN_LETTERS.len()];
        // What tells two values apart stands inside: the last letter of base64 says less than a whole byte.
        let digits = format!("4539{:06}14880", number * 11);
        let card = format!("{digits}{}", check_digit(&digits));
        let plan = format!(
            "{}{}{}{}{}{}{}{}{}{}{}",
            1 + number % 9,
            letter(number),
            letter(number / 20),
            number % 10,
            letter(number + 7),
            letter(number / 20),
            number / 10 % 10,
            letter(number),
            letter(number / 400),
            number / 10 % 10,
            number % 10,
        );
        let [start, middle, end] = SYLLABLES;
        Self {
            tracer: mark(),
            ssn: format!(
                "{:03}-{:02}-{:04}",
                201 + number % 400,
                12 + number / 400,
                1_000 + number * 37 % 9_000
            ),
            phone: format!(
                "(2{}5) 82{}-4{}67",
                number % 10,
                number / 10 % 10,
                number / 100
            ),
            email: format!(
                "ruth.ald{}{}{}@lakeside-mail.org",
                letter(number).to_ascii_lowercase(),
                letter(number / 20).to_ascii_lowercase(),
                letter(number / 400).to_ascii_lowercase()
            ),
            mrn: format!("84{number:03}73196"),
            card,
            date: format!(
                "{} {}, {}",
                MONTHS[number % 12],
                1 + number % 28,
                1931 + number % 59
            ),
            plan,
            first_name: FIRST_NAMES[number % 10],
            surname: format!(
                "{}{}{}",
                start[number % 10],
                middle[number / 10 % 10],
                end[number / 100]
            ),
        }
    }

    /// A text that holds all of it.
    pub(super) fn text(&self) -> String {
        let Self {
            tracer,
            ssn,
            phone,
            email,
            mrn,
            card: _,
            date,
            plan,
            first_name,
            surname,
        } = self;
        let card = self.spaced_card();
        format!(
            "{tracer} notes: SSN {ssn}; phone {phone}; mail {email}; MRN: {mrn}; card {card}; born {date}; \
             Medicare ID {plan}; seen with Mrs. {first_name} {surname}."
        )
    }

    /// What fits where only letters, digits, `_` and `-` may stand.
    pub(super) fn identifier(&self) -> String {
        format!("{}-{}", self.tracer, self.ssn)
    }

    pub(super) fn ssn(&self) -> &str {
        &self.ssn
    }

    pub(super) fn email(&self) -> &str {
        &self.email
    }

    /// A number of JSON.
    pub(super) fn number(&self) -> u64 {
        self.card.parse().unwrap()
    }

    /// An address that somebody could fetch.
    pub(super) fn address(&self) -> String {
        format!(
            "https://example.org/{}/{}?ssn={}",
            self.tracer, self.email, self.ssn
        )
    }

    /// The text as a file of a request carries it.
    pub(super) fn blob(&self) -> String {
        STANDARD.encode(self.text())
    }

    /// What must not be found, of every kind, and the tracer.
    pub(super) fn canaries(&self) -> Vec<Canary> {
        let all = [
            (TRACER, self.tracer.clone()),
            ("SSN", self.ssn.clone()),
            ("PHONE", self.phone.clone()),
            ("EMAIL", self.email.clone()),
            ("MRN", self.mrn.clone()),
            ("CREDIT_CARD", self.spaced_card()),
            ("DATE", self.date.clone()),
            ("HEALTH_PLAN_ID", self.plan.clone()),
            ("NAME", self.surname.clone()),
        ];
        all.map(|(kind, secret)| Canary { kind, secret }).into()
    }

    fn spaced_card(&self) -> String {
        let groups: Vec<&str> = (0..16)
            .step_by(4)
            .map(|at| &self.card[at..at + 4])
            .collect();
        groups.join(" ")
    }
}

/// Luhn (ISO/IEC 7812-1).
fn check_digit(digits: &str) -> u32 {
    let sum: u32 = digits
        .chars()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = digit.to_digit(10).unwrap();
            match digit * 2 {
                _ if at % 2 == 1 => digit,
                double @ 10.. => double - 9,
                double => double,
            }
        })
        .sum();
    (10 - sum % 10) % 10
}
