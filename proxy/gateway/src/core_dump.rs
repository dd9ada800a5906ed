//! No core dump of this process: its memory has the master key, secrets of other services and what people say, and a
//! dump would put them on a disk.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Forbids it to this process and to those that it starts, for good.
///
/// # Errors
/// The system refuses.
pub(crate) fn forbid() -> std::io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    Ok(setrlimit(Resource::Core, none)?)
}
