//! Names of hand-overs, chats and calls: behind beds, degrees and verbs, at the head of a turn, at the end of all.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn surnames_behind_beds_and_rooms() {
    finds::<Names>(&[
        ("rm 3 Nakamura G2P1 8cm", &["NAME:Nakamura"]),
        ("icu 9 okafor vent ac, icu 10 open", &["NAME:okafor"]),
        (
            "210 Oyelaran - PNA, 2L NC; 211 Beaumont - GIB, prep; 212 closed",
            &["NAME:Oyelaran", "NAME:Beaumont"],
        ),
        ("ramirez in 14 needs a new iv today", &["NAME:ramirez"]),
        (
            "the nurses of the night say that Okafor in bed 7 is asleep now",
            &["NAME:Okafor"],
        ),
        ("Tuiasosopo voided. Bed 4 is empty.", &["NAME:Tuiasosopo"]),
    ]);
    leaves_alone::<Names>(&[
        "rm 12 Foley draining well, rm 14 Hoyer lift",
        "500 Tylenol; 250 Augmentin; 100 Zosyn",
        "stenosis in 14 needs a stent",
        "Kubernetes crashed. Postgres slept.",
    ]);
}

#[test]
fn names_behind_degrees_and_verbs() {
    finds::<Names>(&[
        ("MD Feuerstein paged at 0310", &["NAME:Feuerstein"]),
        ("PA Okonjo at bedside", &["NAME:Okonjo"]),
        ("MD Winograd paged, RN Zofran given", &["NAME:Winograd"]),
        ("discussed w/ okonkwo from gi today", &["NAME:okonkwo"]),
        ("sent in by np castellano for fever", &["NAME:castellano"]),
        ("Call Ignatius about the recall.", &["NAME:Ignatius"]),
        (
            "OB on: Lindqvist, Child: Bodhi Lachance",
            &["NAME:Lindqvist", "NAME:Bodhi Lachance"],
        ),
        ("Cards Steinberg. Renal is aware.", &["NAME:Steinberg"]),
        ("Reviewed with Lionel before lunch.", &["NAME:Lionel"]),
        ("doula Saoirse Byrne was there", &["NAME:Saoirse Byrne"]),
        ("Hi, it's Wren. The pills make me jittery.", &["NAME:Wren"]),
        ("bed 4 is for mrs abernethy from Ohio", &["NAME:abernethy"]),
    ]);
    leaves_alone::<Names>(&[
        "PA chest and MD note pending",
        "Call Lyft, page Trauma, email Billing about refunds",
        "On: pump at 4. Child: Mild. Donor: Unknown.",
        "Cards are here. Renal Diet.",
    ]);
}

#[test]
fn names_in_talk() {
    finds::<Names>(&[
        ("Tariq: will hang the unit now\nBot: ok", &["NAME:Tariq"]),
        ("Jess: hey its late, ok?", &["NAME:Jess"]),
        (
            "Should I go up on the dose tomorrow? Yolanda",
            &["NAME:Yolanda"],
        ),
        (
            "The nurse said that the Hendersons dispute it.",
            &["NAME:Hendersons"],
        ),
        (
            "sisters Wafaa and Hanan are carriers",
            &["NAME:Wafaa", "NAME:Hanan"],
        ),
        (
            "Reset it for Kwabena Asante (kasante), please.",
            &["NAME:Kwabena Asante", "NAME:kasante"],
        ),
        ("Contact: Tuck (friend)", &["NAME:Tuck"]),
    ]);
    leaves_alone::<Names>(&[
        "Note: hey this is only a test\nGinger: fresh, grated\nBasil: chopped",
        "Hypertension (mother), Gout (brother)",
        "the Mondays are busy and the Ringers were hung",
        "The wall is thin, no Murphy's.",
        "three words (mild) and (weekly)",
    ]);
}

#[test]
fn names_of_forms_and_tables() {
    finds::<Names>(&[
        (
            "Last name: Tchaikovsky  First: Irina  MI: V",
            &["NAME:Tchaikovsky", "NAME:Irina", "NAME:V"],
        ),
        ("KESSLER,B | 61M", &["NAME:KESSLER,B"]),
        ("US OB: Mirembe Nakato, EDD 1 Feb", &["NAME:Mirembe Nakato"]),
        (
            "PATIENT OLGA PETROVSKAYA ARRIVED AT NOON",
            &["NAME:OLGA PETROVSKAYA"],
        ),
    ]);
}
