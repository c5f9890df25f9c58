//! Checks of the catalogue: both languages have exactly the declared messages with exactly the declared variables, no
//! file is malformed, and the product uses each message.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fluent_bundle::{FluentResource, FluentValue};

use crate::catalogue::MessageFile;
use crate::mails::{ShipmentContent, ShipmentWay};
use crate::{Language, invoices, mails, pages};

/// Module with its files and its declared messages, each with its variables.
type Module = (&'static str, &'static MessageFile, &'static [(&'static str, &'static [&'static str])]);

/// Returns each module with each language.
fn translations() -> impl Iterator<Item = (Language, Module)> {
    Language::ALL.into_iter().flat_map(|language| modules().map(|module| (language, module)))
}

fn modules() -> [Module; 3] {
    [
        ("invoices", &invoices::FILE, invoices::DECLARED),
        ("mails", &mails::FILE, mails::DECLARED),
        ("pages", &pages::FILE, pages::DECLARED),
    ]
}

/// Returns the messages of a file in the order of their names, each with its variables. A message begins at the start
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

/// Lists the Rust files below a folder.
fn rust_files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn the_product_uses_every_message() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    rust_files(own.parent().unwrap(), &mut paths);
    let others = paths.iter().filter(|path| !path.starts_with(own));
    let code: Vec<String> = others.map(|path| fs::read_to_string(path).unwrap()).collect();
    let code: Vec<&String> = code.iter().filter(|code| code.contains("words::")).collect();
    for (module, _, declared) in modules() {
        for (name, _) in declared {
            let call = format!("{module}::{name}");
            let calls = |code: &str| {
                code.match_indices(&call).any(|(at, _)| {
                    let next = code.get(at + call.len()..).and_then(|rest| rest.chars().next());
                    next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
                })
            };
            assert!(code.iter().any(|code| calls(code)), "nothing calls {call}");
        }
    }
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
