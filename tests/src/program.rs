//! The program under test, and where the repository keeps what it needs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The built gateway, beside the folder of the test executable.
///
/// # Panics
/// When it has not been built.
pub fn gateway() -> PathBuf {
    let program = profile_folder().join("svc-gateway");
    assert!(
        program.is_file(),
        "{} is missing: run cargo build first",
        program.display()
    );
    program
}

/// The plugins that `cargo build` put beside the gateway.
pub fn plugins() -> PathBuf {
    let folder = profile_folder().join("plugins");
    assert!(
        folder.is_dir(),
        "{} is missing: run cargo build first",
        folder.display()
    );
    folder
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the folder above tests/")
        .to_owned()
}

/// The target folder that all of it was built into.
pub fn target() -> PathBuf {
    profile_folder()
        .parent()
        .expect("the folder above the profile")
        .to_owned()
}

/// `target/<profile>`: test executables lie in `deps` below it, binaries in it.
fn profile_folder() -> PathBuf {
    let executable = std::env::current_exe().expect("the path of this executable");
    let folder = executable.parent().expect("the folder of this executable");
    if folder.ends_with("deps") {
        folder.parent().expect("the folder above deps").to_owned()
    } else {
        folder.to_owned()
    }
}

/// A command with the gateway's program and nothing of our environment but the search path. All of them share compiled
/// plugins: compiling them for each would be most of what the tests do.
pub fn command() -> Command {
    let mut command = clean(Command::new(gateway()));
    command.env("SVC_PLUGIN_CACHE", profile_folder().join("plugin-cache"));
    command
}

/// Takes the environment away: what a developer has exported must not decide about a test.
pub fn clean(mut command: Command) -> Command {
    command.env_clear().env(
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    );
    command
}

/// Standard output of a command that must succeed.
///
/// # Panics
/// When it does not.
pub fn output_of(command: &mut Command) -> String {
    let output = run(command);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{command:?} failed: {}\n{out}\n{err}",
        output.status
    );
    out
}

/// A finished command, whatever it says.
pub fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
