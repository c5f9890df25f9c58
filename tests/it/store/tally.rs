//! Test aggregate: a count with a ledger, and commands that crash. Its snapshot row is in `skus`, whose code is unique;
//! each change writes a movement and an event, so that a partial commit is detectable.

use std::collections::HashSet;
use std::sync::Mutex;

use printfloor::domain::aggregate::{Aggregate, Command, Decision, DecisionContext};
use printfloor::domain::amount::Amount;
use printfloor::domain::audit::AuditedAct;
use printfloor::domain::event::Event;
use printfloor::domain::event::data::{EventData, EventKind};
use printfloor::domain::id::Id;
use printfloor::domain::mail::Mail;
use printfloor::domain::material::{MaterialRow, Movement, MovementKind};
use printfloor::domain::refusal::Refusal;
use printfloor::entities::skus;
use printfloor::store::load::Load;
use printfloor::store::rows::{SCHEMA_NUMBER, Snapshot, SnapshotRow, WriteError};
use serde::{Deserialize, Serialize};

static CURSED: Mutex<Option<HashSet<Id>>> = Mutex::new(None);

/// Makes the actor of this tally crash whenever it starts, or no longer.
pub fn curse(id: Id, cursed: bool) {
    let mut all = CURSED.lock().unwrap();
    let all = all.get_or_insert_default();
    if cursed {
        all.insert(id);
    } else {
        all.remove(&id);
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tally {
    pub id: Id,
    pub code: String,
    pub count: i64,
}

#[derive(Clone, Debug)]
pub enum Do {
    Make,
    Add(i64),
    /// Adds one, but only at this version.
    AddAt(i64),
    Rename(String),
    Mail,
    Look,
    Refuse,
    Poison,
}

impl Aggregate for Tally {
    const KIND: &'static str = "tally";
    type Row = MaterialRow;
    type Created = Mail;
    type Effect = ();

    fn clash(constraint: &str) -> Refusal {
        Refusal::conflict("taken", constraint)
    }

    fn effects(&self) -> Vec<()> {
        let cursed = CURSED.lock().unwrap().as_ref().is_some_and(|all| all.contains(&self.id));
        assert!(!cursed, "cursed");
        Vec::new()
    }
}

impl Command<Tally> for Do {
    type Answer = i64;

    fn decide(&self, this: Option<&Tally>, id: Id, cx: &DecisionContext<'_>) -> Result<Decision<Tally, i64>, Refusal> {
        let Some(this) = this else {
            return match self {
                Self::Make => Ok(Decision::to(Tally { id, code: id.to_string(), count: 0 }, 0)),
                _ => Err(Refusal::not_found(Tally::KIND)),
            };
        };
        match self {
            Self::Make => Err(Refusal::conflict("exists", "this tally exists")),
            Self::Add(many) => Ok(this.add(cx, *many)),
            Self::AddAt(_) => Ok(this.add(cx, 1)),
            Self::Rename(code) => Ok(Decision::to(Tally { code: code.clone(), ..this.clone() }, this.count)),
            Self::Mail => {
                let mail = Mail::new(cx, vec!["floor@example.com".to_owned()], "tally".to_owned(), id.to_string());
                Ok(Decision::to(this.clone(), this.count).created([mail]))
            }
            Self::Look => Ok(Decision::unchanged(this.count)),
            Self::Refuse => Err(Refusal::conflict("no", "the rules say no")),
            Self::Poison => panic!("poison"),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::SkuUpdate
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            Self::AddAt(version) => Some(*version),
            _ => None,
        }
    }
}

impl Tally {
    fn add(&self, cx: &DecisionContext<'_>, many: i64) -> Decision<Self, i64> {
        let count = self.count + many;
        Decision::to(Self { count, ..self.clone() }, count)
            .rows([MaterialRow::Movement(movement(cx, self.id, many, count))])
            .events([event(cx, self.id, count)])
    }
}

/// Event data for a tally's change.
#[derive(Serialize)]
struct AddedData {
    count: i64,
}

impl EventData for AddedData {
    const KINDS: &'static [EventKind] = &[EventKind { name: "tally.added", when: "A tally was counted." }];
}

pub fn event(cx: &DecisionContext<'_>, id: Id, count: i64) -> Event {
    Event::new(cx, "tally.added", (Tally::KIND, id), None, &AddedData { count })
}

pub fn movement(cx: &DecisionContext<'_>, id: Id, many: i64, count: i64) -> Movement {
    Movement {
        id: cx.ids.id(),
        material_id: id,
        kind: MovementKind::Adjust,
        delta_quantity: Amount(many),
        delta_reserved: Amount::ZERO,
        quantity: Amount(count),
        reserved: Amount::ZERO,
        job_id: None,
        reason: None,
        actor: cx.by.to_string(),
        created_at: cx.now,
    }
}

impl Snapshot for Tally {
    type Entity = skus::Entity;
    fn snapshot(&self, id: Id, version: i64, _: bool) -> Result<SnapshotRow, WriteError> {
        Ok(SnapshotRow::new(skus::Model {
            id: id.to_string(),
            version,
            schema: SCHEMA_NUMBER,
            doc: serde_json::to_string(self)?,
            code: self.code.clone(),
            slug: self.code.clone(),
            name: String::new(),
            material_id: String::new(),
            gcode_file_id: None,
            model_file_id: None,
            public: false,
            active: true,
            archived: false,
            created_at: 0,
        }))
    }
}

impl Load for Tally {}
