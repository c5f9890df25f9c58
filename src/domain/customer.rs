//! A customer: who they are, where parcels and invoices go, and the browsers in which they are signed in.
//!
//! A customer is known by the e-mail address alone, in its normal form, and never changes it. There is no password:
//! whoever redeems a mailed link is signed in ([`crate::domain::sign_in_link`]). The record comes into being with the
//! first redeemed link, or with the first order that names the address.

mod profile;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::domain::access::normal_email;
use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::order::Address;
use crate::domain::party::Party;
use crate::domain::refusal::Refusal;
use crate::domain::time::{DAY_MS, Timestamp};

pub use profile::{AddressKind, CustomerAddress, GivenAddress, MAX_ADDRESSES, ProfileChange};

/// How long a session lives, in milliseconds: 30 days.
pub const SESSION_LIFE_MS: i64 = 30 * DAY_MS;

/// Sessions that one customer may have at the same time; the oldest ends when another one begins.
const MAX_SESSIONS: usize = 20;

/// Refusal of an address that another record has already.
pub const EMAIL_TAKEN: &str = "email_taken";

/// A customer with their open sessions.
///
/// Invariants: `email` never changes and no two customers share it; of each kind of address exactly one is the default,
/// as long as there is any. Sessions are rows of their own under the customer's version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    /// Identifier of the customer.
    pub id: Id,
    /// E-mail address in its normal form; what the customer is known by.
    pub email: String,
    /// What people call them.
    #[serde(default)]
    pub name: Option<String>,
    /// Telephone number, as they write it.
    #[serde(default)]
    pub phone: Option<String>,
    /// The company that they buy for.
    #[serde(default)]
    pub company: Option<String>,
    /// Tax identifier of that company, as it stands on invoices.
    #[serde(default)]
    pub tax_id: Option<String>,
    /// Language and region as a BCP 47 tag.
    #[serde(default)]
    pub locale: Option<String>,
    /// Addresses for invoices and parcels, in the order in which they were given.
    #[serde(default)]
    pub addresses: Vec<CustomerAddress>,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When the profile last changed; signing in and out does not count.
    pub updated_at: Timestamp,
    /// Open sessions, oldest first; those that have expired leave with the next sign-in.
    #[serde(skip)]
    pub sessions: Vec<Arc<CustomerSession>>,
}

/// A browser in which a customer is signed in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerSession {
    /// Identifier of the session.
    pub id: Id,
    /// The customer who signed in.
    pub customer_id: Id,
    /// The customer's e-mail address, so that a request needs one look-up alone.
    pub email: String,
    /// SHA-256 of the session's token in hexadecimal; the token itself is in the customer's cookie alone.
    pub hash: String,
    /// When the customer signed in.
    pub created_at: Timestamp,
}

impl CustomerSession {
    /// Whether the session has expired.
    pub fn over(&self, now: Timestamp) -> bool {
        now.since(self.created_at) >= SESSION_LIFE_MS
    }
}

/// What can be asked of a customer.
#[derive(Clone, Debug)]
pub enum CustomerCommand {
    /// Makes the record; refused with 409 `email_taken` when there is one with this address.
    Create {
        /// E-mail address, in any writing; refused with 400 if malformed.
        email: String,
        /// Hash of the token of a first session, when the record is made by a redeemed link.
        session_hash: Option<String>,
    },
    /// Opens a session for whoever redeemed a link.
    OpenSession {
        /// SHA-256 of the token in hexadecimal; the edge has made the token.
        hash: String,
    },
    /// Signs out one session; one that has ended already is no fault.
    EndSession(Id),
    /// Changes the members of the profile that are given.
    Update(Box<ProfileChange>),
}

/// What a command of a customer is answered with. Kept for repeats of the request, without any hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CustomerAnswer {
    /// The customer after the change, without sessions.
    Customer(Box<Customer>),
    /// The session that was opened.
    Session(#[serde(serialize_with = "without_hash")] Arc<CustomerSession>),
    /// Done now, or done before.
    Done,
}

fn without_hash<S: Serializer>(session: &Arc<CustomerSession>, to: S) -> Result<S::Ok, S::Error> {
    CustomerSession { hash: String::new(), ..(**session).clone() }.serialize(to)
}

/// What a commit of a customer writes besides its snapshot row.
#[derive(Clone, Debug)]
pub enum CustomerRow {
    /// A session that began (insert or replace).
    Session(Arc<CustomerSession>),
    /// A session that ended (delete).
    SessionGone(Id),
}

impl Aggregate for Customer {
    const KIND: &'static str = "customer";
    type Command = CustomerCommand;
    type Answer = CustomerAnswer;
    type Row = CustomerRow;
    type Created = Infallible;
    type Effect = ();

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &CustomerCommand,
    ) -> Result<Decision<Self>, Refusal> {
        use CustomerCommand as C;
        match (this, command) {
            (None, C::Create { email, session_hash }) => create(id, cx, email, session_hash.as_deref()),
            (None, _) => Err(Refusal::not_found(Self::KIND)),
            (Some(_), C::Create { .. }) => Err(Refusal::conflict("exists", "this customer exists already")),
            (Some(customer), C::OpenSession { hash }) => Ok(open_session(customer.clone(), cx, hash)),
            (Some(customer), C::EndSession(session)) => Ok(end_session(customer.clone(), *session)),
            (Some(customer), C::Update(change)) => profile::update(customer, cx, change),
        }
    }

    fn name(command: &CustomerCommand) -> &'static str {
        match command {
            CustomerCommand::Create { .. } => "customer.create",
            CustomerCommand::OpenSession { .. } => "customer.sign_in",
            CustomerCommand::EndSession(_) => "customer.sign_out",
            CustomerCommand::Update(_) => "customer.update",
        }
    }

    fn clash(_: &str) -> Refusal {
        Refusal::conflict(EMAIL_TAKEN, "another customer has this e-mail address")
    }
}

fn create(
    id: Id,
    cx: &DecisionContext<'_>,
    email: &str,
    session_hash: Option<&str>,
) -> Result<Decision<Customer>, Refusal> {
    let customer = Customer {
        id,
        email: normal_email(email)?,
        name: None,
        phone: None,
        company: None,
        tax_id: None,
        locale: None,
        addresses: Vec::new(),
        created_at: cx.now,
        updated_at: cx.now,
        sessions: Vec::new(),
    };
    Ok(match session_hash {
        Some(hash) => open_session(customer, cx, hash),
        None => shown(customer),
    })
}

/// The decision for this state, answered with it.
fn shown(customer: Customer) -> Decision<Customer> {
    let answer = Customer { sessions: Vec::new(), ..customer.clone() };
    Decision::to(customer, CustomerAnswer::Customer(Box::new(answer)))
}

fn open_session(mut customer: Customer, cx: &DecisionContext<'_>, hash: &str) -> Decision<Customer> {
    let session = Arc::new(CustomerSession {
        id: cx.ids.id(),
        customer_id: customer.id,
        email: customer.email.clone(),
        hash: hash.to_owned(),
        created_at: cx.now,
    });
    let room = customer.sessions.len().saturating_sub(MAX_SESSIONS - 1);
    let ends =
        |(at, session): (usize, &Arc<CustomerSession>)| (at < room || session.over(cx.now)).then_some(session.id);
    let gone: Vec<Id> = customer.sessions.iter().enumerate().filter_map(ends).collect();
    customer.sessions.retain(|session| !gone.contains(&session.id));
    customer.sessions.push(session.clone());
    let rows = gone.into_iter().map(CustomerRow::SessionGone).chain([CustomerRow::Session(session.clone())]);
    Decision::to(customer, CustomerAnswer::Session(session)).rows(rows)
}

fn end_session(mut customer: Customer, id: Id) -> Decision<Customer> {
    let before = customer.sessions.len();
    customer.sessions.retain(|session| session.id != id);
    if customer.sessions.len() == before {
        return Decision::unchanged(CustomerAnswer::Done);
    }
    Decision::to(customer, CustomerAnswer::Done).rows([CustomerRow::SessionGone(id)])
}

impl Customer {
    /// Who is named on invoices of what they buy. Without an address for invoices there is none: that of the parcel
    /// stands in.
    pub fn buyer(&self) -> Party {
        let to_bill = self.addresses.iter().find(|one| one.kind == AddressKind::Billing && one.is_default);
        let name = self.company.as_ref().or(self.name.as_ref()).unwrap_or(&self.email);
        Party {
            name: name.clone(),
            address: to_bill.map(CustomerAddress::postal),
            vat_id: self.tax_id.as_ref().map(|id| id.to_uppercase()),
            email: Some(self.email.clone()),
            ..Party::default()
        }
    }
}

impl Customer {
    /// Where what they order goes unless they say otherwise; `None` while the profile does not say it.
    pub fn ships_to(&self) -> Option<Address> {
        let to_ship = |one: &&CustomerAddress| one.kind == AddressKind::Shipping && one.is_default;
        self.addresses.iter().find(to_ship).map(CustomerAddress::postal)
    }
}

impl CustomerAddress {
    /// The address as an order has it.
    pub fn postal(&self) -> Address {
        self.address.clone()
    }
}
