//! Who asks: handed to every decision, written into the audit log and the events.

use crate::domain::id::Id;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a key or a staff member may do (production spec §5, decisions §2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Own orders and the SKU catalogue.
    Customer,
    /// The floor: orders, jobs, printers, files, inventory, SKUs.
    Operator,
    /// Everything, with users, keys, webhook endpoints, settings.
    Admin,
}

impl Role {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Who asks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    /// The server itself: wants, timers, reports of printers.
    System,
    /// Nobody signed in.
    Anonymous,
    /// The owner of the machine, over the control socket.
    Machine,
    /// A verified inbound event of the payment processor.
    Processor,
    /// Somebody who speaks through the agent gateway.
    Agent {
        /// Their identifier, with its channel (`telegram:123`).
        user: String,
    },
    /// An API key.
    Key {
        /// The key.
        id: Id,
        /// Its name.
        name: String,
        /// What it may do.
        role: Role,
        /// A customer key made for one customer's orders.
        #[serde(default)]
        customer_email: Option<String>,
    },
    /// A signed-in staff member.
    User {
        /// The user.
        id: Id,
        /// Their address.
        email: String,
        /// What they may do.
        role: Role,
    },
}

impl Principal {
    /// What they may do; `None` for those without credentials.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Key { role, .. } | Self::User { role, .. } => Some(*role),
            Self::Agent { .. } => Some(Role::Operator),
            Self::System | Self::Machine | Self::Processor => Some(Role::Admin),
            Self::Anonymous => None,
        }
    }
    /// Whether changes asked for by them are written to the audit log; the server's own are events only.
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
            Self::Processor => f.write_str("payments"),
            Self::Agent { user } => write!(f, "agent:{user}"),
            Self::Key { id, .. } => write!(f, "key:{id}"),
            Self::User { id, .. } => write!(f, "user:{id}"),
        }
    }
}
