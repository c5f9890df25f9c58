//! Customer: profile, shipping and billing addresses, and signed-in browser sessions.
//!
//! A customer is identified solely by the email address in its normal form, which never changes. There is no password:
//! the customer signs in by redeeming a link sent by email ([`crate::sign_in_link`]). The record is created with the
//! first redeemed link, or with the first order for that address.

mod profile;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::access::normal_email;
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::order::Address;
use crate::party::Party;
use crate::refusal::Refusal;
use crate::time::{DAY_MS, Timestamp};
use words::Language;

pub use profile::{AddressKind, AddressUpdate, CustomerAddress, MAX_ADDRESSES, ProfileChange};

/// Lifetime of a session, in milliseconds: 30 days.
pub const SESSION_LIFE_MS: i64 = 30 * DAY_MS;

/// Maximum number of concurrent sessions per customer; the oldest session ends when one too many is opened.
const MAX_SESSIONS: usize = 20;

/// Error code for an email address that already belongs to a different customer.
pub const EMAIL_TAKEN: &str = "email_taken";

/// Customer with their open sessions.
///
/// Invariants: `email` never changes and no two customers share it; exactly one address of each kind that occurs is the
/// default. Sessions are separate rows under the customer's version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    /// Identifier of the customer.
    pub id: Id,
    /// Email address in its normal form, which identifies the customer.
    pub email: String,
    /// Name of the customer.
    #[serde(default)]
    pub name: Option<String>,
    /// Phone number, as entered.
    #[serde(default)]
    pub phone: Option<String>,
    /// Company that the customer buys for.
    #[serde(default)]
    pub company: Option<String>,
    /// Tax ID of the company, printed on invoices.
    #[serde(default)]
    pub tax_id: Option<String>,
    /// Language and region as a BCP 47 tag; decides the language of emails and documents ([`Self::language`]).
    #[serde(default)]
    pub locale: Option<String>,
    /// Billing and shipping addresses, in the order in which they were added.
    #[serde(default)]
    pub addresses: Vec<CustomerAddress>,
    /// Time at which the record was created.
    pub created_at: Timestamp,
    /// Time of the profile's last change; sign-ins and sign-outs are not changes.
    pub updated_at: Timestamp,
    /// Open sessions, oldest first; expired sessions are removed at the next sign-in.
    #[serde(skip)]
    pub sessions: Vec<Arc<CustomerSession>>,
}

/// Browser session of a signed-in customer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerSession {
    /// Identifier of the session.
    pub id: Id,
    /// Customer who signed in.
    pub customer_id: Id,
    /// Customer's email address, so that a request needs only one lookup.
    pub email: String,
    /// SHA-256 of the session token in hexadecimal; only the customer's cookie holds the token itself.
    pub hash: String,
    /// Time at which the customer signed in.
    pub created_at: Timestamp,
}

impl CustomerSession {
    /// Returns whether the session has expired.
    pub fn over(&self, now: Timestamp) -> bool {
        now.since(self.created_at) >= SESSION_LIFE_MS
    }
}

/// Commands that change a customer.
#[derive(Clone, Debug)]
pub enum CustomerCommand {
    /// Creates the record; rejected with 409 `email_taken` if a customer with the email address exists.
    Create {
        /// Email address, not yet normalized; rejected with 400 if malformed.
        email: String,
        /// Hash of the first session's token, if the record is created by redeeming a link.
        session_hash: Option<String>,
    },
    /// Opens a session after a sign-in link was redeemed.
    OpenSession {
        /// SHA-256 of the token in hexadecimal; the HTTP layer generated the token.
        hash: String,
    },
    /// Ends one session; succeeds even if the session has already ended.
    EndSession(Id),
    /// Changes the profile fields that are set.
    Update(Box<ProfileChange>),
}

/// Response to a [`CustomerCommand`]. Stored so that retries with the same idempotency key get the same response; never
/// includes a hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CustomerAnswer {
    /// Customer after the change, without sessions.
    #[serde(rename = "Customer")]
    pub customer: Box<Customer>,
}

/// Row that a customer commit writes in addition to the snapshot row.
#[derive(Clone, Debug)]
pub enum CustomerRow {
    /// Session to insert or replace.
    Session(Arc<CustomerSession>),
    /// Session to delete because it ended.
    SessionGone(Id),
}

impl Aggregate for Customer {
    const KIND: &'static str = "customer";
    type Row = CustomerRow;
    type Created = Infallible;
    type Effect = ();

    fn clash(_: &str) -> Refusal {
        Refusal::conflict(EMAIL_TAKEN, "another customer uses this email address")
    }
}

impl Command<Customer> for CustomerCommand {
    type Answer = CustomerAnswer;

    fn decide(
        &self,
        this: Option<&Customer>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Customer, Self::Answer> {
        use CustomerCommand as C;
        match (this, self) {
            (None, C::Create { email, session_hash }) => create(id, cx, email, session_hash.as_deref()),
            (None, _) => Err(Refusal::not_found(Customer::KIND)),
            (Some(_), C::Create { .. }) => Err(Refusal::conflict("exists", "this customer already exists")),
            (Some(customer), C::OpenSession { hash }) => Ok(open_session(customer.clone(), cx, hash)),
            (Some(customer), C::EndSession(session)) => Ok(end_session(customer.clone(), *session)),
            (Some(customer), C::Update(change)) => profile::update(customer, cx, change),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            CustomerCommand::Create { .. } => AuditedAct::CustomerCreate,
            CustomerCommand::OpenSession { .. } => AuditedAct::CustomerSignIn,
            CustomerCommand::EndSession(_) => AuditedAct::CustomerSignOut,
            CustomerCommand::Update(_) => AuditedAct::CustomerUpdate,
        }
    }
}

fn create(
    id: Id,
    cx: &DecisionContext<'_>,
    email: &str,
    session_hash: Option<&str>,
) -> Result<Decision<Customer, CustomerAnswer>, Refusal> {
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
        None => to(customer),
    })
}

/// Builds the response for the given state.
fn answer(customer: &Customer) -> CustomerAnswer {
    CustomerAnswer { customer: Box::new(Customer { sessions: Vec::new(), ..customer.clone() }) }
}

/// Builds the decision for the given state, which is also the response.
fn to(customer: Customer) -> Decision<Customer, CustomerAnswer> {
    let answer = answer(&customer);
    Decision::to(customer, answer)
}

fn open_session(mut customer: Customer, cx: &DecisionContext<'_>, hash: &str) -> Decision<Customer, CustomerAnswer> {
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
    let rows = gone.into_iter().map(CustomerRow::SessionGone).chain([CustomerRow::Session(session)]);
    to(customer).rows(rows)
}

fn end_session(mut customer: Customer, id: Id) -> Decision<Customer, CustomerAnswer> {
    let before = customer.sessions.len();
    customer.sessions.retain(|session| session.id != id);
    if customer.sessions.len() == before {
        return Decision::unchanged(answer(&customer));
    }
    to(customer).rows([CustomerRow::SessionGone(id)])
}

impl Customer {
    /// Returns the party named on the customer's invoices. Falls back to the shipping address if there is no billing
    /// address.
    pub fn buyer(&self) -> Party {
        let to_bill = self.addresses.iter().find(|one| one.kind == AddressKind::Billing && one.is_default);
        let name = self.company.as_ref().or(self.name.as_ref()).unwrap_or(&self.email);
        Party {
            name: name.clone(),
            language: self.language(),
            address: to_bill.map(CustomerAddress::postal),
            vat_id: self.tax_id.as_ref().map(|id| id.to_uppercase()),
            email: Some(self.email.clone()),
            ..Party::default()
        }
    }
}

impl Customer {
    /// Returns the language in which the customer reads emails and documents.
    pub fn language(&self) -> Language {
        self.locale.as_deref().and_then(Language::of_tag).unwrap_or_default()
    }

    /// Returns the default shipping address, if the profile has one.
    pub fn ships_to(&self) -> Option<Address> {
        let to_ship = |one: &&CustomerAddress| one.kind == AddressKind::Shipping && one.is_default;
        self.addresses.iter().find(to_ship).map(CustomerAddress::postal)
    }
}

impl CustomerAddress {
    /// Converts the address to the form used in orders.
    pub fn postal(&self) -> Address {
        self.address.clone()
    }
}
