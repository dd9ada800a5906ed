//! What lists, hand-offs and short notes leave out, and things of lists that bear names.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn names_beside_facts() {
    finds::<Names>(&[
        (
            "1. Haverford, Clement 71M rectal ca",
            &["NAME:Haverford, Clement"],
        ),
        ("1. Eastwick, Norma 83F hip fx", &["NAME:Eastwick, Norma"]),
        ("3. Yamashiro, K. 66M RCC", &["NAME:Yamashiro, K"]),
        ("to OR; K. Sung 41M pancreatitis", &["NAME:K. Sung"]),
        ("H&P: Summer Rose, 19F, sore throat", &["NAME:Summer Rose"]),
        (
            "IMMUNIZATION RECORD Zyaire Coleman b. 08.14.2019",
            &["NAME:Zyaire Coleman"],
        ),
        (
            "oncologist of Fern Gallowglass (Subscriber ID BCX-7729-1)",
            &["NAME:Fern Gallowglass"],
        ),
        (
            "agree with the findings. - S. McIlhenny",
            &["NAME:S. McIlhenny"],
        ),
        (
            "- Abernathy, L. – PT 0900\n- Nguyen, F. – OT 0930",
            &["NAME:Abernathy, L", "NAME:Nguyen, F"],
        ),
        ("PI: Lindgren, Ö.", &["NAME:Lindgren, Ö"]),
        ("Nguyễn Thị Minh came", &["NAME:Nguyễn Thị Minh"]),
        ("Pt Hana Al-Masri-Boyd, seen", &["NAME:Hana Al-Masri-Boyd"]),
        ("H&P done; RN: Joy; ride home arranged", &["NAME:Joy"]),
        (
            "Pen delivery for Ottoline Briggs on time",
            &["NAME:Ottoline Briggs"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "Summer Rose, 19 for sale",
        "Hope, Grace and 19 more",
        "RN: Joy of cooking",
        "Vitamin, D. 66 mg",
        "use of Bayesian Taylor series",
    ]);
}

#[test]
fn names_in_company() {
    finds::<Names>(&[
        (
            "Discussed with Drs. Malik and Thorne.",
            &["NAME:Malik", "NAME:Thorne"],
        ),
        ("FYI Delgado in bed 7 is refusing meds.", &["NAME:Delgado"]),
        (
            "Discussed with Drs. Abernethy, Cho and Patel.",
            &["NAME:Abernethy", "NAME:Cho", "NAME:Patel"],
        ),
        (
            "Hello, this is Temperance Okwuosa, calling about labs",
            &["NAME:Temperance Okwuosa"],
        ),
        ("initials RTD, screen fail", &["NAME:RTD"]),
        (
            "Dose given at 9. attending: lokesh patel\nPlan: As above, See Notes",
            &["NAME:lokesh patel"],
        ),
        (
            "Reminder: Toñita Archuleta, your appointment is near",
            &["NAME:Toñita Archuleta"],
        ),
        ("my neighbor Big Mike gave me one", &["NAME:Mike"]),
        ("G3P2. FOB Marquis involved.", &["NAME:Marquis"]),
        ("for Ngoc Anh Le needs clarification", &["NAME:Ngoc Anh Le"]),
        (
            "hey doc its hank weatherford, quick question",
            &["NAME:hank weatherford"],
        ),
        ("has an appointment with Okafor in May", &["NAME:Okafor"]),
        (
            "No.\tInitials\tSex\n001\tJKB\tM\n002\tABT\tF",
            &["NAME:JKB", "NAME:ABT"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "the Big Bang and the Young modulus",
        "we saw Big Ben strike",
        "follow-up with Podiatry",
        "build with Gradle Kelly plugin",
        "Drs. and nurses, Residents and Fellows meet",
        "its mark on the skin, its color",
        "follow-up with Vascular and Hepatology in 2 weeks",
        "Ph disconnected, will try again",
    ]);
}

#[test]
fn lines_that_are_wrapped() {
    finds::<Names>(&[
        (
            "PATIENT NAME: Gertrude van der\nHeijden",
            &["NAME:Gertrude van der\nHeijden"],
        ),
        (
            "Thank you for the referral. She was seen in the clinic by Dr. Maria\nGonzalez for her knee.",
            &["NAME:Maria\nGonzalez"],
        ),
        ("ADDR: 118 Old Mill\nRoad", &["ADDRESS:118 Old Mill\nRoad"]),
    ]);
    // Short lines are items.
    finds::<Names>(&[(
        "Maria Lopez\nJane Doe",
        &["NAME:Maria Lopez", "NAME:Jane Doe"],
    )]);
}

#[test]
fn places_written_short() {
    finds::<Names>(&[
        (
            "Dispatched to 4400 block of Kessler Blvd.",
            &["ADDRESS:4400 block of Kessler Blvd"],
        ),
        (
            "Seen at 88 Hickory Hollow Rd, Mount Airy.",
            &["ADDRESS:88 Hickory Hollow Rd", "LOCATION:Mount Airy"],
        ),
        (
            "on file: 1442 NE Martin Luther King Jr Blvd, Ste 300",
            &["ADDRESS:1442 NE Martin Luther King Jr Blvd, Ste 300"],
        ),
        (
            "RR 2 Box 118, Elkins WV.",
            &["ADDRESS:RR 2 Box 118", "LOCATION:Elkins"],
        ),
        ("she moved to Long Beach.", &["LOCATION:Long Beach"]),
        (
            "Ms. Watanabe should come to your Gardena office",
            &["NAME:Watanabe", "LOCATION:Gardena"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "a list of states: Washington, Georgia, Virginia, Carolina",
        "Long QT, Great toe, High dose",
        "our Gardena office opens at 9",
        "block of 4 drives",
    ]);
}

#[test]
fn things_of_lists() {
    leaves_alone::<Names>(&[
        "Differential: Addison's, Cushing's, Graves, Conn",
        "Braden 14, Morse 55, Norton n/a, Hoyer lift",
        "Moro present, Gower absent, Snellen 20/30",
        "clamps x6, Allis, Babcock, Adson forceps",
        "sphincter of Oddi, pouch of Douglas.",
        "Nodes negative. Dixon sequences.",
        "Bair hugger on. Ted hose on. Hoffman ex-fix.",
        "Amber urine. Graham crackers and Jordan almonds.",
        "the Ryan White program pays",
        "The Nurses' Health Study followed them",
        "Grafana, Prometheus, Loki and Tempo",
        "points at Brooke::Cache and Austin::Base",
        "Claude, Gemini, Llama and Mistral compared",
        "You are Claude Code, Anthropic's official CLI for Claude.",
        "Generated with [Claude Code](https://claude.com/claude-code)",
        "we moved from Claude Opus to Claude Sonnet",
        "---\nname: Senior Developer\ndescription: Writes code\n---",
        "### Spacing System",
        "### File System Operations",
        "Sprint Health Snapshot",
        "## 3. Self-heal loop",
        "6. Critical Path",
        "in Phase 3 Dev Loop we test",
        "Prednisolone 40-50 mg PO, OR hydrocortisone 200 mg IV",
        "It is recommended for RRT in AKI (Grade 1A).",
        "The charge on a cache miss. Billed at 5 credits.",
    ]);
    finds::<Names>(&[
        ("Norton wants to go home", &["NAME:Norton"]),
        ("seen by Dr. Addison today", &["NAME:Addison"]),
        ("Ryan White is here", &["NAME:Ryan White"]),
        ("Claude Bernard was seen", &["NAME:Claude Bernard"]),
        ("Patient: Claude Code", &["NAME:Claude Code"]),
    ]);
}
