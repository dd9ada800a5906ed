//! Names behind titles that are words of charts and forms too.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn surnames_that_are_words_stand_behind_sr() {
    finds::<Names>(&[
        ("Spoke with Sr. Vega today", &["NAME:Vega"]),
        ("Spoke with Sr. Silva today", &["NAME:Silva"]),
        ("Spoke with Sr. Luna today", &["NAME:Luna"]),
        ("Spoke with Sr. Campos today", &["NAME:Campos"]),
        ("Spoke with Sr. Rivas today", &["NAME:Rivas"]),
        ("Spoke with Sr. Robles today", &["NAME:Robles"]),
        ("Spoke with Sr. Medina today", &["NAME:Medina"]),
        ("Spoke with Sr. Arroyo today", &["NAME:Arroyo"]),
        ("Spoke with Sr. Montes today", &["NAME:Montes"]),
        ("Spoke with Sr. Blanco today", &["NAME:Blanco"]),
        ("Spoke with Sr. Franco today", &["NAME:Franco"]),
        ("Spoke with Sr. Costa today", &["NAME:Costa"]),
        ("Spoke with Sr. Cruz today", &["NAME:Cruz"]),
        ("Sr. Vega 45 yo with CHF", &["NAME:Vega"]),
    ]);
    leaves_alone::<Names>(&[
        "Sr. AST 40 and Sr. ALT 41",
        "Sr. Chol 190",
        "sr ast 45",
        "Sr. Na 140, Sr. Li 0.8, Sr. Iron 60, Sr. Copper 90",
        "Sr. Ace level was fine",
        "Sr. Engineer, Sr. Analyst, Sr. Manager and Sr. Counsel met",
        "Sr. Banker and Sr. Clerk left",
        "the Sr. Fellow and the Sr. Dean met",
        "Sr. Center lunch and Sr. Prom night",
    ]);
}

#[test]
fn any_word_in_capitals_is_a_name_behind_a_title_in_capitals() {
    finds::<Names>(&[
        ("Seen by DR. SMALL today", &["NAME:SMALL"]),
        ("MR. SHORT called about it", &["NAME:SHORT"]),
        ("Discussed with DR. LAKE today", &["NAME:LAKE"]),
        ("Discussed with DR. HUQ today", &["NAME:HUQ"]),
        ("Spoke with MR. SHORT today", &["NAME:SHORT"]),
        ("Spoke with MR. HUQ today", &["NAME:HUQ"]),
        ("DR. SMALL, MD saw her", &["NAME:SMALL"]),
        ("Ask MS. FIELD to call back", &["NAME:FIELD"]),
        ("Ask MR. WALL to call back", &["NAME:WALL"]),
    ]);
    leaves_alone::<Names>(&[
        "Severe DR. OCT shows edema in both eyes",
        "No DR. IOP 15 in both eyes, no edema",
        "There is MR. RVSP 40 and the rest is normal",
        "She has MS. EDSS 3.5 at the last visit",
        "She has MS. MRI of the brain was stable",
        "Mild MR. LVEF is normal, no effusion",
        "There is MR. TR is mild, no effusion",
        "Per DR. ORDER she is NPO, call the DR. OFFICE",
        "She has MS. IVIG monthly at home",
    ]);
}

#[test]
fn grades_and_words_of_charts_are_nobody() {
    leaves_alone::<Names>(&[
        "No MR. Wall motion normal",
        "Trivial MR. Wall motion normal",
        "1+ MR. Prior echo showed the same",
        "2-3+ MR. Young age at onset",
        "Mild AI and MR. Wall motion normal",
        "She has MS. Works as a teacher",
        "MS. Overall stable on current therapy",
        "MS. Strong family history of it",
        "MS. Fine motor skills are good",
        "MS. Good range of motion",
        "MS. Current therapy continues",
        "Lt Palm laceration closed",
        "Lt Base crackles heard",
        "Lt Stump wound is dry",
        "Lt Temple contusion noted",
        "Lt Patella is tender",
        "Lt. Palm laceration closed",
        "LT. PALM laceration closed",
        "Lt Arch pain, Lt Ball of foot pain",
        "The report is in MS Power BI now",
    ]);
    finds::<Names>(&[
        ("Dr. Wall called", &["NAME:Wall"]),
        ("Ms. Good called", &["NAME:Good"]),
        ("Mr. Strong is here", &["NAME:Strong"]),
        ("MR. Wall called about it", &["NAME:Wall"]),
        ("MS. Good said that it hurts", &["NAME:Good"]),
        ("Lt. Strong came to the desk", &["NAME:Strong"]),
        (
            "Mr. Palmer, Ms. Temple and Dr. Field came",
            &["NAME:Palmer", "NAME:Temple", "NAME:Field"],
        ),
        ("MR. Young called", &["NAME:Young"]),
        ("No MR. Young called, he is late", &["NAME:Young"]),
        ("Reported to LT. YOUNG at the desk", &["NAME:YOUNG"]),
        ("Lt. Wall reported to the desk", &["NAME:Wall"]),
    ]);
}

#[test]
fn a_form_has_a_revision() {
    leaves_alone::<Names>(&[
        "Consent form REV. B",
        "Consent form REV. DATE 02/12",
        "Consent form REV. B Approved by the board",
        "Form 12 REV. JUNE, see REV. HISTORY below",
    ]);
    finds::<Names>(&[
        ("Visited by REV. WHITE today", &["NAME:WHITE"]),
        ("Visited by REV. OKONKWO today", &["NAME:OKONKWO"]),
        ("Visited by REV. J. SMITH today", &["NAME:J. SMITH"]),
        ("Visited by REV. J. White today", &["NAME:J. White"]),
        ("Visited by Rev. Date today", &["NAME:Date"]),
    ]);
}

#[test]
fn a_capital_behind_small_letters_with_a_dot_is_somebody() {
    finds::<Names>(&[
        (
            "I saw mr. Strong and ms. Temple today.",
            &["NAME:Strong", "NAME:Temple"],
        ),
        ("Dear mr. Wall,", &["NAME:Wall"]),
        ("Dear ms. Good,", &["NAME:Good"]),
        ("Spoke with ms. West today", &["NAME:West"]),
        ("please call mr. Wall back", &["NAME:Wall"]),
        ("i saw ms. Fields today in clinic", &["NAME:Fields"]),
        ("no ms. Lee here", &["NAME:Lee"]),
    ]);
    leaves_alone::<Names>(&[
        "She has ms. Gait is stable",
        "She was found to have mild mr. Wall motion is normal",
    ]);
}

#[test]
fn who_does_something_or_is_met_is_no_word_of_charts() {
    finds::<Names>(&[
        ("MR. Wall presents with chest pain", &["NAME:Wall"]),
        ("MR. Strong was admitted", &["NAME:Strong"]),
        ("MR. Strong was seen in clinic", &["NAME:Strong"]),
        ("MR. Strong is a nice man", &["NAME:Strong"]),
        ("MR. Strong is here for labs", &["NAME:Strong"]),
        ("MR. Strong presented", &["NAME:Strong"]),
        ("MR. Strong denied it", &["NAME:Strong"]),
        ("MR. Strong complains of pain", &["NAME:Strong"]),
        ("MR. Strong has pain", &["NAME:Strong"]),
        ("MR. Strong did well", &["NAME:Strong"]),
        ("MR. Strong underwent surgery", &["NAME:Strong"]),
        ("MR. Strong's wife called", &["NAME:Strong"]),
        ("Patient: MR. Strong", &["NAME:Strong"]),
        ("MR. Wall, 67, has pain", &["NAME:Wall"]),
        ("MR. HILL called", &["NAME:HILL"]),
        ("MR. Wall went home", &["NAME:Wall"]),
        ("Severe AS. MR. Wall will return", &["NAME:Wall"]),
        ("The patient, MR. Palm, was well", &["NAME:Palm"]),
        ("I reviewed it with MR. Wall.", &["NAME:Wall"]),
        ("Follow up with MR. Wall in clinic", &["NAME:Wall"]),
        ("Dear Lt Temple,", &["NAME:Temple"]),
        ("I saw Lt Wall today", &["NAME:Wall"]),
        ("Lt Wall went home", &["NAME:Wall"]),
        ("MR. Current has pain", &["NAME:Current"]),
        ("DR. Wall was late today", &["NAME:Wall"]),
        ("Seen by Lt Wall today", &["NAME:Wall"]),
        ("Please see MR. Wall today", &["NAME:Wall"]),
        ("Dear MR. Wall, we write", &["NAME:Wall"]),
        ("LT WALL was seen", &["NAME:WALL"]),
        ("Lt. Temple was seen", &["NAME:Temple"]),
    ]);
    leaves_alone::<Names>(&[
        "There is MR. Wall motion was seen to be normal",
        "Lt Lower lobe was clear",
        "Lt Temple has a contusion",
        "LT. PALM has a laceration",
        "Lt Palm, 3 cm laceration",
        "MS. Mood has improved",
        "Severe DR. Current treatment goes on",
        "She has DR. Stable macula",
        "She has had MS. EDSS declined to 3",
        "MS. Good range of motion is seen",
    ]);
}

#[test]
fn a_chaplain_is_no_revision() {
    finds::<Names>(&[
        ("Chaplain REV. HILL visited", &["NAME:HILL"]),
        ("REV. WEST", &["NAME:WEST"]),
        ("REV. Strong", &["NAME:Strong"]),
        ("REV. Hill", &["NAME:Hill"]),
        ("Seen by REV. J White today", &["NAME:J White"]),
        ("Visit by REV. HUQ", &["NAME:HUQ"]),
        ("REV. OKO came", &["NAME:OKO"]),
        ("REV. SMALL will return tomorrow", &["NAME:SMALL"]),
        ("Chaplain REV. JACKSON 555-1234", &["NAME:JACKSON"]),
        ("Pastor REV. DATE called", &["NAME:DATE"]),
    ]);
    leaves_alone::<Names>(&[
        "Consent form REV. JUNE 2019",
        "Consent form REV. MAY 12",
        "Consent form, REV. DATE 02/12",
        "Consent form REV. A, page 2",
        "For changes see REV. DATE below",
    ]);
}

#[test]
fn nobody_is_there() {
    finds::<Names>(&[
        ("There is no MR. LEE here", &["NAME:LEE"]),
        ("no DR. LEE available", &["NAME:LEE"]),
        ("No MR. Young in the waiting room", &["NAME:Young"]),
        ("No Lt. Young here", &["NAME:Young"]),
        ("There is no MS. Wall here", &["NAME:Wall"]),
        ("There is no mr. Wall here", &["NAME:Wall"]),
    ]);
    leaves_alone::<Names>(&["No MR. Wall motion normal", "There is no MR. Normal valves"]);
}

#[test]
fn what_is_shouted_behind_a_doctor_or_a_disease_is_nobody() {
    leaves_alone::<Names>(&[
        "Ask your DR. FIRST",
        "call your DR. IMMEDIATELY",
        "Per DR. TEAM is aware",
        "Per DR. PLEASE hold",
        "AS and MR. AORTIC valve calcified",
        "RRMS / MS. HOLD meds",
    ]);
}
