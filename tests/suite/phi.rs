//! PHI Guard across the boundary: what the provider sees, what the caller sees, and where nothing may be seen.

mod block;
mod canary;
mod detector;
mod lists;
mod long;
mod profiles;
mod quality;
mod redact;
mod reply;
mod residue;
mod results;

/// Values that the shipped detector must know, by kind. Each is made up, and in the form of the real thing.
pub(crate) const PLANTED: [(&str, &str); 6] = [
    ("SSN", "536-22-8714"),
    ("PHONE", "(415) 823-4467"),
    ("EMAIL", "ruth.aldana@lakeside-mail.org"),
    ("MRN", "MRN: 84731962"),
    ("DATE", "March 14, 1987"),
    ("CREDIT_CARD", "4539 1488 0343 6467"),
];

/// The part of a planted value that must never be seen: what stands behind its label.
pub(crate) fn core(value: &str) -> &str {
    value.strip_prefix("MRN: ").unwrap_or(value)
}
