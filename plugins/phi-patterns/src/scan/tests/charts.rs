//! Values as charts, print-outs and calls have them: what readers who looked for leaks had found.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn dates_as_charts_have_them() {
    finds::<Patterns>(&[
        ("DOB: 03041961", &["DATE:03041961"]),
        ("date of birth: 03041961", &["DATE:03041961"]),
        ("DOB 030461", &["DATE:030461"]),
        ("DOB 03 04 1961", &["DATE:03 04 1961"]),
        ("DOB: 3 / 4 / 1961", &["DATE:3 / 4 / 1961"]),
        ("admitted 2/28-3/4 for sepsis", &["DATE:2/28-3/4"]),
        ("Feb 28-Mar 4, 2024", &["DATE:Feb 28", "DATE:Mar 4, 2024"]),
        ("DTSTART:20240304T140000Z", &["DATE:20240304"]),
        ("at 202403041123-0500", &["DATE:202403041123"]),
        ("MRI 3/2: neg", &["DATE:3/2"]),
        ("f/u 3/11 at 2:30", &["DATE:3/11"]),
        ("labs 3/2: Na 138", &["DATE:3/2"]),
        ("Foley placed 3/1, removed 3/3", &["DATE:3/1", "DATE:3/3"]),
        ("last dose 3/2 0800", &["DATE:3/2"]),
        ("3/1: admitted. 3/2: to OR.", &["DATE:3/1", "DATE:3/2"]),
        ("on march 4 she fell", &["DATE:march 4"]),
        ("appt is march 4", &["DATE:march 4"]),
        ("on may 5 she left", &["DATE:may 5"]),
        ("DOB: March\n4, 1961", &["DATE:March\n4, 1961"]),
        ("seen in March\n1. Take one", &["DATE:March"]),
    ]);
    leaves_alone::<Patterns>(&[
        "echo: 3/6 murmur",
        "D5 1/2 NS started",
        "pulses 2/4",
        "they may 2 to 3 times",
        "DTRs 2/4 in clinic",
        "gave 03041961 units",
    ]);
}

#[test]
fn ages_as_charts_have_them() {
    finds::<Patterns>(&[
        ("91F w CHF", &["AGE_OVER_89:91"]),
        ("93f here with hip fx", &["AGE_OVER_89:93"]),
        ("92yM with afib", &["AGE_OVER_89:92"]),
        ("pt 96 y F", &["AGE_OVER_89:96"]),
        ("94y/oF", &["AGE_OVER_89:94"]),
        ("Age/Sex: 95/F", &["AGE_OVER_89:95"]),
        ("Age: 95y", &["AGE_OVER_89:95"]),
        ("my mother, 92, fell", &["AGE_OVER_89:92"]),
        ("her dad (93)", &["AGE_OVER_89:93"]),
        ("in her nineties", &["AGE_OVER_89:nineties"]),
        ("im 93 and i take metoprolol", &["AGE_OVER_89:93"]),
    ]);
    leaves_alone::<Patterns>(&[
        "temp 98 F with chills",
        "95/min",
        "the nineties",
        "O2 sat 95, stable",
        "glucose 95 mg/dL",
    ]);
}

#[test]
fn codes_behind_what_stands_between() {
    finds::<Patterns>(&[
        ("MRN: `44712239`", &["MRN:44712239"]),
        ("<td>MRN</td><td>44712239</td>", &["MRN:44712239"]),
        ("<b>MRN:</b> 44712239", &["MRN:44712239"]),
        ("MRN (Mercy): 44712239", &["MRN:44712239"]),
        ("the MRN for this pt is 44712239", &["MRN:44712239"]),
        ("{\"mrnNumber\":\"44712239\"}", &["MRN:44712239"]),
        ("Hosp # 44712239", &["MRN:44712239"]),
        (
            "{\"identifier\":[{\"type\":{\"text\":\"MRN\"},\"value\":\"44712239\"}]}",
            &["MRN:44712239"],
        ),
        (
            "{\"subject\":{\"reference\":\"Patient/44712239\"}}",
            &["MRN:44712239"],
        ),
        (
            "IBAN DE89 3704 0044 0532 0130 00",
            &["ACCOUNT_NUMBER:DE89 3704 0044 0532 0130 00"],
        ),
        ("medicare 1EG4 TE5 MK73", &["HEALTH_PLAN_ID:1EG4 TE5 MK73"]),
        ("BCBS XWJ882213441", &["HEALTH_PLAN_ID:XWJ882213441"]),
        ("Ins ID: XWJ8821", &["HEALTH_PLAN_ID:XWJ8821"]),
        ("voice print VP882213", &["BIOMETRIC_ID:VP882213"]),
        ("call (312)4427188", &["PHONE:(312)4427188"]),
        ("call 312-4427188", &["PHONE:312-4427188"]),
        ("phone 4427188", &["PHONE:4427188"]),
        ("{\"phones\":[\"7345550101\"]}", &["PHONE:7345550101"]),
    ]);
    leaves_alone::<Patterns>(&[
        "OBX|1|NM|2345-7^Glucose^LN||188|mg/dL|70-99|H|||F",
        "Glucose | 188 | mg/dL | 70-99 | H",
        "Hgb 13.2 g/dL 120-160",
        "humana announced 2024 results",
    ]);
}

#[test]
fn numbers_as_print_outs_label_them() {
    finds::<Patterns>(&[
        ("MR 00912833", &["MRN:00912833"]),
        ("MR: 00912833", &["MRN:00912833"]),
        ("U #: M000392817", &["MRN:M000392817"]),
        ("Order # 8812733", &["OTHER_ID:8812733"]),
        ("Order: 8812733", &["OTHER_ID:8812733"]),
        ("SPEC #: 1103:C00214R", &["OTHER_ID:1103:C00214R"]),
        ("Case: S25-18823", &["OTHER_ID:S25-18823"]),
        ("Ref: 8812733", &["OTHER_ID:8812733"]),
        ("Reference PA-7719283", &["OTHER_ID:PA-7719283"]),
        ("Auth: A7719283", &["OTHER_ID:A7719283"]),
        ("ICN 2025306000091", &["OTHER_ID:2025306000091"]),
        ("Group: 0099812", &["HEALTH_PLAN_ID:0099812"]),
        ("Grp: RX4412", &["HEALTH_PLAN_ID:RX4412"]),
        ("Check # 00882211", &["ACCOUNT_NUMBER:00882211"]),
        ("ID# 884410023", &["OTHER_ID:884410023"]),
        ("emp # 99213", &["OTHER_ID:99213"]),
        ("EIN: 12-3456789", &["OTHER_ID:12-3456789"]),
        ("microchip 985112009933412", &["DEVICE_ID:985112009933412"]),
        ("plate KLM-482 was seen", &["VEHICLE_ID:KLM-482"]),
        ("Instagram @nkem.obiora", &["OTHER_ID:nkem.obiora"]),
        ("visa ending 4471", &["CREDIT_CARD:4471"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Mr. 3 of 4",
        "MR 2024 guidelines",
        "in order 1000 units were given",
        "Order: 1000 mL NS",
        "Order: 250 mg",
        "use case: 1000 requests",
        "group of 1200 patients",
        "group: 1200 patients",
        "case 2024",
        "ref: 70-99",
        "Reference: 3.5-5.1",
        "visit 3: 120 mg",
        "visit in 2024",
        "process group 1000",
        "auth: Bearer",
        "acc 1.2",
        "tin 400 g",
        "plate LCP 3.5 mm",
        "check 4000 steps",
        "din 18 dB",
        "The Open Group\n 1986-2002",
        "Ref # 2158",
        "Reference: RFC 3986, RFC 1808",
        "325606250916557431 (order 8)",
        "(0010,0020) PatientID, (0008,0050) AccessionNumber",
    ]);
}

#[test]
fn telephone_numbers_as_they_are_typed() {
    finds::<Patterns>(&[
        ("cell: 612/555-0108", &["PHONE:612/555-0108"]),
        ("404-5550182", &["PHONE:404-5550182"]),
        ("404 - 555 - 0182", &["PHONE:404 - 555 - 0182"]),
        ("404-555-0182/0183", &["PHONE:404-555-0182/0183"]),
    ]);
    leaves_alone::<Patterns>(&[
        "part 404-5550182",
        "100-2000000 cells",
        "120 - 140 - 1600",
        "range 404 - 5550182",
        "10 - 20 mg",
        "612/555",
    ]);
}

#[test]
fn ages_as_they_are_said_of_somebody() {
    finds::<Patterns>(&[
        ("bed 3 94F UTI", &["AGE_OVER_89:94"]),
        ("Ms. Lee (94) was seen", &["AGE_OVER_89:94"]),
        ("Vandenberghe, 97, of Dyersville", &["AGE_OVER_89:97"]),
        ("died at 91 in Skokie", &["AGE_OVER_89:91"]),
        ("father deceased at 93 of stroke", &["AGE_OVER_89:93"]),
        ("father d. 93", &["AGE_OVER_89:93"]),
        ("mother alive 91", &["AGE_OVER_89:91"]),
        ("mom is 93", &["AGE_OVER_89:93"]),
        ("pt is 95 yrs", &["AGE_OVER_89:95"]),
        ("95 yrs, frail", &["AGE_OVER_89:95"]),
        ("F/93 with CHF", &["AGE_OVER_89:93"]),
        ("(0010,1010) AS [094Y]", &["AGE_OVER_89:094"]),
        ("her 100th birthday", &["AGE_OVER_89:100"]),
        ("i'll be ninety four", &["AGE_OVER_89:ninety four"]),
        ("he will be 95 this May", &["AGE_OVER_89:95"]),
    ]);
    leaves_alone::<Patterns>(&[
        "temp 94F Tachy",
        "in chapters 1, 97, of it",
        "Smith (94) showed",
        "95 yrs ago",
        "for 95 yrs",
        "over 95 yrs of data",
        "$94M Series B",
        "bp will be 95",
        "mean HbA1c/93",
        "died at 95 %",
        "alive 95 percent",
    ]);
}

#[test]
fn dates_without_a_year_as_charts_have_them() {
    finds::<Patterns>(&[
        ("11/3 0900 pt in bed", &["DATE:11/3"]),
        ("Cr 1.2 (11/2)", &["DATE:11/2"]),
        ("11/3 pt fell", &["DATE:11/3"]),
        ("[11/3] call back", &["DATE:11/3"]),
        ("11/3 - pt fell", &["DATE:11/3"]),
        ("week of 11/3", &["DATE:11/3"]),
        ("as of 11/3", &["DATE:11/3"]),
        ("flu shot 10/24", &["DATE:10/24"]),
        ("yesterday (11/2)", &["DATE:11/2"]),
        ("PICC 11/2", &["DATE:11/2"]),
        ("GBS pos 2/15", &["DATE:2/15"]),
        ("rejected 2/14", &["DATE:2/14"]),
        ("chaplain visited 3/1, sang", &["DATE:3/1"]),
        ("consent signed 1.22.24", &["DATE:1.22.24"]),
        ("Oct 14, 15 and 16", &["DATE:Oct 14, 15 and 16"]),
        ("Oct 14 and 16", &["DATE:Oct 14 and 16"]),
        ("14OCT25", &["DATE:14OCT25"]),
        ("14 Oct 25", &["DATE:14 Oct 25"]),
        ("10/14-17/2025", &["DATE:10/14-17/2025"]),
        ("Tuesday the 4th", &["DATE:Tuesday the 4th"]),
        ("seen on the 14th.", &["DATE:14th"]),
    ]);
    leaves_alone::<Patterns>(&[
        "(1/2) tab",
        "blood cultures pos 2/4 bottles, neg 3/4 sets",
        "approved 3/4 visits",
        "pain (7/10)",
        "strength (5/5)",
        "(3/4)",
        "3/4 cup of sugar",
        "on the 4th toe",
        "on the 5th rib.",
        "Version 10.4.2026",
        "release v10.4.2026",
        "4/3 ratio",
        "10/2 0.5 mg",
    ]);
}

#[test]
fn numbers_that_are_said() {
    finds::<Patterns>(&[
        (
            "date of birth four twelve sixty eight, and",
            &["DATE:four twelve sixty eight"],
        ),
        (
            "dob is ten fourteen nineteen seventy two",
            &["DATE:ten fourteen nineteen seventy two"],
        ),
        (
            "phone five zero three, five five five, zero one eight eight",
            &["PHONE:five zero three, five five five, zero one eight eight"],
        ),
        (
            "call back number is four oh four double five one two three",
            &["PHONE:four oh four double five one two three"],
        ),
        (
            "social security number two one two five five six six six six",
            &["SSN:two one two five five six six six six"],
        ),
        (
            "medical record number four four one seven eight",
            &["MRN:four four one seven eight"],
        ),
        (
            "member id x j b one two three four five",
            &["HEALTH_PLAN_ID:x j b one two three four five"],
        ),
        (
            "zip code nine zero two one zero",
            &["OTHER_ID:nine zero two one zero"],
        ),
        (
            "birthday is march second nineteen sixty two",
            &["DATE:march second nineteen sixty two"],
        ),
        ("cell 2125550142", &["PHONE:2125550142"]),
        ("DOB 03/14/1962", &["DATE:03/14/1962"]),
    ]);
    leaves_alone::<Patterns>(&[
        "a number of two or three",
        "cell count was one two",
        "my social life is one of the best",
        "phone one of them",
        "birthday in two or three weeks",
        "the number one two punch",
        "dob one two",
        "10000 is the cell count",
        "48291 is the number",
        "sell by number six to eight",
    ]);
}

#[test]
fn ages_behind_names_and_alone_in_their_line() {
    finds::<Patterns>(&[
        ("Pt Velma Crutchfield 93 F fell", &["AGE_OVER_89:93"]),
        ("Bed 4: Casimir Lech / 98 / hip fx", &["AGE_OVER_89:98"]),
        ("Ona Haldane 91 female, hip pain", &["AGE_OVER_89:91"]),
        ("93M", &["AGE_OVER_89:93"]),
        ("94 female", &["AGE_OVER_89:94"]),
    ]);
    leaves_alone::<Patterns>(&[
        "Oral Temp 98 F in ED",
        "New York 95 F in July",
        "Blood Pressure / 98 / high",
        "Sodium Chloride / 100 / mL",
        "99 F",
        "95 male patients were enrolled",
    ]);
}

#[test]
fn numbers_in_groups_as_they_were_heard() {
    finds::<Patterns>(&[
        (
            "Member no. 9 2281 0047 1.",
            &["HEALTH_PLAN_ID:9 2281 0047 1"],
        ),
        ("Member ID 123 456 78 9", &["HEALTH_PLAN_ID:123 456 78 9"]),
        ("acct 4471 882 019. Card", &["ACCOUNT_NUMBER:4471 882 019"]),
        ("Claim 4471 22 118 3", &["OTHER_ID:4471 22 118 3"]),
        ("MRN 447 188 2, room 4", &["MRN:447 188 2"]),
        ("MRN 4471 882", &["MRN:4471 882"]),
        ("acct 12 345 6 open", &["ACCOUNT_NUMBER:12 345 6"]),
        ("MRN 448210 12 units", &["MRN:448210"]),
        ("MRN 4471 2024", &["MRN:4471"]),
    ]);
    leaves_alone::<Patterns>(&[
        "invoice 2023 2024 2025 totals",
        "visit 1 2 3",
        "accession 1 2 3 4 5 6 7",
        "member 12 34",
        "order 2 500 ml bags",
    ]);
}

#[test]
fn numbers_of_people_who_are_to_be_called() {
    finds::<Patterns>(&[
        ("wife Mirjana 482-0131", &["PHONE:482-0131"]),
        ("daughter (482-0131)", &["PHONE:482-0131"]),
        ("| Hone 555-0160 |", &["PHONE:555-0160"]),
        (
            "F: 3034820143 T: 3034820144",
            &["FAX:3034820143", "PHONE:3034820144"],
        ),
        (r#"{"cb":"9294820170"}"#, &["PHONE:9294820170"]),
        ("Dr. Suresh x54471", &["PHONE:x54471"]),
        ("page p4471", &["PHONE:p4471"]),
        ("pgr 4471", &["PHONE:4471"]),
        ("her # 786 5550 138", &["PHONE:786 5550 138"]),
        ("M: 07700 900381", &["PHONE:07700 900381"]),
        ("W: 020 7946 0018", &["PHONE:020 7946 0018"]),
        ("(02) 9876 5432", &["PHONE:(02) 9876 5432"]),
    ]);
    leaves_alone::<Patterns>(&[
        "reps x1000, dilute x2000",
        "10 x4000 mL",
        "run x4471 builds",
        "part 555-0131",
        "pages 555-0560",
        "lot 07700 900381",
        "from 482-0131",
        "the wife of 4820131 men",
        "0x4471",
    ]);
}
