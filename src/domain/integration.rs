//! Stored progress of an integration that follows the events, so that it continues there after a restart.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;

/// Integration that follows the events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// Identifier, derived from the name.
    pub id: Id,
    /// Name of the integration: `workflow`.
    pub name: String,
    /// Number of the last event that the other side accepted or that did not concern it.
    pub cursor: i64,
    /// Time at which it was first enabled: earlier events are not sent.
    pub created_at: Timestamp,
}

/// Commands on an integration.
#[derive(Clone, Debug)]
pub enum IntegrationCommand {
    /// Starts to follow the events after this number; an existing integration keeps its cursor.
    Begin {
        /// Name of the integration.
        name: String,
        /// Number of the last event that is not sent.
        cursor: i64,
    },
    /// Records that all events up to this number were processed.
    Read(i64),
}

impl Aggregate for Integration {
    const KIND: &'static str = "integration";
    type Command = IntegrationCommand;
    /// Current cursor.
    type Answer = i64;
    type Row = Infallible;
    type Created = Infallible;
    type Effect = Infallible;

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &IntegrationCommand,
    ) -> Result<Decision<Self>, Refusal> {
        match (this, command) {
            (None, IntegrationCommand::Begin { name, cursor }) => {
                let begun = Self { id, name: name.clone(), cursor: *cursor, created_at: cx.now };
                Ok(Decision::to(begun, *cursor))
            }
            (None, IntegrationCommand::Read(_)) => Err(Refusal::not_found(Self::KIND)),
            (Some(this), IntegrationCommand::Read(upto)) if *upto > this.cursor => {
                Ok(Decision::to(Self { cursor: *upto, ..this.clone() }, *upto))
            }
            (Some(this), _) => Ok(Decision::unchanged(this.cursor)),
        }
    }

    fn name(command: &IntegrationCommand) -> &'static str {
        match command {
            IntegrationCommand::Begin { .. } => "integration.begin",
            IntegrationCommand::Read(_) => "integration.read",
        }
    }

    fn effects(&self) -> Vec<Infallible> {
        Vec::new()
    }

    fn at_rest(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::domain::testing::{Bench, id};

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
}
