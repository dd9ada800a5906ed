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
