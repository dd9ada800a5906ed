//! libFuzzer's way into `phi_redactor`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("phi_redactor", data));
