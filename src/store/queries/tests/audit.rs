use sea_orm::ConnectionTrait as _;

use super::line;
use crate::queries::{AuditFilter, Queries};
use crate::rows::samples::{at, id, on_each, unlock_audit_log, write};
use crate::rows::{Audit, Batch};
use domain::audit::chain::ChainHead;
use domain::id::Id;

#[tokio::test]
async fn the_audit_log_goes_on_behind_damaged_entries_and_those_that_do_not_match() {
    on_each(async |db| {
        let (mut batch, mut head) = (Batch::default(), ChainHead::default());
        for n in 1..=8 {
            let actor = if n == 2 { "key:1" } else { "machine" };
            batch.push_audit(Audit { actor: actor.to_owned(), ..line(n) }, &mut head);
        }
        write(db, batch).await.unwrap();
        unlock_audit_log(db).await;
        let spoil = format!("UPDATE audit SET subject_id = 'none' WHERE at >= {} AND at <= {}", at(4).0, at(7).0);
        db.execute_unprepared(&spoil).await.unwrap();
        let queries = Queries::new(db.clone());
        let orders = AuditFilter { subject_kind: Some("order".to_owned()), ..AuditFilter::default() };
        let by_key = AuditFilter { actor: Some("key:1".to_owned()), ..orders.clone() };
        for (filter, expected) in [(orders, vec![8, 3, 2, 1]), (by_key, vec![2])] {
            let (mut entries, mut stretch) = (Vec::new(), queries.audit_stretch(&filter, None, 1).await.unwrap());
            while let Some(place) = stretch.next {
                entries.append(&mut stretch.entries);
                stretch = queries.audit_stretch(&filter, Some(place), 1).await.unwrap();
            }
            entries.append(&mut stretch.entries);
            let ids: Vec<Id> = entries.iter().map(|entry| entry.id).collect();
            assert_eq!(ids, expected.into_iter().map(id).collect::<Vec<Id>>());
        }
    })
    .await;
}
