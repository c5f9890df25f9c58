//! Paths and parameters of calls to the processor's API.

use async_trait::async_trait;
use serde_json::Value;

use super::form::ProcessorForm;
use super::read::{AnswerReader, customer, page, payment_method, refund, session, subscription};
use super::send::ProcessorClient;
use super::{
    NewCustomer, NewPaymentSession, NewRefund, NewSubscriptionSession, PaymentMethod, PaymentProcessor,
    ProcessorCustomer, ProcessorError, ProcessorSession, Refund, Subscription,
};

/// Number of entries requested per list page, which is the processor's maximum.
const PAGE_SIZE: usize = 100;
/// Maximum number of pages read per list.
const MAX_PAGES: usize = 10;
/// Maximum number of stored payment methods returned.
const MAX_METHODS: usize = 20;
/// Metadata key whose value is this server's customer ID.
const OUR_CUSTOMER: &str = "customerId";

impl ProcessorClient {
    /// Reads a list page by page, until it ends or there are `most` entries.
    async fn list<T>(
        &self,
        path: &[&str],
        query: &ProcessorForm,
        most: usize,
        read: impl Fn(&AnswerReader<'_>) -> Result<T, ProcessorError>,
    ) -> Result<Vec<T>, ProcessorError> {
        let (mut items, mut after): (Vec<T>, Option<String>) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let size = PAGE_SIZE.min(most.saturating_sub(items.len()));
            let page_query = query.clone().with("limit", size).with_some("starting_after", after.take());
            let answer = self.get(path, &page_query).await?;
            let page = page(&answer)?;
            for entry in page.entries.iter().take(size) {
                let entry = AnswerReader::new(entry, "a list entry");
                after = Some(entry.id()?);
                items.push(read(&entry)?);
            }
            if !page.has_more || page.entries.is_empty() || items.len() >= most {
                break;
            }
        }
        Ok(items)
    }
}

#[async_trait]
impl PaymentProcessor for ProcessorClient {
    async fn check(&self) -> Result<String, ProcessorError> {
        let answer = self.get(&["checkout", "sessions"], &ProcessorForm::new().with("limit", 1)).await?;
        page(&answer)?;
        Ok("the payment processor responds and accepts the secret key".to_owned())
    }

    fn trouble(&self) -> Option<String> {
        self.trouble_now()
    }

    async fn create_payment_session(
        &self,
        new: &NewPaymentSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError> {
        let line = "line_items[0][price_data]";
        let form = ProcessorForm::new()
            .with("mode", "payment")
            .with("client_reference_id", &new.reference)
            .with_map("metadata", &new.metadata)
            // Those of the session are not copied to the payment.
            .with_map("payment_intent_data[metadata]", &new.metadata)
            .with("line_items[0][quantity]", 1)
            .with(&format!("{line}[currency]"), &new.currency)
            .with(&format!("{line}[unit_amount]"), new.amount_cents)
            .with(&format!("{line}[product_data][name]"), &new.title)
            .with_some("customer_email", new.customer_email.as_ref())
            .with("success_url", &new.success_url)
            .with("cancel_url", &new.cancel_url);
        session(&AnswerReader::new(&self.post(&["checkout", "sessions"], &form, Some(key)).await?, "a session"))
    }

    async fn create_subscription_session(
        &self,
        new: &NewSubscriptionSession,
        key: &str,
    ) -> Result<ProcessorSession, ProcessorError> {
        let form = ProcessorForm::new()
            .with("mode", "subscription")
            .with("client_reference_id", &new.reference)
            .with_map("metadata", &new.metadata)
            .with_map("subscription_data[metadata]", &new.metadata)
            .with("line_items[0][price]", &new.price)
            .with("line_items[0][quantity]", new.quantity)
            .with("customer", &new.customer)
            .with("success_url", &new.success_url)
            .with("cancel_url", &new.cancel_url);
        session(&AnswerReader::new(&self.post(&["checkout", "sessions"], &form, Some(key)).await?, "a session"))
    }

    async fn session(&self, id: &str) -> Result<ProcessorSession, ProcessorError> {
        let query = ProcessorForm::new().with("expand[0]", "payment_intent");
        session(&AnswerReader::new(&self.get(&["checkout", "sessions", id], &query).await?, "a session"))
    }

    async fn expire_session(&self, id: &str) -> Result<ProcessorSession, ProcessorError> {
        let path = ["checkout", "sessions", id, "expire"];
        session(&AnswerReader::new(&self.post(&path, &ProcessorForm::new(), None).await?, "a session"))
    }

    async fn create_refund(&self, new: &NewRefund, key: &str) -> Result<Refund, ProcessorError> {
        let form = ProcessorForm::new()
            .with("payment_intent", &new.intent)
            .with("amount", new.amount_cents)
            .with_map("metadata", &new.metadata);
        refund(&AnswerReader::new(&self.post(&["refunds"], &form, Some(key)).await?, "a refund"))
    }

    async fn refunds(&self, intent: &str) -> Result<Vec<Refund>, ProcessorError> {
        let query = ProcessorForm::new().with("payment_intent", intent);
        self.list(&["refunds"], &query, MAX_PAGES * PAGE_SIZE, refund).await
    }

    async fn create_customer(&self, new: &NewCustomer, key: &str) -> Result<ProcessorCustomer, ProcessorError> {
        let form = ProcessorForm::new()
            .with("email", &new.email)
            .with_some("name", new.name.as_ref())
            .with_map("metadata", &[(OUR_CUSTOMER.to_owned(), new.our_id.clone())]);
        customer(&AnswerReader::new(&self.post(&["customers"], &form, Some(key)).await?, "a customer"))
    }

    async fn find_customer(&self, our_id: &str) -> Result<Option<ProcessorCustomer>, ProcessorError> {
        let plain: String = our_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let query =
            ProcessorForm::new().with("query", format!("metadata['{OUR_CUSTOMER}']:'{plain}'")).with("limit", 1);
        let answer = self.get(&["customers", "search"], &query).await?;
        page(&answer)?.entries.first().map(|entry| customer(&AnswerReader::new(entry, "a customer"))).transpose()
    }

    async fn create_portal(&self, customer: &str, return_url: &str, key: &str) -> Result<String, ProcessorError> {
        let form = ProcessorForm::new().with("customer", customer).with("return_url", return_url);
        let answer = self.post(&["billing_portal", "sessions"], &form, Some(key)).await?;
        AnswerReader::new(&answer, "a portal session").url("url")
    }

    async fn payment_methods(&self, customer: &str) -> Result<Vec<PaymentMethod>, ProcessorError> {
        let query = ProcessorForm::new().with("customer", customer).with("type", "card");
        self.list(&["payment_methods"], &query, MAX_METHODS, payment_method).await
    }

    async fn subscriptions(&self, customer: &str, limit: usize) -> Result<Vec<Subscription>, ProcessorError> {
        // Without a status those that ended are left out.
        let query = ProcessorForm::new().with("customer", customer).with("status", "all");
        self.list(&["subscriptions"], &query, limit, subscription).await
    }

    async fn subscription(&self, id: &str) -> Result<Subscription, ProcessorError> {
        let query = ProcessorForm::new()
            .with("expand[0]", "latest_invoice")
            .with("expand[1]", "default_payment_method")
            .with("expand[2]", "items.data.price.product");
        subscription(&AnswerReader::new(&self.get(&["subscriptions", id], &query).await?, "a subscription"))
    }

    async fn set_cancel_at_period_end(&self, id: &str, cancel: bool) -> Result<Subscription, ProcessorError> {
        let form = ProcessorForm::new().with("cancel_at_period_end", cancel);
        let answer: Value = self.post(&["subscriptions", id], &form, None).await?;
        subscription(&AnswerReader::new(&answer, "a subscription"))
    }
}
