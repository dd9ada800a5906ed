//! Days without a year, by what stands behind them and by what was done on them; scores and doses that look like them.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn a_sentence_goes_on_behind_a_day() {
    finds::<Patterns>(&[
        ("Seen on 3/14 in clinic", &["DATE:3/14"]),
        ("Seen on 3/4 in clinic", &["DATE:3/4"]),
        ("Started 3/14 on apixaban", &["DATE:3/14"]),
        ("Started apixaban 3/14 on advice", &["DATE:3/14"]),
        ("MRI 3/14 of the brain", &["DATE:3/14"]),
        ("CT done 3/14 of the chest", &["DATE:3/14"]),
        ("Transferred 3/14 out of ICU", &["DATE:3/14"]),
        ("Seen 03/14 in clinic", &["DATE:03/14"]),
        ("Seen 3/14 on 4 West", &["DATE:3/14"]),
        ("Seen by cardiology 3/12 in Boston", &["DATE:3/12"]),
        ("Admitted 3/14 day 3 of antibiotics", &["DATE:3/14"]),
        ("Discharged home 3/4 in stable condition", &["DATE:3/4"]),
        ("Discharged to SNF on 3/4 in no pain", &["DATE:3/4"]),
        ("Echo 3/4 of the left ventricle", &["DATE:3/4"]),
        ("Back Tuesday 3/4 in clinic", &["DATE:3/4"]),
        ("fever since 3/4 on and off", &["DATE:3/4"]),
        ("until 3/4 in the evening", &["DATE:3/4"]),
        ("Seen by GI 3/4 in our office", &["DATE:3/4"]),
        ("meds refilled 3/4 in clinic", &["DATE:3/4"]),
        ("03/14 in clinic with her son", &["DATE:03/14"]),
        ("3/14 in clinic, BP fine", &["DATE:3/14"]),
        ("11/3 on the ward, stable", &["DATE:11/3"]),
        ("Seen 3/14 pain is better", &["DATE:3/14"]),
        ("Chest pain since 3/14", &["DATE:3/14"]),
        ("Edema, seen 3/14 by cards", &["DATE:3/14"]),
    ]);
    leaves_alone::<Patterns>(&[
        "improved from 3/5 to 4/5 in both legs",
        "Seen with 4/5 in the legs",
        "On exam 11/18 of the points are tender",
        "On exam 11/18 points are tender",
        "Admitted with 2/3 of the lung involved",
        "Started 1/2 of a tablet",
        "fever on 12/14 days",
        "went 3/4 times, felt 1/2 day better",
        "placed a 3/16 in tube",
        "on a 5/16 in pin",
        "cultures 2/4 in 12 hours",
        "4/10 on exertion, 6/10 in the morning",
        "went from 10/30 to 12/30 on the MoCA",
        "DTRs 2/4 in clinic",
        "pain from 8/10 to 3/10 on gabapentin",
        "took 1/2 out of the box",
        "biopsy 4/12 of the cores positive",
        "biopsy 3/14 of 14 cores positive",
        "delivered, 8/9 apgars",
        "injured 3/5 fingers",
        "Discharged with 4/5 on the right",
        "4/5 in clinic",
        "after the fall 3/5 in the leg",
    ]);
}

#[test]
fn a_sentence_goes_on_behind_a_month_and_a_day() {
    finds::<Patterns>(&[
        (
            "Discharged on March 14 in stable condition",
            &["DATE:March 14"],
        ),
        ("Started March 14 on lisinopril", &["DATE:March 14"]),
        ("MRI March 14 of the brain", &["DATE:March 14"]),
        ("Moved Oct 3 out of the unit", &["DATE:Oct 3"]),
        ("Seen Sept 12 on 4 West", &["DATE:Sept 12"]),
        ("Seen June 3 in the ED", &["DATE:June 3"]),
        ("Seen June 3 AM", &["DATE:June 3"]),
        ("On April 9 pain returned", &["DATE:April 9"]),
        ("Admitted Nov 4 day 2", &["DATE:Nov 4"]),
    ]);
    leaves_alone::<Patterns>(&[
        "May 9 in thick",
        "March 3 in. wide",
        "In May 5 patients were enrolled",
        "In June 3 patients fell",
        "in June 3 of them fell",
        "In March 14 of 20 cultures grew",
        "In May 3 falls and 2 deaths were reported",
        "May 3 tablets be given?",
        "May 3 times a day be enough?",
    ]);
}

#[test]
fn fall_is_a_season_where_nobody_fell() {
    finds::<Patterns>(&[
        ("Colonoscopy fall 2019 normal", &["DATE:fall 2019"]),
        ("CABG fall 1998", &["DATE:fall 1998"]),
        ("Hospitalized fall 2019", &["DATE:fall 2019"]),
        ("Fall 2019: admitted for CHF", &["DATE:Fall 2019"]),
        ("COLONOSCOPY FALL 2019", &["DATE:FALL 2019"]),
        ("Moved here fall 2021", &["DATE:fall 2021"]),
        ("s/p fall 1975 she was told", &["DATE:fall 1975"]),
        ("scheduled for fall 2026", &["DATE:fall 2026"]),
        ("had fall 2019 colonoscopy", &["DATE:fall 2019"]),
        ("s/p CABG fall 2019", &["DATE:fall 2019"]),
    ]);
    leaves_alone::<Patterns>(&[
        "mechanical fall 2015, no LOC",
        "Witnessed fall 2010.",
        "had a fall 2015 on the stairs",
        "admitted for fall 2019",
        "CC: fall 2130",
        "fall 2130, found on floor",
        "Fall 1845 from bed",
        "FALL 2019 LAST NIGHT",
        "hip pain after fall 2015",
        "Pt fall 2018 tonight",
        "fall 2019 with head strike",
        "Fall 2015 - witnessed",
        "fall 2019 w/ hip fx",
    ]);
}

#[test]
fn what_is_done_on_a_day() {
    finds::<Patterns>(&[
        ("Hospitalized 3/14 for CHF", &["DATE:3/14"]),
        ("Readmitted 3/14 with sepsis", &["DATE:3/14"]),
        ("diagnosed 3/14 by biopsy", &["DATE:3/14"]),
        ("dx 11/2, chemo begun", &["DATE:11/2"]),
        ("Delivered 3/14 a healthy girl", &["DATE:3/14"]),
        ("injured 3/14 while skiing", &["DATE:3/14"]),
        ("follow up tomorrow 6/10", &["DATE:6/10"]),
        ("follow up 6/10", &["DATE:6/10"]),
        ("call back tomorrow 6/10", &["DATE:6/10"]),
        ("FMLA from 3/10 to 4/10", &["DATE:3/10", "DATE:4/10"]),
        ("on leave from 3/10 to 4/10", &["DATE:3/10", "DATE:4/10"]),
        ("LOA from 9/10 to 10/10", &["DATE:9/10", "DATE:10/10"]),
        ("in SNF from 12/10 to 1/10", &["DATE:12/10", "DATE:1/10"]),
    ]);
    leaves_alone::<Patterns>(&[
        "today 6/10, was 8/10",
        "In rehab nausea went from 3/10 to 7/10",
        "in rehab dizziness was down from 8/10 to 3/10",
        "itching in SNF from 7/10 to 3/10",
        "delivered 3/4 of the dose",
        "injured 1/2 of the nail",
    ]);
}

#[test]
fn scores_of_questionnaires() {
    leaves_alone::<Patterns>(&[
        "PHQ-9 improved from 12/27 to 5/27",
        "GAD-7 went from 12/21 to 4/21",
        "MMSE declined from 12/30 to 9/30",
        "MoCA fell from 12/30",
        "SLUMS down from 12/30",
        "BIMS from 11/15 to 8/15",
        "Epworth from 12/24 to 6/24",
        "ESS from 12/24 to 6/24",
        "Seen for depression, PHQ-9 from 12/27 to 5/27",
    ]);
    finds::<Patterns>(&[
        ("PHQ-9 on 3/14 was 12", &["DATE:3/14"]),
        ("MoCA since 3/30 lower", &["DATE:3/30"]),
        ("PHQ-9 from 3/14 was 12", &["DATE:3/14"]),
        ("ESS due 12/24", &["DATE:12/24"]),
        ("PHQ-9 from 3/27 was 3", &["DATE:3/27"]),
    ]);
}

#[test]
fn doses_of_insulin() {
    leaves_alone::<Patterns>(&[
        "on Novolog 8-8-10 units with meals",
        "Humalog 6/8/10 units AC",
        "Novolog 8-8-10 u",
        "NOVOLOG 8-8-10 UNITS",
        "started Novolog 8-8-10 units",
        "seen today, on lispro 6/8/10 u with meals",
    ]);
    finds::<Patterns>(&[
        ("3/4/12 units of blood given", &["DATE:3/4/12"]),
        ("Started 3/4/12 units adjusted", &["DATE:3/4/12"]),
        ("on 3-4-12 units were adjusted", &["DATE:3-4-12"]),
        ("Admitted 3/4/12 UNIT 4B", &["DATE:3/4/12"]),
        ("3/4/12 U/S normal", &["DATE:3/4/12"]),
    ]);
}

#[test]
fn a_sentence_goes_on_behind_a_day_without_a_month() {
    finds::<Patterns>(&[
        ("Discharged on the 14th in stable condition", &["DATE:14th"]),
        ("Admitted the 4th with CHF", &["DATE:4th"]),
        ("seen on the 3rd by GI", &["DATE:3rd"]),
        ("surgery on the 9th at noon", &["DATE:9th"]),
    ]);
    leaves_alone::<Patterns>(&[
        "seen on the 3rd floor by GI",
        "admitted the 3rd time for CHF",
        "seen on the 9th and 10th ribs",
        "started on the 2nd of three",
        "tender on the 9th with breathing",
    ]);
}

#[test]
fn values_and_visits_are_no_doses() {
    finds::<Patterns>(&[
        ("labs at OSH 3/14/24 mg 1.8, K 4.0", &["DATE:3/14/24"]),
        ("labs this am 3/14/24 mg 1.9", &["DATE:3/14/24"]),
        ("Labs from PCP 10/12/23 mg 1.8", &["DATE:10/12/23"]),
        ("Admitted to ICU 11/12/24 mg repleted", &["DATE:11/12/24"]),
        ("PRBC transfusion 3/14/24 units x2", &["DATE:3/14/24"]),
        ("Botox 3/14/24 units 100", &["DATE:3/14/24"]),
        ("surgery at MGH 3-4-12 drops", &["DATE:3-4-12"]),
        ("Regular visit 3/4/12 units transfused", &["DATE:3/4/12"]),
        ("regular appt 11/12/23 U reg", &["DATE:11/12/23"]),
        (
            "Insulin glargine started on 3/14/24 units titrated weekly",
            &["DATE:3/14/24"],
        ),
        (
            "Insulin regimen changed at visit on 11/12/23 units below",
            &["DATE:11/12/23"],
        ),
        ("Lantus since 3/14/24 units unclear", &["DATE:3/14/24"]),
        ("transfused 3/14/24 units given", &["DATE:3/14/24"]),
    ]);
    leaves_alone::<Patterns>(&[
        "regular insulin 6/8/10 units AC",
        "prednisone 3-4-12 mg",
        "warfarin 5/6/10 mg",
        "novolog since admission 6-8-10 units",
        "regimen 8-8-10 units with meals",
    ]);
}

#[test]
fn who_fell_on_a_day_has_no_score() {
    finds::<Patterns>(&[
        ("BIMS 12, resident fell in hallway 11/15", &["DATE:11/15"]),
        ("MoCA 19, fell in garage 12/30, R hip fx", &["DATE:12/30"]),
        ("MMSE 20, pt fell at home 12/30", &["DATE:12/30"]),
        ("GAD-7 down today, labs drawn here 12/21", &["DATE:12/21"]),
        (
            "PHQ-9 down, seen in clinic with spouse 3/27",
            &["DATE:3/27"],
        ),
        ("MoCA 19 and pt fell 12/30", &["DATE:12/30"]),
    ]);
    leaves_alone::<Patterns>(&[
        "MoCA fell from 12/30",
        "Seen today, BIMS dropped to 11/15",
        "PHQ-9 score is down from 12/27",
        "12/28 on Tinetti",
        "12/24 on Epworth",
    ]);
}

#[test]
fn what_was_done_on_a_day_is_no_part() {
    finds::<Patterns>(&[
        ("fell 3/4 ribs fractured", &["DATE:3/4"]),
        ("Surgery 3/8 toes healing", &["DATE:3/8"]),
        ("PICC placed 3/4 in IR", &["DATE:3/4"]),
        ("Foley removed 3/4 in the ED", &["DATE:3/4"]),
        ("Line pulled 3/4 on the unit", &["DATE:3/4"]),
        ("PEG inserted 3/4 in IR", &["DATE:3/4"]),
        ("Intubated 3/4 in the field", &["DATE:3/4"]),
        ("Extubated 3/4 in the unit", &["DATE:3/4"]),
        ("Diagnosed 3/4 in Boston", &["DATE:3/4"]),
        ("dx 3/4 in Boston", &["DATE:3/4"]),
        ("Vaccinated 3/4 in the pharmacy", &["DATE:3/4"]),
        ("LMP 3/4 on OCPs", &["DATE:3/4"]),
        ("EDD 3/4 in our records", &["DATE:3/4"]),
        ("DOI 3/4 on the job", &["DATE:3/4"]),
        ("Pt was injured 3/4 on the job", &["DATE:3/4"]),
        ("Delivered 3/4 in the car", &["DATE:3/4"]),
        ("Onset 3/4 in the evening", &["DATE:3/4"]),
        ("Hospitalised 3/4 in Leeds", &["DATE:3/4"]),
        ("follow up 3/4 in Boston", &["DATE:3/4"]),
        ("f/u 3/4 in Boston", &["DATE:3/4"]),
        ("Thur 3/4 in Boston", &["DATE:3/4"]),
        ("On 3/4 in the ED", &["DATE:3/4"]),
        ("Follow up with PCP 3/4.", &["DATE:3/4"]),
        ("Follow up with GI 3/4 at noon", &["DATE:3/4"]),
        ("Diagnosed with PNA 3/4 in clinic", &["DATE:3/4"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Hospitalized 2/2 CHF exacerbation",
        "Readmitted with AKI 2/2 volume depletion",
        "diagnosed with anemia 2/2 CKD",
        "Hospitalized with 3/4 SIRS",
        "injured shoulder, 4/5 abduction",
        "delivered at 38 4/7 by CS",
        "delivered at 38 4/7.",
        "follow up in 1/2 year",
        "on 3/4 joints",
    ]);
}

#[test]
fn settings_of_machines_are_no_days() {
    leaves_alone::<Patterns>(&[
        "pressure support on 10/5",
        "CPAP pressure on 10/5 in the ICU",
        "vent ratio on 2/1",
        "BiPAP started 10/5 in ED",
        "Vision improved from 20/10 in right eye",
    ]);
    finds::<Patterns>(&[
        ("BiPAP started on 10/15 in ED", &["DATE:10/15"]),
        ("Off pressure support on 12/27", &["DATE:12/27"]),
        ("Off the vent, seen on 10/5 in clinic", &["DATE:10/5"]),
        ("Admitted 2/2 for CHF", &["DATE:2/2"]),
        ("Seen on 2/2 by GI", &["DATE:2/2"]),
        ("fever since 2/2 with cough", &["DATE:2/2"]),
    ]);
}

#[test]
fn times_of_falls_are_no_seasons() {
    leaves_alone::<Patterns>(&[
        "Hip pain, fall 2015",
        "Notified of fall 1915",
        "Fall 1930 per RN",
        "Fall 1920: tripped on rug",
        "Pt s/p GLF fall 2015",
        "Trip and fall 1930",
        "fall 1915 on unit",
        "Fall 2019 no head strike",
    ]);
    finds::<Patterns>(&[
        ("Back pain, surgery fall 2015", &["DATE:fall 2015"]),
        ("Hip pain, fall 2015, stable", &["DATE:fall 2015"]),
        ("Chronic pain, since fall 2015", &["DATE:fall 2015"]),
        ("Fall 2019: labs normal", &["DATE:Fall 2019"]),
        ("Fall 2019 no polyps on colonoscopy", &["DATE:Fall 2019"]),
        (
            "Hospitalized fall 2019 on the stroke unit",
            &["DATE:fall 2019"],
        ),
    ]);
}
