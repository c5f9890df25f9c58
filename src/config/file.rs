//! Settings file: its values, and an error for each name in it that is not a setting.

use std::collections::BTreeMap;
use std::ops::Range;

use figment::value::{Dict, Value};
use toml_edit::{ImDocument, TableLike};

use super::layers::{KnownSettings, Layer};
use super::renames::{self, FormerSetting};

/// Contents of a settings file.
pub struct SettingsFile {
    /// Values in the file, by setting.
    pub layer: Layer,
    /// Settings that appear under former names.
    pub(super) former: Vec<FormerSetting>,
    /// Message for each name that is not a setting, with the file, the line and the closest existing name.
    pub faults: Vec<String>,
}

/// Reads a settings file. `source` is the file's name in messages.
///
/// # Errors
///
/// Returns a message with the line number if the text is not TOML.
pub fn read(source: &str, text: &str, known_settings: &KnownSettings) -> Result<SettingsFile, String> {
    let document = ImDocument::parse(text).map_err(|error| {
        let place = error.span().map(|span| format!("line {}: ", line_of(text, &span))).unwrap_or_default();
        format!("{place}{}", error.message().trim())
    })?;
    let mut dict = Layer::values(text)?;
    let mut lines = BTreeMap::new();
    let (mut former, mut faults) = (Vec::new(), Vec::new());
    let place = |span: Option<Range<usize>>| {
        span.map_or_else(|| source.to_owned(), |span| format!("{source}, line {}", line_of(text, &span)))
    };
    for (section, key, item) in entries(document.as_table()) {
        let Some(table) = item.as_table_like().filter(|_| known_settings.is_section(&section)) else {
            let what = if item.is_table_like() { "a section of settings" } else { "a setting" };
            let meant = if item.is_table_like() {
                known_settings.nearest_section(&section)
            } else {
                known_settings.nearest(&section)
            };
            faults.push(format!("{section} ({}) is not {what}{}", place(key), did_you_mean(meant)));
            dict.remove(&section);
            continue;
        };
        for (name, key, _) in entries(table) {
            let setting = format!("{section}.{name}");
            if known_settings.has(&setting) {
                lines.extend(key.map(|span| (setting, line_of(text, &span))));
                continue;
            }
            let value = remove(&mut dict, &section, &name);
            if let Some((new, value)) = renames::new_name(&setting).zip(value) {
                former.push(FormerSetting::in_file(&setting, &place(key), new, value));
                continue;
            }
            let meant = did_you_mean(known_settings.nearest(&setting));
            faults.push(format!("{setting} ({}) is not a setting{meant}", place(key)));
        }
    }
    Ok(SettingsFile { layer: Layer::new(source, dict).with_lines(lines), former, faults })
}

/// Returns the "did you mean" hint to append to an unknown name; empty if there is no suggestion.
pub fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Returns the entries of a table in text order, each with the position of its name.
fn entries(table: &dyn TableLike) -> Vec<(String, Option<Range<usize>>, &toml_edit::Item)> {
    let mut all: Vec<_> = table
        .iter()
        .map(|(name, item)| {
            let span = table.get_key_value(name).and_then(|(key, _)| key.span());
            (name.to_owned(), span, item)
        })
        .collect();
    all.sort_by_key(|(_, span, _)| span.as_ref().map(|span| span.start));
    all
}

fn remove(dict: &mut Dict, section: &str, name: &str) -> Option<Value> {
    match dict.get_mut(section)? {
        Value::Dict(_, inner) => inner.remove(name),
        _ => None,
    }
}

/// Returns the number of the line that a span begins on; lines are numbered from 1.
fn line_of(text: &str, span: &Range<usize>) -> usize {
    1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()
}
