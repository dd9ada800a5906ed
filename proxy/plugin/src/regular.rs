//! Files in folders that operators fill. Only regular ones are opened: a pipe would keep whoever opens it waiting for
//! somebody who writes to it, and a device may have no end.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file, or what a link to one leads to.
///
/// # Errors
/// Those of the file system, and anything that is there and no file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // Nobody is waited for to write to a pipe. What was opened is looked at, and no longer its name, which may be that of
    // another file by then.
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let file = options.read(true).custom_flags(at_once).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        let kind = io::ErrorKind::InvalidInput;
        Err(io::Error::new(kind, "is not a regular file"))
    }
}

/// The text of a regular file.
///
/// # Errors
/// As [`open_regular`], and a file that is no UTF-8.
pub fn read_regular(path: &Path) -> io::Result<String> {
    io::read_to_string(open_regular(path)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        assert_eq!(read_regular(&at("file")).unwrap(), "text");
        assert_eq!(read_regular(&at("link")).unwrap(), "text");
        mkfifoat(CWD, at("pipe"), Mode::RUSR).unwrap();
        for other in ["socket", "pipe", ".", "loop", "none"] {
            assert!(read_regular(&at(other)).is_err(), "{other}");
        }
    }
}
