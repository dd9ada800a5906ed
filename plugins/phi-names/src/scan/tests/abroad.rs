//! Addresses of other countries, and places that no list has.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn codes_beside_cities() {
    finds::<Names>(&[
        (
            "Parramatta NSW 2150",
            &["LOCATION:Parramatta", "LOCATION:2150"],
        ),
        ("Pune 411001", &["LOCATION:Pune", "LOCATION:411001"]),
        ("Laval QC H7N 3X9", &["LOCATION:Laval", "LOCATION:H7N 3X9"]),
        ("Eircode V94 T2XK", &["LOCATION:V94 T2XK"]),
        (
            "Hauptstr. 5, 69117 Heidelberg",
            &[
                "ADDRESS:Hauptstr. 5",
                "LOCATION:69117",
                "LOCATION:Heidelberg",
            ],
        ),
        (
            "of Flat 4, 118 Peckham Rye, London SE15 4HA",
            &[
                "ADDRESS:Flat 4, 118 Peckham Rye",
                "LOCATION:London",
                "LOCATION:SE15 4HA",
            ],
        ),
    ]);
    leaves_alone::<Names>(&[
        "4000 units; NSW 12",
        "flat 4, 118 of them",
        "Postgres 411001 rows",
    ]);
}

#[test]
fn streets_without_a_word_of_their_own() {
    finds::<Names>(&[
        ("at 14 Primrose Vale", &["ADDRESS:14 Primrose Vale"]),
        ("home is N7712 Hwy 22", &["ADDRESS:N7712 Hwy 22"]),
        ("picked up on 12th st by ems", &["ADDRESS:12th st"]),
        ("Casa: Calle Luna 204, Ponce", &["ADDRESS:Calle Luna 204"]),
        (
            "c/o Halina, ul. Kwiatowa 7",
            &["NAME:Halina", "ADDRESS:Kwiatowa 7"],
        ),
    ]);
    leaves_alone::<Names>(&["6 Minute Walk 410 m", "2 Hwy patrols", "on the 12th stroke"]);
}

#[test]
fn homes_that_no_list_has() {
    finds::<Names>(&[(
        "Aroha Parata lives in Tonopah with two dogs",
        &["NAME:Aroha Parata", "LOCATION:Tonopah"],
    )]);
    leaves_alone::<Names>(&["the token lives in Vault, near Terraform"]);
}

#[test]
fn practices_and_offices() {
    finds::<Names>(&[
        (
            "checked at Kingsmead Surgery on Wednesday",
            &["ORGANIZATION:Kingsmead Surgery"],
        ),
        ("Salinas PD placed the hold", &["ORGANIZATION:Salinas PD"]),
        (
            "authorize Piedmont Neurology to release it",
            &["ORGANIZATION:Piedmont Neurology"],
        ),
    ]);
    leaves_alone::<Names>(&["Bariatric Surgery", "seen in Pediatric Neurology"]);
}
