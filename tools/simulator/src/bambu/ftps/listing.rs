//! Storage listings in the format of `ls`.

use std::{collections::BTreeSet, fmt::Write as _};

use jiff::{Timestamp, tz::TimeZone};

use super::FOLDERS;
use crate::printer::Machine;

/// Lists a directory, or the file at the given path: names only or, with `long`, one line each with permissions, size
/// and date.
pub(super) fn of(machine: &Machine, folder: &str, long: bool) -> String {
    let now = machine.now_at();
    let mut out = String::new();
    let mut line = |is_folder: bool, size: usize, at: Timestamp, name: &str| {
        let _ = if long {
            let (kind, links) = if is_folder { ("drwxrwxrwx", 2) } else { ("-rw-rw-rw-", 1) };
            let date = at.to_zoned(TimeZone::UTC).strftime("%b %e %H:%M").to_string();
            write!(out, "{kind} {links:>4} 1000     1000     {size:>12} {date} {name}\r\n")
        } else {
            write!(out, "{name}\r\n")
        };
    };
    if let Some(file) = machine.files().get(folder) {
        line(false, file.bytes.len(), file.modified, folder.rsplit('/').next().unwrap_or(folder));
        return out;
    }
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut folders = BTreeSet::new();
    if folder.is_empty() {
        folders.extend(FOLDERS);
    }
    for (path, file) in machine.files().iter() {
        match path.strip_prefix(&below).map(|rest| rest.split_once('/').ok_or(rest)) {
            Some(Err(name)) => line(false, file.bytes.len(), file.modified, name),
            Some(Ok((inner, _))) => _ = folders.insert(inner),
            None => {}
        }
    }
    for inner in folders {
        line(true, 4096, now, inner);
    }
    out
}

/// Formats a time for the `MDTM` reply.
pub(super) fn compact(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y%m%d%H%M%S").to_string()
}
