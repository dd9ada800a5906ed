//! Names that mean no person beside the same names of persons.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn days_are_nobody() {
    leaves_alone::<Names>(&[
        "Tue 8-5, Wed 8-12, Thu 8-5",
        "Slides due Thu.",
        "| Wed | Thu |",
        "cron: \"0 5 * * THU\"",
        "Thu clinic is full",
        "Clinic Thurs or Fri",
    ]);
    finds::<Names>(&[("seen by Thu Nguyen today", &["NAME:Thu Nguyen"])]);
}

#[test]
fn kinds_of_health_and_what_is_done_are_no_organization() {
    leaves_alone::<Names>(&[
        "Protected Health Information must be logged",
        "Personal Health Record and Electronic Protected Health Information",
        "Dispo SNF. Await SNF bed.",
        "Rec SNF placement",
        "Resume Home Health. Rec Home Health PT. Order Home Health",
    ]);
    finds::<Names>(&[
        (
            "admitted to Lakeside General Hospital",
            &["ORGANIZATION:Lakeside General Hospital"],
        ),
        (
            "sent to St. Luke's Hospital",
            &["ORGANIZATION:St. Luke's Hospital"],
        ),
    ]);
}

#[test]
fn eponyms_of_scales_and_tools() {
    leaves_alone::<Names>(&[
        "EF 55 by Simpson biplane",
        "Blake drain out; Blake removed POD2",
        "modified Fisher grade 3; Wagner grade 2 ulcer; Wagner 2",
        "Barrett C2M4; Forrest Ib ulcer",
        "Humphrey visual field full",
        "O'Leary stitch; Bryant traction; Ludwig angina",
        "and Kaplan-Meier curves. The Hosmer-Lemeshow p was 0.3",
        "Down, Patau, Turner, Klinefelter and Noonan",
    ]);
    finds::<Names>(&[
        ("Dr. Simpson called", &["NAME:Simpson"]),
        ("Blake Simpson was admitted", &["NAME:Blake Simpson"]),
        ("Patient Wagner, 71M", &["NAME:Wagner"]),
        ("Leopold Martinez is here", &["NAME:Leopold Martinez"]),
    ]);
}

#[test]
fn idioms_firms_and_languages() {
    leaves_alone::<Names>(&[
        "Frank talk about prognosis",
        "Jack of all trades. Carol singing at noon. Rosemary chicken.",
        "Ben & Jerry's; Dr Pepper; Mrs. Dash; Smith & Nephew",
        "MR. COUNSEL: Objection",
        "Jupyter, Julia, Ruby, Perl",
        "- name: Run tests\n  run: cargo test",
        "The Nile is longer",
        "Uganda, Kenya and Tanzania",
    ]);
    finds::<Names>(&[
        ("Robin in bed 4 wants water", &["NAME:Robin"]),
        ("Carol Jackson is here", &["NAME:Carol Jackson"]),
        ("Dr. Pepperell called", &["NAME:Pepperell"]),
        ("Hi Julia, thank you", &["NAME:Julia"]),
    ]);
}
