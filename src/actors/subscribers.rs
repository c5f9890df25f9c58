//! Our customers as the payment processor knows them: their subscriptions and stored cards, which are kept there alone.
//!
//! A customer is found there by our id. What is remembered here is the processor's id of them, which never changes, and
//! for a minute the cards, so that a profile is shown without a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use futures::future::join_all;
use tokio::time::{Instant, timeout};

use super::checkouts::{OpenSession, ReturnPages};
use crate::domain::id::Id;
use crate::services::payments::{
    NewCustomer, NewSubscriptionSession, PaymentMethod, PaymentProcessor, ProcessorError, SessionStatus, Subscription,
};

/// Most customers that are remembered; with more, all are forgotten and found again.
const MAX_REMEMBERED: usize = 10_000;
/// Most subscriptions of one list that are looked at for the names of their products.
const MAX_LOOKED_AT: usize = 10;
/// How long cards are shown without asking for them again.
const CARDS_FRESH_FOR: Duration = Duration::from_secs(60);
/// How long nobody asks again after the processor did not tell the cards.
const SILENCE_KEPT_FOR: Duration = Duration::from_secs(10);
/// How long a customer counts as unknown there; most never subscribe, and each search costs a call.
const UNKNOWN_FOR: Duration = Duration::from_secs(5 * 60);
/// Longest that a profile waits for the cards.
const MAX_CARDS_WAIT: Duration = Duration::from_secs(2);

/// Why a subscription is not shown or changed.
#[derive(Debug, thiserror::Error)]
pub enum SubscriberError {
    /// The settings name no processor.
    #[error("no payment processor is configured")]
    NotConfigured,
    /// The processor did not do it.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
    /// There is no such subscription, or the customer is not known there.
    #[error("no such subscription")]
    Missing,
    /// The subscription is another customer's.
    #[error("this subscription belongs to somebody else")]
    NotTheirs,
}

/// A card, or another way to pay, that the processor keeps for a customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredCard {
    /// What it is.
    pub card: PaymentMethod,
    /// Whether it is taken where none is named.
    pub is_default: bool,
}

/// The cards of a customer, and until when they are shown without asking again.
type Cards = (Instant, Vec<StoredCard>);

/// Finds our customers at the processor.
#[derive(Clone)]
pub struct Subscribers {
    processor: Option<Arc<dyn PaymentProcessor>>,
    /// The processor's id of each of our customers that was found.
    known: Arc<DashMap<Id, String>>,
    /// Customers who were not found there, and until when that is believed.
    unknown: Arc<DashMap<Id, Instant>>,
    cards: Arc<Mutex<BTreeMap<Id, Cards>>>,
    /// What people call the product of each price, which lists of subscriptions do not say.
    products: Arc<DashMap<String, String>>,
}

/// A customer who wants to subscribe.
#[derive(Clone, Debug)]
pub struct Subscriber<'a> {
    /// Our id of them.
    pub id: Id,
    /// Where receipts go.
    pub email: &'a str,
    /// How they are called, where it is known.
    pub name: Option<String>,
}

/// Under which keys the session of a subscription is made.
#[derive(Clone, Debug)]
pub struct SubscriptionKey {
    /// The same request has the same one, so that a double click is one session.
    pub first: String,
    /// For when the session of the first is paid or over; `None` where the customer chose the key.
    pub another: Option<String>,
}

impl Subscribers {
    /// At this processor; `None` while the settings name none.
    pub fn new(processor: Option<Arc<dyn PaymentProcessor>>) -> Self {
        Self {
            processor,
            known: Arc::default(),
            unknown: Arc::default(),
            cards: Arc::default(),
            products: Arc::default(),
        }
    }

    fn processor(&self) -> Result<&Arc<dyn PaymentProcessor>, SubscriberError> {
        self.processor.as_ref().ok_or(SubscriberError::NotConfigured)
    }

    /// The processor's id of a customer; `None` if they never paid for a subscription.
    async fn customer(&self, id: Id) -> Result<Option<String>, SubscriberError> {
        if let Some(known) = self.known.get(&id) {
            return Ok(Some(known.clone()));
        }
        if self.unknown.get(&id).is_some_and(|until| *until > Instant::now()) {
            return Ok(None);
        }
        let found = self.processor()?.find_customer(&id.to_string()).await?.map(|found| found.id);
        match &found {
            Some(found) => self.remember(id, found),
            None => self.remember_unknown(id),
        }
        Ok(found)
    }

    fn remember_unknown(&self, id: Id) {
        if self.unknown.len() >= MAX_REMEMBERED {
            self.unknown.clear();
        }
        self.unknown.insert(id, Instant::now() + UNKNOWN_FOR);
    }

    fn remember(&self, id: Id, theirs: &str) {
        if self.known.len() >= MAX_REMEMBERED {
            self.known.clear();
        }
        self.known.insert(id, theirs.to_owned());
        self.unknown.remove(&id);
    }

    /// The subscriptions of a customer, active and past, newest first.
    pub async fn list(&self, id: Id, limit: usize) -> Result<Vec<Subscription>, SubscriberError> {
        let processor = self.processor()?;
        let Some(customer) = self.customer(id).await? else { return Ok(Vec::new()) };
        let mut found = processor.subscriptions(&customer, limit).await?;
        let nameless = |one: &&Subscription| one.items.iter().any(|item| !self.products.contains_key(&item.price_id));
        let looked_at = found.iter().filter(nameless).take(MAX_LOOKED_AT).map(|one| processor.subscription(&one.id));
        for looked_at in join_all(looked_at).await {
            match looked_at {
                Ok(whole) => self.learn_products(&whole),
                Err(error) => tracing::debug!(customer = %id, %error, "a product is shown without its name"),
            }
        }
        for one in &mut found {
            for item in &mut one.items {
                if let Some(name) = self.products.get(&item.price_id) {
                    item.product_name.clone_from(&name);
                }
            }
        }
        Ok(found)
    }

    fn learn_products(&self, subscription: &Subscription) {
        if self.products.len() >= MAX_REMEMBERED {
            self.products.clear();
        }
        for item in &subscription.items {
            self.products.insert(item.price_id.clone(), item.product_name.clone());
        }
    }

    /// A subscription of a customer.
    pub async fn one(&self, id: Id, subscription: &str) -> Result<Subscription, SubscriberError> {
        let processor = self.processor()?;
        let found = match processor.subscription(subscription).await {
            Ok(found) => found,
            Err(error) if error.is_missing() => return Err(SubscriberError::Missing),
            Err(error) => return Err(error.into()),
        };
        let theirs = self.customer(id).await?.is_some_and(|customer| customer == found.customer);
        if theirs { Ok(found) } else { Err(SubscriberError::NotTheirs) }
    }

    /// Ends a subscription of a customer with its period, or lets it go on.
    pub async fn set_cancel(&self, id: Id, subscription: &str, cancel: bool) -> Result<Subscription, SubscriberError> {
        self.one(id, subscription).await?;
        self.processor()?.set_cancel_at_period_end(subscription, cancel).await?;
        self.one(id, subscription).await
    }

    /// A link to the pages where a customer changes cards and subscriptions.
    pub async fn portal(&self, id: Id, return_url: &str, key: &str) -> Result<String, SubscriberError> {
        let processor = self.processor()?;
        let customer = self.customer(id).await?.ok_or(SubscriberError::Missing)?;
        Ok(processor.create_portal(&customer, return_url, key).await?)
    }

    /// A session by which a customer begins a subscription; they are made known to the processor with the first one.
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
                let made = processor.create_customer(&new, &format!("customer-{}", who.id)).await?.id;
                self.remember(who.id, &made);
                made
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
        let mut made = processor.create_subscription_session(&new, &key.first).await?;
        if let Some(another) = &key.another
            && processor.session(&made.id).await?.status != SessionStatus::Open
        {
            // The first request under this key was answered a while ago, and that session is over.
            made = processor.create_subscription_session(&new, another).await?;
        }
        let gone = || ProcessorError::Unavailable(format!("session {} is not open", made.id));
        let url = made.url.clone().ok_or_else(gone)?;
        Ok(OpenSession { id: made.id, url, expires_at: made.expires_at })
    }

    /// Something changed there for the customer whom the processor calls `theirs`: what is remembered of them is read
    /// anew.
    pub fn forget(&self, theirs: &str) {
        let ours = self.known.iter().find(|known| known.value() == theirs).map(|known| *known.key());
        if let Some(ours) = ours {
            self.with_cards(|all| all.remove(&ours));
        }
    }

    /// The cards that a customer has stored, as they were up to a minute ago; none while the processor does not tell.
    pub async fn cards(&self, id: Id) -> Vec<StoredCard> {
        let fresh = |(until, _): &Cards| *until > Instant::now();
        if let Some((_, cards)) = self.with_cards(|all| all.get(&id).filter(|known| fresh(known)).cloned()) {
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
                tracing::debug!(customer = %id, %error, "cards are not shown");
                self.keep_cards(id, SILENCE_KEPT_FOR, Vec::new())
            }
        }
    }

    /// Remembers the cards of a customer for so long, none where the processor is silent. Gives what is remembered.
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
