//! Baseline for comparisons: the same rules and the same statements, but one transaction per adjustment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use printfloor::actors::kernel::environment::Environment;
use printfloor::domain::aggregate::{Aggregate as _, Command as _, Decision, DecisionContext, LastNumbers, Versioned};
use printfloor::domain::amount::Amount;
use printfloor::domain::audit::chain::ChainHead;
use printfloor::domain::id::Id;
use printfloor::domain::material::{Material, MaterialAnswer, MaterialCommand};
use printfloor::domain::principal::Principal;
use printfloor::domain::refusal::Refusal;
use printfloor::entities::materials;
use printfloor::http::idempotency::short;
use printfloor::store::connect::{self, DatabaseSettings, WritingHost};
use printfloor::store::rows::{Audit, Batch, Doc, IdempotentAnswer, Snapshot, SnapshotModel};
use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, EntityTrait, QuerySelect, TransactionTrait,
};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::database::{BenchDatabase, Kind};
use super::ground;

/// Returns the adjustment that all parts measure: a delivery of one unit.
pub fn delivery() -> MaterialCommand {
    MaterialCommand::Adjust { delta: Amount::units(1), reason: "delivery".to_owned() }
}

/// Separate database with the writer's settings.
pub struct Baseline {
    db: DatabaseConnection,
    environment: Environment,
    by: Principal,
    seq: AtomicI64,
    /// Ids of its materials.
    pub materials: Vec<Id>,
    postgres: Option<BenchDatabase>,
    _folder: TempDir,
}

impl Baseline {
    /// Creates the database, with one connection that is opened like the writer's, or several.
    pub async fn new(kind: Kind, connections: u32, materials: usize, by: &Principal) -> Self {
        let folder = ground::folder();
        let postgres = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => Some(BenchDatabase::fresh().await),
        };
        std::fs::create_dir_all(folder.path().join("data")).unwrap();
        let config = ground::config(folder.path(), postgres.as_ref().map(BenchDatabase::url).as_deref());
        let settings = DatabaseSettings {
            url: config.database_url().expose().to_owned(),
            read_connections: 1,
            statement_timeout: config.database.statement_timeout_seconds.duration(),
            hosts: WritingHost::default(),
        };
        let writing = connect::start(&settings).await.unwrap();
        let db = if connections == 1 {
            writing.db
        } else {
            let mut options = ConnectOptions::new(&settings.url);
            options.min_connections(connections).max_connections(connections).sqlx_logging(false);
            options.test_before_acquire(false);
            Database::connect(options).await.unwrap()
        };
        let environment = Environment::of_the_machine(config.rules(), LastNumbers::default());
        let seq = AtomicI64::new(0);
        let mut this = Self { db, environment, by: by.clone(), seq, materials: Vec::new(), postgres, _folder: folder };
        for n in 0..materials {
            let id = this.environment.id();
            let mut material = Versioned::nothing();
            let tx = this.db.begin().await.unwrap();
            this.write(&tx, id, &mut material, &ground::material(n)).await;
            tx.commit().await.unwrap();
            this.materials.push(id);
        }
        this
    }

    /// Returns the current state of a material.
    pub async fn current(&self, id: Id) -> Versioned<Material> {
        let row = materials::Entity::find_by_id(id.to_string()).one(&self.db).await.unwrap().unwrap();
        Versioned { version: row.version(), state: Some(row.read().unwrap()) }
    }

    /// Adjusts a material from its state in memory, without reading from the database.
    pub async fn adjust(&self, id: Id, state: &mut Versioned<Material>) {
        let tx = self.db.begin().await.unwrap();
        self.write(&tx, id, state, &delivery()).await;
        tx.commit().await.unwrap();
    }

    /// Adjusts a material as one of several processes would: locks and reads its row first.
    pub async fn adjust_locked(&self, id: Id) {
        let tx = self.db.begin().await.unwrap();
        let row = materials::Entity::find_by_id(id.to_string()).lock_exclusive().one(&tx).await.unwrap().unwrap();
        let mut state = Versioned { version: row.version(), state: Some(row.read().unwrap()) };
        self.write(&tx, id, &mut state, &delivery()).await;
        tx.commit().await.unwrap();
    }

    async fn write(
        &self,
        tx: &DatabaseTransaction,
        id: Id,
        state: &mut Versioned<Material>,
        command: &MaterialCommand,
    ) {
        let cx = self.environment.cx(&self.by);
        let decision = command.decide(state.state.as_ref(), id, &cx).unwrap();
        let version = state.version + 1;
        let batch = self.batch(&cx, id, version, command, &decision);
        batch.write(tx).await.unwrap();
        *state = Versioned { version, state: decision.next };
    }

    fn batch(
        &self,
        cx: &DecisionContext<'_>,
        id: Id,
        version: i64,
        command: &MaterialCommand,
        decision: &Decision<Material, MaterialAnswer>,
    ) -> Batch {
        let mut batch = Batch::default();
        batch.push_snapshot(decision.next.as_ref().unwrap().snapshot(id, version, false).unwrap());
        decision.rows.iter().for_each(|row| batch.push_row(row).unwrap());
        for event in &decision.events {
            batch.push_event(self.seq.fetch_add(1, Relaxed) + 1, event).unwrap();
        }
        let line = Audit {
            id: cx.ids.id(),
            at: cx.now,
            actor: cx.by.to_string(),
            action: command.audited_act().name().to_owned(),
            subject_kind: Material::KIND.to_owned(),
            subject_id: id,
            request_id: None,
            outcome: "done".to_owned(),
            detail: None,
        };
        batch.push_audit(line, &mut ChainHead::default());
        batch.push_idempotency(IdempotentAnswer {
            key: key(cx.ids.id()),
            body_hash: body_hash(),
            kind: Material::KIND.to_owned(),
            aggregate_id: id,
            version,
            answer: serde_json::to_string(&Ok::<_, Refusal>(&decision.answer)).unwrap(),
            created_at: cx.now,
            expires_at: cx.now.plus_ms(86_400_000),
        });
        batch
    }

    /// Closes and removes the database.
    pub async fn end(self: Arc<Self>) {
        let Ok(this) = Arc::try_unwrap(self) else { panic!("somebody still adjusts") };
        this.db.close().await.unwrap();
        if let Some(postgres) = this.postgres {
            postgres.drop().await;
        }
    }
}

/// Returns an idempotency key hashed as the HTTP edge does it: unique, and in random order.
pub fn key(id: Id) -> String {
    short(&Sha256::digest(id.0.as_bytes()))
}

/// Returns a text of the same length as the hash of a body.
pub fn body_hash() -> String {
    short(&[0; 16])
}
