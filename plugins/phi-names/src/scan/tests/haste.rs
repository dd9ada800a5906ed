//! Names and places as they are written in haste: by what stands around them, in capitals, in small letters, in lists,
//! mails and names of files.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn names_of_many_languages() {
    finds::<Names>(&[
        ("Please call Bukola Afolabi today", &["NAME:Bukola Afolabi"]),
        ("Please call Jaswinder Gill today", &["NAME:Jaswinder Gill"]),
        ("Please call Min-jun Park today", &["NAME:Min-jun Park"]),
        ("Please call Li Xiaoming today", &["NAME:Li Xiaoming"]),
        ("Please call Noor Al-Sabah today", &["NAME:Noor Al-Sabah"]),
        ("signed by Park, Ji-woo", &["NAME:Park, Ji-woo"]),
    ]);
    leaves_alone::<Names>(&["in Central Park", "a walk in the park", "Al-Anon meetings"]);
}

#[test]
fn two_words_behind_somebody() {
    finds::<Names>(&[
        ("Patient Xuereb Quuxley.", &["NAME:Xuereb Quuxley"]),
        (
            "The patient, Xuereb Quuxley, has HTN",
            &["NAME:Xuereb Quuxley"],
        ),
        ("Patient Xuereb Quuxley, SSN", &["NAME:Xuereb Quuxley"]),
        ("Attorney Saul Bergstein requests", &["NAME:Saul Bergstein"]),
        (
            "I, Temperance Brennan, hereby",
            &["NAME:Temperance Brennan"],
        ),
        ("Patient Hope Summers seen", &["NAME:Hope Summers"]),
        ("Patient Mark Young seen", &["NAME:Mark Young"]),
        ("Dr. Hand consulted", &["NAME:Hand"]),
        ("Spoke to April about it", &["NAME:April"]),
        ("Grace visited today", &["NAME:Grace"]),
        ("Her husband Bill attended.", &["NAME:Bill"]),
    ]);
    leaves_alone::<Names>(&[
        "Patient Care Coordinator Training",
        "Patient Portal Access.",
        "provider: OpenAI",
        "Patient Keytruda Opdivo infusion",
        "see the Dr. Right away",
        "Pt Zosyn Vanco 1 g",
        "Dr. Hand Surgery Clinic",
        "client OpenSSL Kubernetes connects",
        "Bill of rights, grace period",
        "in April we saw",
        "I, too, hope",
    ]);
}

#[test]
fn names_in_capitals() {
    finds::<Names>(&[
        (
            "DICTATED BY: ANIKA QUUXLEYAN, MD",
            &["NAME:ANIKA QUUXLEYAN"],
        ),
        (
            "PATIENT RAVINDRA QUUXLEYAN SEEN",
            &["NAME:RAVINDRA QUUXLEYAN"],
        ),
        ("PT OKONKWO ARRIVED BY EMS", &["NAME:OKONKWO"]),
        ("READ BACK BY T. MCALLISTER RN", &["NAME:T. MCALLISTER"]),
        ("SCRIBE: TAYLOR B", &["NAME:TAYLOR B"]),
        ("HE LIVES IN DEARBORN", &["LOCATION:DEARBORN"]),
        (
            "CAME FROM 88 ELM ST QUINCY MA",
            &["ADDRESS:88 ELM ST", "LOCATION:QUINCY"],
        ),
        ("SEEN AT MERCY HOSPITAL", &["ORGANIZATION:MERCY HOSPITAL"]),
    ]);
    leaves_alone::<Names>(&[
        "PATIENT INTUBATED AND SEDATED",
        "PT TACHYCARDIC HYPOTENSIVE",
        "PATIENT NORMOCEPHALIC ATRAUMATIC",
        "SEEN AT GENERAL HOSPITAL",
        "AT OUTSIDE HOSPITAL",
    ]);
}

#[test]
fn names_in_small_letters() {
    finds::<Names>(&[
        ("pt gonzalez refused meds", &["NAME:gonzalez"]),
        ("mr tunde quuxley here", &["NAME:tunde quuxley"]),
        ("this is doctor bill hathaway", &["NAME:bill hathaway"]),
        ("my husband trey is sick", &["NAME:trey"]),
        ("anand's mom called", &["NAME:anand"]),
        (
            "at apt 3 portland oregon 97214",
            &["LOCATION:portland", "LOCATION:97214"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "pt tachycardic overnight",
        "pt refused meds",
        "my husband will come",
        "the doctor bill was high",
        "today's mom group",
    ]);
}

#[test]
fn names_in_lists_of_wards() {
    finds::<Names>(&[
        ("1. Lopez - CHF", &["NAME:Lopez"]),
        ("1. Whitfield, bed 3", &["NAME:Whitfield"]),
        ("x\n- Grace Oduya: pending MRI", &["NAME:Grace Oduya"]),
        ("401 Bello 66M CHF", &["NAME:Bello"]),
        ("Bed 12 SANTIAGO 45F s/p chole", &["NAME:SANTIAGO"]),
        ("Hernandez tolerated PT today", &["NAME:Hernandez"]),
        ("5E02 Quuxley 33F", &["NAME:Quuxley"]),
        ("Bed 12: Santiago", &["NAME:Santiago"]),
        ("Scrub: Abebe", &["NAME:Abebe"]),
        ("ID: Chaudhry following", &["NAME:Chaudhry"]),
        ("Ref Prov: Steinmetz, Uri", &["NAME:Steinmetz, Uri"]),
    ]);
    leaves_alone::<Names>(&[
        "1. Lisinopril - 10 mg",
        "2. Warfarin, 5 mg",
        "x\n- Grace Period: 30 days",
        "Bed 12: Empty",
        "Bed 4: Levophed gtt",
        "GI: Omeprazole daily",
        "Bed 12 CHF 45F",
        "Pain tolerated, refused meds",
        "Cards: Metoprolol",
    ]);
}

#[test]
fn nicknames_and_initials() {
    finds::<Names>(&[
        (
            "Patient: Maria \"Mia\" Lopez",
            &["NAME:Maria \"Mia\" Lopez"],
        ),
        ("Robert (Bob) Castellano", &["NAME:Robert (Bob) Castellano"]),
        ("R. Subramaniam seen", &["NAME:R. Subramaniam"]),
        ("Wm. Tuttle seen", &["NAME:Wm. Tuttle"]),
        ("| Fitzwilliam, D. |", &["NAME:Fitzwilliam, D"]),
        ("Initials: M.J.K.", &["NAME:M.J.K"]),
        ("Nickname: Skip", &["NAME:Skip"]),
        ("prefers to be called Skip", &["NAME:Skip"]),
    ]);
    leaves_alone::<Names>(&[
        "caused by K. Pneumoniae",
        "S. Aureus seen",
        "goes by bus",
        "to be called in",
        "| Vitamin, D |",
    ]);
}

#[test]
fn families_and_mails() {
    finds::<Names>(&[
        (
            "kids Mike, Steph, and Jojo",
            &["NAME:Mike, Steph", "NAME:Jojo"],
        ),
        (
            "two kids, Rowan (6) and Juniper (3)",
            &["NAME:Rowan", "NAME:Juniper"],
        ),
        ("dad (Suresh) has epilepsy", &["NAME:Suresh"]),
        ("mo Keona at bedside", &["NAME:Keona"]),
        ("Cc: Mbali", &["NAME:Mbali"]),
        ("CC: A. Quuxley", &["NAME:A. Quuxley"]),
        ("Subject: RE: Zielinski", &["NAME:Zielinski"]),
        ("@Brandon can you see bed 3", &["NAME:Brandon"]),
        ("Thanks!\nJess", &["NAME:Jess"]),
        ("Can it be ready? - Jess W.", &["NAME:Jess W"]),
        ("thx - Jess W.", &["NAME:Jess W"]),
    ]);
    leaves_alone::<Names>(&[
        "kids Tylenol, Motrin",
        "6 mo Augmentin",
        "dad (deceased)",
        "CC: Dyspnea",
        "Re: Parkinson",
        "@Override fn",
        "@jackson.com",
        "Thanks!\nPlease call the ward",
        "Thanks - Metoprolol was given",
    ]);
}

#[test]
fn streets_and_places() {
    finds::<Names>(&[
        (
            "350 E 82nd St, New York NY 10028",
            &[
                "ADDRESS:350 E 82nd St",
                "LOCATION:New York",
                "LOCATION:10028",
            ],
        ),
        ("Address: 350 E 82nd", &["ADDRESS:350 E 82nd"]),
        ("lives on Willow Creek Lane", &["ADDRESS:Willow Creek Lane"]),
        ("lives at 4th and Main", &["ADDRESS:4th and Main"]),
        (
            "4417 Old Mill Rd, Shelbyville 40065",
            &[
                "ADDRESS:4417 Old Mill Rd",
                "LOCATION:Shelbyville",
                "LOCATION:40065",
            ],
        ),
        (
            "4410 S. Avenida Compadres",
            &["ADDRESS:4410 S. Avenida Compadres"],
        ),
        ("14 Pasadena Close", &["ADDRESS:14 Pasadena Close"]),
        ("Yate BS37 5QQ", &["LOCATION:Yate", "LOCATION:BS37 5QQ"]),
        (
            "Moncton NB E1C 4Z7",
            &["LOCATION:Moncton", "LOCATION:E1C 4Z7"],
        ),
        ("N7584 County Road Q", &["ADDRESS:N7584 County Road Q"]),
    ]);
    leaves_alone::<Names>(&[
        "on Wall Street",
        "saved on Google Drive",
        "2 Via Oral",
        "at Home and Garden",
        "2 Days Close follow up",
        "6 Minute Walk Test",
        "vitamin B12 5MG",
        "Los Angeles grade B",
        "drives a white Tacoma",
        "lives in New York",
        "let addr = \"127.0.0.1:8080\"",
    ]);
}

#[test]
fn facilities_without_a_word_for_one() {
    finds::<Names>(&[
        ("seen at Mass General", &["ORGANIZATION:Mass General"]),
        ("went to Johns Hopkins", &["ORGANIZATION:Johns Hopkins"]),
        ("at Good Samaritan", &["ORGANIZATION:Good Samaritan"]),
        ("5th grader at PS 118", &["ORGANIZATION:PS 118"]),
    ]);
    leaves_alone::<Names>(&[
        "Good Samaritan law",
        "vent at PS 10",
        "the Attorney General",
        "BP at High",
    ]);
}

#[test]
fn names_of_files() {
    finds::<Names>(&[
        ("see lopez_maria_ct.pdf", &["NAME:lopez_maria"]),
        ("MariaLopez.pdf", &["NAME:MariaLopez"]),
        ("maria-lopez.pdf", &["NAME:maria-lopez"]),
        ("C:\\scans\\Maria Lopez\\x.docx", &["NAME:Maria Lopez"]),
    ]);
    leaves_alone::<Names>(&[
        "chest_xray.pdf",
        "blue_cross.pdf",
        "src/maria_lopez.rs",
        "release_notes.txt",
    ]);
}

#[test]
fn things_that_bear_a_name() {
    leaves_alone::<Names>(&[
        "LAD 90% prox, DES to LAD, TIMI 3",
        "Swan-Ganz PA 32/18",
        "Hawkins-Kennedy positive",
        "Fitzpatrick II skin",
        "Ivor Lewis esophagectomy",
        "Eli Lilly tirzepatide",
        "Marcus Gunn pupil, Miller Fisher",
        "Boerhaave, Mallory-Weiss, Meckel",
        "Lynch, Gilbert, Dubin-Johnson",
        "Hampton hump, Reynolds pentad",
        "According to Smith et al. and Jones (JAMA 2021)",
        "Pt was frank with us",
        "name: CI\non: push",
        "metadata:\n  name: ehr-gateway",
        "BERT, RoBERTa and Jenkins",
        "Dijkstra's algorithm, Huffman coding",
    ]);
    finds::<Names>(&[
        ("Robert Clark III called", &["NAME:Robert Clark III"]),
        ("Dr. Jenkins called", &["NAME:Jenkins"]),
    ]);
}

#[test]
fn columns_of_names() {
    finds::<Names>(&[
        ("provider,dx\nZimmer,CLL", &["NAME:Zimmer"]),
        ("physician,dx\nQuuxley,CLL", &["NAME:Quuxley"]),
        (
            "| Pt | Dx |\n|---|---|\n| Castillo, R | CHF |",
            &["NAME:Castillo, R"],
        ),
        ("where patient_name LIKE '%Quuxley%'", &["NAME:Quuxley"]),
        (
            "OBR|1|||G|||||||||||5-5^PRIMARY^PATRICIA P^^^^MD",
            &["NAME:PRIMARY^PATRICIA P"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "{\"provider\":\"Anthropic\"}",
        "physician,dx\nnone,CLL",
        "where title LIKE '%Quuxley%'",
        "OBX|1|NM|1554-5^GLUCOSE^LN||182",
    ]);
}
