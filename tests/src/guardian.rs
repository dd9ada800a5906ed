//! Sees to it that nothing outlives the test process: children are killed and folders removed when it ends,
//! in whatever way. It is a shell at the other end of a pipe; the pipe's end is its cue.

use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

static GUARDIAN: OnceLock<Mutex<ChildStdin>> = OnceLock::new();

/// Keeps two lists, processes and folders, and acts on them at the end of its input. The process group is its
/// own, so that a Ctrl-C at the terminal does not end it before its work is done.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
pids=' '
folders=''
while read -r word value; do
  case "$word" in
    watch) pids="$pids$value " ;;
    forget) pids=$(printf '%s' "$pids" | sed "s/ $value / /") ;;
    folder) folders="$folders $value" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
for folder in $folders; do rm -rf "$folder"; done
"#;

/// Kills this process when the tests end.
pub fn watch(pid: u32) {
    say(&format!("watch {pid}"));
}

/// Leaves this process alone: it has ended, and its number may be given away.
pub fn forget(pid: u32) {
    say(&format!("forget {pid}"));
}

/// Removes this folder when the tests end.
pub fn folder(path: &Path) {
    say(&format!("folder {}", path.display()));
}

fn say(line: &str) {
    let guardian = GUARDIAN.get_or_init(|| Mutex::new(start()));
    let mut pipe = guardian.lock().unwrap();
    writeln!(pipe, "{line}").unwrap();
}

#[expect(
    clippy::zombie_processes,
    reason = "the guardian outlives this process on purpose: it reads the end of the pipe"
)]
fn start() -> ChildStdin {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    let shell = shell
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .process_group(0);
    let mut child = shell
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starting sh");
    child.stdin.take().expect("the pipe to the guardian")
}
