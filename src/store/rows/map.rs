//! Which row each domain value becomes.
//!
//! The whole value is in the column `doc` as JSON; the other columns are only what queries filter, sort and join by.

use std::any::Any;
use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::Arc;

use sea_orm::EntityTrait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::domain::access::{Access, AccessRow, ApiKey, Session, User};
use crate::domain::endpoint::{Delivery, Endpoint};
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, Job};
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::Mail;
use crate::domain::material::{Claim, Material, MaterialRow, Movement};
use crate::domain::order::{Order, OrderRow, PROCESSOR, Payment};
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::entities as e;
use crate::store::memory::ToMemory;
use crate::store::rows::batch::{Batch, TableRow};
use crate::store::rows::{SCHEMA, SnapshotModel, WriteError};

/// An aggregate's snapshot row, of whichever table its kind has. Made by the actor, written by the writer, which knows no
/// kind. Cloned when a transaction is tried again.
#[derive(Clone, Debug)]
pub struct SnapshotRow(Arc<dyn ErasedSnapshot>);

trait ErasedSnapshot: Any + Debug + Send + Sync {
    fn push_into(&self, batch: &mut Batch);
    fn facts(&self) -> SnapshotFacts<'_>;
}

/// What the store in memory needs of a snapshot row, whichever table it is of.
pub struct SnapshotFacts<'a> {
    pub table: &'static str,
    pub id: &'a str,
    pub version: i64,
    pub schema: i64,
    pub doc: &'a str,
    /// The value that no two rows of the table share: the constraint as `table.column`, and the value.
    pub unique: Option<(&'static str, String)>,
}

impl<M: TableRow + SnapshotModel> ErasedSnapshot for M {
    fn push_into(&self, batch: &mut Batch) {
        batch.snapshot(self.clone());
    }
    fn facts(&self) -> SnapshotFacts<'_> {
        let (schema, doc) = self.doc();
        SnapshotFacts { table: M::TABLE, id: self.key(), version: self.version(), schema, doc, unique: self.unique() }
    }
}

impl SnapshotRow {
    /// A row of this table.
    pub fn new<M: TableRow + SnapshotModel>(row: M) -> Self {
        Self(Arc::new(row))
    }

    pub(super) fn push_into(&self, batch: &mut Batch) {
        self.0.push_into(batch);
    }

    pub(in crate::store) fn facts(&self) -> SnapshotFacts<'_> {
        self.0.facts()
    }

    /// The row, when it is one of this table.
    pub(in crate::store) fn model<M: TableRow + SnapshotModel>(&self) -> Option<&M> {
        let row: &dyn Any = &*self.0;
        row.downcast_ref()
    }
}

/// A row that belongs to an aggregate: a change of one of its parts, or a new aggregate that its commit creates.
pub trait StoredRow: ToMemory + Debug + Send + Sync + 'static {
    /// Adds what it is on disk to a transaction.
    fn push_into(&self, batch: &mut Batch) -> Result<(), WriteError>;
}

/// For aggregates that are their snapshot row alone, or create no others.
impl StoredRow for Infallible {
    fn push_into(&self, _: &mut Batch) -> Result<(), WriteError> {
        match *self {}
    }
}

impl StoredRow for OrderRow {
    fn push_into(&self, batch: &mut Batch) -> Result<(), WriteError> {
        match self {
            Self::Job(job) => batch.replace(&job.id, job.row()?),
            Self::Attempt(attempt) => batch.replace(&attempt.id, attempt.row()?),
            Self::Payment(payment) => batch.replace(&payment.id, payment.row()?),
        }
        Ok(())
    }
}

impl StoredRow for MaterialRow {
    fn push_into(&self, batch: &mut Batch) -> Result<(), WriteError> {
        match self {
            Self::Movement(movement) => batch.insert(movement.row()?),
            Self::Claim(claim) => batch.replace(&claim.id, claim.row()?),
            Self::ClaimGone(id) => batch.delete::<e::claims::Model>(id),
        }
        Ok(())
    }
}

impl StoredRow for Delivery {
    fn push_into(&self, batch: &mut Batch) -> Result<(), WriteError> {
        batch.replace(&self.id, self.row()?);
        Ok(())
    }
}

impl StoredRow for AccessRow {
    fn push_into(&self, batch: &mut Batch) -> Result<(), WriteError> {
        match self {
            Self::User(user) => batch.replace(&user.id, user.row()?),
            Self::ApiKey(key) => batch.replace(&key.id, key.row()?),
            Self::Session(session) => batch.replace(&session.id, session.row()?),
            Self::SessionGone(id) => batch.delete::<e::staff_sessions::Model>(id),
        }
        Ok(())
    }
}

/// A mail that another aggregate's commit creates.
impl StoredRow for Mail {
    fn push_into(&self, batch: &mut Batch) -> Result<(), WriteError> {
        self.snapshot(self.id, 1, false)?.push_into(batch);
        Ok(())
    }
}

/// A kind of aggregate that has a table of snapshot rows.
pub trait Snapshot: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// The table of its snapshot rows.
    type Entity: EntityTrait<Model: SnapshotModel>;
    /// Its snapshot row at this version. `at_rest` is [`crate::domain::aggregate::Aggregate::at_rest`]; some tables have a
    /// column for it, to find what is loaded at start.
    fn snapshot(&self, id: Id, version: i64, at_rest: bool) -> Result<SnapshotRow, WriteError>;
}

macro_rules! snapshot {
    ($kind:ident, $table:ident, |$this:ident, $at_rest:ident| { $($column:ident : $value:expr),* $(,)? }) => {
        impl Snapshot for $kind {
            type Entity = e::$table::Entity;
            fn snapshot(&self, id: Id, version: i64, at_rest: bool) -> Result<SnapshotRow, WriteError> {
                let ($this, $at_rest) = (self, at_rest);
                let _ = $at_rest;
                Ok(SnapshotRow::new(e::$table::Model {
                    id: id.to_string(),
                    version,
                    schema: SCHEMA,
                    doc: serde_json::to_string($this)?,
                    $($column: $value),*
                }))
            }
        }
    };
}

snapshot!(Order, orders, |this, at_rest| {
    number: this.number,
    kind: word(&this.kind)?,
    status: word(&this.status)?,
    site: this.site.clone(),
    customer_email: this.customer_email.clone(),
    made_by: text(this.made_by),
    total_cents: this.total_cents,
    active: !at_rest,
    payment_session: this.payment_session.clone(),
    flags: (!this.flags.is_empty()).then(|| format!(",{},", this.flags.join(","))),
    created_at: this.created_at.0,
    updated_at: this.updated_at.0,
});
snapshot!(Material, materials, |this, at_rest| {
    name: this.fields.name.clone(),
    kind: word(&this.fields.kind)?,
    active: !at_rest,
    archived: this.archived,
    quantity: this.quantity.0,
    reserved: this.reserved.0,
    created_at: this.created_at.0,
});
snapshot!(Sku, skus, |this, at_rest| {
    // Code and slug are free again when their SKU is deleted.
    code: if this.archived { format!("{} {}", this.fields.code, this.id) } else { this.fields.code.clone() },
    slug: if this.archived { format!("{} {}", this.fields.slug, this.id) } else { this.fields.slug.clone() },
    name: this.fields.name.clone(),
    material_id: this.fields.material_id.to_string(),
    gcode_file_id: text(this.fields.gcode_file_id),
    model_file_id: text(this.fields.model_file_id),
    public: this.fields.public,
    active: this.fields.active,
    archived: this.archived,
    created_at: this.created_at.0,
});
snapshot!(File, files, |this, at_rest| {
    name: this.name.clone(),
    kind: word(&this.kind)?,
    sha256: this.sha256.clone(),
    archived: this.archived,
    created_at: this.created_at.0,
});
snapshot!(Printer, printers, |this, at_rest| {
    name: this.fields.name.clone(),
    kind: this.fields.kind.clone(),
    active: !at_rest,
    archived: this.archived,
    created_at: this.created_at.0,
});
snapshot!(Endpoint, endpoints, |this, at_rest| {
    url: this.url.clone(),
    state: word(&this.state)?,
    active: !at_rest,
    archived: this.archived,
    cursor: this.cursor,
    created_at: this.created_at.0,
});
snapshot!(Mail, mails, |this, at_rest| {
    state: word(&this.state)?,
    next_at: this.next_at.0,
    created_at: this.created_at.0,
});
snapshot!(KeptPaymentEvent, inbound, |this, at_rest| {
    event_id: this.event_id.clone(),
    done: this.done,
    next_at: this.next_at.0,
    created_at: this.created_at.0,
});
snapshot!(Access, access, |this, at_rest| {});

/// A part of an aggregate that has a table of its own.
trait ToRow<M> {
    /// The row as the part is now.
    fn row(&self) -> Result<M, WriteError>;
}

macro_rules! row {
    ($kind:ident, $table:ident, |$this:ident| { $($column:ident : $value:expr),* $(,)? }) => {
        impl ToRow<e::$table::Model> for $kind {
            fn row(&self) -> Result<e::$table::Model, WriteError> {
                let $this = self;
                Ok(e::$table::Model {
                    id: $this.id.to_string(),
                    schema: SCHEMA,
                    doc: serde_json::to_string($this)?,
                    $($column: $value),*
                })
            }
        }
    };
}

row!(Job, jobs, |this| {
    order_id: this.order_id.to_string(),
    number: this.number,
    state: word(&this.state)?,
    sku_id: this.sku_id.to_string(),
    material_id: this.material_id.to_string(),
    file_id: text(this.file_id),
    printer_id: text(this.printer_id),
    priority: i64::from(this.priority),
    due_at: this.due_at.map(|at| at.0),
    version: this.version,
    created_at: this.created_at.0,
    updated_at: this.updated_at.0,
});
row!(Attempt, attempts, |this| {
    job_id: this.job_id.to_string(),
    order_id: this.order_id.to_string(),
    number: i64::from(this.number),
    printer_id: this.printer_id.to_string(),
    state: word(&this.state)?,
    created_at: this.created_at.0,
});
row!(Payment, payments, |this| {
    order_id: this.order_id.to_string(),
    intent: this.reference.clone().filter(|_| this.method == PROCESSOR && this.amount_cents >= 0),
    created_at: this.created_at.0,
});
row!(Movement, movements, |this| {
    material_id: this.material_id.to_string(),
    kind: word(&this.kind)?,
    delta_quantity: this.delta_quantity.0,
    delta_reserved: this.delta_reserved.0,
    created_at: this.created_at.0,
});
row!(Claim, claims, |this| {
    job_id: this.id.job.to_string(),
    material_id: this.material_id.to_string(),
    order_id: this.order_id.to_string(),
    state: word(&this.state)?,
});
row!(Delivery, deliveries, |this| {
    endpoint_id: this.endpoint_id.to_string(),
    event_id: this.event_id.to_string(),
    event_seq: this.event_seq,
    event: this.event.clone(),
    replay: i64::from(this.replay),
    state: word(&this.state)?,
    next_at: this.next_at.0,
    attempts: i64::from(this.attempts),
    created_at: this.created_at.0,
});
row!(User, users, |this| {
    // An address is free again when its owner is deleted.
    email_key: if this.archived { format!("{} {}", this.email, this.id) } else { this.email.clone() },
    created_at: this.created_at.0,
});
row!(ApiKey, api_keys, |this| { hash: this.hash.clone(), created_at: this.created_at.0 });
row!(Session, staff_sessions, |this| {
    hash: this.hash.clone(),
    user_id: this.user_id.to_string(),
    created_at: this.created_at.0,
});

fn text(id: Option<Id>) -> Option<String> {
    id.map(|id| id.to_string())
}

/// The word that serde writes for a member of an enum.
pub fn word(value: &impl Serialize) -> Result<String, serde_json::Error> {
    match serde_json::to_value(value)? {
        Value::String(word) => Ok(word),
        other => Ok(other.to_string()),
    }
}
