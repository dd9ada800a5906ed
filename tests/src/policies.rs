//! Copies of the shipped policies and plugins, for tests that change them.

use std::path::{Path, PathBuf};

use crate::{guardian, program};

/// A folder of policies of one's own.
pub struct Policies {
    folder: tempfile::TempDir,
}

impl Policies {
    pub fn copy() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        guardian::folder(folder.path());
        copy(&program::repository().join("policies"), folder.path());
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(file)).expect("a policy file")
    }

    /// Puts a file in place at once, as an editor or a deployment does: no reader sees half of it.
    pub fn write(&self, file: &str, text: &str) {
        replace(&self.folder.path().join(file), text.as_bytes());
    }

    /// Replaces one text that must be there.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{from:?} does not stand in {file}");
        self.write(file, &text.replacen(from, to, 1));
    }
}

/// A copy of the built plugins.
pub fn plugins() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    guardian::folder(folder.path());
    copy(&program::plugins(), folder.path());
    folder
}

/// Writes beside a file, then renames over it.
pub fn replace(path: &Path, bytes: &[u8]) {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    std::fs::write(&beside, bytes).expect("writing");
    std::fs::rename(&beside, path).expect("renaming");
}

/// Copies a folder with everything below it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("making a folder");
    for entry in std::fs::read_dir(from).expect("reading a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copying a file");
        }
    }
}
