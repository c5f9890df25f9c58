use std::sync::Arc;

use sea_orm::ConnectionTrait as _;

use super::ALL;
use crate::queries::{MaterialFilter, Page, Queries};
use crate::rows::samples::{id, material, on_each, write};
use crate::rows::{Batch, Snapshot};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::material::Material;

type MaterialState = Arc<Versioned<Material>>;

fn state(n: u128, version: i64) -> MaterialState {
    Arc::new(Versioned { version, state: Some(material(n)) })
}

/// Returns a material that is in memory at the given version.
fn find(memory: &[MaterialState], of: Id, version: i64) -> Option<MaterialState> {
    let is_it = |state: &&MaterialState| state.version == version && state.state.as_ref().unwrap().id == of;
    memory.iter().find(is_it).cloned()
}

#[tokio::test]
async fn materials_are_listed_from_memory_if_it_has_them_as_they_are_on_disk() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in [200, 201] {
            batch.push_snapshot(material(n).snapshot(id(n), 3, false).unwrap());
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let list = async |page: Page, memory: &[MaterialState]| {
            let in_memory = |of: Id, version: i64| find(memory, of, version);
            let (some, total) = queries.materials_in_memory(&MaterialFilter::default(), page, in_memory).await.unwrap();
            assert!(some.iter().all(|state| state.version == 3));
            let ids: Vec<Id> = some.iter().map(|state| state.state.as_ref().unwrap().id).collect();
            let is_shared = some.iter().all(|state| memory.iter().any(|own| Arc::ptr_eq(own, state)));
            (ids, total, is_shared)
        };
        let (both, earlier) = ([200, 201].map(|n| state(n, 3)), [200, 201].map(|n| state(n, 2)));
        assert_eq!(list(ALL, &both).await, (vec![id(201), id(200)], 2, true));
        let second = Page { limit: 1, offset: 1 };
        assert_eq!(list(second, &both).await, (vec![id(200)], 2, true));
        assert_eq!(list(Page { offset: 2, ..second }, &both).await, (vec![], 2, true));
        assert_eq!(list(ALL, &earlier).await, (vec![id(201), id(200)], 2, false));
        assert_eq!(list(ALL, &both[..1]).await, (vec![id(201), id(200)], 2, false));

        // A row that cannot be read is left out and counted, until memory has it.
        let spoil = format!("UPDATE materials SET doc = '{{\"id\": 1e400}}' WHERE id = '{}'", id(201));
        db.execute_unprepared(&spoil).await.unwrap();
        assert_eq!(list(ALL, &both[..1]).await, (vec![id(200)], 2, false));
        assert_eq!(queries.damaged().count(), 1);
        assert_eq!(list(ALL, &both).await, (vec![id(201), id(200)], 2, true));
        assert_eq!(queries.damaged().count(), 0);
    })
    .await;
}
