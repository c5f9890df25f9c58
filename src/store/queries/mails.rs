//! Queries for emails.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};

use super::orders::json;
use super::{Page, Queries};
use crate::rows::{Doc, LoadError, word};
use domain::id::Id;
use domain::mail::{Mail, MailState};
use entities::mails;

impl Queries {
    /// Returns a page of the emails in a state, and their total number. Finished emails are ordered by their last
    /// attempt, latest first.
    pub async fn emails(&self, state: MailState, page: Page) -> Result<(Vec<Mail>, u64), LoadError> {
        self.rows(in_state(state)?, page).await
    }

    /// Returns the undelivered emails that are about the record with the given ID, the latest first, at most `limit`.
    pub async fn undelivered_about(&self, record: Id, limit: u64) -> Result<Vec<Mail>, LoadError> {
        // The state narrows it to few rows.
        let about_it = self.contains(mails::Column::Doc, &record.to_string());
        let rows = in_state(MailState::Failed)?.filter(about_it).limit(limit).all(&self.db).await?;
        let mut all: Vec<Mail> = self.readable(&rows, Doc::read);
        all.retain(|mail| mail.topics.iter().any(|topic| topic.id() == record));
        Ok(all)
    }
}

/// Selects the emails in a state, the latest first.
pub(super) fn in_state(state: MailState) -> Result<Select<mails::Entity>, LoadError> {
    use mails::Column as C;
    let select = mails::Entity::find().filter(C::State.eq(word(&state).map_err(json)?));
    Ok(select.order_by_desc(C::NextAt).order_by_desc(C::Id))
}
