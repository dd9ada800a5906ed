//! libFuzzer's way into `alpha_count`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("alpha_count", data));
