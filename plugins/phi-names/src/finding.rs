//! What is found, and the kinds it can be.

/// One finding, in bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub start: usize,
    pub end: usize,
    pub kind: usize,
    /// Per mille.
    pub score: u16,
    /// The words around made it one.
    pub contextual: bool,
    /// Means something only where a person is spoken of: a city in a field of its own may be anybody's.
    pub needs_person: bool,
}

impl Finding {
    pub const fn new(kind: usize, start: usize, end: usize, score: u16) -> Self {
        Self {
            start,
            end,
            kind,
            score,
            contextual: false,
            needs_person: false,
        }
    }

    #[must_use]
    pub const fn contextual(mut self) -> Self {
        self.contextual = true;
        self
    }
}

impl Finding {
    #[must_use]
    pub const fn needing_person(mut self) -> Self {
        self.needs_person = true;
        self
    }
}

/// What an entity kind is called and how strict it is by default.
pub struct Kind {
    pub name: &'static str,
    /// Safe Harbor identifier class.
    pub hipaa_class: u8,
    pub default_threshold: u16,
}

pub const NAME: usize = 0;
pub const ADDRESS: usize = 1;
pub const LOCATION: usize = 2;
pub const ORGANIZATION: usize = 3;

const fn kind(name: &'static str, hipaa_class: u8) -> Kind {
    Kind {
        name,
        hipaa_class,
        default_threshold: 500,
    }
}

/// In the order of the constants above and of the manifest.
pub const KINDS: [Kind; 4] = [
    kind("NAME", 1),
    kind("ADDRESS", 2),
    kind("LOCATION", 2),
    kind("ORGANIZATION", 0),
];
