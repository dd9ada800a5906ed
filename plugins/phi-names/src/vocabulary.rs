//! What the names of fields say about their values, and the codes of states. Data only.

use phi_text::label::Labels;

/// Two letters of the states, for `Boston, MA`.
#[rustfmt::skip]
pub const STATE_CODES: [&[u8; 2]; 56] = [
    b"AL", b"AK", b"AZ", b"AR", b"CA", b"CO", b"CT", b"DE", b"DC", b"FL", b"GA", b"HI", b"ID", b"IL", b"IN", b"IA", b"KS", b"KY", b"LA",
    b"ME", b"MD", b"MA", b"MI", b"MN", b"MS", b"MO", b"MT", b"NE", b"NV", b"NH", b"NJ", b"NM", b"NY", b"NC", b"ND", b"OH", b"OK", b"OR",
    b"PA", b"RI", b"SC", b"SD", b"TN", b"TX", b"UT", b"VT", b"VA", b"WA", b"WV", b"WI", b"WY", b"PR", b"GU", b"VI", b"ON", b"BC",
];

/// What a field of structured text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A person's name, or a part of it.
    Name,
    /// A name where it looks like a person's: the label is used for other things too.
    PerhapsName,
    /// As above, where two words or more that no list of words has will do: the label is a person.
    Person,
    /// As above, where one word that no list has will do too: the label is never a product.
    Somebody,
    /// As above, in small letters as well: nobody but a person is one.
    Patient,
    /// One part of a name, where it looks like one.
    PartOfName,
    Address,
    /// Of an address, or of anything else that has lines.
    AddressLine,
    City,
    /// A postal code.
    Zip,
    Organization,
    /// An identifier, then the components of a name (HL7 XCN).
    Coded,
}

/// Labels of fields: keys and columns, HL7 v2 positions (2.5.1, chapters 2A, 3, 4), X12 positions (005010).
#[rustfmt::skip]
pub static FIELDS: Labels<Field, 512> = Labels::new(&[
    ("PID-5", Field::Name), ("PID-6", Field::Name), ("PID-9", Field::Name), ("NK1-2", Field::Name), ("NK1-30", Field::Name),
    ("GT1-3", Field::Name), ("GT1-4", Field::Name), ("IN1-16", Field::Name), ("MRG-7", Field::Name), ("PID-11", Field::Address),
    ("NK1-4", Field::Address), ("GT1-5", Field::Address), ("IN1-19", Field::Address), ("PD1-4", Field::Coded), ("PV1-7", Field::Coded),
    ("PV1-8", Field::Coded), ("PV1-9", Field::Coded), ("PV1-17", Field::Coded), ("PV1-52", Field::Coded), ("OBR-16", Field::Coded),
    ("ORC-12", Field::Coded), ("OBR-32", Field::Coded), ("OBR-28", Field::Coded), ("PR1-8", Field::Coded), ("DG1-16", Field::Coded),
    ("OBX-16", Field::Coded), ("TXA-9", Field::Coded), ("ORC-10", Field::Coded), ("PID-23", Field::City),
    ("N3-1", Field::Address), ("N3-2", Field::Address), ("N4-1", Field::City), ("N4-3", Field::Zip),

    ("family", Field::PartOfName), ("given", Field::Name), ("first", Field::PartOfName), ("last", Field::PartOfName),
    ("initials", Field::PartOfName), ("patient initials", Field::PartOfName), ("subject initials", Field::PartOfName),
    ("patient last name", Field::Name), ("patient first name", Field::Name), ("pt last name", Field::Name), ("pt first name", Field::Name),
    ("last first", Field::PerhapsName), ("patient last", Field::PartOfName), ("pat last", Field::PartOfName), ("pat first", Field::PartOfName), ("pat name", Field::Name), ("patient first", Field::PartOfName),
    ("pt last", Field::PartOfName), ("pt first", Field::PartOfName),
    ("first name", Field::Name), ("last name", Field::Name), ("fname", Field::Name), ("lname", Field::Name),
    ("middle name", Field::Name), ("surname", Field::Name), ("family name", Field::Name), ("given name", Field::Name),
    ("full name", Field::Name), ("patient name", Field::Name), ("pt name", Field::Name), ("patient", Field::Patient),
    ("name", Field::PerhapsName), ("display name", Field::PerhapsName), ("display", Field::PerhapsName), ("maiden name", Field::Name),
    ("preferred name", Field::Name), ("legal name", Field::Name), ("nickname", Field::Name), ("alias", Field::PerhapsName),
    ("provider", Field::Person), ("provider name", Field::Name), ("physician", Field::Somebody), ("presenter", Field::Somebody),
    ("pt", Field::Somebody), ("rn", Field::Somebody), ("md", Field::Somebody), ("np", Field::Somebody), ("resident", Field::Somebody),
    ("anesthesiologist", Field::Somebody), ("therapist", Field::Somebody), ("seen by", Field::Somebody), ("scribe", Field::Somebody),
    ("radiologist", Field::Somebody), ("pathologist", Field::Somebody), ("cardiologist", Field::Somebody), ("hospitalist", Field::Somebody),
    ("social worker", Field::Somebody), ("interpreter", Field::Person), ("nok", Field::Somebody), ("prescriber", Field::Somebody), ("pharmacist", Field::Somebody), ("physician name", Field::Name),
    ("doctor", Field::Person), ("doctor name", Field::Name), ("attending", Field::Somebody), ("attending physician", Field::Name),
    ("attending provider", Field::Name), ("referring provider", Field::Name), ("referring physician", Field::Name),
    ("ordering provider", Field::Name), ("ordering physician", Field::Name), ("primary care provider", Field::Name),
    ("pcp", Field::Somebody), ("pcp name", Field::Name), ("nurse", Field::Somebody), ("surgeon", Field::Somebody),
    ("contact name", Field::Name), ("emergency contact", Field::Somebody), ("emergency contact name", Field::Name),
    ("guarantor", Field::Patient), ("subscriber", Field::Patient), ("insured", Field::Patient), ("beneficiary", Field::Patient),
    ("applicant", Field::Patient), ("account holder", Field::Patient), ("payee", Field::Patient), ("ordered by", Field::Patient), ("guarantor name", Field::Name), ("subscriber name", Field::Name), ("insured name", Field::Name),
    ("member name", Field::Name), ("next of kin", Field::Patient), ("spouse", Field::Patient), ("mother", Field::Patient),
    ("father", Field::Patient), ("mothers maiden name", Field::Name), ("guardian", Field::Somebody), ("author", Field::PerhapsName),
    ("signed by", Field::Person), ("dictated by", Field::Person), ("from", Field::PerhapsName), ("to", Field::PerhapsName),
    ("employee name", Field::Name), ("customer name", Field::Name), ("customer", Field::PerhapsName), ("client name", Field::Name),
    ("person", Field::Person), ("member", Field::Person), ("recipient", Field::Person), ("caller", Field::Person), ("employee", Field::Patient),
    ("student", Field::Patient), ("child", Field::Person), ("parent", Field::Person), ("attendees", Field::Patient), ("requested by", Field::Person),
    ("assigned to", Field::Person), ("created by", Field::Person), ("contact", Field::Person), ("client", Field::Person), ("guardian name", Field::Name), ("patient full name", Field::Name), ("caregiver", Field::Somebody),
    ("caregiver name", Field::Name), ("assigned nurse", Field::Somebody), ("care manager", Field::Somebody), ("case manager", Field::Somebody),
    ("nm last", Field::PartOfName), ("nm first", Field::PartOfName), ("name last", Field::PartOfName), ("name first", Field::PartOfName),
    ("spouse name", Field::Name), ("mother name", Field::Name), ("father name", Field::Name), ("parent name", Field::Name),
    ("caller name", Field::Name), ("recipient name", Field::PerhapsName), ("beneficiary name", Field::Name),
    ("cardholder name", Field::Name), ("policyholder", Field::Patient), ("policyholder name", Field::Name), ("nurse name", Field::Name),
    ("surgeon name", Field::Name), ("attending name", Field::Name), ("husband", Field::Somebody), ("wife", Field::Somebody),
    ("performer", Field::PerhapsName), ("user full name", Field::Name), ("responsible party", Field::Person),

    ("street", Field::Address), ("street address", Field::Address), ("address", Field::Address), ("address line", Field::Address),
    ("address line 1", Field::Address), ("address 1", Field::Address), ("addr", Field::Address),
    ("home address", Field::Address), ("mailing address", Field::Address), ("patient address", Field::Address), ("line", Field::AddressLine),
    ("line1", Field::Address), ("addr line", Field::Address), ("street1", Field::Address), ("address2", Field::Address),
    ("city", Field::City), ("town", Field::City), ("hometown", Field::City), ("patient city", Field::City), ("birth place", Field::City),
    ("county", Field::City), ("district", Field::City), ("zip", Field::Zip), ("zip code", Field::Zip),
    ("postal code", Field::Zip), ("postcode", Field::Zip), ("postal", Field::Zip),
    ("hospital", Field::Organization), ("hospital name", Field::Organization), ("facility", Field::Organization),
    ("facility name", Field::Organization), ("clinic", Field::Organization), ("clinic name", Field::Organization),
    ("organization", Field::Organization), ("organization name", Field::Organization), ("employer", Field::Organization),
    ("employer name", Field::Organization), ("managing organization", Field::Organization), ("practice", Field::Organization),
    ("practice name", Field::Organization), ("pharmacy", Field::Organization), ("school", Field::Organization),
    ("pt zip", Field::Zip), ("zip5", Field::Zip), ("zip cd", Field::Zip), ("postal cd", Field::Zip),
    ("home zip", Field::Zip), ("plz", Field::Zip), ("codigo postal", Field::Zip),
    ("patient zip", Field::Zip), ("zip postal", Field::Zip), ("PID-12", Field::City),
    ("ciudad", Field::City), ("municipio", Field::City), ("birth name", Field::Name),
    ("apellidos", Field::Name), ("nachname", Field::Name), ("vorname", Field::Name), ("apellido", Field::Name),
    ("nombres", Field::Name), ("prenom", Field::Name), ("mothers maiden", Field::Name),
    ("maiden", Field::Name),
]);
