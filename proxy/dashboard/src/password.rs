//! Passwords: Argon2id, a few at a time, off the threads that serve.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use svc_core::fault::{Fault, Problems};
use svc_pipeline::gateway::Gateway;
use svc_store::seal::Content;

/// OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// NIST SP 800-63B-4, 3.1.1.2: 15 where nothing else is asked for, 8 with a second factor. One floor for both.
pub(crate) const MIN_CHARS: usize = 12;
/// The same, as forms say it.
pub(crate) const HINT: &str = "At least 12 characters; a sentence is easiest to remember.";
/// Longer ones are no safer, and hashing them costs us.
const MAX_CHARS: usize = 256;

/// What nobody's password ever was: checked in the place of a hash that does not exist, so that the time of an answer
/// does not tell who has an account.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c3ZjLWdhdGV3YXktbm8$\
                      8mJ9vN0O3w6nF0xk3o5m8Q2qk1d1Q6fYhVxFh8B1m0E";

fn argon2() -> Result<Argon2<'static>, Fault> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None);
    let params = params.map_err(|error| Fault::internal(format_args!("argon2: {error}")))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// A password that somebody wants from now on.
///
/// # Errors
/// 422 that names every problem.
pub(crate) fn check_new(password: &str, again: &str, email: &str) -> Result<(), Fault> {
    let mut problems = Problems::default();
    let chars = password.chars().count();
    if chars < MIN_CHARS {
        problems.add("password", format!("Use at least {MIN_CHARS} characters."));
    } else if chars > MAX_CHARS {
        problems.add("password", format!("Use at most {MAX_CHARS} characters."));
    }
    let plain = password.to_lowercase();
    let mailbox = email.split('@').next().unwrap_or_default().to_lowercase();
    let is_guessable = !mailbox.is_empty() && plain == mailbox
        || plain == email.to_lowercase()
        || plain.chars().all(|letter| plain.starts_with(letter))
        || COMMON
            .iter()
            .any(|word| plain.trim_matches(|c: char| !c.is_alphabetic()) == *word);
    if chars >= MIN_CHARS && is_guessable {
        problems.add(
            "password",
            "This is one of the first that somebody would try.",
        );
    }
    if password != again {
        problems.add("again", "The two are not the same.");
    }
    problems.into_result()
}

/// Words that reach the minimum with digits or signs around them.
const COMMON: [&str; 8] = [
    "password",
    "passwort",
    "qwertyuiop",
    "letmein",
    "iloveyou",
    "administrator",
    "welcome",
    "changeme",
];

/// The hash of a password.
///
/// # Errors
/// 500 when it cannot be made.
pub(crate) async fn hash(gateway: &Gateway, password: &str) -> Result<String, Fault> {
    let argon2 = argon2()?;
    let password = Content::new(password);
    apart(gateway, move || {
        let hash = argon2.hash_password(password.as_str().as_bytes());
        let hash = hash.map_err(|error| Fault::internal(format_args!("argon2: {error}")))?;
        Ok(hash.to_string())
    })
    .await
}

/// Whether a password is the one of this hash. Takes as long where there is none.
///
/// # Errors
/// 500 for a hash that cannot be read.
pub(crate) async fn verify(
    gateway: &Gateway,
    password: &str,
    phc: Option<String>,
) -> Result<bool, Fault> {
    let argon2 = argon2()?;
    let password = Content::new(password.chars().take(MAX_CHARS + 1).collect::<String>());
    apart(gateway, move || {
        let exists = phc.is_some();
        let phc = phc.unwrap_or_else(|| NOBODY.to_owned());
        let hash = PasswordHash::new(&phc)
            .map_err(|error| Fault::internal(format_args!("a stored password: {error}")))?;
        let is_right = argon2.verify_password(password.as_str().as_bytes(), &hash);
        Ok(exists && is_right.is_ok())
    })
    .await
}

/// On a thread of its own, when its turn has come.
async fn apart<T: Send + 'static>(
    gateway: &Gateway,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let failed = |error: &dyn std::fmt::Display| Fault::internal(format_args!("hashing: {error}"));
    let _turn = gateway
        .hashing
        .acquire()
        .await
        .map_err(|error| failed(&error))?;
    let done = gateway.background.spawn_blocking(work).await;
    done.map_err(|error| failed(&error))?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn nobodys_hash_can_be_checked() {
        let hash = PasswordHash::new(NOBODY).unwrap();
        assert!(argon2().unwrap().verify_password(b"", &hash).is_err());
    }

    #[test]
    fn forms_say_how_long_a_password_is() {
        assert!(HINT.contains(&format!(" {MIN_CHARS} ")));
    }

    #[test]
    fn a_new_password_is_long_and_not_guessable() {
        let refused =
            |password: &str| check_new(password, password, "nurse.joy@clinic.example").is_err();
        assert!(!refused("correct horse battery"));
        for bad in [
            "short",
            "aaaaaaaaaaaaaaa",
            "Password12345!",
            "nurse.joy@clinic.example",
            &"ab".repeat(200),
        ] {
            assert!(refused(bad), "{bad}");
        }
        let fault = check_new("short", "other", "a@b.example").unwrap_err();
        assert_eq!(fault.details.len(), 2);
    }
}
