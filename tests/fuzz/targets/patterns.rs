//! libFuzzer's way into `patterns`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("patterns", data));
