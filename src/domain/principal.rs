//! Who gives a command. Handed to every decision, and written to the audit log and to events.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;

/// What a key or a staff member may do; each role may do all that the ones before it may.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Its own orders, and reading the SKU catalogue.
    Customer,
    /// The work of the floor: orders, jobs, printers, files, inventory, SKUs.
    Operator,
    /// Everything, with users, keys, webhook endpoints and settings.
    Admin,
}

impl Role {
    /// The role as the API writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Who gives a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    /// The server itself: effects, timers, printers' reports.
    System,
    /// A caller without credentials.
    Anonymous,
    /// The owner of the machine, over the control socket; may do everything.
    Machine,
    /// Whoever showed the one-time code of the setup, while the setup is not completed.
    Setup,
    /// The payment processor, by an event whose signature was checked.
    Processor,
    /// Another shop, by a message whose signature was checked.
    Channel {
        /// The sales channel that it came by.
        id: Id,
    },
    /// A person who speaks through the agent gateway.
    Agent {
        /// The gateway's identifier of the person, with the channel (`telegram:123`).
        user: String,
    },
    /// A program, by its API key.
    Key {
        /// Identifier of the key.
        id: Id,
        /// Name of the key.
        name: String,
        /// Role of the key.
        role: Role,
        /// The customer to whom a key of role `customer` is limited, by e-mail address.
        #[serde(default)]
        customer_email: Option<String>,
    },
    /// A signed-in customer.
    Customer {
        /// Identifier of the customer's record.
        id: Id,
        /// E-mail address of the customer, in its normal form.
        email: String,
    },
    /// A signed-in staff member.
    User {
        /// Identifier of the user.
        id: Id,
        /// E-mail address of the user.
        email: String,
        /// Role of the user.
        role: Role,
    },
}

impl Principal {
    /// The caller's role; `None` for callers without credentials.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Key { role, .. } | Self::User { role, .. } => Some(*role),
            Self::Agent { .. } => Some(Role::Operator),
            Self::Customer { .. } => Some(Role::Customer),
            Self::System | Self::Machine | Self::Setup | Self::Processor | Self::Channel { .. } => Some(Role::Admin),
            Self::Anonymous => None,
        }
    }
    /// Whether a person gives the command, or a program for one. What the server does by itself and what the payment
    /// processor and other shops report are no changes that somebody made to a record.
    pub(super) fn is_person(&self) -> bool {
        !matches!(self, Self::System | Self::Processor | Self::Channel { .. })
    }
    /// Whether commands of this caller are written to the audit log. The server's own are not, because their events
    /// record them.
    pub fn audited(&self) -> bool {
        !matches!(self, Self::System)
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Anonymous => f.write_str("anonymous"),
            Self::Machine => f.write_str("machine"),
            Self::Setup => f.write_str("setup"),
            Self::Processor => f.write_str("payments"),
            Self::Channel { id } => write!(f, "channel:{id}"),
            Self::Agent { user } => write!(f, "agent:{user}"),
            Self::Key { id, .. } => write!(f, "key:{id}"),
            Self::Customer { id, .. } => write!(f, "customer:{id}"),
            Self::User { id, .. } => write!(f, "user:{id}"),
        }
    }
}
