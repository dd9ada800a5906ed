//! libFuzzer's way into `beta_answer`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("beta_answer", data));
