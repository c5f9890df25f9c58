//! Names of the people, programs and things in the audit log, and links to their pages.

use std::collections::{BTreeSet, HashMap};

use url::Url;

use super::super::{keys, users};
use crate::staff::{
    CUSTOMERS_PATH, FLOOR_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, REQUESTS_PATH, STOCK_PATH,
    WEBHOOKS_PATH,
};
use domain::access::Access;
use domain::aggregate::Aggregate;
use domain::audit::AuditedKind;
use domain::custom_request::CustomRequest;
use domain::customer::Customer;
use domain::endpoint::Endpoint;
use domain::file::File;
use domain::id::Id;
use domain::invoice::Invoice;
use domain::material::Material;
use domain::order::Order;
use domain::printer::Printer;
use domain::quote::Quote;
use domain::sales_channel::SalesChannel;
use domain::sku::Sku;
use store::queries::Queries;
use store::rows::{Audit, Snapshot};

/// Actors that are no records, as named in the log, with the names that people read.
const FIXED_ACTORS: [(&str, &str); 6] = [
    ("system", "Printfloor"),
    ("machine", "The machine’s owner"),
    ("setup", "The setup"),
    ("payments", "The payment processor"),
    ("anonymous", "Someone who was not signed in"),
    ("others", "Others"),
];

/// Name of a person, program or thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AuditName {
    /// Name that people read.
    pub(super) text: String,
    /// Path of its page; `None` if there is none or the thing was removed.
    pub(super) path: Option<String>,
}

impl AuditName {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), path: None }
    }

    fn linked(text: impl Into<String>, path: String) -> Self {
        Self { text: text.into(), path: Some(path) }
    }
}

/// Names of all users and API keys, also of those that were removed.
#[derive(Debug, Default)]
pub(super) struct StaffNames {
    /// Names by actor, as named in the log.
    actors: HashMap<String, AuditName>,
}

impl StaffNames {
    /// Collects the names from access.
    pub(super) fn new(access: &Access) -> Self {
        let users = access.users.values().map(|user| {
            let path = (!user.archived).then(|| format!("{}/{}", users::PATH, user.id));
            (format!("user:{}", user.id), AuditName { text: user.name.clone(), path })
        });
        let keys = access.keys.values().map(|key| {
            let text = format!("API key “{}”", key.name);
            (format!("key:{}", key.id), AuditName::linked(text, keys::PATH.to_owned()))
        });
        Self { actors: users.chain(keys).collect() }
    }

    /// Lists actors and their names in the order of the names, at most `max` users and keys.
    pub(super) fn choices(&self, max: usize) -> Vec<(&str, &str)> {
        let mut names: Vec<(&str, &str)> =
            self.actors.iter().map(|(actor, name)| (actor.as_str(), name.text.as_str())).collect();
        names.sort_unstable_by_key(|(actor, name)| (*name, *actor));
        names.truncate(max);
        names.extend(FIXED_ACTORS);
        names
    }
}

/// Names of all actors and subjects of a stretch of the log.
#[derive(Debug, Default)]
pub(super) struct AuditNames {
    actors: HashMap<String, AuditName>,
    subjects: HashMap<(AuditedKind, Id), AuditName>,
}

impl AuditNames {
    /// Reads the names in the entries; there are at most two reads for each entry.
    pub(super) async fn read(entries: &[Audit], staff: &StaffNames, queries: &Queries) -> Self {
        let mut names = Self::default();
        let actors: BTreeSet<&str> = entries.iter().map(|entry| entry.actor.as_str()).collect();
        for actor in actors {
            names.actors.insert(actor.to_owned(), actor_name(actor, staff, queries).await);
        }
        let subject = |entry: &Audit| Some((AuditedKind::parse(&entry.subject_kind)?, entry.subject_id));
        let subjects: BTreeSet<(AuditedKind, Id)> = entries.iter().filter_map(subject).collect();
        for (kind, id) in subjects {
            if let Some(name) = subject_name(kind, id, staff, queries).await {
                names.subjects.insert((kind, id), name);
            }
        }
        names
    }

    /// Returns the name of an entry's actor.
    pub(super) fn actor(&self, entry: &Audit) -> AuditName {
        self.actors.get(&entry.actor).cloned().unwrap_or_else(|| AuditName::plain(entry.actor.clone()))
    }

    /// Returns the name of an entry's subject, with its noun: `order ORD-000012`. A subject without a name is called by
    /// its noun alone: `a session`.
    pub(super) fn subject(&self, entry: &Audit) -> AuditName {
        let Some(kind) = AuditedKind::parse(&entry.subject_kind) else {
            return AuditName::plain(entry.subject_kind.replace('_', " "));
        };
        match self.subjects.get(&(kind, entry.subject_id)) {
            Some(AuditName { text, path }) => {
                let text = if kind == AuditedKind::ApiKey { text.clone() } else { format!("{}{text}", kind.prefix()) };
                AuditName { text, path: path.clone() }
            }
            None => AuditName::plain(kind.noun()),
        }
    }
}

/// Returns the name of an actor.
pub(super) async fn actor_name(actor: &str, staff: &StaffNames, queries: &Queries) -> AuditName {
    if let Some(name) = staff.actors.get(actor) {
        return name.clone();
    }
    if let Some((_, text)) = FIXED_ACTORS.iter().find(|(fixed, _)| *fixed == actor) {
        return AuditName::plain(*text);
    }
    let (kind, name) = actor.split_once(':').unwrap_or(("", actor));
    let id: Option<Id> = name.parse().ok();
    let record_name = match (kind, id) {
        ("customer", Some(id)) => subject_name(AuditedKind::Customer, id, staff, queries).await,
        ("channel", Some(id)) => subject_name(AuditedKind::SalesChannel, id, staff, queries).await,
        _ => None,
    };
    record_name.unwrap_or_else(|| {
        AuditName::plain(match kind {
            "customer" => "A customer",
            "channel" => "A sales channel",
            "user" => "A user",
            "key" => "An API key",
            // The agent's users are known by their names in the chat only: `telegram:7`.
            _ => name,
        })
    })
}

/// Returns the name of a subject, also of one that was removed; `None` if its kind has no names, or it does not exist.
pub(super) async fn subject_name(
    kind: AuditedKind,
    id: Id,
    staff: &StaffNames,
    queries: &Queries,
) -> Option<AuditName> {
    use AuditedKind as K;
    Some(match kind {
        K::Printer => {
            let path = format!("{FLOOR_PATH}/printers/{id}");
            record::<Printer>(queries, id, path, |printer| printer.fields.name.clone()).await?
        }
        K::Order => record::<Order>(queries, id, format!("{ORDERS_PATH}/{id}"), Order::number_text).await?,
        K::Material => {
            let path = format!("{STOCK_PATH}/materials/{id}");
            record::<Material>(queries, id, path, |material| material.fields.name.clone()).await?
        }
        K::Sku => record::<Sku>(queries, id, format!("{PRODUCTS_PATH}/{id}"), |sku| sku.fields.name.clone()).await?,
        K::File => record::<File>(queries, id, format!("{PRODUCTS_PATH}/files/{id}"), |file| file.name.clone()).await?,
        K::Quote => record::<Quote>(queries, id, format!("{QUOTES_PATH}/{id}"), Quote::number_text).await?,
        K::Invoice => record::<Invoice>(queries, id, format!("{INVOICES_PATH}/{id}"), invoice_name).await?,
        K::Customer => record::<Customer>(queries, id, format!("{CUSTOMERS_PATH}/{id}"), customer_name).await?,
        K::CustomRequest => {
            let path = format!("{REQUESTS_PATH}/{id}");
            record::<CustomRequest>(queries, id, path, |request| request.customer_name.clone()).await?
        }
        K::Endpoint => record::<Endpoint>(queries, id, format!("{WEBHOOKS_PATH}/{id}"), endpoint_name).await?,
        K::SalesChannel => {
            let name = record::<SalesChannel>(queries, id, String::new(), |channel| channel.name.clone()).await?;
            AuditName::plain(name.text)
        }
        K::User => staff.actors.get(&format!("user:{id}"))?.clone(),
        K::ApiKey => staff.actors.get(&format!("key:{id}"))?.clone(),
        _ => return None,
    })
}

/// Reads the name of a record; a record that was removed has no link.
async fn record<T: Snapshot + Aggregate>(
    queries: &Queries,
    id: Id,
    path: String,
    name: impl FnOnce(&T) -> String,
) -> Option<AuditName> {
    // A record that cannot be read is reported where it is used; here, it has no name.
    let state = queries.snapshot::<T>(id).await.ok()?.state?;
    Some(AuditName { text: name(&state), path: (!state.is_archived()).then_some(path) })
}

fn customer_name(customer: &Customer) -> String {
    customer.name.clone().unwrap_or_else(|| customer.email.clone())
}

/// Returns the order or the person that an invoice is for: its number is on its documents only.
fn invoice_name(invoice: &Invoice) -> String {
    let name = invoice.order_number.as_deref().or(invoice.customer_email.as_deref());
    name.map_or_else(|| "without a recipient".to_owned(), |name| format!("for {name}"))
}

/// Returns the host of an endpoint: the rest of its URL may contain a token.
fn endpoint_name(endpoint: &Endpoint) -> String {
    let host = Url::parse(&endpoint.url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| "without a host".to_owned())
}
