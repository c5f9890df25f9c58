use sea_orm::DatabaseBackend;

use super::{ALL, plan};
use crate::queries::mails::in_state;
use crate::queries::{Page, Queries};
use crate::rows::samples::{at, id, mail, on_each, write};
use crate::rows::{Batch, Snapshot as _};
use domain::id::Id;
use domain::mail::part::MailTopic;
use domain::mail::{Mail, MailState};

fn ids(mails: Vec<Mail>) -> Vec<Id> {
    mails.into_iter().map(|mail| mail.id).collect()
}

#[tokio::test]
async fn emails_are_listed_by_state_and_by_what_they_are_about() {
    on_each(async |db| {
        let topics = |n: u128| match n {
            2 => vec![MailTopic::Order(id(70)), MailTopic::Invoice(id(80))],
            3 => vec![MailTopic::Quote(id(90))],
            _ => Vec::new(),
        };
        let mut batch = Batch::default();
        for (n, state) in [
            (1, MailState::Sent),
            (2, MailState::Failed),
            (3, MailState::Failed),
            (4, MailState::Failed),
            (5, MailState::Dismissed),
            (6, MailState::Queued),
        ] {
            let mail = Mail { state, next_at: at(10 - n as i64), topics: topics(n), ..mail(n) };
            // Its text names the record, which is not what it is about.
            let text = if n == 4 { id(70).to_string() } else { mail.text.clone() };
            let mail = Mail { text, ..mail };
            batch.push_snapshot(mail.snapshot(mail.id, 1, false).unwrap());
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let list = async |state, page| {
            let (some, total) = queries.emails(state, page).await.unwrap();
            (ids(some), total)
        };
        assert_eq!(list(MailState::Failed, ALL).await, (vec![id(2), id(3), id(4)], 3));
        assert_eq!(list(MailState::Failed, Page { limit: 1, offset: 1 }).await, (vec![id(3)], 3));
        assert_eq!(list(MailState::Dismissed, ALL).await, (vec![id(5)], 1));
        let about = async |record: u128| ids(queries.undelivered_about(id(record), 10).await.unwrap());
        assert_eq!((about(70).await, about(80).await, about(90).await), (vec![id(2)], vec![id(2)], vec![id(3)]));
        assert_eq!(about(1).await, []);
    })
    .await;
}

#[tokio::test]
async fn undelivered_emails_are_found_by_an_index() {
    on_each(async |db| {
        if db.get_database_backend() != DatabaseBackend::Sqlite {
            return;
        }
        let plan = plan(db, in_state(MailState::Failed).unwrap()).await;
        assert!(plan.contains("ix__mails__state__next_at"), "{plan}");
    })
    .await;
}
