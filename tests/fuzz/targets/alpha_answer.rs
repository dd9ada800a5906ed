//! libFuzzer's way into `alpha_answer`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("alpha_answer", data));
