//! The shared library of OR-tools, through its C interface. The only unsafe code of the crate. Loaded by workers
//! only: what the library does wrong (abort, hang, memory) must not happen to the gateway.

#![expect(
    unsafe_code,
    reason = "calls into a C library; each block states its proof"
)]

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

use libloading::{Library as Loaded, Symbol};
use parking_lot::Mutex;

/// Why the library cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LibraryError {
    #[error("the solver library cannot be loaded: {}", reason(.0))]
    Load(#[source] libloading::Error),
    #[error("the solver library lacks a function: {}", reason(.0))]
    Symbol(#[source] libloading::Error),
    #[error("the solver library gave no answer")]
    NoAnswer,
}

/// The linker's own words, which name file or function; the error's are no more than that it failed.
fn reason(error: &libloading::Error) -> String {
    let linker = std::error::Error::source(error);
    linker.map_or_else(|| error.to_string(), ToString::to_string)
}

// ortools/sat/c_api/cp_solver_c.h of OR-tools 9.15. The result is allocated with malloc and is the caller's.
type NewEnv = unsafe extern "C" fn() -> *mut c_void;
type DestroyEnv = unsafe extern "C" fn(*mut c_void);
type StopSearch = unsafe extern "C" fn(*mut c_void);
type Solve = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    c_int,
    *const c_void,
    c_int,
    *mut *mut c_void,
    *mut c_int,
);
type Free = unsafe extern "C" fn(*mut c_void);

/// The loaded library. One search runs at a time.
pub(crate) struct Library {
    new_env: NewEnv,
    destroy_env: DestroyEnv,
    stop_search: StopSearch,
    solve: Solve,
    free: Free,
    running: Mutex<Option<Env>>,
    stopped: AtomicBool,
    /// Keeps the functions above alive.
    _loaded: Loaded,
}

/// A search that can be stopped from another thread.
struct Env(*mut c_void);

// SAFETY: the library lets any thread stop a search (its flag is atomic), and `running` is a mutex that is held
// while the pointer is used or destroyed.
unsafe impl Send for Env {}

impl Library {
    /// Loads the library from a file.
    ///
    /// # Errors
    /// A file that is missing or no such library.
    pub(crate) fn open(path: &Path) -> Result<Self, LibraryError> {
        // SAFETY: loading runs the initialisers of OR-tools' own libraries, which set up flags and registries and
        // need nothing of us. Symbols have the types of the header of the version that set-up pins.
        unsafe {
            let loaded = Loaded::new(path).map_err(LibraryError::Load)?;
            // `free` as the library itself resolves it: the executable's allocator may stand in for libc's.
            let itself = Loaded::from(libloading::os::unix::Library::this());
            let free = *symbol::<Free>(&itself, b"free\0")?;
            Ok(Self {
                new_env: *symbol(&loaded, b"SolveCpNewEnv\0")?,
                destroy_env: *symbol(&loaded, b"SolveCpDestroyEnv\0")?,
                stop_search: *symbol(&loaded, b"SolveCpStopSearch\0")?,
                solve: *symbol(&loaded, b"SolveCpInterruptible\0")?,
                free,
                running: Mutex::new(None),
                stopped: AtomicBool::new(false),
                _loaded: loaded,
            })
        }
    }

    /// Runs a search on an encoded model with encoded parameters; gives the encoded response.
    ///
    /// # Errors
    /// When the library returns nothing, or a model is longer than its interface can say.
    pub(crate) fn solve(&self, model: &[u8], parameters: &[u8]) -> Result<Vec<u8>, LibraryError> {
        let model_bytes = c_int::try_from(model.len()).map_err(|_| LibraryError::NoAnswer)?;
        let parameter_bytes =
            c_int::try_from(parameters.len()).map_err(|_| LibraryError::NoAnswer)?;
        let mut response: *mut c_void = ptr::null_mut();
        let mut response_bytes: c_int = 0;
        // SAFETY: takes nothing and gives a pointer that stays valid until `destroy_env`.
        let env = unsafe { (self.new_env)() };
        *self.running.lock() = Some(Env(env));
        if self.stopped.load(Ordering::SeqCst) {
            self.stop();
        }
        // SAFETY: the buffers outlive the call and have the lengths given; `env` is destroyed only below.
        unsafe {
            (self.solve)(
                env,
                model.as_ptr().cast(),
                model_bytes,
                parameters.as_ptr().cast(),
                parameter_bytes,
                &raw mut response,
                &raw mut response_bytes,
            );
        }
        let running = self.running.lock().take();
        if let Some(Env(env)) = running {
            // SAFETY: the search is over, and `stop` no longer finds the pointer.
            unsafe { (self.destroy_env)(env) };
        }
        let length = usize::try_from(response_bytes).unwrap_or_default();
        if response.is_null() {
            return Err(LibraryError::NoAnswer);
        }
        // SAFETY: the library gives a buffer of this length, which nobody else holds.
        let bytes = unsafe { slice::from_raw_parts(response.cast::<u8>(), length) }.to_vec();
        // SAFETY: the buffer is malloc's, ours, and used no more.
        unsafe { (self.free)(response) };
        Ok(bytes)
    }

    /// Asks the search that runs, and those that come, to end. Returns at once.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        if let Some(Env(env)) = &*self.running.lock() {
            // SAFETY: the pointer is valid while it is in `running`, whose lock is held.
            unsafe { (self.stop_search)(*env) };
        }
    }

    /// Allows searches again after [`Library::stop`].
    pub(crate) fn resume(&self) {
        self.stopped.store(false, Ordering::SeqCst);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// # Safety
/// The symbol must have the type asked for.
unsafe fn symbol<'a, T>(loaded: &'a Loaded, name: &[u8]) -> Result<Symbol<'a, T>, LibraryError> {
    // SAFETY: the caller's promise.
    unsafe { loaded.get(name) }.map_err(LibraryError::Symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_told_by_its_path() {
        let told = Library::open(Path::new("/nowhere/libortools.so.9")).err();
        let told = told.map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("/nowhere/libortools.so.9"), "{told}");
    }
}
