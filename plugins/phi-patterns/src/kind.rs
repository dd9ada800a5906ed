//! The kinds of identifier, one file each, and the tables that the scan runs through.

mod account;
pub mod age;
pub mod bank;
pub mod birth;
pub mod card;
mod clause;
pub mod date;
pub mod device;
pub mod email;
pub mod identifier;
pub mod labelled;
pub mod licence;
pub mod network;
pub mod phone;
pub mod plan;
pub mod read_out;
pub mod spoken;
pub mod ssn;
pub mod url;
pub mod vehicle;

use detector_kit::Kind;

pub use detector_kit::Finding;

use crate::number::Numbers;

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

/// In the order of the constants above and of the manifest.
pub const KINDS: [Kind; 17] = [
    Kind::new("DATE", 3),
    Kind::new("AGE_OVER_89", 3),
    Kind::new("PHONE", 4),
    Kind::new("FAX", 5),
    Kind::new("EMAIL", 6),
    Kind::new("SSN", 7),
    Kind::new("MRN", 8),
    Kind::new("HEALTH_PLAN_ID", 9),
    Kind::new("ACCOUNT_NUMBER", 10),
    Kind::new("CREDIT_CARD", 10),
    Kind::new("LICENSE_NUMBER", 11),
    Kind::new("VEHICLE_ID", 12),
    Kind::new("DEVICE_ID", 13),
    Kind::new("URL", 14),
    Kind::new("IP_ADDRESS", 15),
    Kind::new("BIOMETRIC_ID", 16),
    Kind::new("OTHER_ID", 18),
];

/// Asks about a group of digits: the numbers around, and which group.
pub type NumberFinder = fn(&Numbers<'_>, usize) -> Option<Finding>;
/// Asks about the run of letters and digits that begins at a place in the text, and where it ends.
pub type CodeFinder = fn(&[u8], usize, usize) -> Option<Finding>;

/// The first that finds wins.
pub const NUMBER_FINDERS: [NumberFinder; 10] = [
    network::find_v4,
    device::find_udi,
    card::find,
    ssn::find,
    date::find_numeric,
    age::find_number,
    birth::find,
    phone::find,
    labelled::find_behind,
    crate::abroad::find_bare,
];

/// As [`NUMBER_FINDERS`].
pub const CODE_FINDERS: [CodeFinder; 10] = [
    identifier::find_uuid,
    identifier::find_alien,
    ssn::find_misread,
    network::find_mac,
    network::find_v6,
    vehicle::find,
    plan::find,
    bank::find_iban,
    licence::find_dea,
    phone::find_extension,
];
