//! Queries for payments: lookups of their owners, and lists across orders and invoices without an order.

use std::collections::HashMap;

use sea_orm::sea_query::{Condition, Expr, ExprTrait, UnionType};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::{Page, Queries, id_of};
use crate::rows::LoadError;
use domain::id::Id;
use domain::ledger::Payment;
use entities::{invoices, orders, payments};

/// Filter for payments; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PaymentFilter {
    /// Customer's email address, in lowercase.
    pub customer_email: Option<String>,
    /// Order that the payment belongs to.
    pub order_id: Option<Id>,
    /// Invoice that the payment belongs to, directly or through its order.
    pub invoice_id: Option<Id>,
    /// Site of the order or invoice.
    pub site: Option<String>,
}

/// Payment with the IDs of its order and invoice.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedPayment {
    /// Payment or refund.
    pub payment: Payment,
    /// Order ID; `None` if the payment belongs to an invoice without an order.
    pub order_id: Option<Id>,
    /// Invoice ID, possibly that of the order's invoice; `None` for an order that has received no money in its own
    /// currency.
    pub invoice_id: Option<Id>,
    /// Customer's email address.
    pub customer_email: Option<String>,
}

impl Queries {
    /// Returns the order, or the invoice without an order, that the given checkout session belongs to.
    pub async fn owner_of_session(&self, session: &str) -> Result<Option<Id>, LoadError> {
        let order = orders::Entity::find().select_only().column(orders::Column::Id);
        let order = order.filter(orders::Column::PaymentSession.eq(session)).order_by_desc(orders::Column::Id);
        if let Some(id) = order.into_tuple::<String>().one(&self.db).await? {
            return Ok(Some(id_of("orders", &id)?));
        }
        let invoice = invoices::Entity::find().select_only().column(invoices::Column::Id);
        let invoice = invoice.filter(invoices::Column::PaymentSession.eq(session)).order_by_desc(invoices::Column::Id);
        let id: Option<String> = invoice.into_tuple().one(&self.db).await?;
        id.map(|id| id_of("invoices", &id)).transpose()
    }

    /// Returns the order, or the invoice without an order, that has a payment with the given payment intent.
    pub async fn owner_of_intent(&self, intent: &str) -> Result<Option<Id>, LoadError> {
        use payments::Column as C;
        let select = payments::Entity::find().select_only().column(C::OwnerId).filter(C::Intent.eq(intent));
        let id: Option<String> = select.order_by_desc(C::Id).into_tuple().one(&self.db).await?;
        id.map(|id| id_of("payments", &id)).transpose()
    }

    /// Returns a page of payments and refunds, newest first, and their total number.
    pub async fn payments(&self, filter: &PaymentFilter, page: Page) -> Result<(Vec<ListedPayment>, u64), LoadError> {
        use payments::Column as C;
        let select = payments::Entity::find()
            .apply_if(filter.order_id, |all, order| all.filter(C::OwnerId.eq(order.to_string())))
            .apply_if(filter.invoice_id, |all, invoice| all.filter(of_invoice(invoice)))
            .apply_if(filter.customer_email.as_deref(), |all, email| {
                all.filter(owned_by(orders::Column::CustomerEmail.eq(email), invoices::Column::CustomerEmail.eq(email)))
            })
            .apply_if(filter.site.as_deref(), |all, site| all.filter(is_of_site(site)));
        let newest = select.order_by_desc(C::CreatedAt).order_by_desc(C::Id);
        let counted = PaymentFilter { site: filter.site.clone(), ..PaymentFilter::default() };
        let total = if *filter == counted {
            let is_counted = |site: &str| filter.site.as_deref().is_none_or(|own| own == site);
            Some(self.row_total("payments", is_counted).await?)
        } else {
            None
        };
        let (listed, total) = self.rows_of::<_, Payment>(newest, page, total).await?;
        Ok((self.with_owners(listed).await?, total))
    }

    /// Attaches the order and the invoice to each payment.
    async fn with_owners(&self, listed: Vec<Payment>) -> Result<Vec<ListedPayment>, LoadError> {
        use invoices::Column as I;
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        let owners: Vec<String> = listed.iter().map(|payment| payment.owner_id.to_string()).collect();
        let of_orders = orders::Entity::find()
            .select_only()
            .columns([orders::Column::Id, orders::Column::CustomerEmail])
            .filter(orders::Column::Id.is_in(owners.clone()));
        let of_orders: Vec<(String, Option<String>)> = of_orders.into_tuple().all(&self.db).await?;
        let of_orders: HashMap<String, Option<String>> = of_orders.into_iter().collect();
        let theirs = Condition::any().add(I::Id.is_in(owners.clone())).add(I::OrderId.is_in(owners));
        let of_invoices = invoices::Entity::find().select_only().columns([I::Id, I::OrderId, I::CustomerEmail]);
        let of_invoices = of_invoices.filter(theirs).order_by_asc(I::CreatedAt).order_by_asc(I::Id);
        let of_invoices: Vec<(String, Option<String>, Option<String>)> = of_invoices.into_tuple().all(&self.db).await?;
        // Of several invoices of an order the newest stands.
        let mut by_owner: HashMap<String, (String, Option<String>)> = HashMap::new();
        for (id, order, email) in of_invoices {
            by_owner.insert(order.unwrap_or_else(|| id.clone()), (id, email));
        }
        let with_owner = |payment: Payment| {
            let owner = payment.owner_id.to_string();
            let (order, invoice) = (of_orders.get(&owner), by_owner.get(&owner));
            Ok(ListedPayment {
                order_id: order.map(|_| payment.owner_id),
                invoice_id: invoice.map(|(id, _)| id_of("invoices", id)).transpose()?,
                customer_email: order.cloned().or(invoice.map(|(_, email)| email.clone())).flatten(),
                payment,
            })
        };
        listed.into_iter().map(with_owner).collect()
    }
}

/// Returns the condition that selects payments whose order, or invoice without an order, satisfies the given
/// expressions. There must be few of these: the payments are found by them.
fn owned_by(order: Expr, invoice: Expr) -> Expr {
    let mut owners = orders::Entity::find().select_only().column(orders::Column::Id).filter(order).into_query();
    let invoices = invoices::Entity::find().select_only().column(invoices::Column::Id).filter(invoice).into_query();
    owners.union(UnionType::All, invoices);
    payments::Column::OwnerId.in_subquery(owners)
}

/// Returns the condition that selects payments whose order, or invoice without an order, is of a site. Each payment's
/// owner is looked up: those of a site are many, so that a page of payments is full soon.
fn is_of_site(site: &str) -> Condition {
    let owner = (payments::Entity, payments::Column::OwnerId);
    let order = Expr::col((orders::Entity, orders::Column::Id)).equals(owner);
    let order = orders::Entity::find().select_only().column(orders::Column::Id).filter(order);
    let order = order.filter(orders::Column::Site.eq(site)).into_query();
    let invoice = Expr::col((invoices::Entity, invoices::Column::Id)).equals(owner);
    let invoice = invoices::Entity::find().select_only().column(invoices::Column::Id).filter(invoice);
    let invoice = invoice.filter(invoices::Column::Site.eq(site)).into_query();
    Condition::any().add(Expr::exists(order)).add(Expr::exists(invoice))
}

/// Returns the condition that selects an invoice's payments: its own, or those of the order that it belongs to.
fn of_invoice(invoice: Id) -> Expr {
    use invoices::Column as I;
    let own = || invoices::Entity::find().select_only().filter(I::Id.eq(invoice.to_string()));
    let mut owners = own().column(I::Id).into_query();
    owners.union(UnionType::All, own().column(I::OrderId).into_query());
    payments::Column::OwnerId.in_subquery(owners)
}

#[cfg(test)]
mod tests;
