//! The kinds of identifier, one file each, and the tables that the scan runs through.

pub mod age;
pub mod bank;
pub mod card;
pub mod date;
pub mod device;
pub mod email;
pub mod identifier;
pub mod labelled;
pub mod licence;
pub mod network;
pub mod phone;
pub mod plan;
pub mod spoken;
pub mod ssn;
pub mod url;
pub mod vehicle;

use crate::number::Numbers;

/// One finding in a segment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub start: usize,
    pub end: usize,
    pub kind: usize,
    /// Per mille.
    pub score: u16,
    /// A check digit fits.
    pub verified: bool,
    /// The words around made it one.
    pub contextual: bool,
}

impl Finding {
    pub const fn new(kind: usize, start: usize, end: usize, score: u16) -> Self {
        Self {
            start,
            end,
            kind,
            score,
            verified: false,
            contextual: false,
        }
    }

    #[must_use]
    pub const fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    #[must_use]
    pub const fn contextual(mut self) -> Self {
        self.contextual = true;
        self
    }
}

/// What an entity kind is called and how strict it is by default.
pub struct Kind {
    pub name: &'static str,
    /// Safe Harbor identifier class.
    pub hipaa_class: u8,
    pub default_threshold: u16,
}

pub const DATE: usize = 0;
pub const AGE_OVER_89: usize = 1;
pub const PHONE: usize = 2;
pub const FAX: usize = 3;
pub const EMAIL: usize = 4;
pub const SSN: usize = 5;
pub const MRN: usize = 6;
pub const HEALTH_PLAN_ID: usize = 7;
pub const ACCOUNT_NUMBER: usize = 8;
pub const CREDIT_CARD: usize = 9;
pub const LICENSE_NUMBER: usize = 10;
pub const VEHICLE_ID: usize = 11;
pub const DEVICE_ID: usize = 12;
pub const URL: usize = 13;
pub const IP_ADDRESS: usize = 14;
pub const BIOMETRIC_ID: usize = 15;
pub const OTHER_ID: usize = 16;

const fn kind(name: &'static str, hipaa_class: u8) -> Kind {
    Kind {
        name,
        hipaa_class,
        default_threshold: 500,
    }
}

/// In the order of the constants above and of the manifest.
pub const KINDS: [Kind; 17] = [
    kind("DATE", 3),
    kind("AGE_OVER_89", 3),
    kind("PHONE", 4),
    kind("FAX", 5),
    kind("EMAIL", 6),
    kind("SSN", 7),
    kind("MRN", 8),
    kind("HEALTH_PLAN_ID", 9),
    kind("ACCOUNT_NUMBER", 10),
    kind("CREDIT_CARD", 10),
    kind("LICENSE_NUMBER", 11),
    kind("VEHICLE_ID", 12),
    kind("DEVICE_ID", 13),
    kind("URL", 14),
    kind("IP_ADDRESS", 15),
    kind("BIOMETRIC_ID", 16),
    kind("OTHER_ID", 18),
];

/// Asks about a group of digits: the numbers around, and which group.
pub type NumberFinder = fn(&Numbers<'_>, usize) -> Option<Finding>;
/// Asks about the run of letters and digits that begins at a place in the text, and where it ends.
pub type CodeFinder = fn(&[u8], usize, usize) -> Option<Finding>;

/// The first that finds wins.
pub const NUMBER_FINDERS: [NumberFinder; 8] = [
    network::find_v4,
    device::find_udi,
    card::find,
    ssn::find,
    date::find_numeric,
    age::find_number,
    phone::find,
    labelled::find_behind,
];

/// As [`NUMBER_FINDERS`].
pub const CODE_FINDERS: [CodeFinder; 7] = [
    identifier::find_uuid,
    network::find_mac,
    network::find_v6,
    vehicle::find,
    plan::find,
    bank::find_iban,
    licence::find_dea,
];
