//! Names of the people, programs and things in the audit log, links to their pages, and sentences about its entries, in
//! the language of the page.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use url::Url;

use super::settings::{KEYS_PATH, USERS_PATH};
use super::{
    CUSTOMERS_PATH, FLOOR_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, REQUESTS_PATH, STOCK_PATH,
    WEBHOOKS_PATH,
};
use domain::access::{Access, ApiKey, User};
use domain::aggregate::{Aggregate, Versioned};
use domain::audit::{AuditSentence, AuditedAct, AuditedKind, SubjectCase};
use domain::custom_request::CustomRequest;
use domain::customer::Customer;
use domain::endpoint::Endpoint;
use domain::file::File;
use domain::id::Id;
use domain::invoice::Invoice;
use domain::material::Material;
use domain::order::Order;
use domain::printer::{LoggedAct, LoggedDetail, Printer};
use domain::quote::Quote;
use domain::sales_channel::SalesChannel;
use domain::sku::Sku;
use domain::slot_label::SlotLabel;
use http::access::with_access;
use http::error::ApiError;
use http::handles::handles;
use kernel::directory::Directory;
use printers::slot_label;
use store::StoredAggregate;
use store::queries::Queries;
use store::rows::{Audit, Snapshot};
use words::Language;
use words::staff::audit as texts;

/// Name of an actor in the language of the page.
type ActorText = fn(Language) -> String;

/// Actors without a record, as named in the log, with their displayed names.
const FIXED_ACTORS: [(&str, ActorText); 6] = [
    ("system", texts::actor_server),
    ("machine", texts::actor_owner),
    ("setup", texts::actor_setup),
    ("payments", texts::actor_processor),
    ("anonymous", texts::actor_anonymous),
    ("others", texts::actor_others),
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

/// Names of users and API keys, also of those that were removed.
#[derive(Debug, Default)]
pub(super) struct StaffNames {
    language: Language,
    /// Names by actor, as named in the log.
    actors: HashMap<String, AuditName>,
}

impl StaffNames {
    /// Collects the names of all users and keys from access.
    pub(super) fn new(language: Language, access: &Access) -> Self {
        let users = access.users.values().map(|user| (format!("user:{}", user.id), user_name(user)));
        let keys = access.keys.values().map(|key| (format!("key:{}", key.id), key_name(language, key)));
        Self { language, actors: users.chain(keys).collect() }
    }

    /// Looks up the names of the users and keys among the given actors.
    fn among(language: Language, access: &Access, actors: &BTreeSet<&str>) -> Self {
        let name = |actor: &&str| Some(((*actor).to_owned(), staff_name(language, access, actor)?));
        Self { language, actors: actors.iter().filter_map(name).collect() }
    }

    /// Lists actors and their names in the order of the names, at most `max` users and keys.
    pub(super) fn choices(&self, max: usize) -> Vec<(&str, String)> {
        let mut names: Vec<(&str, String)> =
            self.actors.iter().map(|(actor, name)| (actor.as_str(), name.text.clone())).collect();
        names.sort_unstable_by(|(actor, name), (other, other_name)| (name, actor).cmp(&(other_name, other)));
        names.truncate(max);
        names.extend(FIXED_ACTORS.map(|(actor, name)| (actor, name(self.language))));
        names
    }
}

fn user_name(user: &User) -> AuditName {
    let path = (!user.archived).then(|| format!("{USERS_PATH}/{}", user.id));
    AuditName { text: user.name.clone(), path }
}

fn key_name(language: Language, key: &ApiKey) -> AuditName {
    AuditName::linked(texts::key(language, &key.name), KEYS_PATH.to_owned())
}

/// Returns the name of a user or a key; `None` for other actors.
fn staff_name(language: Language, access: &Access, actor: &str) -> Option<AuditName> {
    let (kind, id) = actor.split_once(':')?;
    let id: Id = id.parse().ok()?;
    match kind {
        "user" => access.users.get(&id).map(|user| user_name(user)),
        "key" => access.key(id).map(|key| key_name(language, key)),
        _ => None,
    }
}

/// Names of actors, by their names in the log.
#[derive(Debug, Default)]
pub(super) struct ActorNames(HashMap<String, AuditName>);

impl ActorNames {
    /// Returns the name of an actor.
    pub(super) fn name(&self, actor: &str) -> AuditName {
        self.0.get(actor).cloned().unwrap_or_else(|| AuditName::plain(actor))
    }
}

/// Names of all actors and subjects in a stretch of the log, and of the slots and materials that its entries mention.
#[derive(Debug, Default)]
pub(super) struct AuditNames {
    language: Language,
    actors: ActorNames,
    subjects: HashMap<(AuditedKind, Id), AuditName>,
    /// Labels of slots, by printer and number. A printer's only slot has none.
    slots: HashMap<(Id, u32), SlotLabel>,
    materials: HashMap<Id, String>,
}

impl AuditNames {
    /// Returns the name of an entry's actor.
    pub(super) fn actor(&self, entry: &Audit) -> AuditName {
        self.actors.name(&entry.actor)
    }

    /// Returns the name of an entry's subject, with its noun: `order ORD-000012`. A subject without a name is called by
    /// its noun alone: `a session`. The noun has the case that the sentence about the entry requires.
    pub(super) fn subject(&self, entry: &Audit) -> AuditName {
        let Some(kind) = AuditedKind::parse(&entry.subject_kind) else {
            return AuditName::plain(texts::unknown_subject(self.language));
        };
        let case = AuditedAct::parse(&entry.action).map_or(SubjectCase::Direct, AuditedAct::case);
        match self.subjects.get(&(kind, entry.subject_id)) {
            Some(AuditName { text, path }) => {
                AuditName { text: kind.named(self.language, case, text), path: path.clone() }
            }
            None => AuditName::plain(kind.noun(self.language, case)),
        }
    }

    /// Returns the sentence about an entry. `count` is the number of rejected requests that the entry sums up.
    pub(super) fn sentence(&self, entry: &Audit, count: Option<u64>) -> AuditSentence {
        if AuditedKind::parse(&entry.subject_kind) != Some(AuditedKind::Printer) {
            return AuditSentence::new(self.language, &entry.action, &entry.outcome, count);
        }
        let detail = LoggedDetail::parse(entry.detail.as_deref());
        let slot = detail.slot.and_then(|number| self.slots.get(&(entry.subject_id, number)).copied());
        let material = detail.material_id.and_then(|id| self.materials.get(&id)).map(String::as_str);
        LoggedAct { action: &entry.action, outcome: &entry.outcome, detail, slot, material }.sentence(self.language)
    }

    /// Adds the name of a printer, and the labels of those of its slots that its entries mention.
    fn add_printer(&mut self, printer: &Printer, entries: &[Audit]) {
        self.subjects.insert((AuditedKind::Printer, printer.id), printer_name(printer));
        if printer.slots().len() > 1 {
            let own = entries.iter().filter(|entry| entry.subject_id == printer.id);
            let numbers = own.filter_map(|entry| LoggedDetail::parse(entry.detail.as_deref()).slot);
            self.slots.extend(numbers.map(|number| ((printer.id, number), slot_label(printer, number))));
        }
    }
}

handles! {
    /// Dependencies of the names in the audit log.
    pub(crate) struct NameHandles {
        queries: Queries,
        access: Directory<Access>,
        printers: Directory<Printer>,
        materials: Directory<Material>,
    }
}

impl NameHandles {
    /// Reads the names of actors.
    pub(super) async fn actors(&self, language: Language, actors: &BTreeSet<&str>) -> Result<ActorNames, ApiError> {
        let staff = with_access(&self.access, |access| StaffNames::among(language, access, actors))?;
        Ok(self.actor_names(actors, &staff).await)
    }

    /// Reads the names of users and keys among the actors of entries.
    pub(super) fn staff_among(&self, language: Language, entries: &[Audit]) -> Result<StaffNames, ApiError> {
        with_access(&self.access, |access| StaffNames::among(language, access, &actors_of(entries)))
    }

    /// Reads the names in the entries, in the language of the staff names; there are at most three reads for each
    /// entry.
    pub(super) async fn entries(&self, entries: &[Audit], staff: &StaffNames) -> AuditNames {
        let actors = self.actor_names(&actors_of(entries), staff).await;
        let mut names = AuditNames { language: staff.language, actors, ..AuditNames::default() };
        let subject = |entry: &Audit| Some((AuditedKind::parse(&entry.subject_kind)?, entry.subject_id));
        let subjects: BTreeSet<(AuditedKind, Id)> = entries.iter().filter_map(subject).collect();
        for (kind, id) in subjects {
            if kind == AuditedKind::Printer {
                let versioned = self.record(&self.printers, id).await;
                if let Some(printer) = versioned.as_ref().and_then(|versioned| versioned.state.as_ref()) {
                    names.add_printer(printer, entries);
                }
            } else if let Some(name) = self.subject(kind, id, staff).await {
                names.subjects.insert((kind, id), name);
            }
        }
        let materials = entries.iter().filter_map(|entry| LoggedDetail::parse(entry.detail.as_deref()).material_id);
        let materials: BTreeSet<Id> = materials.collect();
        for id in materials {
            if let Some(name) = self.subject(AuditedKind::Material, id, staff).await {
                names.materials.insert(id, name.text);
            }
        }
        names
    }

    async fn actor_names(&self, actors: &BTreeSet<&str>, staff: &StaffNames) -> ActorNames {
        let mut names = HashMap::new();
        for actor in actors {
            names.insert((*actor).to_owned(), self.actor(actor, staff).await);
        }
        ActorNames(names)
    }

    /// Returns the name of an actor.
    pub(super) async fn actor(&self, actor: &str, staff: &StaffNames) -> AuditName {
        if let Some(name) = staff.actors.get(actor) {
            return name.clone();
        }
        let language = staff.language;
        if let Some((_, name)) = FIXED_ACTORS.into_iter().find(|(fixed, _)| *fixed == actor) {
            return AuditName::plain(name(language));
        }
        let (kind, name) = actor.split_once(':').unwrap_or(("", actor));
        let id: Option<Id> = name.parse().ok();
        let record_name = match (kind, id) {
            ("customer", Some(id)) => self.subject(AuditedKind::Customer, id, staff).await,
            ("channel", Some(id)) => self.subject(AuditedKind::SalesChannel, id, staff).await,
            _ => None,
        };
        record_name.unwrap_or_else(|| {
            AuditName::plain(match kind {
                "customer" => texts::some_customer(language),
                "channel" => texts::some_channel(language),
                "user" => texts::some_user(language),
                "key" => texts::some_key(language),
                // The agent's users are known by their names in the chat only: `telegram:7`.
                _ => name.to_owned(),
            })
        })
    }

    /// Returns the name of a subject, also of one that was removed; `None` if its kind has no names, or it does not
    /// exist.
    pub(super) async fn subject(&self, kind: AuditedKind, id: Id, staff: &StaffNames) -> Option<AuditName> {
        match kind {
            AuditedKind::Printer => self.record(&self.printers, id).await?.state.as_ref().map(printer_name),
            AuditedKind::Material => self.record(&self.materials, id).await?.state.as_ref().map(material_name),
            AuditedKind::User => staff.actors.get(&format!("user:{id}")).cloned(),
            AuditedKind::ApiKey => staff.actors.get(&format!("key:{id}")).cloned(),
            kind => stored_name(staff.language, &self.queries, kind, id).await,
        }
    }

    /// Returns a record from memory or, if it is not there, from the store.
    async fn record<T: StoredAggregate>(&self, directory: &Directory<T>, id: Id) -> Option<Arc<Versioned<T>>> {
        let resident = directory.resident(id).map(|handle| handle.read());
        if let Some(versioned) = resident.filter(|versioned| versioned.state.is_some()) {
            return Some(versioned);
        }
        // A record that cannot be read is reported where it is used; here, it has no name.
        self.queries.snapshot::<T>(id).await.ok().map(Arc::new)
    }
}

fn actors_of(entries: &[Audit]) -> BTreeSet<&str> {
    entries.iter().map(|entry| entry.actor.as_str()).collect()
}

/// Returns the name of a record; one that was removed has no link.
fn name_of<T: Aggregate>(record: &T, text: String, path: String) -> AuditName {
    AuditName { text, path: (!record.is_archived()).then_some(path) }
}

fn printer_name(printer: &Printer) -> AuditName {
    name_of(printer, printer.fields.name.clone(), format!("{FLOOR_PATH}/printers/{}", printer.id))
}

fn material_name(material: &Material) -> AuditName {
    name_of(material, material.fields.name.clone(), format!("{STOCK_PATH}/materials/{}", material.id))
}

/// Reads the name of a subject that is not read from memory.
async fn stored_name(language: Language, queries: &Queries, kind: AuditedKind, id: Id) -> Option<AuditName> {
    use AuditedKind as K;
    Some(match kind {
        K::Order => read_name::<Order>(queries, id, format!("{ORDERS_PATH}/{id}"), Order::number_text).await?,
        K::Sku => read_name::<Sku>(queries, id, format!("{PRODUCTS_PATH}/{id}"), |sku| sku.fields.name.clone()).await?,
        K::File => {
            read_name::<File>(queries, id, format!("{PRODUCTS_PATH}/files/{id}"), |file| file.name.clone()).await?
        }
        K::Quote => read_name::<Quote>(queries, id, format!("{QUOTES_PATH}/{id}"), Quote::number_text).await?,
        K::Invoice => {
            let path = format!("{INVOICES_PATH}/{id}");
            read_name::<Invoice>(queries, id, path, |invoice| invoice_name(language, invoice)).await?
        }
        K::Customer => read_name::<Customer>(queries, id, format!("{CUSTOMERS_PATH}/{id}"), customer_name).await?,
        K::CustomRequest => {
            let path = format!("{REQUESTS_PATH}/{id}");
            read_name::<CustomRequest>(queries, id, path, |request| request.customer_name.clone()).await?
        }
        K::Endpoint => {
            let path = format!("{WEBHOOKS_PATH}/{id}");
            read_name::<Endpoint>(queries, id, path, |endpoint| endpoint_name(language, endpoint)).await?
        }
        K::SalesChannel => {
            let name = read_name::<SalesChannel>(queries, id, String::new(), |channel| channel.name.clone()).await?;
            AuditName::plain(name.text)
        }
        _ => return None,
    })
}

/// Reads the name of a stored record.
async fn read_name<T: Snapshot + Aggregate>(
    queries: &Queries,
    id: Id,
    path: String,
    text: impl FnOnce(&T) -> String,
) -> Option<AuditName> {
    // A record that cannot be read is reported where it is used; here, it has no name.
    let record = queries.snapshot::<T>(id).await.ok()?.state?;
    Some(name_of(&record, text(&record), path))
}

fn customer_name(customer: &Customer) -> String {
    customer.name.clone().unwrap_or_else(|| customer.email.clone())
}

/// Returns the order or the person that an invoice is for: its number is on its documents only.
fn invoice_name(language: Language, invoice: &Invoice) -> String {
    let name = invoice.order_number.as_deref().or(invoice.customer_email.as_deref());
    name.map_or_else(|| texts::invoice_without_recipient(language), |name| texts::invoice_for(language, name))
}

/// Returns the host of an endpoint: the rest of its URL may contain a token.
fn endpoint_name(language: Language, endpoint: &Endpoint) -> String {
    let host = Url::parse(&endpoint.url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| texts::endpoint_without_host(language))
}
