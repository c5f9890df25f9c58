#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::run("accounting_answer", data));
