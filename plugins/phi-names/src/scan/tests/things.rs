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
fn keys_are_nobody() {
    leaves_alone::<Names>(&["{\"thing\": [null], \"leke\": {\"n\": 4}}"]);
    finds::<Names>(&[("leke called at noon", &["NAME:leke"])]);
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
        "Von Willebrand panel normal",
        "Down, Patau, Turner, Klinefelter and Noonan",
        "Runs a Monte Carlo simulation",
    ]);
    finds::<Names>(&[
        ("Dr. Simpson called", &["NAME:Simpson"]),
        ("Blake Simpson was admitted", &["NAME:Blake Simpson"]),
        ("Patient Wagner, 71M", &["NAME:Wagner"]),
        ("Pt Simpson 45 yo with CHF", &["NAME:Simpson"]),
        ("Blake removed his IV", &["NAME:Blake"]),
        ("Leopold Martinez is here", &["NAME:Leopold Martinez"]),
        ("Carlo Monteverde is here", &["NAME:Carlo Monteverde"]),
    ]);
}

#[test]
fn what_is_said_of_an_empty_field_is_nobody() {
    leaves_alone::<Names>(&[
        "city: Field required",
        "patient_name: Field required [type=missing]",
        "{\"address\": \"Field required\"}",
    ]);
    finds::<Names>(&[
        ("patient_name: Field, Anna", &["NAME:Field, Anna"]),
        ("Dr. Field required help", &["NAME:Field"]),
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

#[test]
fn neighbors_tell_names() {
    finds::<Names>(&[
        ("Name,DOB\nRamirez,1961-03-14", &["NAME:Ramirez"]),
        (
            "{\"name\":\"Petrosyan\",\"dob\":\"1961-03-14\"}",
            &["NAME:Petrosyan"],
        ),
        (
            "Last: Whitcomb  First: Arlene  MI: J",
            &["NAME:Whitcomb", "NAME:Arlene", "NAME:J"],
        ),
        (
            "1. Ramirez - stable\n2. Nguyen - febrile\n3. Johnson - dc",
            &["NAME:Ramirez", "NAME:Nguyen", "NAME:Johnson"],
        ),
        (
            "please excuse Braxton Whitehorse from school",
            &["NAME:Braxton Whitehorse"],
        ),
        ("Thorvaldsen 71M stable, STEMI", &["NAME:Thorvaldsen"]),
        ("Ramirez wants to go home", &["NAME:Ramirez"]),
        (
            "ASST: NGUYEN\nANESTHESIA: ADEYEMI",
            &["NAME:NGUYEN", "NAME:ADEYEMI"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "Name,Type\nPetrosyan,string",
        "{\"name\":\"Kitchen\",\"room\":\"2\"}",
        "Last: 3 days ago. First: check vitals",
        "First: Mix well. Last: Serve.",
        "1. Metoprolol - hold\n2. Warfarin - hold\n3. Lisinopril - start",
        "Pythia 70M parameters",
        "71M Vietnamese with CHF",
    ]);
}

#[test]
fn particles_begin_names() {
    finds::<Names>(&[
        (
            "transport for van der Westhuizen to MRI",
            &["NAME:van der Westhuizen"],
        ),
        ("pt de la Fuente seen", &["NAME:de la Fuente"]),
        ("seen by Van Houten", &["NAME:Van Houten"]),
        ("NOK Clementine is here", &["NAME:Clementine"]),
        (
            "labs for el-Sayed and al-Rashid",
            &["NAME:el-Sayed", "NAME:al-Rashid"],
        ),
        ("bed 4 for von Trapp", &["NAME:von Trapp"]),
        ("Patient: van der Westhuizen", &["NAME:van der Westhuizen"]),
    ]);
    leaves_alone::<Names>(&[
        "van der Waals forces and a de novo mutation",
        "von Hippel-Lindau, von Recklinghausen and de Quervain",
    ]);
}

#[test]
fn words_of_charts_that_titles_are_too() {
    leaves_alone::<Names>(&[
        "Takes MS Contin 15 mg twice a day",
        "MS CONTIN 15 mg, last filled in town",
        "Mild MR. Trace TR. Normal LV size.",
        "Severe MR. LVEF 35% on echo",
        "She has MS. Gait is stable with a cane.",
        "she has ms. Gait is stable, she says.",
        "MR Angiography of the head was normal",
        "MR Enterography showed no stricture",
        "The query runs on MS SQL and MS Excel",
        "Severe DR. Macula flat in both eyes",
        "Moderate MS. Valve area is small",
        "Lt Kidney 9.8 cm, Rt Kidney 10.1 cm",
        "Lt Femur fracture and Lt Knee pain",
        "Lt. Shoulder films were fine",
        "Sr. Creatinine 1.2, Sr. Potassium 4.4",
        "Sr Sodium was low",
        "Prior MR A 2+ and MR V 3+",
        "Mild MR. Severe TR noted.",
        "Mild MR. LA is enlarged",
        "Mild MR. Wall motion is normal",
        "Mild MR. Both atria are dilated",
        "Lt Lower lobe collapse, Lt Main bronchus open",
        "She has MS. Walks with a cane.",
        "Open it in MS Word please",
        "Sr. Software engineer",
        "Sr. Bilirubin 1.2",
    ]);
    finds::<Names>(&[
        ("Seen by MS Garcia today", &["NAME:Garcia"]),
        ("spoke with MR OYELARAN about it", &["NAME:OYELARAN"]),
        ("Attending is DR. SZYMBORSKA", &["NAME:SZYMBORSKA"]),
        ("Attending is DR Okonkwo", &["NAME:Okonkwo"]),
        ("Reported to Lt. Hernandez at the desk", &["NAME:Hernandez"]),
        ("then mr. Oyelaran went home", &["NAME:Oyelaran"]),
        ("then Mr. Trace went home", &["NAME:Trace"]),
        ("Ms. Gait called back", &["NAME:Gait"]),
        (
            "Robert Jones Sr. Presented with CHF",
            &["NAME:Robert Jones Sr"],
        ),
        ("Seen by DR. LEE today for follow up", &["NAME:LEE"]),
        ("MRS. YOUNG called", &["NAME:YOUNG"]),
        (
            "REV. WHITE and SGT. KING came",
            &["NAME:WHITE", "NAME:KING"],
        ),
        ("MR. Brown is a 45 yo", &["NAME:Brown"]),
        ("spoke with MR LEE", &["NAME:LEE"]),
        ("Call MS. ROSE PARK today", &["NAME:ROSE PARK"]),
        ("DR. J. LEE", &["NAME:J. LEE"]),
        ("Ask DR. GOOD about it", &["NAME:GOOD"]),
        ("Ask DR. WILL about it", &["NAME:WILL"]),
        ("MR. Xuereb called", &["NAME:Xuereb"]),
        ("MR. Le came, DR. LE too", &["NAME:Le", "NAME:LE"]),
        ("seen by DR. DE LA CRUZ today", &["NAME:DE LA CRUZ"]),
        ("Pain is severe. MR. YOUNG called", &["NAME:YOUNG"]),
        ("then mr. Brown went home", &["NAME:Brown"]),
        ("Reported to Lt. Young", &["NAME:Young"]),
    ]);
}

#[test]
fn sr_is_a_title_in_spanish() {
    finds::<Names>(&[
        ("Spoke with Sr. Garcia today", &["NAME:Garcia"]),
        ("El Sr. Ramirez llam\u{f3}", &["NAME:Ramirez"]),
        ("Sr Lopez called", &["NAME:Lopez"]),
        ("spoke with SR. GARCIA", &["NAME:GARCIA"]),
        ("la esposa del sr. garcia dijo", &["NAME:garcia"]),
        (
            "habla con el Sr. Hernandez-Lopez",
            &["NAME:Hernandez-Lopez"],
        ),
        ("El Sr. Xuereb vino", &["NAME:Xuereb"]),
        (
            "Saw Robert Jones, Sr. Martinez agreed",
            &["NAME:Robert Jones", "NAME:Martinez"],
        ),
        ("Robert Jones, Sr. agreed", &["NAME:Robert Jones, Sr"]),
        ("Dr. Garcia y Sr. Lopez", &["NAME:Garcia", "NAME:Lopez"]),
        ("Estimado Sr. Garcia:", &["NAME:Garcia"]),
        ("Sr. de la Cruz vino hoy", &["NAME:de la Cruz"]),
        ("Vino Sr. J. Garcia", &["NAME:J. Garcia"]),
        ("John Smith Sr. called", &["NAME:John Smith Sr"]),
    ]);
}

#[test]
fn peoples_and_faiths_are_nobody() {
    leaves_alone::<Names>(&[
        "Her mother is Jewish and her father is Irish.",
        "The patient was Vietnamese and spoke no English.",
        "Patient is Hispanic and speaks Spanish.",
        "Patient is Muslim and fasts during Ramadan.",
        "Race: Irish. Religion: Muslim.",
        "Muslim women may prefer a female clinician.",
        "a Christian patient may ask for communion.",
        "Religion: Christian",
        "She speaks German with her daughter.",
    ]);
    finds::<Names>(&[
        ("Her mother is Karen and she called.", &["NAME:Karen"]),
        ("seen by Ms. Irish", &["NAME:Irish"]),
        (
            "Spoke with Christian Okafor today.",
            &["NAME:Christian Okafor"],
        ),
        ("Patient is Christian Lopez.", &["NAME:Christian Lopez"]),
        ("Dr. French called.", &["NAME:French"]),
    ]);
}

#[test]
fn abbreviations_before_numbers_are_nobody() {
    leaves_alone::<Names>(&[
        "Start Vit D 2000 IU daily",
        "Check Vit D and Vit B12 levels.",
        "Vit K 10 mg IV once.",
        "Ast 32, Alt 40",
        "Val 500 mg daily",
        "Ali 5 mg\n- Max 10 mg",
        "Johnson & Johnson makes it.",
        "GET /search?q=hello&lang=en",
        "the Oracle Health and Google Cloud Healthcare programs, Employee Health",
    ]);
    finds::<Names>(&[
        ("Ali 34M with cough", &["NAME:Ali"]),
        ("gave Ali 5 mg at noon", &["NAME:Ali"]),
        (
            "Johnson & Alvarez were seen: Ms. Johnson",
            &["NAME:Johnson", "NAME:Alvarez", "NAME:Johnson"],
        ),
    ]);
}
