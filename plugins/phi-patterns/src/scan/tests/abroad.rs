//! Identifiers and days of other countries, and codes beside whose they are.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn numbers_of_other_countries() {
    finds::<Patterns>(&[
        ("PESEL 90020212345", &["OTHER_ID:90020212345"]),
        (
            "Medicare 2953 14621 7 ref 2",
            &["HEALTH_PLAN_ID:2953 14621 7"],
        ),
        ("provider no. 2418671F", &["LICENSE_NUMBER:2418671F"]),
        ("reg LB19 XFR, on the A41", &["VEHICLE_ID:LB19 XFR"]),
        ("rego 1AB 2CD Toyota", &["VEHICLE_ID:1AB 2CD"]),
        ("tel. 601 234 567", &["PHONE:601 234 567"]),
        ("contact 98220 44718", &["PHONE:98220 44718"]),
        ("(NHS 4857773456)", &["MRN:4857773456"]),
        ("Mrs Nkosi, 93, slipped", &["AGE_OVER_89:93"]),
        ("Ref: GP/22/0417.", &["OTHER_ID:GP/22/0417"]),
    ]);
    leaves_alone::<Patterns>(&[
        "reg ADT-2024-1 and reg 12 are fields",
        "Ref: FEV1/FVC 0.7",
        "nin 12 items, tracking error 0.02",
        "601 234 567 rows",
        "12345 67890 customers a day for 5 NHS trusts",
    ]);
}

#[test]
fn codes_beside_somebody() {
    finds::<Patterns>(&[
        (
            "Subscriber Min-ho Bae, XYB447102938.",
            &["HEALTH_PLAN_ID:XYB447102938"],
        ),
        ("CGM transmitter SN 8GK2L1", &["DEVICE_ID:8GK2L1"]),
        ("wife Inez x555-0187", &["PHONE:x555-0187"]),
        ("phone ends 0144", &["PHONE:0144"]),
        ("cash app $dustyr44", &["OTHER_ID:dustyr44"]),
        (
            "EVN|A04|20240912113000|||kpreston",
            &["DATE:20240912113000", "OTHER_ID:kpreston"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "Subscriber Churn Rate, Q3",
        "a matrix of x555-01 values",
        "cash app $20",
    ]);
}

#[test]
fn days_as_they_are_written_elsewhere() {
    finds::<Patterns>(&[
        ("changes from 18/11: stop ramipril", &["DATE:18/11"]),
        ("til the 28th.", &["DATE:28th"]),
        ("not seen since Mardi Gras", &["DATE:Mardi Gras"]),
        (
            "sugar 3/1 182, 3/2 160, 3/3 211",
            &["DATE:3/1", "DATE:3/2", "DATE:3/3"],
        ),
        ("| 4A | scope 6/9 |", &["DATE:6/9"]),
    ]);
    leaves_alone::<Patterns>(&[
        "from 18/30 to 24/30, open 24/7",
        "until the 3rd dose",
        "on 16/8 fasting",
    ]);
}
