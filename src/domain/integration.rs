//! State of an integration: the position up to which it has read the events, so that it can resume after a restart, and
//! whether the operators were notified that it needs attention, so that they are notified only once.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::{AlertKind, one_line};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use words::staff::alerts as texts;

/// Name under which it is recorded that scheduled backups fail. They are no integration, but fail and recover like one.
pub const SCHEDULED_BACKUP: &str = "scheduled_backup";

/// Integration with an outside system, with its progress in following the events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// Identifier, derived from the name.
    pub id: Id,
    /// Name of the integration: `workflow`.
    pub name: String,
    /// Number of the last event that the outside system accepted or that was not intended for it; 0 if the integration
    /// follows no events.
    pub cursor: i64,
    /// Time at which the integration was first enabled; earlier events are not sent.
    pub created_at: Timestamp,
    /// Time at which the operators were notified that the integration needs attention; `None` while it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alerted_at: Option<Timestamp>,
}

/// Commands that change an integration.
#[derive(Clone, Debug)]
pub enum IntegrationCommand {
    /// Starts following the events after the given number; an existing integration keeps its cursor.
    Begin {
        /// Name of the integration.
        name: String,
        /// Number of the last event that must not be sent.
        cursor: i64,
    },
    /// Records that all events up to the given number were processed.
    Read(i64),
    /// Records that the integration will not work again until an operator acts, and notifies the operators, once per
    /// incident. Creates the record of an integration that follows no events.
    NeedsPerson {
        /// Name of the integration.
        name: String,
        /// Display name of the integration.
        title: String,
        /// Description of the failure.
        why: String,
    },
    /// Records that operator action is no longer needed.
    Well,
}

impl Aggregate for Integration {
    const KIND: &'static str = "integration";
    type Row = Infallible;
    type Created = Mail;
    type Effect = Infallible;
}

impl Command<Integration> for IntegrationCommand {
    /// Current cursor.
    type Answer = i64;

    fn decide(
        &self,
        this: Option<&Integration>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Integration, Self::Answer> {
        match (this, self) {
            (None, IntegrationCommand::Begin { name, cursor }) => {
                Ok(Decision::to(Integration::new(id, name, *cursor, cx.now), *cursor))
            }
            (this, IntegrationCommand::NeedsPerson { name, title, why }) => {
                let this = this.cloned().unwrap_or_else(|| Integration::new(id, name, 0, cx.now));
                Ok(this.alert(cx, title, why))
            }
            (None, IntegrationCommand::Read(_) | IntegrationCommand::Well) => {
                Err(Refusal::not_found(Integration::KIND))
            }
            (Some(this), IntegrationCommand::Read(upto)) if *upto > this.cursor => {
                Ok(Decision::to(Integration { cursor: *upto, ..this.clone() }, *upto))
            }
            (Some(this), IntegrationCommand::Well) if this.alerted_at.is_some() => {
                Ok(Decision::to(Integration { alerted_at: None, ..this.clone() }, this.cursor))
            }
            (Some(this), _) => Ok(Decision::unchanged(this.cursor)),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            IntegrationCommand::Begin { .. } => AuditedAct::IntegrationBegin,
            IntegrationCommand::Read(_) => AuditedAct::IntegrationRead,
            IntegrationCommand::NeedsPerson { .. } => AuditedAct::IntegrationNeedsPerson,
            IntegrationCommand::Well => AuditedAct::IntegrationWell,
        }
    }
}

impl Integration {
    fn new(id: Id, name: &str, cursor: i64, now: Timestamp) -> Self {
        Self { id, name: name.to_owned(), cursor, created_at: now, alerted_at: None }
    }

    /// Notifies the operators of the failure, unless they have already been notified since the integration last worked.
    fn alert(self, cx: &DecisionContext<'_>, title: &str, why: &str) -> Decision<Self, i64> {
        let cursor = self.cursor;
        if self.alerted_at.is_some() {
            return Decision::unchanged(cursor);
        }
        let page = |name: &str| format!("{}/shop/settings/{name}", cx.rules.public_url);
        let mails = if self.name == SCHEDULED_BACKUP {
            Mail::alert(cx, AlertKind::Backup, |language| {
                let text = texts::backup(language, &one_line(why), &page("backup"));
                (texts::backup_subject(language), text)
            })
        } else {
            Mail::alert(cx, AlertKind::Integration, |language| {
                let text = texts::integration(language, title, &one_line(why), &page("integrations"));
                (texts::integration_subject(language, title), text)
            })
        };
        Decision::to(Self { alerted_at: Some(cx.now), ..self }, cursor).created(mails)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::testing::{Bench, id};

    #[test]
    fn the_cursor_begins_once_and_only_moves_forward() {
        let (bench, mut this) = (Bench::new(), None::<Integration>);
        let mut tell =
            |command: IntegrationCommand| bench.tell(&mut this, id(1), &command).map(|decided| decided.answer);
        let begin = |cursor| IntegrationCommand::Begin { name: "workflow".to_owned(), cursor };
        assert_eq!(tell(IntegrationCommand::Read(3)).unwrap_err().code, "integration_not_found");
        assert_eq!(tell(begin(5)).unwrap(), 5);
        assert_eq!(tell(IntegrationCommand::Read(9)).unwrap(), 9);
        assert_eq!(tell(IntegrationCommand::Read(7)).unwrap(), 9, "told late");
        assert_eq!(tell(begin(50)).unwrap(), 9, "a restart goes on where it was");
    }

    #[test]
    fn the_operators_are_told_once_until_it_was_well() {
        let (bench, mut this) = (Bench::new(), None::<Integration>);
        let mut mails =
            |command: IntegrationCommand| bench.tell(&mut this, id(1), &command).map(|decision| decision.created);
        let needs_person = || IntegrationCommand::NeedsPerson {
            name: "parts".to_owned(),
            title: "Parts management".to_owned(),
            why: "PLA: the token was rejected (status 403)".to_owned(),
        };
        assert_eq!(mails(IntegrationCommand::Well).unwrap_err().code, "integration_not_found");
        let alerts = mails(needs_person()).unwrap();
        assert_eq!(alerts.len(), 1);
        assert_eq!(
            (alerts[0].alert, &*alerts[0].subject),
            (Some(AlertKind::Integration), "Integration needs attention: Parts management")
        );
        assert!(alerts[0].text.contains("PLA: the token was rejected (status 403)."), "{}", alerts[0].text);
        assert_eq!(mails(needs_person()).unwrap().len(), 0, "they know");
        assert_eq!(mails(IntegrationCommand::Well).unwrap().len(), 0);
        assert_eq!(mails(IntegrationCommand::Well).unwrap().len(), 0);
        assert_eq!(mails(needs_person()).unwrap().len(), 1, "another outage");
    }

    #[test]
    fn a_scheduled_backup_that_fails_is_an_alert_of_its_own() {
        let (bench, mut this) = (Bench::new(), None::<Integration>);
        let failed = IntegrationCommand::NeedsPerson {
            name: SCHEDULED_BACKUP.to_owned(),
            title: SCHEDULED_BACKUP.to_owned(),
            why: "no space left on device".to_owned(),
        };
        let alerts = bench.tell(&mut this, id(1), &failed).unwrap().created;
        assert_eq!((alerts.len(), alerts[0].alert), (1, Some(AlertKind::Backup)));
        assert_eq!(&*alerts[0].subject, "Backup failed");
        assert!(alerts[0].text.contains("no space left on device"), "{}", alerts[0].text);
    }

    #[test]
    fn what_changes_nothing_is_not_written() {
        let (bench, mut this) = (Bench::new(), None::<Integration>);
        let begin = IntegrationCommand::Begin { name: "workflow".to_owned(), cursor: 5 };
        bench.tell(&mut this, id(1), &begin).unwrap();
        for (command, is_written) in [
            (begin, false),
            (IntegrationCommand::Read(5), false),
            (IntegrationCommand::Read(6), true),
            (IntegrationCommand::Read(6), false),
            (IntegrationCommand::Well, false),
        ] {
            let decision = bench.tell(&mut this, id(1), &command).unwrap();
            assert_eq!(decision.next.is_some(), is_written, "{command:?}");
        }
    }
}
