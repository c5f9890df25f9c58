//! Checks of the catalogue: both languages have exactly the declared messages with exactly the declared variables, no
//! file is malformed, and the product uses each message.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fluent_bundle::{FluentResource, FluentValue};

use crate::catalogue::MessageFile;
use crate::mails::{ShipmentContent, ShipmentWay};
use crate::staff::refusals_of_api;
use crate::{Language, invoices, mails, pages, staff};

/// Module with its files and its declared messages, each with its variables.
pub(crate) type Module = (&'static str, &'static MessageFile, &'static [(&'static str, &'static [&'static str])]);

/// Returns each module with each language.
fn translations() -> impl Iterator<Item = (Language, Module)> {
    Language::ALL.into_iter().flat_map(|language| modules().into_iter().map(move |module| (language, module)))
}

fn modules() -> Vec<Module> {
    let of_customers: [Module; 3] = [
        ("invoices", &invoices::FILE, invoices::DECLARED),
        ("mails", &mails::FILE, mails::DECLARED),
        ("pages", &pages::FILE, pages::DECLARED),
    ];
    of_customers.into_iter().chain(staff::modules()).collect()
}

/// Returns the messages in a file in the order of their names, each with its variables. A message begins at the start
/// of a line, and all further lines of it are indented.
fn messages_of(file: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut messages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut last = None;
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let mut text = line;
        if let Some((name, rest)) = line.split_once(" =").filter(|_| line.starts_with(|c: char| c.is_alphabetic())) {
            assert!(messages.insert(name, BTreeSet::new()).is_none(), "{name} is there twice");
            (last, text) = (Some(name), rest);
        }
        let variables = text.split('$').skip(1).map(|rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            rest.split_at(end).0
        });
        for variable in variables {
            messages.get_mut(last.unwrap()).unwrap().insert(variable);
        }
    }
    messages
}

#[test]
fn both_languages_have_exactly_the_declared_messages_and_variables() {
    for (language, (module, file, declared)) in translations() {
        let messages = messages_of(file.text(language));
        let declared: BTreeMap<&str, BTreeSet<&str>> =
            declared.iter().map(|(name, variables)| (*name, variables.iter().copied().collect())).collect();
        let missing: Vec<_> = declared.keys().filter(|name| !messages.contains_key(*name)).collect();
        let unknown: Vec<_> = messages.keys().filter(|name| !declared.contains_key(*name)).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "{language:?} {module}: {missing:?} {unknown:?}");
        for (name, variables) in &declared {
            assert_eq!(messages.get(name), Some(variables), "{language:?} {module}: variables of {name}");
        }
    }
}

#[test]
fn no_file_is_malformed_and_every_message_can_be_written() {
    for (language, (module, file, declared)) in translations() {
        if let Err((_, faults)) = FluentResource::try_new(file.text(language).to_owned()) {
            panic!("{language:?} {module}: {faults:?}");
        }
        for (name, variables) in declared {
            for number in [0_u64, 1, 2, 1_000] {
                let variables = variables.iter().map(|variable| (*variable, FluentValue::from(number)));
                let (text, faults) = file.check(language, name, variables).unwrap();
                assert!(faults.is_empty(), "{language:?} {name}: {faults:?}");
                assert!(!text.trim().is_empty() && text == text.trim(), "{language:?} {name}: {text:?}");
                assert!(!text.contains(['{', '}', '\u{2068}', '\u{2069}']), "{language:?} {name}: {text:?}");
            }
        }
    }
}

/// Lists the files below a folder whose names have the extension.
fn files_of(folder: &Path, extension: &str, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_of(&path, extension, all);
        } else if path.extension().is_some_and(|own| own == extension) {
            all.push(path);
        }
    }
}

#[test]
fn every_file_is_read_by_a_module() {
    for language in Language::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(language.tag());
        let mut paths = Vec::new();
        files_of(&folder, "ftl", &mut paths);
        let existing: BTreeSet<PathBuf> = paths.into_iter().collect();
        let of_api = refusals_of_api::files().map(|(file, _)| file);
        let names = modules().into_iter().map(|(module, ..)| module).chain(of_api);
        let expected: BTreeSet<PathBuf> = names.map(|name| folder.join(format!("{name}.ftl"))).collect();
        assert_eq!(existing, expected, "{language:?}");
    }
}

#[test]
fn messages_of_the_api_are_translated_with_their_variables() {
    for (file, phrases) in refusals_of_api::files() {
        let [english, german] = Language::ALL.map(|language| messages_of(phrases.file().text(language)));
        assert!(english.keys().eq(german.keys()), "{file}: not the same messages");
        for (name, variables) in &english {
            assert!(german.get(name).unwrap().is_subset(variables), "{file}: variables of {name}");
            let text = |language: Language| {
                let sample = variables.iter().map(|variable| (*variable, FluentValue::from("sample")));
                let (text, faults) = phrases.file().check(language, name, sample).unwrap();
                assert!(faults.is_empty() && text == text.trim(), "{language:?} {name}: {faults:?} {text:?}");
                text
            };
            assert_eq!(phrases.translate(Language::German, &text(Language::English)), Some(text(Language::German)));
        }
    }
    let translated = refusals_of_api::fault(Language::German, "has 12000 lines; an invoice can have at most 500");
    assert_eq!(translated.as_deref(), Some("12.000 Positionen sind zu viele; eine Rechnung kann höchstens 500 haben"));
    assert_eq!(refusals_of_api::refusal(Language::German, "the moon is full"), None);
}

#[test]
fn the_product_writes_every_message_of_the_api() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = own.parent().unwrap();
    let translations = source.join("http/pages/faults");
    let mut paths = Vec::new();
    files_of(source, "rs", &mut paths);
    // Tests, and the translations themselves, quote messages.
    let is_writer = |path: &&PathBuf| {
        let mut parts = path.strip_prefix(source).unwrap().iter();
        let is_of_tests = parts.any(|part| part == "tests" || part == "tests.rs");
        !path.starts_with(own) && !path.starts_with(&translations) && !is_of_tests
    };
    let writers = paths.iter().filter(is_writer).map(|path| fs::read_to_string(path).unwrap());
    let code: Vec<String> = writers.map(|code| joined_lines(before_tests(&code))).collect();
    for (file, phrases) in refusals_of_api::files() {
        for line in phrases.file().text(Language::English).lines().filter(|line| !line.starts_with('#')) {
            let Some((name, pattern)) = line.split_once(" = ") else { continue };
            let literals = pattern.split("{ $").map(|piece| piece.split_once(" }").map_or(piece, |(_, after)| after));
            // The rules of states name what cannot be done, and a status is added to it.
            let literals: Vec<&str> = literals.flat_map(|text| text.split(" while its status is ")).collect();
            let writes = |code: &String| literals.iter().all(|literal| code.contains(literal));
            assert!(code.iter().any(writes), "{file}: nothing writes {name}");
        }
    }
}

/// Returns the code before the module of tests in it.
fn before_tests(code: &str) -> &str {
    code.split("mod tests {").next().unwrap_or_default()
}

/// Joins the lines of text literals that are broken with a backslash.
fn joined_lines(code: &str) -> String {
    code.split("\\\n").enumerate().map(|(n, line)| if n == 0 { line } else { line.trim_start() }).collect()
}

/// Returns the names by which a file of code may call the functions of a module: the module's own name, and any name
/// after `as` where it is imported under another one.
fn local_names<'a>(code: &'a str, module: &'a str) -> impl Iterator<Item = &'a str> {
    let uses = code.match_indices(module).filter_map(|(at, _)| code.get(at + module.len()..));
    let renamed = uses.filter_map(|rest| rest.strip_prefix(" as "));
    let renamed = renamed.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
    std::iter::once(module).chain(renamed)
}

/// Returns the functions that the code may call, by the name in front of them: for `floor::title`, `title` by `floor`.
fn calls(code: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let is_mark = |c: char| !c.is_alphanumeric() && c != '_';
    let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (at, mark) in code.match_indices("::") {
        let (before, after) = (&code[..at], &code[at + mark.len()..]);
        let module = before.rsplit(is_mark).next().unwrap_or_default();
        calls.entry(module).or_default().extend(after.split(is_mark).next());
    }
    calls
}

#[test]
fn the_product_uses_every_message() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files_of(own.parent().unwrap(), "rs", &mut paths);
    let others = paths.iter().filter(|path| !path.starts_with(own));
    let code: Vec<String> = others.map(|path| fs::read_to_string(path).unwrap()).collect();
    let code = code.iter().filter(|code| code.contains("words::"));
    let files: Vec<_> = code.map(|code| (code.as_str(), calls(code))).collect();
    for (module, _, declared) in modules() {
        let module = module.rsplit('/').next().unwrap();
        let mut called: BTreeSet<&str> = BTreeSet::new();
        for (code, calls) in &files {
            for name in local_names(code, module) {
                called.extend(calls.get(name).into_iter().flatten());
            }
        }
        for (name, _) in declared {
            assert!(called.contains(*name), "nothing calls {module}::{name}");
        }
    }
}

#[test]
fn calls_are_found_under_any_name_of_a_module() {
    let code = "use words::staff::{floor as floor_texts, orders}; floor_texts::title(language); orders::title_of(1);";
    let names: Vec<&str> = local_names(code, "floor").collect();
    assert_eq!(names, ["floor", "floor_texts"]);
    let calls = calls(code);
    assert!(calls["floor_texts"].contains("title") && calls["orders"].contains("title_of"));
    assert!(!calls["orders"].contains("title") && !calls.contains_key("floor"));
}

#[test]
fn each_language_has_its_own_plurals_and_numbers() {
    let (english, german) = (Language::English, Language::German);
    assert_eq!([1, 2].map(|count| mails::more_items(english, count)), ["and 1 more item", "and 2 more items"]);
    assert_eq!(
        [1, 2, 12_345].map(|count| mails::more_items(german, count)),
        ["und eine weitere Position", "und 2 weitere Positionen", "und 12.345 weitere Positionen"]
    );
}

#[test]
fn counts_of_parts_are_sentences() {
    let both = |good, all| Language::ALL.map(|language| pages::parts_made(language, good, all));
    assert_eq!(both(0, 2), ["0 of 2 parts are ready", "0 von 2 Teilen sind fertig"]);
    assert_eq!(both(1, 2), ["1 of 2 parts is ready", "1 von 2 Teilen ist fertig"]);
    assert_eq!(both(2, 2), ["2 of 2 parts are ready", "2 von 2 Teilen sind fertig"]);
    assert_eq!(both(0, 1), ["0 of 1 part is ready", "0 von 1 Teil ist fertig"]);
    assert_eq!(both(1, 1), ["1 of 1 part is ready", "1 von 1 Teil ist fertig"]);
    let items = |count| Language::ALL.map(|language| pages::order_count(language, count));
    assert_eq!(
        (items(1), items(3)),
        (["1 item", "1 Artikel"].map(str::to_owned), ["3 items", "3 Artikel"].map(str::to_owned))
    );
}

#[test]
fn payments_of_sales_channels_have_the_same_name_on_pages_and_documents() {
    for (language, name) in Language::ALL.into_iter().zip(["sales channel", "Vertriebskanal"]) {
        assert_eq!(invoices::payment_method(language, "channel", "channel"), name);
        assert_eq!(staff::payments::payment_method(language, "channel", "channel"), name);
    }
}

#[test]
fn plates_of_a_file_are_counted() {
    let plates = |count| Language::ALL.map(|language| staff::products::plate_count(language, count));
    assert_eq!(
        (plates(1), plates(3)),
        (["1 plate", "1 Platte"].map(str::to_owned), ["3 plates", "3 Platten"].map(str::to_owned))
    );
}

#[test]
fn variables_choose_words_and_are_written_as_they_are() {
    let sentence = |language, content, way| mails::shipment_sentence(language, content, way, "<{ $way }> \"1\"");
    assert_eq!(
        sentence(Language::English, ShipmentContent::Whole, ShipmentWay::Parcel),
        "Order <{ $way }> \"1\" is on its way"
    );
    assert_eq!(
        sentence(Language::English, ShipmentContent::Replacement, ShipmentWay::Pickup),
        "A replacement for order <{ $way }> \"1\" was picked up"
    );
    assert_eq!(
        sentence(Language::German, ShipmentContent::Part, ShipmentWay::Parcel),
        "Ein Teil Ihrer Bestellung <{ $way }> \"1\" ist unterwegs"
    );
    assert_eq!(mails::shipment_text(Language::English, "Here"), "Hello,\n\nHere:");
}
