//! libFuzzer's way into `phi_reading`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("phi_reading", data));
