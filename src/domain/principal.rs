//! Principal that issues a command. It is passed to every decision, and recorded in the audit log and in events.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// Permissions of an API key or staff member; each role includes all permissions of the roles before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Access to the customer's own orders, and read access to the SKU catalogue.
    Customer,
    /// Shop floor access: orders, jobs, printers, files, inventory, SKUs.
    Operator,
    /// Full access, including users, keys, webhook endpoints and settings.
    Admin,
}

impl Role {
    /// Returns the role's name in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Originator of a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    /// The server itself: effects, timers, printer reports.
    System,
    /// A caller without credentials.
    Anonymous,
    /// The owner of the machine, over the control socket; has full access.
    Machine,
    /// The holder of the one-time setup code, until the setup is completed.
    Setup,
    /// The payment processor, through an event whose signature was verified.
    Processor,
    /// A different shop, through a message whose signature was verified.
    Channel {
        /// Sales channel through which the message arrived.
        id: Id,
    },
    /// A user who acts through the agent gateway.
    Agent {
        /// The gateway's identifier for the user, prefixed with the chat channel (`telegram:123`).
        user: String,
    },
    /// A program with an API key.
    Key {
        /// Identifier of the key.
        id: Id,
        /// Name of the key.
        name: String,
        /// Role of the key.
        role: Role,
        /// Email address of the customer that a key with the role `customer` is limited to.
        #[serde(default)]
        customer_email: Option<String>,
    },
    /// A signed-in customer.
    Customer {
        /// Identifier of the customer's record.
        id: Id,
        /// Email address of the customer, in normalised form.
        email: String,
    },
    /// A signed-in staff member.
    User {
        /// Identifier of the user.
        id: Id,
        /// Email address of the user.
        email: String,
        /// Role of the user.
        role: Role,
    },
}

impl Principal {
    /// Returns the caller's role; `None` for callers without credentials.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Key { role, .. } | Self::User { role, .. } => Some(*role),
            Self::Agent { .. } => Some(Role::Operator),
            Self::Customer { .. } => Some(Role::Customer),
            Self::System | Self::Machine | Self::Setup | Self::Processor | Self::Channel { .. } => Some(Role::Admin),
            Self::Anonymous => None,
        }
    }
    /// Returns whether the command is issued by a person, or by a program on a person's behalf. Actions of the server
    /// itself, and reports from the payment processor and other shops, are not edits of a record.
    pub(super) fn is_person(&self) -> bool {
        !matches!(self, Self::System | Self::Processor | Self::Channel { .. })
    }
    /// Returns whether commands by this principal are written to the audit log. The server's own commands are not,
    /// because they are recorded by their events.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::id;

    #[test]
    fn each_principal_has_a_name_a_role_and_a_place_in_the_audit_log() {
        use Principal as P;
        let (email, name) = ("ann@example.org".to_owned(), "till".to_owned());
        let key = P::Key { id: id(3), name, role: Role::Customer, customer_email: None };
        let user = P::User { id: id(5), email: email.clone(), role: Role::Operator };
        let name_of = |kind: &str, number: u32| format!("{kind}:{}", id(number));
        for (principal, text, role, is_person, is_audited) in [
            (P::System, "system".to_owned(), Some(Role::Admin), false, false),
            (P::Anonymous, "anonymous".to_owned(), None, true, true),
            (P::Machine, "machine".to_owned(), Some(Role::Admin), true, true),
            (P::Setup, "setup".to_owned(), Some(Role::Admin), true, true),
            (P::Processor, "payments".to_owned(), Some(Role::Admin), false, true),
            (P::Channel { id: id(2) }, name_of("channel", 2), Some(Role::Admin), false, true),
            (P::Agent { user: "chat:1".to_owned() }, "agent:chat:1".to_owned(), Some(Role::Operator), true, true),
            (key, name_of("key", 3), Some(Role::Customer), true, true),
            (P::Customer { id: id(4), email }, name_of("customer", 4), Some(Role::Customer), true, true),
            (user, name_of("user", 5), Some(Role::Operator), true, true),
        ] {
            assert_eq!(principal.to_string(), text);
            assert_eq!((principal.role(), principal.is_person(), principal.audited()), (role, is_person, is_audited));
        }
        for (role, word) in [(Role::Customer, "customer"), (Role::Operator, "operator"), (Role::Admin, "admin")] {
            assert_eq!((role.word(), serde_json::json!(role)), (word, serde_json::json!(word)));
        }
    }
}
