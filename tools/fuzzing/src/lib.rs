//! Entry points of the fuzz targets: one for each parser of bytes from outside.
//!
//! `fuzz/` contains a program for each of them, which `cargo fuzz` runs with generated inputs (`scripts/fuzz`), and the
//! initial inputs. The tests here run the same entry points on these inputs and on variations of them, with the usual
//! compiler. An entry point fails by panicking; its result is ignored. Parsers that are private to their crate are
//! exposed by that crate's feature `fuzzing`.

mod requests;
#[cfg(test)]
mod tests;
mod texts;
mod uploads;

/// Entry point for one parser, or for a few that parse the same kind of input.
pub struct FuzzTarget {
    /// Name of the target, of its program and of the folder with its inputs.
    pub name: &'static str,
    /// Function that parses an input.
    pub run: fn(&[u8]),
}

/// All targets, by name.
pub static TARGETS: [FuzzTarget; 32] = [
    FuzzTarget { name: "accounting_answer", run: services::fuzzing::accounting_answer },
    FuzzTarget { name: "addresses", run: texts::addresses },
    FuzzTarget { name: "backup", run: uploads::backup },
    FuzzTarget { name: "camera_stream", run: printers::fuzzing::camera_stream },
    FuzzTarget { name: "digest_challenge", run: printers::fuzzing::digest_challenge },
    FuzzTarget { name: "dotenv", run: texts::dotenv },
    FuzzTarget { name: "fw_rest", run: printers::fuzzing::fw_rest },
    FuzzTarget { name: "gcode", run: uploads::gcode },
    FuzzTarget { name: "gcode_package", run: uploads::gcode_package },
    FuzzTarget { name: "http_head", run: requests::http_head },
    FuzzTarget { name: "json", run: requests::json },
    FuzzTarget { name: "label", run: texts::label },
    FuzzTarget { name: "mail", run: texts::mail },
    FuzzTarget { name: "mesh", run: uploads::mesh },
    FuzzTarget { name: "mqtt_lan", run: printers::fuzzing::mqtt_lan },
    FuzzTarget { name: "order_table", run: uploads::order_table },
    FuzzTarget { name: "payment_event", run: requests::payment_event },
    FuzzTarget { name: "picture", run: uploads::picture },
    FuzzTarget { name: "processor_answer", run: services::fuzzing::processor_answer },
    FuzzTarget { name: "prusa_link", run: printers::fuzzing::prusa_link },
    FuzzTarget { name: "query", run: requests::query },
    FuzzTarget { name: "request_body", run: requests::request_body },
    FuzzTarget { name: "request_text", run: requests::request_text },
    FuzzTarget { name: "sdcp", run: printers::fuzzing::sdcp },
    FuzzTarget { name: "server_rest", run: printers::fuzzing::server_rest },
    FuzzTarget { name: "settings_file", run: texts::settings_file },
    FuzzTarget { name: "shop_order", run: services::fuzzing::shop_order },
    FuzzTarget { name: "signatures", run: requests::signatures },
    FuzzTarget { name: "stock_answer", run: services::fuzzing::stock_answer },
    FuzzTarget { name: "stored_secret", run: texts::stored_secret },
    FuzzTarget { name: "storefront_answer", run: services::fuzzing::storefront_answer },
    FuzzTarget { name: "typed_texts", run: texts::typed_texts },
];

/// Runs a target.
///
/// # Panics
///
/// Panics if there is no such target, or if its parser fails.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("there is no target {name}"));
    (target.run)(data);
}
