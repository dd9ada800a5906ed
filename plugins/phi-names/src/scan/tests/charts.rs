//! Names and places as charts, tables and conversations have them: what readers who looked for leaks had found.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn names_as_charts_have_them() {
    finds::<Names>(&[
        ("Pt. Rodriguez is stable", &["NAME:Rodriguez"]),
        ("PCP: Achebe", &["NAME:Achebe"]),
        ("Jane née Kowalska", &["NAME:Jane", "NAME:Kowalska"]),
        ("A. Whitcombe, MD", &["NAME:A. Whitcombe"]),
        ("Seen by A. Whitcombe today", &["NAME:A. Whitcombe"]),
        ("Baby boy Henderson", &["NAME:Henderson"]),
        ("Baby Girl Alvarez Apgars 8/9", &["NAME:Alvarez"]),
        (
            "Nkechi Okonjo is a 54 yo F with CHF.",
            &["NAME:Nkechi Okonjo"],
        ),
        ("{\"patient\":\"Chidi Obi\"}", &["NAME:Chidi Obi"]),
        (
            "{\"first\":\"Chidi\",\"last\":\"Obi\"}",
            &["NAME:Chidi", "NAME:Obi"],
        ),
        (
            "last_name,first_name\nObi,Chidi",
            &["NAME:Obi", "NAME:Chidi"],
        ),
        ("Last,First,DOB\nKrzyk,Anna,1", &["NAME:Krzyk", "NAME:Anna"]),
        (
            "Smith,John,03/04/1961,44712239",
            &["NAME:Smith", "NAME:John"],
        ),
        ("PatientName: GARCIA^MARIA", &["NAME:GARCIA^MARIA"]),
        ("my name is nkechi okonjo", &["NAME:nkechi okonjo"]),
        (
            "my name is tyrone washington and i hurt",
            &["NAME:tyrone washington"],
        ),
        (
            "Marcus Delgado came. delgado wants surgery.",
            &["NAME:Marcus Delgado", "NAME:delgado"],
        ),
        ("**Patient:** Bola Adeyemi", &["NAME:Bola Adeyemi"]),
        ("resident of Maricopa County", &["LOCATION:Maricopa County"]),
        (
            "patient in San Diego County",
            &["LOCATION:San Diego County"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "my name is not important",
        "Attending: unavailable",
        "caused by E. Coli and by S. Aureus",
        "infection by K. Pneumoniae or C. Difficile",
        "Subject: RE: discharge",
        "the County hospital",
        "{\"first\":\"Second\",\"last\":\"Third\"}",
        "{\"patient\":\"Chest Pain\"}",
        "Well, yes\nNo, thanks",
        "Xarelto Eliquis",
    ]);
}

#[test]
fn names_behind_roles_and_times() {
    finds::<Names>(&[
        ("PCP: Grace Oyelaran, NP", &["NAME:Grace Oyelaran"]),
        ("Patient Chidi Okafor seen", &["NAME:Chidi Okafor"]),
        ("hospitalist Mbeki who accepts", &["NAME:Mbeki"]),
        ("RN Delacroix at bedside", &["NAME:Delacroix"]),
        ("Chaplain Obadiah visited", &["NAME:Obadiah"]),
        ("spouse Ebenezer died", &["NAME:Ebenezer"]),
        ("spoke to Quanisha at payer", &["NAME:Quanisha"]),
        ("M. Gebreselassie, PMHNP-BC", &["NAME:M. Gebreselassie"]),
        ("DR. BJORN AASGAARD", &["NAME:BJORN AASGAARD"]),
        (
            "Patient: Nguyen, Thi Bich Ngoc",
            &["NAME:Nguyen, Thi Bich Ngoc"],
        ),
        ("0800 Achebe, C f/u HTN", &["NAME:Achebe, C"]),
        ("08:00 Achebe, Ngozi new pt", &["NAME:Achebe, Ngozi"]),
        ("DOE, JANE CHF", &["NAME:DOE, JANE"]),
        ("DR. SMITH NOTED EDEMA", &["NAME:SMITH"]),
    ]);
    leaves_alone::<Names>(&[
        "Pt Zosyn started, RN Zofran given",
        "0900 Tylenol, Motrin given",
        "1100 Echo, CT done",
        "RN Epic inbox reviewed",
    ]);
}

#[test]
fn names_in_cells_and_keys() {
    finds::<Names>(&[
        ("Name | Zawadi Mutombo", &["NAME:Zawadi Mutombo"]),
        ("| Name | Zawadi Mutombo |", &["NAME:Zawadi Mutombo"]),
        ("Name\tZawadi Mutombo", &["NAME:Zawadi Mutombo"]),
        ("Name = Zawadi Mutombo", &["NAME:Zawadi Mutombo"]),
        ("Name...... Zawadi Mutombo", &["NAME:Zawadi Mutombo"]),
        (
            "<th>Name</th><td>Zawadi Mutombo</td>",
            &["NAME:Zawadi Mutombo"],
        ),
        (
            "<td>Name:</td><td>Zawadi Mutombo</td>",
            &["NAME:Zawadi Mutombo"],
        ),
        ("<b>Patient:</b> Zawadi Mutombo", &["NAME:Zawadi Mutombo"]),
        (
            "patient,attending\nOkonkwo,Oyelaran",
            &["NAME:Okonkwo", "NAME:Oyelaran"],
        ),
        (
            "| Patient | Dx |\n|---|---|\n| Oyelaran | CHF |",
            &["NAME:Oyelaran"],
        ),
        ("first,last\nPa Houa,Vang", &["NAME:Pa Houa", "NAME:Vang"]),
        (
            "{\"name\":\"Okoro \\\"Bo\\\" Adeyemi\"}",
            &["NAME:Okoro \\\"Bo\\\" Adeyemi"],
        ),
        (
            "{\"guardianName\":\"Zawadi Mutombo\"}",
            &["NAME:Zawadi Mutombo"],
        ),
        (
            "{\"assignedNurse\":\"Zawadi Mutombo\"}",
            &["NAME:Zawadi Mutombo"],
        ),
        ("{\"nm_last\":\"Mutombo\"}", &["NAME:Mutombo"]),
        ("{\"patient\":\"Obiora\"}", &["NAME:Obiora"]),
        (
            "{\"name\":[{\"text\":\"Keoni Kahananui\"}]}",
            &["NAME:Keoni Kahananui"],
        ),
        (
            "{\"subject\":{\"reference\":\"x\",\"display\":\"Keoni Kahananui\"}}",
            &["NAME:Keoni Kahananui"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "Patient | Visit Reason",
        "Name | Status",
        "Name = Value",
        "{\"code\":{\"text\":\"Chest Xray\"}}",
        "{\"code\":{\"display\":\"Zosyn Bag\"}}",
        "{\"patient\":\"Inpatient\"}",
        "{\"provider\":\"Anthropic\"}",
        "<th>Name</th><td>Status</td>",
        "patient,attending\nunknown,none",
    ]);
}

#[test]
fn names_with_particles_and_single_ones() {
    finds::<Names>(&[
        ("Wells, John was here", &["NAME:Wells, John"]),
        ("Patient Name: FOWLER, ANN", &["NAME:FOWLER, ANN"]),
        ("Susan Fowler called", &["NAME:Susan Fowler"]),
        ("Susan Graves called", &["NAME:Susan Graves"]),
        ("Bruce Willis", &["NAME:Bruce Willis"]),
        ("Mary Abbott", &["NAME:Mary Abbott"]),
        ("Dr. van der Merwe called", &["NAME:van der Merwe"]),
        ("Dr. Van der Merwe called", &["NAME:Van der Merwe"]),
        ("Mr. van Dijk is here", &["NAME:van Dijk"]),
        ("mr. de la rosa is here", &["NAME:de la rosa"]),
        ("Mrs.  Oyelaran", &["NAME:Oyelaran"]),
        ("Drs. Oyelaran and Vu agree", &["NAME:Oyelaran", "NAME:Vu"]),
        ("Whitehorse is a 61 yo M", &["NAME:Whitehorse"]),
        ("RN: Okafor", &["NAME:Okafor"]),
        ("Pt Washington, seen today", &["NAME:Washington"]),
        (
            "next patient is svetlana washington",
            &["NAME:svetlana washington"],
        ),
        ("Discussed with Okafor.", &["NAME:Okafor"]),
        ("Spouse: Lars", &["NAME:Lars"]),
        ("Referring: Oyelaran", &["NAME:Oyelaran"]),
        ("Emergency contact: Sefa (brother)", &["NAME:Sefa"]),
        ("call Temilade Oyelowo (mother)", &["NAME:Temilade Oyelowo"]),
        (
            "[7:02 PM] Dele Oyelaran: on my way",
            &["NAME:Dele Oyelaran"],
        ),
        ("[11/2, 7:02 PM] Chidinma: ok", &["NAME:Chidinma"]),
    ]);
    leaves_alone::<Names>(&[
        "Metformin is a 61 year old drug",
        "Dr. de facto",
        "Pt Zosyn started",
        "RN: Available",
        "pub fn when<RN: FnMut(&E) -> bool>(self)",
        "Pt Washington DC resident",
        "next patient is stable",
        "def f(md: MarkdownIt) -> None",
        "Hypertension (mother)",
        "[7:02 PM] Results: normal",
        "[12] Zosyn was given",
        "Discussed with Cardiology.",
        "discussed with Radiology and Oncology",
        "the Circle of Willis",
        "a Miller 2 blade",
        "Frank hematuria",
        "Frank blood per rectum",
        "Smith-Magenis\nsyndrome",
        "sphincter of Oddi",
        "Dubin-Johnson and Frank-Starling",
        "Bence Jones protein",
        "Swan Ganz was placed",
        "Wells score, Geneva score",
        "Pfizer, Moderna",
        "Dexcom, Omron and Abbott",
        "Lewy bodies",
        "Janeway lesions, Osler nodes",
        "Grave's disease",
        "St. John's wort",
        "Sister Mary Joseph nodule",
    ]);
}

#[test]
fn addresses_as_they_are_given() {
    finds::<Names>(&[
        ("Address: 3311 S Lamar", &["ADDRESS:3311 S Lamar"]),
        ("lives at 12 Mill Race", &["ADDRESS:12 Mill Race"]),
        (
            "5 RIVERVIEW TER UNIT 3",
            &["ADDRESS:5 RIVERVIEW TER UNIT 3"],
        ),
        ("412 Fox Cv", &["ADDRESS:412 Fox Cv"]),
        ("88 Harbor Xing", &["ADDRESS:88 Harbor Xing"]),
        ("94-1021 Waipahu St", &["ADDRESS:94-1021 Waipahu St"]),
        ("RR 2 Box 118", &["ADDRESS:RR 2 Box 118"]),
        ("HC 61 Box 22", &["ADDRESS:HC 61 Box 22"]),
    ]);
    leaves_alone::<Names>(&[
        "Address: 3 concerns at follow up",
        "lives at 12 degrees",
        "in 2 ter",
        "RR 18 BP 120",
        "RR 2 box",
    ]);
}

#[test]
fn facilities_as_they_are_named() {
    finds::<Names>(&[
        (
            "from Aspen Ridge Assisted Living today",
            &["ORGANIZATION:Aspen Ridge Assisted Living"],
        ),
        (
            "at Golden Meadows SNF",
            &["ORGANIZATION:Golden Meadows SNF"],
        ),
        ("DaVita Northgate", &["ORGANIZATION:DaVita Northgate"]),
        ("at UPMC Shadyside", &["ORGANIZATION:UPMC Shadyside"]),
        ("Kramer Funeral Home", &["ORGANIZATION:Kramer Funeral Home"]),
        (
            "ST. LUKE'S REGIONAL MEDICAL CENTER",
            &["ORGANIZATION:ST. LUKE'S REGIONAL MEDICAL CENTER"],
        ),
        ("Cook County Jail", &["ORGANIZATION:Cook County Jail"]),
    ]);
    leaves_alone::<Names>(&[
        "Assisted Living",
        "an SNF",
        "discharged to SNF",
        "in a funeral home",
        "the county jail",
        "REGIONAL MEDICAL CENTER",
        "UPMC guidelines",
    ]);
}
