//! Values with spaces, signs or letters where they do not belong, and values that hide from programs that look for them.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn numbers_with_spaces_around_their_signs() {
    finds::<Patterns>(&[
        ("SSN: 536 - 22 - 8890", &["SSN:536 - 22 - 8890"]),
        (
            "Her social security is 536 - 22 - 8890",
            &["SSN:536 - 22 - 8890"],
        ),
        ("Phone: (919) 555 - 0142", &["PHONE:(919) 555 - 0142"]),
        ("(919)555 - 0142", &["PHONE:(919)555 - 0142"]),
        ("(919) - 555 - 0142", &["PHONE:(919) - 555 - 0142"]),
        ("919 . 555 . 0143", &["PHONE:919 . 555 . 0143"]),
        ("919- 555- 0143", &["PHONE:919- 555- 0143"]),
        (
            "4111 - 1111 - 1111 - 1111",
            &["CREDIT_CARD:4111 - 1111 - 1111 - 1111"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "536 - 22 - 8890",
        "a range of 10 - 20 - 3000",
        "in 2019 . 555 of 0143",
        "4111 - 1111 - 1111 - 1112",
        "5 -3 or 5- 3",
    ]);
}

#[test]
fn social_security_numbers_divided_otherwise() {
    finds::<Patterns>(&[
        ("SSN 536-228890", &["SSN:536-228890"]),
        ("ssn: 53622-8890", &["SSN:53622-8890"]),
        ("SSN is 536/22/8890", &["SSN:536/22/8890"]),
        ("SS# 536,22,8890", &["SSN:536,22,8890"]),
        ("social security number: 536:22:8890", &["SSN:536:22:8890"]),
    ]);
    leaves_alone::<Patterns>(&[
        "536-228890",
        "53622-8890",
        "536/22/8890",
        "the SS of 1,234,567",
        "536,22,8890 rows",
    ]);
}

#[test]
fn mail_addresses_that_hide() {
    finds::<Patterns>(&[
        (
            "mail maria[at]example[dot]com",
            &["EMAIL:maria[at]example[dot]com"],
        ),
        (
            "maria (at) example (dot) com.",
            &["EMAIL:maria (at) example (dot) com"],
        ),
        (
            "t.naka {at} uni-hospital {dot} edu",
            &["EMAIL:t.naka {at} uni-hospital {dot} edu"],
        ),
        ("maria[at]example.com", &["EMAIL:maria[at]example.com"]),
        ("maria@example[dot]org", &["EMAIL:maria@example[dot]org"]),
        ("maria @ example . com", &["EMAIL:maria @ example . com"]),
        (
            "jane dot doe at mail dot lakeside dot org",
            &["EMAIL:jane dot doe at mail dot lakeside dot org"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "items[at].name.first",
        "John at the dot com boom",
        "a dot on the skin at noon",
        "look at amazon dot com",
        "the (at) sign and the [dot] sign",
        "he was (at) home.",
    ]);
}

#[test]
fn numbers_that_were_read_from_paper() {
    finds::<Patterns>(&[
        ("S36-22-889O", &["SSN:S36-22-889O"]),
        ("SSN 536-2Z-8890", &["SSN:536-2Z-8890"]),
        ("pls schedule before Mar l5.", &["DATE:Mar l5"]),
    ]);
    leaves_alone::<Patterns>(&[
        "SOS-IS-BOSS",
        "536-2X-8890",
        "S36-22-889O1",
        "mar lO, may Il",
    ]);
}
