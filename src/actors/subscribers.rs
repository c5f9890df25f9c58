//! Customers at the payment processor, with their subscriptions and cards, which only the processor stores.
//!
//! Customers are looked up at the processor by our ID. This module caches the processor's customer IDs, which never
//! change, and, for a minute, the cards, so that a profile can be displayed without a call to the processor.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use futures::future::join_all;
use tokio::time::{Instant, timeout};

use super::checkouts::{OpenSession, ReturnPages};
use domain::id::Id;
use services::payments::{
    NewCustomer, NewSubscriptionSession, PaymentMethod, PaymentProcessor, ProcessorError, SessionStatus, Subscription,
};

/// Maximum number of cached customers; when it is reached, the cache is cleared.
const MAX_REMEMBERED: usize = 10_000;
/// Maximum number of subscriptions per list whose product names are looked up.
const MAX_LOOKED_AT: usize = 10;
/// Time for which cached cards are considered current.
const CARDS_FRESH_FOR: Duration = Duration::from_secs(60);
/// Delay before a retry after the processor failed to return the cards.
const SILENCE_KEPT_FOR: Duration = Duration::from_secs(10);
/// Time for which a customer who was not found at the processor is not searched for again; most customers never
/// subscribe, and each search costs a call.
const UNKNOWN_FOR: Duration = Duration::from_secs(5 * 60);
/// Maximum time that displaying a profile waits for the cards.
const MAX_CARDS_WAIT: Duration = Duration::from_secs(2);

/// Reason that a subscription cannot be displayed or changed.
#[derive(Debug, thiserror::Error)]
pub enum SubscriberError {
    /// No payment processor is configured.
    #[error("no payment processor is configured")]
    NotConfigured,
    /// The processor rejected the request or did not respond.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
    /// The subscription does not exist, or the customer is unknown to the processor.
    #[error("no such subscription")]
    Missing,
    /// The subscription belongs to a different customer.
    #[error("this subscription belongs to another customer")]
    NotTheirs,
}

/// Card or other payment method stored by the processor for a customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredCard {
    /// Payment method, as returned by the processor.
    pub card: PaymentMethod,
    /// `true` if this payment method is charged when no other is selected.
    pub is_default: bool,
}

/// A customer's cards, with the time at which the cached copy expires.
type Cards = (Instant, Vec<StoredCard>);

/// Client for our customers' data at the payment processor, with a cache.
#[derive(Clone)]
pub struct Subscribers {
    processor: Option<Arc<dyn PaymentProcessor>>,
    /// The processor's customer IDs, cached by our own ID.
    customer_ids: Arc<DashMap<Id, String>>,
    /// Customers not found at the processor, with the time from which they may be searched for again.
    unknown: Arc<DashMap<Id, Instant>>,
    cards: Arc<Mutex<BTreeMap<Id, Cards>>>,
    /// Product names, cached by price; lists of subscriptions do not contain them.
    products: Arc<DashMap<String, String>>,
}

/// Customer who is starting a subscription.
#[derive(Clone, Debug)]
pub struct Subscriber<'a> {
    /// Our ID for the customer.
    pub id: Id,
    /// Email address for receipts.
    pub email: &'a str,
    /// Name of the customer, if known.
    pub name: Option<String>,
}

/// Idempotency keys for creating the session that starts a subscription.
#[derive(Clone, Debug)]
pub struct SubscriptionKey {
    /// Key that is the same for identical requests, so that a double click creates only one session.
    pub first: String,
    /// Key for a new session if the first one is paid or has expired; `None` if the customer chose the key.
    pub another: Option<String>,
}

impl Subscribers {
    /// Creates the client for the given processor, if any.
    pub fn new(processor: Option<Arc<dyn PaymentProcessor>>) -> Self {
        Self {
            processor,
            customer_ids: Arc::default(),
            unknown: Arc::default(),
            cards: Arc::default(),
            products: Arc::default(),
        }
    }

    fn processor(&self) -> Result<&Arc<dyn PaymentProcessor>, SubscriberError> {
        self.processor.as_ref().ok_or(SubscriberError::NotConfigured)
    }

    /// Returns the processor's ID for a customer; `None` if the processor does not know the customer.
    async fn customer(&self, id: Id) -> Result<Option<String>, SubscriberError> {
        if let Some(customer_id) = self.customer_ids.get(&id) {
            return Ok(Some(customer_id.clone()));
        }
        if self.unknown.get(&id).is_some_and(|until| *until > Instant::now()) {
            return Ok(None);
        }
        let customer_id = self.processor()?.find_customer(&id.to_string()).await?.map(|customer| customer.id);
        match &customer_id {
            Some(customer_id) => self.remember(id, customer_id),
            None => self.remember_unknown(id),
        }
        Ok(customer_id)
    }

    fn remember_unknown(&self, id: Id) {
        if self.unknown.len() >= MAX_REMEMBERED {
            self.unknown.clear();
        }
        self.unknown.insert(id, Instant::now() + UNKNOWN_FOR);
    }

    fn remember(&self, id: Id, theirs: &str) {
        if self.customer_ids.len() >= MAX_REMEMBERED {
            self.customer_ids.clear();
        }
        self.customer_ids.insert(id, theirs.to_owned());
        self.unknown.remove(&id);
    }

    /// Returns a customer's subscriptions, both active and past, newest first.
    pub async fn list(&self, id: Id, limit: usize) -> Result<Vec<Subscription>, SubscriberError> {
        let processor = self.processor()?;
        let Some(customer) = self.customer(id).await? else { return Ok(Vec::new()) };
        let mut subscriptions = processor.subscriptions(&customer, limit).await?;
        let nameless = |one: &&Subscription| one.items.iter().any(|item| !self.products.contains_key(&item.price_id));
        let looked_at =
            subscriptions.iter().filter(nameless).take(MAX_LOOKED_AT).map(|one| processor.subscription(&one.id));
        for looked_at in join_all(looked_at).await {
            match looked_at {
                Ok(whole) => self.learn_products(&whole),
                Err(error) => {
                    tracing::debug!(customer = %id, %error, "cannot read a product; showing it without its name");
                }
            }
        }
        for one in &mut subscriptions {
            for item in &mut one.items {
                if let Some(name) = self.products.get(&item.price_id) {
                    item.product_name.clone_from(&name);
                }
            }
        }
        Ok(subscriptions)
    }

    fn learn_products(&self, subscription: &Subscription) {
        if self.products.len() >= MAX_REMEMBERED {
            self.products.clear();
        }
        for item in &subscription.items {
            self.products.insert(item.price_id.clone(), item.product_name.clone());
        }
    }

    /// Returns one of a customer's subscriptions.
    pub async fn one(&self, id: Id, subscription: &str) -> Result<Subscription, SubscriberError> {
        let processor = self.processor()?;
        let current = match processor.subscription(subscription).await {
            Ok(current) => current,
            Err(error) if error.is_missing() => return Err(SubscriberError::Missing),
            Err(error) => return Err(error.into()),
        };
        let theirs = self.customer(id).await?.is_some_and(|customer| customer == current.customer);
        if theirs { Ok(current) } else { Err(SubscriberError::NotTheirs) }
    }

    /// Sets whether a customer's subscription is cancelled at the end of its period.
    pub async fn set_cancel(&self, id: Id, subscription: &str, cancel: bool) -> Result<Subscription, SubscriberError> {
        self.one(id, subscription).await?;
        self.processor()?.set_cancel_at_period_end(subscription, cancel).await?;
        self.one(id, subscription).await
    }

    /// Returns a link to the processor's pages on which the customer can manage cards and subscriptions.
    pub async fn portal(&self, id: Id, return_url: &str, key: &str) -> Result<String, SubscriberError> {
        let processor = self.processor()?;
        let customer = self.customer(id).await?.ok_or(SubscriberError::Missing)?;
        Ok(processor.create_portal(&customer, return_url, key).await?)
    }

    /// Creates a session through which a customer starts a subscription. The first session registers the customer with
    /// the processor.
    pub async fn check_out(
        &self,
        who: &Subscriber<'_>,
        price: &str,
        quantity: u32,
        pages: ReturnPages,
        key: &SubscriptionKey,
    ) -> Result<OpenSession, SubscriberError> {
        let processor = self.processor()?;
        // They may have been made known elsewhere since.
        self.unknown.remove(&who.id);
        let customer = match self.customer(who.id).await? {
            Some(customer) => customer,
            None => {
                let new =
                    NewCustomer { our_id: who.id.to_string(), email: who.email.to_owned(), name: who.name.clone() };
                // A search may not find who was made a moment ago; the key does.
                let customer_id = processor.create_customer(&new, &format!("customer-{}", who.id)).await?.id;
                self.remember(who.id, &customer_id);
                customer_id
            }
        };
        let new = NewSubscriptionSession {
            reference: who.id.to_string(),
            metadata: vec![("customerId".to_owned(), who.id.to_string())],
            price: price.to_owned(),
            quantity,
            customer,
            success_url: pages.success_url,
            cancel_url: pages.cancel_url,
        };
        let mut session = processor.create_subscription_session(&new, &key.first).await?;
        if let Some(another) = &key.another
            && processor.session(&session.id).await?.status != SessionStatus::Open
        {
            // The first request under this key was answered a while ago, and that session is over.
            session = processor.create_subscription_session(&new, another).await?;
        }
        let gone = || ProcessorError::Unavailable(format!("session {} is not open", session.id));
        let url = session.url.clone().ok_or_else(gone)?;
        Ok(OpenSession { id: session.id, url, expires_at: session.expires_at })
    }

    /// Removes a customer's cards from the cache because they may have changed. `theirs` is the processor's ID for the
    /// customer.
    pub fn forget(&self, theirs: &str) {
        let ours = self.customer_ids.iter().find(|entry| entry.value() == theirs).map(|entry| *entry.key());
        if let Some(ours) = ours {
            self.with_cards(|all| all.remove(&ours));
        }
    }

    /// Returns the customer's stored cards, which may be up to a minute old; empty if the processor does not respond.
    pub async fn cards(&self, id: Id) -> Vec<StoredCard> {
        let fresh = |(until, _): &Cards| *until > Instant::now();
        if let Some((_, cards)) = self.with_cards(|all| all.get(&id).filter(|entry| fresh(entry)).cloned()) {
            return cards;
        }
        let this = self.clone();
        // In a task of its own: what comes of it counts, also when nobody waits for it any more.
        let read = tokio::spawn(async move { this.learn_cards(id).await });
        match timeout(MAX_CARDS_WAIT, read).await {
            Ok(Ok(cards)) => cards,
            _ => self.keep_cards(id, SILENCE_KEPT_FOR, Vec::new()),
        }
    }

    async fn learn_cards(&self, id: Id) -> Vec<StoredCard> {
        match self.read_cards(id).await {
            Ok(cards) => self.keep_cards(id, CARDS_FRESH_FOR, cards),
            Err(error) => {
                tracing::debug!(customer = %id, %error, "cannot read cards; showing none");
                self.keep_cards(id, SILENCE_KEPT_FOR, Vec::new())
            }
        }
    }

    /// Caches a customer's cards for the given time and returns them. The list is empty if the processor did not
    /// respond.
    fn keep_cards(&self, id: Id, fresh_for: Duration, cards: Vec<StoredCard>) -> Vec<StoredCard> {
        self.with_cards(|all| {
            if all.len() >= MAX_REMEMBERED {
                all.clear();
            }
            all.insert(id, (Instant::now() + fresh_for, cards.clone()));
            cards
        })
    }

    async fn read_cards(&self, id: Id) -> Result<Vec<StoredCard>, SubscriberError> {
        let processor = self.processor()?;
        if self.unknown.get(&id).is_some_and(|until| *until > Instant::now()) {
            return Ok(Vec::new());
        }
        let Some(customer) = processor.find_customer(&id.to_string()).await? else {
            self.remember_unknown(id);
            return Ok(Vec::new());
        };
        self.remember(id, &customer.id);
        let methods = processor.payment_methods(&customer.id).await?;
        let stored =
            |card: PaymentMethod| StoredCard { is_default: customer.default_method.as_ref() == Some(&card.id), card };
        Ok(methods.into_iter().map(stored).collect())
    }

    fn with_cards<T>(&self, act: impl FnOnce(&mut BTreeMap<Id, Cards>) -> T) -> T {
        act(&mut self.cards.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
