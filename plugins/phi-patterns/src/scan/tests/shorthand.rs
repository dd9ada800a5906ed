//! Days, numbers and labels of lists, hand-offs and interfaces.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn days_written_short() {
    finds::<Patterns>(&[
        ("HOME HEALTH SCHEDULE wk of 4/15", &["DATE:4/15"]),
        ("pyelo, dispo: home 5/3 w/ dtr", &["DATE:5/3"]),
        ("Wound care f/u 5-1. Photos sent", &["DATE:5-1"]),
        ("urgent care 5-29; ED later", &["DATE:5-29"]),
        ("who died on May 9 in our hospice", &["DATE:May 9"]),
        ("Sutures out on the 9th.", &["DATE:9th"]),
        (
            "headache gr1 02APR-04APR2024",
            &["DATE:02APR", "DATE:04APR2024"],
        ),
        ("Date of Bir th: 11 / 04 / 1951", &["DATE:11 / 04 / 1951"]),
    ]);
    leaves_alone::<Patterns>(&[
        "f/u 5-10 days",
        "f/u 3-6.",
        "page 3 - 4 - 2020",
        "won since 5-1 up",
        "May 9 in thick",
        "rib fracture on the 9th.",
        "11 / 04 of 1951",
        "4 - 5 - 6",
        "UPAPR-04",
    ]);
}

#[test]
fn numbers_of_interfaces_and_lists() {
    finds::<Patterns>(&[
        (
            "CLP*7722810*1*450*380**12*881220399~",
            &["ACCOUNT_NUMBER:7722810", "OTHER_ID:881220399"],
        ),
        (
            "PID|1|12345678|0098812^^^HOSP^MR||FUJIMOTO^HARUKI||||||||^PRN^PH^^1^559^5550142",
            &["MRN:12345678", "MRN:0098812", "PHONE:559^5550142"],
        ),
        ("Subj 014-0023, consented", &["OTHER_ID:014-0023"]),
        ("Rx 6609183, Dr. Kapoor", &["OTHER_ID:6609183"]),
        ("UNOS ID AJKX221.", &["OTHER_ID:AJKX221"]),
        (
            "She logged in as Delphine.Okafor at 07:02",
            &["OTHER_ID:Delphine.Okafor"],
        ),
        ("Plate FL QXR 114.", &["VEHICLE_ID:FL QXR 114"]),
        (
            "decedent Lemuel Ezra Stockdale, 99, d. here",
            &["AGE_OVER_89:99"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "user: summarize. Then list",
        "user: hello",
        "Rx BIN 004336 PCN ADV",
        "User: thanks",
        "Rx: amoxicillin 500 mg, 1200 mg daily",
        "Subj 10-14, Subj 135-145",
        "Total Cholesterol, 99, high",
        "Mean Saturation, 94, 95",
    ]);
}
