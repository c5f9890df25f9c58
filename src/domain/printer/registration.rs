//! Operations on a printer's registration: creating, editing, connecting and disconnecting it. While work is in hand,
//! the printer's type and address cannot be changed, and the printer stays connected.

use super::{MachineAddress, Printer, PrinterAnswer, PrinterFields};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::id::Id;
use crate::maintenance::Odometer;
use crate::printer_status::{Activity, Connection};
use crate::refusal::Refusal;
use crate::requirement::{Referenced, Requirement};

/// Maximum length of a key digest, in characters: the length of a SHA-256 digest in hexadecimal.
const MAX_KEY_CHARS: usize = 64;

pub(super) fn create(id: Id, cx: &DecisionContext<'_>, fields: &PrinterFields) -> Decision<Printer, PrinterAnswer> {
    let printer = Printer {
        id,
        revision: 1,
        fields: fields.clone(),
        slots: Vec::new(),
        bindings: Vec::new(),
        books_on: None,
        in_hand: None,
        manual: None,
        last_manual: None,
        bed_not_cleared: false,
        bed_since: None,
        unseen_print: None,
        foreign_runs: None,
        clearings: Vec::new(),
        needs_home: false,
        fault: None,
        kept_closed: false,
        known_key: None,
        refusals: None,
        forgiven_at: None,
        pardons: 0,
        last_start: None,
        last_print: None,
        signed_prints: Vec::new(),
        photo_due: None,
        camera_absent: false,
        maintenance: None,
        odometer: Odometer::ZERO,
        reminders: Default::default(),
        print_failed: false,
        disconnected: false,
        activity: Activity::Offline,
        connection: Connection::Connecting,
        shows: None,
        paused_since: None,
        pause_request: None,
        past: Vec::new(),
        stopped_at: None,
        outage: false,
        last_seen_at: None,
        idle_since: cx.now,
        archived: false,
        created_at: cx.now,
        updated_at: cx.now,
    };
    let event = printer.event_with(cx, "printer.created", None, |printer| printer);
    let loaded = loaded(printer.fields.loaded_material_id);
    Decision::to(printer.clone(), PrinterAnswer { printer: Box::new(printer) }).events([event]).requires(loaded)
}

/// Requires that the loaded material has not been deleted.
fn loaded(material: Option<Id>) -> Option<Requirement> {
    material.map(|id| Requirement::not_deleted(Referenced::Material, id, "loadedMaterialId"))
}

impl Printer {
    /// Rejects the operation while work is in hand; `what` completes "it can be … once that has ended".
    pub(super) fn not_busy(&self, what: &str) -> Result<(), Refusal> {
        let has = match (&self.in_hand, &self.manual) {
            (Some(_), _) => "has a job",
            (None, Some(_)) => "is starting a manual print",
            (None, None) => return Ok(()),
        };
        Err(Refusal::conflict("printer_busy", format!("the printer {has}; it can be {what} once that has ended")))
    }

    pub(super) fn update(
        self,
        fields: &PrinterFields,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        let old = &self.fields;
        if old.kind != fields.kind || old.base_url != fields.base_url {
            self.not_busy("changed to another type or address")?;
        }
        let mut fields = fields.clone();
        // A key was given for one address and must not be told to another; a new one differs even if it is the same
        // key, because each is encrypted anew.
        if fields.encrypted_api_key == old.encrypted_api_key && !MachineAddress::same(&old.base_url, &fields.base_url) {
            fields.encrypted_api_key.clear();
        }
        let elsewhere = (&old.kind, &old.base_url, &old.encrypted_api_key, &old.serial)
            != (&fields.kind, &fields.base_url, &fields.encrypted_api_key, &fields.serial);
        let another = (&old.kind, &old.serial) != (&fields.kind, &fields.serial);
        let again = elsewhere && !self.disconnected;
        let newly = fields.loaded_material_id.filter(|_| old.loaded_material_id != fields.loaded_material_id);
        let change = |printer: &mut Self| {
            printer.fields = fields;
            printer.loaded_by_fields(cx.now);
            if elsewhere {
                // Another address or key may be another machine.
                printer.forgive_refusals(cx.now);
            }
            if another {
                printer.known_key = None;
            }
            if again {
                printer.connection = Connection::Connecting;
                printer.activity = Activity::Offline;
                printer.shows = None;
            }
        };
        Ok(self.say(cx, change, Some("printer.updated")).requires(loaded(newly)))
    }

    /// Records the key that the printer identified itself with. Only the first key is stored, and none if the printer
    /// was disconnected in the meantime.
    pub(super) fn key_shown(mut self, key: &str, cx: &DecisionContext<'_>) -> Decision<Self> {
        let sound = key.len() <= MAX_KEY_CHARS && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.known_key.is_some() || self.disconnected || !sound {
            return Decision::unchanged(Confirmation::Done);
        }
        self.known_key = Some(key.to_owned());
        self.changed(cx);
        Decision::to(self, Confirmation::Done)
    }

    /// Connects or disconnects the printer at an operator's request. Connecting a printer that is already connected
    /// allows the server to reopen a closed connection between the printer's own server and its firmware.
    pub(super) fn connect(self, on: bool, cx: &DecisionContext<'_>) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        if on && !self.disconnected {
            return Ok(self.say(cx, |printer| printer.kept_closed = false, Some("printer.connected")));
        }
        if !on && self.disconnected {
            return Ok(Decision::unchanged(PrinterAnswer { printer: Box::new(self) }));
        }
        if !on {
            self.not_busy("disconnected")?;
        }
        let change = |printer: &mut Self| {
            printer.disconnected = !on;
            printer.connection = if on { Connection::Connecting } else { Connection::Disconnected };
            printer.activity = Activity::Offline;
            printer.shows = None;
            printer.outage = false;
            printer.kept_closed = false;
            // Whoever connects it vouches for it anew.
            printer.known_key = None;
        };
        Ok(self.say(cx, change, Some(if on { "printer.connected" } else { "printer.disconnected" })))
    }
}
