//! Which row each domain value becomes.

use crate::domain::access::{Access, ApiKey, Session, User};
use crate::domain::endpoint::{Delivery, Endpoint};
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, Job};
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::Mail;
use crate::domain::material::{Claim, Material, Movement};
use crate::domain::order::{Order, Payment};
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::entities as e;
use crate::store::rows::{SCHEMA, SnapshotModel, WriteError};
use sea_orm::EntityTrait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The head of a thing as a row of its table.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "one for each kind")]
pub enum SnapshotRow {
    Order(e::orders::Model),
    Material(e::materials::Model),
    Sku(e::skus::Model),
    File(e::files::Model),
    Printer(e::printers::Model),
    Endpoint(e::endpoints::Model),
    Mail(e::mails::Model),
    KeptPaymentEvent(e::inbound::Model),
    Access(e::access::Model),
}

/// A kind of thing that has a table of snapshots.
pub trait Snapshot: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Its table.
    type Entity: EntityTrait<Model: SnapshotModel>;
    /// Its row. `at_rest` is [`crate::domain::aggregate::Aggregate::at_rest`]: some tables keep it, to find what is loaded at start.
    fn snapshot(&self, id: Id, version: i64, at_rest: bool) -> Result<SnapshotRow, WriteError>;
}

macro_rules! snapshot {
    ($kind:ident, $table:ident, |$this:ident, $at_rest:ident| { $($column:ident : $value:expr),* $(,)? }) => {
        impl Snapshot for $kind {
            type Entity = e::$table::Entity;
            fn snapshot(&self, id: Id, version: i64, at_rest: bool) -> Result<SnapshotRow, WriteError> {
                let ($this, $at_rest) = (self, at_rest);
                let _ = $at_rest;
                Ok(SnapshotRow::$kind(e::$table::Model {
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
    payment_intent: this.payment_intent.clone(),
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
    code: this.fields.code.clone(),
    slug: this.fields.slug.clone(),
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

/// A row under a head.
pub trait ToRow<M> {
    /// As it is now.
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
row!(Payment, payments, |this| { order_id: this.order_id.to_string(), created_at: this.created_at.0 });
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
