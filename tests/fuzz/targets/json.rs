//! libFuzzer's way into `json`; what it checks stands in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| svc_fuzz::run("json", data));
