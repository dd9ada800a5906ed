//! Dates that only the words around tell: months alone, months with days, holidays; and dates in words and in code.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn months_alone_where_something_was_done_to_somebody() {
    finds::<Patterns>(&[
        ("admitted in March for sepsis", &["DATE:March"]),
        ("Last seen in May.", &["DATE:May"]),
        ("flu shot Oct, Tdap done", &["DATE:Oct"]),
        ("Nov mammogram was normal", &["DATE:Nov"]),
        ("her May visit", &["DATE:May"]),
        ("surgery last August", &["DATE:August"]),
        (
            "she has had headaches since early november",
            &["DATE:november"],
        ),
        (
            "he was in rehab between June and August",
            &["DATE:June", "DATE:August"],
        ),
        ("PT SAW DR LEE LAST OCTOBER FOR HTN", &["DATE:OCTOBER"]),
        ("turned 50 in May; doing well", &["DATE:May"]),
        ("seen on Thanksgiving", &["DATE:Thanksgiving"]),
        ("she has been weak since Christmas", &["DATE:Christmas"]),
        ("died New Year's Eve 2024", &["DATE:New Year's Eve 2024"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Flu season starts in October and peaks in February.",
        "Should people get a flu shot in September?",
        "the vaccine was approved by the FDA in March",
        "nausea may go on; they march in step",
        "released in March and deployed in April",
        "in March madness, ER visits rise",
        "pain in May-Thurner syndrome",
        "seen in June Miller's chart",
        "labs may help, CT may show it, visit may end",
        "Her appt is with June. April called.",
        "Before Christmas, ER visits usually rise.",
        "on christmas trees, and Easter eggs",
        "the study saw patients between June and August",
    ]);
}

#[test]
fn months_and_days_that_no_fraction_is() {
    finds::<Patterns>(&[
        ("Feb 10: TSH 4.9", &["DATE:Feb 10"]),
        ("Admitted Mar 3: CHF", &["DATE:Mar 3"]),
        ("Family meeting 02/09 with son", &["DATE:02/09"]),
        ("3/1 7:55am", &["DATE:3/1"]),
        ("msg 2/28 at 10:41pm", &["DATE:2/28"]),
        ("3/1 d/c home", &["DATE:3/1"]),
        ("Return to school 10/14.", &["DATE:10/14"]),
        ("no-showed 2/14", &["DATE:2/14"]),
        ("OR 3/1", &["DATE:3/1"]),
        (
            "Between 12/20 and 1/4 she fell",
            &["DATE:12/20", "DATE:1/4"],
        ),
        ("DOS 010526", &["DATE:010526"]),
        ("due Mar l5", &["DATE:Mar l5"]),
        ("admitted the 3rd, better now", &["DATE:3rd"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Mar 3:30pm",
        "strength 05/05",
        "page 02/09",
        "[03/10] Compiling",
        "step 01/12: done",
        "1/2 OR 3/4 cup",
        "between 1/2 and 3/4 of it",
        "works 3/4 time, 1/2 days at school",
        "take 1/2 tab at 8:00am",
        "ratio 3/4 10:1",
        "DOS 622000, DOS attack 123456",
        "may I5 or mar l55",
        "seen on the 3rd floor, admitted the 3rd time",
    ]);
}

#[test]
fn spans_of_days_and_dates_in_words_and_code() {
    finds::<Patterns>(&[
        ("5-9 Oct 2025", &["DATE:5-9 Oct 2025"]),
        ("from 5 to 9 October", &["DATE:5 to 9 October"]),
        (
            "October 5th through the 9th",
            &["DATE:October 5th through the 9th"],
        ),
        ("third of march 1987", &["DATE:third of march 1987"]),
        (
            "fourth of July nineteen fifty two",
            &["DATE:fourth of July nineteen fifty two"],
        ),
        (
            "oh two slash fourteen slash twenty twenty six period",
            &["DATE:oh two slash fourteen slash twenty twenty six"],
        ),
        ("dob=date(1981, 4, 9), x", &["DATE:1981, 4, 9"]),
        (
            "admitted_at = datetime(2025, 3, 14, 8)",
            &["DATE:2025, 3, 14"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "a slash b slash c",
        "two slash four of them",
        "start = date(2024, 1, 1)",
        "update(1981, 4, 9) of the dob",
    ]);
}

#[test]
fn days_behind_usual_words_in_series_and_behind_values() {
    finds::<Patterns>(&[
        ("Recheck INR 3/19", &["DATE:3/19"]),
        ("Called Mr. Iwu 3/12 re: INR", &["DATE:3/12"]),
        ("Rec'd 4/19, rep'd 4/22.", &["DATE:4/19", "DATE:4/22"]),
        ("stitches out 4/10", &["DATE:4/10"]),
        ("tmrw 4/17", &["DATE:4/17"]),
        ("K 4.1 (3/12)", &["DATE:3/12"]),
        (
            "Doses 7/8, 7/15, 7/22",
            &["DATE:7/8", "DATE:7/15", "DATE:7/22"],
        ),
        ("INR 4/3 2.1, 4/10 3.4", &["DATE:4/3", "DATE:4/10"]),
        ("Last BM 4/3 pm", &["DATE:4/3"]),
        ("0830 2/27", &["DATE:2/27"]),
        ("| Rm | Adm |\n|---|---|\n| 331 | 2/3 |", &["DATE:2/3"]),
        ("DOS 6-20-24-6-22-24", &["DATE:6-20-24-6-22-24"]),
        ("6/20-6/22/24", &["DATE:6/20-6/22/24"]),
        ("6/20-22 hospitalized", &["DATE:6/20-22"]),
        ("triage 07.11.23 09:40", &["DATE:07.11.23"]),
        ("Next Tues 15th", &["DATE:Tues 15th"]),
        ("Clinic Thu the 6th", &["DATE:Thu the 6th"]),
        ("DOB 2141965", &["DATE:2141965"]),
        ("DOB 65-02-14", &["DATE:65-02-14"]),
        ("Last drink New Year's Eve.", &["DATE:New Year's Eve"]),
    ]);
    leaves_alone::<Patterns>(&[
        "strength 4/5, 5/5, 4/5 in legs",
        "reviewed 4/5 items; starts 1/2 tab daily",
        "pain 3/10 (3/10), 5/10",
        "apgars 7/8, 8/9",
        "mix 1/2, 1/4, 1/8 cups",
        "Sens (3/4), spec (4/5)",
        "tests passed (7/10)",
        "K 4.1 (1/2)",
        "Visits 1/4, 2/4, 3/4 done",
        "accuracy 0.75 (3/4)",
        "plain 6/20-22",
        "on Tues 15th street",
        "version 65-02-14",
        "Palm Sunday is the Sunday before Easter",
        "| Rm | Pain |\n|---|---|\n| 331 | 2/3 |",
    ]);
}

#[test]
fn lines_that_begin_with_a_day() {
    finds::<Patterns>(&[
        ("3/12 CXR: RLL infiltrate", &["DATE:3/12"]),
        ("3/5 CT chest: PE", &["DATE:3/5"]),
        ("3/14 - labs drawn", &["DATE:3/14"]),
        (
            "Course:\n3/14 started on heparin\n3/16 bled\n4/2 MRI brain neg",
            &["DATE:3/14", "DATE:3/16", "DATE:4/2"],
        ),
        ("2/19 transferred to the floor", &["DATE:2/19"]),
    ]);
    leaves_alone::<Patterns>(&[
        "1/2 cup of oats",
        "1/2 by mouth daily",
        "2/2 cultures grew staph",
        "3/4 labs were hemolyzed",
        "7/10 at rest",
        "3/16 inch tubing",
        "5/18 points were tender",
        "20/30 vision in the left eye",
        "4/5 strength in the right arm",
        "9/15 correct on recall",
        "Give 3/14",
    ]);
}

#[test]
fn spans_of_months_and_of_days_with_ordinals() {
    finds::<Patterns>(&[
        ("chemo 06/2023-09/2023 done", &["DATE:06/2023-09/2023"]),
        ("smoked 3/2010-5/2015.", &["DATE:3/2010-5/2015"]),
        ("away March 3rd-5th", &["DATE:March 3rd-5th"]),
        ("in house Oct 12-15th, 2024", &["DATE:Oct 12-15th, 2024"]),
        ("June 1st-3rd", &["DATE:June 1st-3rd"]),
    ]);
    leaves_alone::<Patterns>(&["section 06/2023-09/20231", "ratio 13/2023-14/2023"]);
}

#[test]
fn a_season_is_a_date_with_its_year() {
    finds::<Patterns>(&[
        ("diagnosed in the fall of 2007", &["DATE:fall of 2007"]),
        ("Last seen Spring 2023.", &["DATE:Spring 2023"]),
        ("surgery summer '19", &["DATE:summer '19"]),
        ("since Winter, 2021", &["DATE:Winter, 2021"]),
        ("in autumn 2018 she moved", &["DATE:autumn 2018"]),
        ("seen last fall 2019", &["DATE:fall 2019"]),
        ("worse since Fall 2023", &["DATE:Fall 2023"]),
        ("dx fall, 2019", &["DATE:fall, 2019"]),
        ("MI (Fall 2019)", &["DATE:Fall 2019"]),
        ("diagnosed fall 2019", &["DATE:fall 2019"]),
    ]);
    leaves_alone::<Patterns>(&[
        "a fall in the spring",
        "fall risk 2023 protocol",
        "Spring 2023.0.1 and Spring Boot",
        "a fall 2000 feet down",
        "spring 2000 units",
        "offspring 2019",
        "the fall.\n2019 was better",
        "unwitnessed fall 1930 last night",
        "hip fx s/p fall 2019",
        "Fall 2015 in bathroom",
        "UNWITNESSED FALL 2015 IN BATHROOM",
        "HPI: Fall 2015 in bathroom",
    ]);
}

#[test]
fn doses_and_scores_are_no_dates() {
    leaves_alone::<Patterns>(&[
        "Humalog 8-8-10 units with meals",
        "Lispro 10-12-14 units TID",
        "5/10/20 mg tablets",
        "in doses 10/20/40",
        "Headache improved from 8/10 to 3/10",
        "nausea down from 7/10 to 2/10 now",
        "itching last 6/10",
        "mood from 4/10 to 7/10",
        "weakness went from 3/5 to 4/5",
    ]);
    finds::<Patterns>(&[
        ("here from 3/10 to 3/14", &["DATE:3/10", "DATE:3/14"]),
        ("labs from 3/10", &["DATE:3/10"]),
        ("admitted 3/10", &["DATE:3/10"]),
        ("off work since 2/10", &["DATE:2/10"]),
        ("pacer changed on 4/10", &["DATE:4/10"]),
        ("seen 8/8/10 in clinic", &["DATE:8/8/10"]),
        ("born 10/20/40", &["DATE:10/20/40"]),
    ]);
}

#[test]
fn days_beside_words_of_doses_and_scores() {
    finds::<Patterns>(&[
        ("DOB 03/04/62 CC: chest pain", &["DATE:03/04/62"]),
        ("3/4/12 U/S normal", &["DATE:3/4/12"]),
        ("3/4/12 G-tube placed", &["DATE:3/4/12"]),
        ("Admitted 3/4/12 Unit 4B", &["DATE:3/4/12"]),
        ("3/4/12 CAP, on abx", &["DATE:3/4/12"]),
        ("2nd dose 2/14/21", &["DATE:2/14/21"]),
        ("last dose 3/4/12", &["DATE:3/4/12"]),
        (
            "COVID doses 1/5/21, 2/2/21",
            &["DATE:1/5/21", "DATE:2/2/21"],
        ),
        ("3/4/12 tablets were stopped", &["DATE:3/4/12"]),
        ("03-04-12 units of blood given", &["DATE:03-04-12"]),
        ("transfused 3-4-12 units x2", &["DATE:3-4-12"]),
        ("Born 5/10/20 mg", &["DATE:5/10/20"]),
        ("3/4/12 ML", &["DATE:3/4/12"]),
        ("on leave from 3/1 to 4/1", &["DATE:3/1", "DATE:4/1"]),
        ("from 6/15 to 7/15", &["DATE:6/15", "DATE:7/15"]),
        ("LOA from 5/5 to 6/5", &["DATE:5/5", "DATE:6/5"]),
        ("off from 9/10 to 11/10", &["DATE:9/10", "DATE:11/10"]),
        ("off from 9/10 through 10/10", &["DATE:9/10", "DATE:10/10"]),
        ("due 11/10", &["DATE:11/10"]),
        ("by 12/10", &["DATE:12/10"]),
        ("due 9/10", &["DATE:9/10"]),
        ("rent is due by 9/10", &["DATE:9/10"]),
        ("the next 8/10", &["DATE:8/10"]),
        ("COVID neg 8/10", &["DATE:8/10"]),
        ("12/10 teeth cleaned", &["DATE:12/10"]),
        ("on 3/14 joints still swollen", &["DATE:3/14"]),
        ("on 11/20 teeth cleaned", &["DATE:11/20"]),
        ("on March 14 teeth 3 and 4 extracted", &["DATE:March 14"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Novolog 8-8-10 units, 2 puffs",
        "NPH 10-5-12 tabs",
        "warfarin 5-5-10 mg alternating",
        "strengths of 5/10/20",
        "from 10/10 to 2/10",
        "from 3/4 joints to none",
        "on 1/2 teeth",
    ]);
}

#[test]
fn the_dot_of_a_title_ends_no_sentence_that_tells_a_month() {
    finds::<Patterns>(&[("Discharged by Dr. Lee in March", &["DATE:March"])]);
}
