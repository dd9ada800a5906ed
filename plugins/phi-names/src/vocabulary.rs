//! Words that decide about their neighbours: titles, kin, streets, facilities, diseases that bear a name. Data only.

use phi_text::label::Labels;

/// What a word does to those beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `Dr`: a name follows, whatever it looks like.
    Title,
    /// `nurse`, `patient`: a name may follow.
    Person,
    /// `wife`: a name may follow.
    Kin,
    /// `hi`: a name may follow.
    Greeting,
    /// `MD`: a name stands before it.
    Credential,
    /// `Jr`: ends a name.
    Suffix,
    /// `van`: inside of a name.
    Particle,
    /// `disease`: the name before it is an eponym.
    Medical,
    /// A name that stands for what it is the eponym of.
    Eponym,
    /// `Hospital`: names of facilities end with it.
    Facility,
    /// `University`: names begin with it.
    FacilityOf,
    /// `Outpatient`: says nothing about which facility.
    Generic,
    /// `American`: what follows is a body of guidelines.
    Body,
    /// `Street`.
    Street,
    /// `North`.
    Direction,
    /// `Apt`.
    Unit,
    /// A state or a country: allowed.
    State,
    /// `in`: a place may follow.
    Place,
    /// Never part of a name, however it is written.
    Stop,
}

use Role::{
    Body, Credential, Direction, Eponym, Facility, FacilityOf, Generic, Greeting, Kin, Medical,
    Particle, Person, Place, State, Stop, Street, Suffix, Title, Unit,
};

const SLOTS: usize = 4096;

/// One word each, in small letters.
#[rustfmt::skip]
pub static ROLES: Labels<Role, SLOTS> = Labels::new(&[
    ("dr", Title), ("mr", Title), ("mrs", Title), ("ms", Title), ("mx", Title), ("drs", Title), ("messrs", Title), ("prof", Title), ("professor", Title),
    ("doctor", Title), ("miss", Title), ("rev", Title), ("reverend", Title), ("sr.", Title), ("sra", Title), ("señor", Title),
    ("señora", Title), ("rabbi", Title), ("imam", Title), ("sgt", Title), ("lt", Title), ("capt", Title), ("judge", Title),
    ("officer", Title), ("detective", Title), ("pastor", Title), ("sheikh", Title), ("deputy", Title), ("sergeant", Title), ("lieutenant", Title),
    ("colonel", Title), ("dra", Title), ("herr", Title), ("frau", Title), ("madame", Title), ("monsieur", Title),

    ("patient", Person), ("pt", Person), ("client", Person), ("resident", Person), ("nurse", Person), ("physician", Person),
    ("provider", Person), ("surgeon", Person), ("attending", Person), ("therapist", Person), ("pharmacist", Person),
    ("caregiver", Person), ("guardian", Person), ("named", Person), ("name", Person), ("attn", Person), ("attention", Person),
    ("oncologist", Person), ("cardiologist", Person), ("neurologist", Person), ("psychiatrist", Person), ("dentist", Person),
    ("chaplain", Person), ("intensivist", Person), ("pcp", Person), ("midwife", Person), ("interpreter", Person), ("witness", Person), ("roommate", Person), ("neighbor", Person),
    ("friend", Person), ("teacher", Person), ("boss", Person), ("employer", Person), ("coworker", Person), ("contact", Person),
    ("subject", Person), ("veteran", Person), ("infant", Person), ("baby", Person), ("née", Person), ("nee", Person), ("surname", Person), ("signed", Person), ("by", Person), ("cc", Person),
    ("radiologist", Person), ("pathologist", Person), ("anesthesiologist", Person), ("hospitalist", Person),
    ("prescriber", Person), ("claimant", Person), ("insured", Person), ("subscriber", Person), ("guarantor", Person),
    ("specialist", Person), ("podiatrist", Person), ("gynecologist", Person), ("obstetrician", Person), ("urologist", Person),
    ("called", Person), ("nicknamed", Person), ("counselor", Person), ("psychologist", Person), ("technician", Person),
    ("technologist", Person), ("referring", Person), ("ordering", Person), ("attorney", Person), ("lawyer", Person), ("student", Person),
    ("sponsor", Person), ("medic", Person), ("paramedic", Person), ("scribe", Person), ("presenter", Person), ("sitter", Person),
    ("caseworker", Person), ("coach", Person), ("supervisor", Person), ("landlord", Person), ("aide", Person), ("intern", Person),
    ("fellow", Person), ("nephrologist", Person), ("gastroenterologist", Person), ("endocrinologist", Person),
    ("pulmonologist", Person), ("dermatologist", Person), ("ophthalmologist", Person), ("optometrist", Person),
    ("rheumatologist", Person), ("hematologist", Person), ("internist", Person), ("pediatrician", Person), ("orthodontist", Person),
    ("hygienist", Person), ("doula", Person), ("phlebotomist", Person), ("perfusionist", Person), ("sonographer", Person),
    ("dietitian", Person), ("nutritionist", Person), ("chiropractor", Person), ("preceptor", Person), ("circulator", Person),

    ("mother", Kin), ("father", Kin), ("mom", Kin), ("dad", Kin), ("wife", Kin), ("husband", Kin), ("spouse", Kin), ("partner", Kin),
    ("son", Kin), ("daughter", Kin), ("brother", Kin), ("sister", Kin), ("aunt", Kin), ("uncle", Kin), ("grandmother", Kin),
    ("grandfather", Kin), ("grandson", Kin), ("granddaughter", Kin), ("cousin", Kin), ("niece", Kin), ("nephew", Kin),
    ("kids", Kin), ("twins", Kin), ("daughters", Kin),
    ("grandchildren", Kin), ("mo", Kin), ("fa", Kin), ("mum", Kin), ("mommy", Kin), ("daddy", Kin), ("auntie", Kin), ("stepsister", Kin),
    ("stepbrother", Kin), ("ex-husband", Kin), ("ex-wife", Kin), ("ex-boyfriend", Kin), ("ex-girlfriend", Kin), ("grandson-in-law", Kin),
    ("great-aunt", Kin), ("great-uncle", Kin), ("great-grandmother", Kin), ("great-grandfather", Kin), ("stepchild", Kin), ("gma", Kin), ("gpa", Kin),
    ("fiance", Kin), ("fiancee", Kin), ("boyfriend", Kin), ("girlfriend", Kin), ("grandma", Kin), ("grandpa", Kin),

    ("son-in-law", Kin), ("daughter-in-law", Kin), ("mother-in-law", Kin), ("father-in-law", Kin), ("brother-in-law", Kin), ("sister-in-law", Kin), ("stepmother", Kin), ("stepfather", Kin),
    ("stepson", Kin), ("stepdaughter", Kin), ("stepdad", Kin), ("stepmom", Kin), ("half-brother", Kin), ("half-sister", Kin), ("dtr", Kin), ("hubby", Kin), ("fiancé", Kin), ("fiancée", Kin), ("godmother", Kin), ("godfather", Kin),

    ("hi", Greeting), ("hello", Greeting), ("hey", Greeting), ("dear", Greeting), ("thanks", Greeting), ("regards", Greeting),
    ("sincerely", Greeting), ("cheers", Greeting), ("best", Greeting), ("hola", Greeting), ("bye", Greeting), ("welcome", Greeting), ("thx", Greeting), ("rgds", Greeting), ("respectfully", Greeting), ("warmly", Greeting),

    ("pmhnp-bc", Credential), ("fnp-bc", Credential), ("fnp-c", Credential), ("agacnp-bc", Credential), ("acnp-bc", Credential),
    ("agnp-c", Credential), ("cpnp-pc", Credential), ("rn-bc", Credential), ("ccc-slp", Credential),
    ("md", Credential), ("do", Stop), ("rn", Credential), ("np", Credential), ("pa", Credential), ("phd", Credential),
    ("dds", Credential), ("dmd", Credential), ("dpm", Credential), ("lpn", Credential), ("lcsw", Credential), ("pharmd", Credential),
    ("aprn", Credential), ("crna", Credential), ("facs", Credential), ("facc", Credential), ("mbbs", Credential), ("bsn", Credential),
    ("msn", Credential), ("dnp", Credential), ("fnp", Credential), ("psyd", Credential), ("esq", Credential), ("mph", Credential),
    ("cnm", Credential), ("dpt", Credential), ("pac", Credential), ("msw", Credential), ("lmft", Credential), ("frcs", Credential),

    ("jr", Suffix), ("sr", Suffix), ("ii", Suffix), ("iii", Suffix), ("iv", Suffix),
    ("van", Particle), ("von", Particle), ("der", Particle), ("den", Particle), ("de", Particle), ("del", Particle), ("la", Particle),
    ("el", Particle), ("al", Particle), ("bin", Particle), ("ibn", Particle), ("da", Particle), ("di", Particle), ("dos", Particle),
    ("das", Particle), ("le", Particle), ("du", Particle), ("ter", Particle), ("y", Particle), ("st", Particle), ("abu", Particle),

    ("disease", Medical), ("syndrome", Medical), ("sign", Medical), ("signs", Medical), ("test", Medical), ("testing", Medical),
    ("catheter", Medical), ("palsy", Medical), ("lymphoma", Medical), ("score", Medical), ("scale", Medical), ("criteria", Medical),
    ("reflex", Medical), ("maneuver", Medical), ("manoeuvre", Medical), ("phenomenon", Medical), ("procedure", Medical),
    ("fracture", Medical), ("nodes", Medical), ("node", Medical), ("stain", Medical), ("disorder", Medical), ("dementia", Medical),
    ("thyroiditis", Medical), ("contracture", Medical), ("esophagus", Medical), ("sarcoma", Medical), ("tumor", Medical),
    ("cyst", Medical), ("hernia", Medical), ("ulcer", Medical), ("virus", Medical), ("ataxia", Medical), ("chorea", Medical),
    ("anemia", Medical), ("aphasia", Medical), ("law", Medical), ("classification", Medical), ("index", Medical), ("drain", Medical),
    ("forceps", Medical), ("clamp", Medical), ("position", Medical), ("incision", Medical), ("line", Medical), ("tube", Medical),
    ("stage", Medical), ("grade", Medical), ("method", Medical), ("equation", Medical), ("formula", Medical), ("scoring", Medical),
    ("arthroplasty", Medical), ("nail", Medical), ("plate", Stop), ("solution", Medical), ("lactate", Medical), ("ring", Medical),
    ("rings", Medical), ("neuroma", Medical), ("neuromas", Medical), ("level", Medical), ("vest", Medical), ("brace", Medical), ("implant", Medical),
    ("antibody", Medical), ("antibodies", Medical), ("antigen", Medical), ("bacillus", Medical), ("infarction", Medical),
    ("paralysis", Medical), ("neuralgia", Medical), ("arteritis", Medical), ("nephropathy", Medical), ("colitis", Medical), ("purpura", Medical), ("spots", Medical), ("nevus", Medical), ("pouch", Medical),
    ("exercises", Medical), ("contractions", Medical), ("hicks", Medical), ("barre", Medical), ("johnson's", Stop),
    ("anomaly", Medical), ("tetralogy", Medical), ("triad", Medical), ("tetrad", Medical), ("fasciitis", Medical), ("hoax", Stop),
    ("coma", Medical), ("tool", Medical), ("questionnaire", Medical), ("inventory", Medical), ("scan", Medical), ("suture", Medical),
    ("tests", Medical), ("clamps", Medical), ("drains", Medical), ("tubes", Medical), ("catheters", Medical),
    ("wort", Medical), ("pus", Medical), ("breech", Medical), ("hemoptysis", Medical), ("tears", Medical), ("proteins", Medical),
    ("nerve", Medical), ("retractors", Medical), ("splint", Medical), ("splints", Medical), ("blade", Medical), ("tear", Medical),
    ("nodule", Medical), ("nodules", Medical), ("valve", Medical), ("protein", Medical), ("hematuria", Medical),
    ("retractor", Medical), ("elevator", Medical), ("hook", Medical), ("needle", Medical), ("wire", Medical), ("pin", Medical),
    ("bodies", Medical), ("cells", Medical), ("cell", Medical), ("corpuscles", Medical), ("glands", Medical), ("gland", Medical),
    ("duct", Medical), ("canal", Medical), ("ligament", Medical), ("pupil", Medical), ("nystagmus", Medical), ("lines", Medical),
    ("respiration", Medical), ("respirations", Medical), ("breathing", Medical), ("murmur", Medical), ("angle", Medical),
    ("approach", Medical), ("technique", Medical), ("repair", Medical), ("operation", Medical), ("bypass", Medical), ("study", Medical),

    ("hump", Medical), ("pentad", Medical), ("plaque", Medical), ("plaques", Medical), ("boot", Medical), ("boots", Medical), ("myotomy", Medical),
    ("esophagectomy", Medical), ("shunt", Medical), ("fistula", Medical), ("lamp", Medical), ("osteotomy", Medical), ("fundoplication", Medical),
    ("procedures", Medical), ("tenderness", Medical), ("spirals", Medical), ("rods", Medical), ("membrane", Medical), ("bladder", Medical),
    ("crystals", Medical), ("crisis", Medical), ("epilepsy", Medical), ("encephalopathy", Medical), ("myopathy", Medical), ("dystrophy", Medical),
    ("algorithm", Medical), ("coding", Medical), ("encoding", Medical), ("theorem", Medical), ("distribution", Medical),
    ("optimizer", Medical), ("transform", Medical), ("equations", Medical), ("inequality", Medical), ("lemma", Medical), ("heuristic", Medical),
    ("matrix", Medical), ("equilibrium", Medical), ("principle", Medical), ("curve", Medical), ("effect", Medical), ("paradox", Medical),

    ("lad", Stop), ("rca", Stop), ("lcx", Stop), ("timi", Stop), ("lmca", Stop), ("pda", Stop),
    ("hawkins-kennedy", Eponym), ("budd-chiari", Eponym), ("floyd-warshall", Eponym), ("bellman-ford", Eponym), ("mallory-weiss", Eponym),
    ("henoch-schonlein", Eponym), ("wolff-parkinson-white", Eponym), ("charcot-marie-tooth", Eponym), ("osgood-schlatter", Eponym),
    ("blalock-taussig", Eponym), ("glasgow-blatchford", Eponym), ("peutz-jeghers", Eponym), ("dix-hallpike", Eponym), ("ortolani", Eponym),
    ("stevens-johnson", Eponym), ("prader-willi", Eponym), ("angelman", Eponym), ("zollinger-ellison", Eponym), ("legg-calve-perthes", Eponym),
    ("lesch-nyhan", Eponym), ("chediak-higashi", Eponym), ("jackson-pratt", Eponym), ("hill-sachs", Eponym), ("henderson-hasselbalch", Eponym),
    ("boerhaave", Eponym), ("meckel", Eponym), ("meckels", Eponym), ("zenker", Eponym), ("zenkers", Eponym), ("schatzki", Eponym), ("virchow", Eponym),
    ("wegener", Eponym), ("wegeners", Eponym), ("wallenberg", Eponym), ("breslow", Eponym), ("mohs", Eponym), ("unna", Eponym), ("amsler", Eponym),
    ("snellen", Eponym), ("goldmann", Eponym), ("fick", Eponym), ("poiseuille", Eponym), ("behcet", Eponym), ("behcets", Eponym), ("takayasu", Eponym),
    ("buerger", Eponym), ("buergers", Eponym), ("goodpasture", Eponym), ("hirschsprung", Eponym), ("felty", Eponym), ("caplan", Eponym), ("apley", Eponym),
    ("dijkstra", Eponym), ("huffman", Eponym), ("kahn", Eponym), ("tarjan", Eponym), ("jenkins", Eponym), ("roche", Eponym), ("siemens", Eponym),
    ("novartis", Eponym), ("sanofi", Eponym), ("bayer", Eponym), ("genentech", Eponym), ("zoll", Eponym), ("philips", Eponym), ("hill-rom", Eponym),
    ("fontan", Eponym), ("puestow", Eponym), ("billroth", Eponym), ("bassini", Eponym), ("lichtenstein", Eponym), ("karnofsky", Eponym),
    ("parkinson", Eponym), ("parkinsons", Eponym), ("alzheimer", Eponym), ("alzheimers", Eponym), ("crohn", Eponym), ("crohns", Eponym),
    ("hodgkin", Eponym), ("hodgkins", Eponym), ("hashimoto", Eponym), ("hashimotos", Eponym), ("graves", Eponym), ("foley", Eponym),
    ("babinski", Eponym), ("romberg", Eponym), ("mcburney", Eponym), ("mcburneys", Eponym), ("lachman", Eponym), ("phalen", Eponym),
    ("phalens", Eponym), ("tinel", Eponym), ("tinels", Eponym), ("gleason", Eponym), ("glasgow", Eponym), ("apgar", Eponym),
    ("braden", Eponym), ("cushing", Eponym), ("cushings", Eponym), ("addisons", Eponym), ("raynaud", Eponym),
    ("raynauds", Eponym), ("sjogren", Eponym), ("sjogrens", Eponym), ("marfan", Eponym), ("marfans", Eponym), ("tourette", Eponym),
    ("tourettes", Eponym), ("asperger", Eponym), ("aspergers", Eponym), ("huntingtons", Eponym),
    ("lyme", Eponym), ("kawasaki", Eponym), ("kaposi", Eponym), ("kaposis", Eponym), ("barretts", Eponym),
    ("meniere", Eponym), ("menieres", Eponym), ("wernicke", Eponym), ("korsakoff", Eponym), ("guillain", Eponym), ("epstein", Eponym),
    ("barr", Eponym), ("dupuytren", Eponym), ("dupuytrens", Eponym), ("bakers", Eponym), ("heimlich", Eponym),
    ("valsalva", Eponym), ("trendelenburg", Eponym), ("fowler", Eponym), ("fowlers", Eponym), ("kegel", Eponym), ("kernig", Eponym),
    ("brudzinski", Eponym), ("homan", Eponym), ("homans", Eponym), ("mcmurray", Eponym), ("spurling", Eponym), ("spurlings", Eponym),
    ("hoffmann", Eponym), ("doppler", Eponym), ("holter", Eponym), ("ganz", Eponym), ("hickman", Eponym),
    ("coombs", Eponym), ("gram", Eponym), ("downs", Eponym), ("bells", Eponym),
    ("charcot", Eponym), ("duchenne", Eponym), ("friedreich", Eponym),
    ("paget", Eponym), ("pagets", Eponym), ("peyronie", Eponym), ("peyronies", Eponym), ("whipple", Eponym), ("nissen", Eponym),
    ("roux", Eponym), ("colles", Eponym), ("salter", Eponym), ("ranson", Eponym),
    ("wells", Eponym), ("framingham", Eponym), ("child", Stop), ("pugh", Eponym), ("mallampati", Eponym), ("beck", Eponym),
    ("montreal", Stop), ("heberden", Eponym), ("heberdens", Eponym), ("bouchard", Eponym), ("bouchards", Eponym), ("koplik", Eponym),
    ("osler", Eponym), ("janeway", Eponym), ("cullen", Eponym), ("rovsing", Eponym), ("rovsings", Eponym), ("murphys", Eponym),
    ("chvostek", Eponym), ("trousseau", Eponym), ("cheyne", Eponym), ("stokes", Eponym), ("kussmaul", Eponym), ("pap", Eponym),
    ("papanicolaou", Eponym), ("bartholin", Eponym), ("bartholins", Eponym), ("skene", Eponym), ("braxton", Eponym), ("wilms", Eponym),
    ("ewing", Eponym), ("ewings", Eponym), ("burkitt", Eponym), ("waldenstrom", Eponym), ("von willebrand", Eponym),
    ("willebrand", Eponym), ("gehrig", Eponym), ("gehrigs", Eponym), ("creutzfeldt", Eponym), ("jakob", Eponym),
    ("willis", Eponym), ("oddi", Eponym), ("magenis", Eponym), ("dubin", Eponym), ("starling", Eponym), ("menten", Eponym),
    ("eaton", Eponym), ("mallory", Eponym), ("lewy", Eponym), ("brugada", Eponym), ("parkinsonian", Eponym), ("kirschner", Eponym), ("steri", Eponym), ("kerlix", Eponym),
    ("pfizer", Eponym), ("moderna", Eponym), ("novavax", Eponym), ("astrazeneca", Eponym), ("janssen", Eponym), ("merck", Eponym),
    ("omron", Eponym), ("dexcom", Eponym), ("medtronic", Eponym), ("abbott", Eponym), ("zimmer", Eponym), ("stryker", Eponym),
    ("allegra", Eponym), ("celexa", Eponym), ("lexapro", Eponym), ("coreg", Eponym), ("diovan", Eponym), ("lasix", Eponym),
    ("tylenol", Eponym), ("advil", Eponym), ("xanax", Eponym), ("norco", Eponym), ("percocet", Eponym), ("cipro", Eponym),
    ("flagyl", Eponym), ("motrin", Eponym), ("bactrim", Eponym), ("zocor", Eponym), ("humira", Eponym), ("ozempic", Eponym),

    ("snf", Facility), ("preschool", Facility), ("jail", Facility), ("prison", Facility), ("mortuary", Facility),
    ("hospital", Facility), ("hospitals", Facility), ("clinic", Facility), ("clinics", Facility), ("center", Facility),
    ("centre", Facility), ("healthcare", Facility), ("pharmacy", Facility), ("hospice", Facility), ("institute", Facility),
    ("laboratory", Facility), ("laboratories", Facility), ("labs", Facility), ("infirmary", Facility), ("sanatorium", Facility),
    ("physicians", Facility), ("associates", Facility), ("pediatrics", Facility), ("cardiology", Facility), ("orthopedics", Facility),
    ("orthopaedics", Facility), ("dermatology", Facility), ("oncology", Facility), ("radiology", Facility), ("imaging", Facility),
    ("rehabilitation", Facility), ("rehab", Facility), ("manor", Facility), ("nursing", Facility), ("university", Facility),
    ("college", Facility), ("school", Facility), ("elementary", Facility), ("academy", Facility), ("church", Facility), ("bank", Facility),
    ("inc", Facility), ("llc", Facility), ("corp", Facility), ("corporation", Facility), ("ltd", Facility), ("company", Facility),
    ("health", Facility), ("medicine", Facility), ("dialysis", Facility), ("dental", Facility), ("group", Facility), ("practice", Facility),
    ("system", Facility), ("campus", Facility), ("pavilion", Facility), ("foundation", Facility), ("insurance", Facility),
    ("university of", FacilityOf), ("bakery", Facility), ("construction", Facility), ("logistics", Facility), ("industries", Facility),

    ("outpatient", Generic), ("chronic", Generic), ("maintenance", Generic), ("state", Generic), ("county", Generic),
    ("metropolitan", Generic), ("children", Generic), ("women", Generic), ("assisted", Generic), ("living", Generic),
    ("advanced", Generic), ("integrated", Generic), ("virtual", Generic), ("digital", Generic), ("quality", Generic), ("inpatient", Generic), ("primary", Generic), ("care", Generic), ("emergency", Generic), ("urgent", Generic),
    ("intensive", Generic), ("department", Generic), ("medical", Generic), ("surgical", Generic), ("surgery", Generic), ("family", Generic),
    ("internal", Generic), ("pain", Generic), ("orthopedic", Generic), ("orthopaedic", Generic), ("neurology", Generic),
    ("neurosurgery", Generic), ("cancer", Generic), ("heart", Generic), ("vascular", Generic), ("eye", Generic), ("sleep", Generic),
    ("wound", Generic), ("infusion", Generic), ("women's", Generic), ("womens", Generic), ("children's", Generic), ("childrens", Generic),
    ("mental", Generic), ("behavioral", Generic), ("public", Generic), ("home", Generic), ("community", Generic), ("regional", Generic),
    ("general", Generic), ("local", Generic), ("specialty", Generic), ("retail", Generic), ("same", Generic), ("day", Generic),
    ("walk", Generic), ("acute", Generic), ("long", Generic), ("term", Generic), ("skilled", Generic), ("facility", Generic),
    ("electronic", Generic), ("high", Generic), ("middle", Generic), ("the", Generic), ("a", Generic), ("an", Generic), ("our", Generic),
    ("your", Generic), ("my", Generic), ("this", Generic), ("that", Generic), ("her", Generic), ("his", Generic), ("their", Generic),
    ("gi", Generic), ("ent", Generic), ("ob", Generic), ("gyn", Generic), ("icu", Generic), ("er", Generic), ("ed", Generic),
    ("diabetes", Generic), ("endocrine", Generic), ("endocrinology", Generic), ("pulmonary", Generic), ("renal", Generic),
    ("urology", Generic), ("gastroenterology", Generic), ("rheumatology", Generic), ("psychiatry", Generic), ("physical", Generic),
    ("occupational", Generic), ("therapy", Generic), ("trauma", Generic), ("stroke", Generic), ("breast", Generic), ("spine", Generic),
    ("sports", Generic), ("travel", Generic), ("teaching", Generic), ("research", Generic), ("clinical", Generic), ("private", Generic),
    ("group.", Generic), ("and", Generic), ("of", Generic), ("for", Generic), ("at", Place), ("call", Generic), ("fertility", Generic),
    ("hematology", Generic), ("nephrology", Generic), ("geriatrics", Generic), ("psychiatric", Generic), ("ambulatory", Generic),
    ("veterans", Generic), ("affairs", Generic), ("new", Generic), ("good", Generic), ("global", Generic), ("life", Generic),
    ("weight", Generic), ("loss", Generic), ("birth", Generic), ("blood", Generic), ("call center", Generic), ("data", Generic),

    ("american", Body), ("national", Body), ("world", Body), ("international", Body), ("european", Body), ("united", Body),
    ("federal", Body), ("british", Body), ("canadian", Body), ("preventive", Body), ("food", Body), ("society", Body),

    ("street", Street), ("avenue", Street), ("ave", Street), ("blvd", Street), ("boulevard", Street), ("road", Street), ("rd", Street),
    ("lane", Street), ("ln", Street), ("drive", Street), ("court", Street), ("ct", Street), ("place", Street), ("pl", Street),
    ("terrace", Street), ("circle", Street), ("cir", Street), ("parkway", Street), ("pkwy", Street), ("highway", Street), ("hwy", Street),
    ("trail", Street), ("trl", Street), ("way", Street), ("square", Street), ("sq", Street), ("plaza", Street), ("alley", Street),
    ("cove", Street), ("cv", Street), ("xing", Street), ("crossing", Street), ("lndg", Street), ("trce", Street), ("aly", Street), ("hwy.", Street),
    ("crescent", Street), ("loop", Street), ("turnpike", Street), ("row", Street), ("path", Street), ("pike", Street), ("str", Street),

    ("north", Direction), ("south", Direction), ("east", Direction), ("west", Direction), ("n", Direction), ("s", Direction),
    ("e", Direction), ("w", Direction), ("ne", Direction), ("nw", Direction), ("se", Direction), ("sw", Direction),
    ("apt", Unit), ("apartment", Unit), ("suite", Unit), ("ste", Unit), ("unit", Unit), ("rm", Unit), ("room", Unit), ("floor", Unit),
    ("bldg", Unit), ("building", Unit), ("lot", Unit),

    ("in", Place), ("from", Place), ("near", Place), ("to", Place), ("outside", Place), ("around", Place), ("visiting", Place),
    ("downtown", Place), ("lives", Place), ("resides", Place), ("city", Place), ("town", Place), ("moved", Place),

    ("alabama", State), ("carolina", State), ("dakota", State), ("jersey", State), ("hampshire", State), ("alaska", State), ("arizona", State), ("arkansas", State), ("california", State), ("colorado", State),
    ("connecticut", State), ("delaware", State), ("florida", State), ("georgia", State), ("hawaii", State), ("idaho", State),
    ("illinois", State), ("indiana", State), ("iowa", State), ("kansas", State), ("kentucky", State), ("louisiana", State),
    ("maine", State), ("maryland", State), ("massachusetts", State), ("michigan", State), ("minnesota", State),
    ("mississippi", State), ("missouri", State), ("montana", State), ("nebraska", State), ("nevada", State), ("ohio", State),
    ("oklahoma", State), ("oregon", State), ("pennsylvania", State), ("tennessee", State), ("texas", State), ("utah", State),
    ("vermont", State), ("virginia", State), ("washington", State), ("wisconsin", State), ("wyoming", State), ("ontario", State),
    ("quebec", State), ("mexico", State), ("canada", State), ("china", State), ("india", State), ("france", State), ("germany", State),
    ("england", State), ("scotland", State), ("ireland", State), ("spain", State), ("italy", State), ("japan", State), ("brazil", State),
    ("russia", State), ("poland", State), ("ukraine", State), ("korea", State), ("vietnam", State), ("philippines", State),
    ("africa", State), ("europe", State), ("asia", State), ("america", State), ("australia", State), ("nigeria", State), ("kenya", State),
    ("egypt", State), ("israel", State), ("iran", State), ("iraq", State), ("syria", State), ("cuba", State), ("haiti", State),
    ("guatemala", State), ("honduras", State), ("colombia", State), ("peru", State), ("chile", State), ("argentina", State),
    ("pakistan", State), ("bangladesh", State), ("usa", State), ("uk", State), ("puerto", State), ("singapore", State), ("turkey", State),

    ("i", Stop), ("january", Stop), ("february", Stop), ("march", Stop), ("april", Stop), ("may", Stop), ("june", Stop), ("july", Stop),
    ("august", Stop), ("september", Stop), ("october", Stop), ("november", Stop), ("december", Stop), ("monday", Stop),
    ("tuesday", Stop), ("wednesday", Stop), ("thursday", Stop), ("friday", Stop), ("saturday", Stop), ("sunday", Stop), ("jan", Stop),
    ("feb", Stop), ("mar", Stop), ("apr", Stop), ("jun", Stop), ("jul", Stop), ("aug", Stop), ("sep", Stop), ("sept", Stop), ("oct", Stop),
    ("nov", Stop), ("dec", Stop), ("am", Stop), ("pm", Stop), ("ok", Stop), ("yes", Stop), ("no", Stop), ("will", Stop), ("is", Stop),
    ("was", Stop), ("has", Stop), ("he", Stop), ("she", Stop), ("it", Stop), ("we", Stop), ("you", Stop), ("they", Stop), ("if", Stop),
    ("so", Stop), ("as", Stop), ("on", Stop), ("or", Stop), ("but", Stop), ("not", Stop), ("with", Stop), ("id", Stop), ("mrn", Stop),
    ("dob", Stop), ("ssn", Stop), ("history", Stop), ("exam", Stop), ("plan", Stop), ("assessment", Stop), ("hpi", Stop), ("ros", Stop),
    ("mri", Stop), ("apgar", Stop), ("apgars", Stop), ("ct scan", Stop), ("ekg", Stop), ("ecg", Stop), ("covid", Stop), ("hiv", Stop), ("copd", Stop), ("gerd", Stop),
    ("cad", Stop), ("chf", Stop), ("christmas", Stop), ("easter", Stop), ("thanksgiving", Stop), ("english", Stop), ("spanish", Stop),
    ("french", Stop), ("medicare", Stop), ("medicaid", Stop), ("null", Stop), ("none", Stop), ("unknown", Stop), ("male", Stop),
    ("female", Stop), ("guest", Stop), ("god", Stop), ("lord", Stop), ("jesus", Stop), ("christ", Stop), ("virginia's", Stop),
    ("here", Stop), ("there", Stop), ("what", Stop), ("when", Stop), ("how", Stop), ("who", Stop), ("why", Stop), ("see", Stop), ("says", Stop),
    ("said", Stop), ("well", Stop), ("okay", Stop), ("all", Stop), ("any", Stop), ("every", Stop), ("let", Stop), ("lets", Stop), ("can", Stop),
    ("could", Stop), ("would", Stop), ("should", Stop), ("have", Stop), ("had", Stop), ("are", Stop), ("be", Stop), ("been", Stop), ("than", Stop),
    ("sure", Stop), ("oh", Stop), ("okey", Stop), ("um", Stop), ("uhm", Stop), ("uh", Stop), ("lemme", Stop), ("yeah", Stop), ("hmm", Stop),
    ("gonna", Stop), ("re", Stop), ("ve", Stop), ("ll", Stop), ("cuban", Stop), ("german", Stop), ("mr.", Stop), ("just", Stop), ("now", Stop), ("also", Stop), ("about", Stop), ("after", Stop), ("before", Stop), ("did", Stop), ("does", Stop),

    // The words that are used most: nobody asks the lists about them.
    ("then", Stop), ("them", Stop), ("me", Stop), ("mine", Stop), ("us", Stop), ("its", Stop), ("into", Stop), ("over", Stop),
    ("under", Stop), ("only", Stop), ("other", Stop), ("some", Stop), ("such", Stop), ("both", Stop), ("each", Stop),
    ("few", Stop), ("more", Stop), ("most", Stop), ("many", Stop), ("much", Stop), ("very", Stop), ("too", Stop),
    ("really", Stop), ("like", Stop), ("think", Stop), ("know", Stop), ("want", Stop), ("feel", Stop), ("feels", Stop),
    ("feeling", Stop), ("take", Stop), ("taking", Stop), ("taken", Stop), ("took", Stop), ("make", Stop), ("made", Stop),
    ("get", Stop), ("got", Stop), ("getting", Stop), ("go", Stop), ("going", Stop), ("goes", Stop), ("went", Stop),
    ("come", Stop), ("came", Stop), ("back", Stop), ("better", Stop), ("bad", Stop), ("left", Stop), ("right", Stop),
    ("knee", Stop), ("hip", Stop), ("hand", Stop), ("foot", Stop), ("pressure", Stop), ("breath", Stop), ("chest", Stop),
    ("shoulder", Stop), ("ankle", Stop), ("elbow", Stop), ("wrist", Stop), ("normal", Stop), ("medication", Stop),
    ("medications", Stop), ("doing", Stop), ("done", Stop), ("today", Stop), ("week", Stop), ("weeks", Stop), ("month", Stop),
    ("months", Stop), ("year", Stop), ("years", Stop), ("old", Stop), ("time", Stop), ("still", Stop), ("need", Stop),
    ("needs", Stop), ("try", Stop), ("tried", Stop), ("help", Stop), ("helping", Stop), ("keep", Stop), ("one", Stop),
    ("two", Stop), ("three", Stop), ("four", Stop), ("five", Stop), ("six", Stop), ("seven", Stop), ("eight", Stop),
    ("nine", Stop), ("ten", Stop), ("little", Stop), ("bit", Stop), ("something", Stop), ("anything", Stop), ("nothing", Stop),
    ("because", Stop), ("while", Stop), ("where", Stop), ("which", Stop), ("whose", Stop), ("were", Stop), ("being", Stop),
    ("up", Stop), ("down", Stop), ("off", Stop), ("out", Stop), ("through", Stop), ("during", Stop), ("again", Stop),
    ("once", Stop), ("upon", Stop), ("since", Stop), ("until", Stop), ("between", Stop), ("against", Stop), ("further", Stop),
    ("however", Stop), ("mean", Stop), ("alright", Stop), ("great", Stop), ("fine", Stop), ("nice", Stop), ("without", Stop),
    ("within", Stop), ("along", Stop), ("across", Stop), ("per", Stop), ("via", Stop), ("reports", Stop), ("denies", Stop),
    ("noted", Stop), ("notes", Stop), ("following", Stop), ("review", Stop), ("reviewed", Stop), ("positive", Stop),
    ("negative", Stop), ("mild", Stop), ("moderate", Stop), ("severe", Stop), ("daily", Stop), ("twice", Stop),
    ("times", Stop), ("tablet", Stop), ("tablets", Stop), ("milligrams", Stop), ("symptoms", Stop), ("treatment", Stop),
    ("issues", Stop), ("work", Stop), ("working", Stop), ("works", Stop), ("ago", Stop), ("bottle", Stop), ("eat", Stop),
    ("eating", Stop), ("drink", Stop), ("drinking", Stop), ("walking", Stop),
]);

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
    ("patient last name", Field::Name), ("patient first name", Field::Name), ("pt last name", Field::Name), ("pt first name", Field::Name),
    ("last first", Field::PerhapsName), ("patient last", Field::PartOfName), ("patient first", Field::PartOfName),
    ("pt last", Field::PartOfName), ("pt first", Field::PartOfName),
    ("first name", Field::Name), ("last name", Field::Name), ("firstname", Field::Name), ("fname", Field::Name), ("lname", Field::Name),
    ("middle name", Field::Name), ("surname", Field::Name), ("family name", Field::Name), ("given name", Field::Name),
    ("full name", Field::Name), ("patient name", Field::Name), ("pt name", Field::Name), ("patient", Field::Somebody),
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
    ("guarantor", Field::Somebody), ("guarantor name", Field::Name), ("subscriber name", Field::Name), ("insured name", Field::Name),
    ("member name", Field::Name), ("next of kin", Field::Somebody), ("spouse", Field::Somebody), ("mother", Field::Somebody),
    ("father", Field::Somebody), ("mothers maiden name", Field::Name), ("guardian", Field::Somebody), ("author", Field::PerhapsName),
    ("signed by", Field::PerhapsName), ("dictated by", Field::PerhapsName), ("from", Field::PerhapsName), ("to", Field::PerhapsName),
    ("employee name", Field::Name), ("customer name", Field::Name), ("customer", Field::PerhapsName), ("client name", Field::Name),
    ("person", Field::Person), ("guardian name", Field::Name), ("patient full name", Field::Name), ("caregiver", Field::Somebody),
    ("caregiver name", Field::Name), ("assigned nurse", Field::Somebody), ("care manager", Field::Somebody), ("case manager", Field::Somebody),
    ("nm last", Field::PartOfName), ("nm first", Field::PartOfName), ("name last", Field::PartOfName), ("name first", Field::PartOfName),
    ("spouse name", Field::Name), ("mother name", Field::Name), ("father name", Field::Name), ("parent name", Field::Name),
    ("caller name", Field::Name), ("recipient name", Field::PerhapsName), ("beneficiary name", Field::Name),
    ("cardholder name", Field::Name), ("policyholder", Field::Somebody), ("policyholder name", Field::Name), ("nurse name", Field::Name),
    ("surgeon name", Field::Name), ("attending name", Field::Name), ("husband", Field::Somebody), ("wife", Field::Somebody),
    ("performer", Field::PerhapsName), ("user full name", Field::Name), ("responsible party", Field::Person),

    ("street", Field::Address), ("street address", Field::Address), ("address", Field::Address), ("address line", Field::Address),
    ("address line 1", Field::Address), ("address 1", Field::Address), ("address1", Field::Address), ("addr", Field::Address),
    ("home address", Field::Address), ("mailing address", Field::Address), ("patient address", Field::Address), ("line", Field::AddressLine),
    ("line1", Field::Address), ("addr line", Field::Address), ("street1", Field::Address), ("address2", Field::Address),
    ("city", Field::City), ("town", Field::City), ("hometown", Field::City), ("patient city", Field::City), ("birth place", Field::City),
    ("birthplace", Field::City), ("county", Field::City), ("district", Field::City), ("zip", Field::Zip), ("zip code", Field::Zip),
    ("zipcode", Field::Zip), ("postal code", Field::Zip), ("postcode", Field::Zip), ("postal", Field::Zip),
    ("hospital", Field::Organization), ("hospital name", Field::Organization), ("facility", Field::Organization),
    ("facility name", Field::Organization), ("clinic", Field::Organization), ("clinic name", Field::Organization),
    ("organization", Field::Organization), ("organization name", Field::Organization), ("employer", Field::Organization),
    ("employer name", Field::Organization), ("managing organization", Field::Organization), ("practice", Field::Organization),
    ("practice name", Field::Organization), ("pharmacy", Field::Organization), ("school", Field::Organization),
]);
