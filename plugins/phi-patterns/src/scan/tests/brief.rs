//! Days in short forms, behind events, and labels that few have.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn days_with_a_point_behind_german_words() {
    finds::<Patterns>(&[
        ("Kontrolle in der Praxis am 17.3. um 8:30", &["DATE:17.3"]),
        (
            "Aufnahme am 3.2., Entlassung am 9.2.",
            &["DATE:3.2", "DATE:9.2"],
        ),
        ("geboren am 2.6.", &["DATE:2.6"]),
        ("EKG vom 3.2.: SR", &["DATE:3.2"]),
        (
            "krank seit 14.1. und bis 20.1.",
            &["DATE:14.1", "DATE:20.1"],
        ),
        ("przyjęty dnia 3.02 o godz. 8", &["DATE:3.02"]),
        (
            "seen in EC, portal login from 203.0.113.54",
            &["IP_ADDRESS:203.0.113.54"],
        ),
        ("urodzona dnia 12.05.1931 r.", &["DATE:12.05.1931"]),
        ("przyjęty dn. 03.02.2026", &["DATE:03.02.2026"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Kalium 4.1. Natrium 138",
        "at 8 am 3.2. K",
        "ab 4.1 mmol",
        "am 17.30 Uhr",
        "seit Version 3.14.",
        "Kapitel 3.2. Methoden",
    ]);
}

#[test]
fn days_in_the_forms_of_some_fields() {
    finds::<Patterns>(&[
        ("Feb3 f/u", &["DATE:Feb3"]),
        ("on 3-II-2026", &["DATE:3-II-2026"]),
        ("dated 03.II.26", &["DATE:03.II.26"]),
        ("seen on 2026-W06-2", &["DATE:2026-W06-2"]),
        ("on day 2026/034", &["DATE:2026/034"]),
        ("DOB: 6/58", &["DATE:6/58"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Oct4 and Dec1 are genes, MARCH1 and SEPT9 too",
        "Feb3.pdf, run_Feb3",
        "stage 3-II-B, 2-IV-2x",
        "sprint 2026-W06",
        "2026/034 of the series",
        "Rate: 6/58",
    ]);
}

#[test]
fn days_right_behind_what_happened() {
    finds::<Patterns>(&[
        ("MVC: 3/7", &["DATE:3/7"]),
        ("flu: 3/7, tdap: 5/9", &["DATE:3/7", "DATE:5/9"]),
        ("MVC 3/7 ~2300, restrained driver", &["DATE:3/7"]),
        ("s/p CABG 3/7", &["DATE:3/7"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Strength: 4/5",
        "Pain: 7/10",
        "flu: 3/7 tests positive",
        "biopsy: 3/12 cores",
        "Motor: 5/5, GCS: 3/15",
        "Fever 2/2 cellulitis",
        "Admitted overnight 2/2 sepsis",
    ]);
}

#[test]
fn labels_that_few_have() {
    finds::<Patterns>(&[
        ("CGM transmitter 8NK3T1", &["DEVICE_ID:8NK3T1"]),
        ("Dexcom tx id 4HXB2Q", &["DEVICE_ID:4HXB2Q"]),
        ("N number N447GA", &["VEHICLE_ID:N447GA"]),
        (
            "GPS 40°26'46\"N 79°58'56\"W, on foot",
            &["OTHER_ID:40°26'46\"N 79°58'56\"W"],
        ),
        ("CDCR AB4471", &["OTHER_ID:AB4471"]),
        ("TRICARE DBN 00123456789", &["HEALTH_PLAN_ID:00123456789"]),
        (
            "Medi-Cal BIC 91234567A95231",
            &["HEALTH_PLAN_ID:91234567A95231"],
        ),
        ("voiceprint VP-7712", &["BIOMETRIC_ID:VP-7712"]),
        (
            "Highmark ID YZH 1032 4471 8001",
            &["HEALTH_PLAN_ID:YZH 1032 4471 8001"],
        ),
        (
            "rx bin 610502 pcn MEDDPRIME grp RXQ4417",
            &["HEALTH_PLAN_ID:RXQ4417"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "the transmitter is charged, tx id unknown",
        "the voiceprint matches",
        "coordinates 40° flexion",
        "grp B strep, grp 3",
        "EC 3.4.21.5",
    ]);
}
