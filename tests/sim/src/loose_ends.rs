//! Unfinished work outside production: invoices without orders, events that have not been delivered to the server, and
//! unsent emails.

use serde_json::Value;

use crate::error::SimError;
use crate::people::People;
use crate::world::World;
use store::memory::Tables;

/// Table of emails.
const MAILS: &str = "mails";
/// State of emails that were not sent yet.
const QUEUED: &str = "queued";

/// Returns the emails on the disk as they are stored, oldest first.
pub fn mails(tables: &Tables) -> Result<Vec<Value>, SimError> {
    let mails = tables.snapshot_docs(MAILS).map(|doc| bounded_json::read(doc.as_bytes(), bounded_json::ANSWER));
    Ok(mails.collect::<Result<_, _>>()?)
}

/// Returns a description of something unfinished; `None` if everything is done.
pub fn first(world: &World, people: &People) -> Result<Option<String>, SimError> {
    if !people.clerk.is_done() {
        return Ok(Some("an invoice has not come to its end".to_owned()));
    }
    if let Some(event) = world.processor.first_event() {
        return Ok(Some(format!("{} is on its way to the server", event.name)));
    }
    let Some(mail) = first_queued(&world.disk.tables())? else { return Ok(None) };
    if mail["tries"] != 0 && mail["error"].is_null() {
        return Err(SimError::Broken(format!("a mail waits and states no reason: {mail}")));
    }
    Ok(Some(format!("a mail is not sent: {mail}")))
}

/// Returns the oldest email that was not sent yet; `None` if there is none. Others are not parsed.
fn first_queued(tables: &Tables) -> Result<Option<Value>, SimError> {
    for doc in tables.snapshot_docs(MAILS).filter(|doc| doc.contains(QUEUED)) {
        let mail = bounded_json::read(doc.as_bytes(), bounded_json::ANSWER)?;
        if mail["state"] == QUEUED {
            return Ok(Some(mail));
        }
    }
    Ok(None)
}
