//! The kinds that this detector finds.

use detector_kit::Kind;

pub use detector_kit::Finding;

pub const NAME: usize = 0;
pub const ADDRESS: usize = 1;
pub const LOCATION: usize = 2;
pub const ORGANIZATION: usize = 3;

/// In the order of the constants above and of the manifest.
pub const KINDS: [Kind; 4] = [
    Kind::new("NAME", 1),
    Kind::new("ADDRESS", 2),
    Kind::new("LOCATION", 2),
    Kind::new("ORGANIZATION", 0),
];

/// A location that means something only where a person is spoken of: a city in a field of its own may be anybody's.
/// It leaves the detector as a [`LOCATION`] or not at all.
pub const PERHAPS_LOCATION: usize = KINDS.len();
