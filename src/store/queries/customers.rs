//! Queries for customers, their sessions and their sign-in links.

use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::{Page, Queries, id_of, versioned};
use crate::rows::{Doc, LoadError};
use domain::aggregate::Versioned;
use domain::customer::{Customer, CustomerSession};
use domain::id::Id;
use entities::{customer_sessions, customers, sign_in_links};

/// Filter for customers; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomerFilter {
    /// Email address in normalised form.
    pub email: Option<String>,
    /// Text contained in the email address or the name.
    pub q: Option<String>,
}

impl Queries {
    /// Returns the session whose token has the given hash, even if the session has expired.
    pub async fn customer_session(&self, hash: &str) -> Result<Option<CustomerSession>, LoadError> {
        use customer_sessions::Column as C;
        let row = customer_sessions::Entity::find().filter(C::Hash.eq(hash)).one(&self.db).await?;
        Ok(row.map(|row| row.read()).transpose()?)
    }

    /// Returns the customer with the given email address, which must be in normalised form.
    pub async fn customer_by_email(&self, email: &str) -> Result<Option<Id>, LoadError> {
        use customers::Column as C;
        if let Some(memory) = &self.memory {
            let id = memory.tables().customer_by_email(email);
            return id.map(|id| id_of("customers", &id)).transpose();
        }
        let select = customers::Entity::find().select_only().column(C::Id).filter(C::Email.eq(email));
        let id: Option<String> = select.into_tuple().one(&self.db).await?;
        id.map(|id| id_of("customers", &id)).transpose()
    }

    /// Returns a page of customers, without their sessions, newest first, and their total number.
    pub async fn customers(
        &self,
        filter: &CustomerFilter,
        page: Page,
    ) -> Result<(Vec<Versioned<Customer>>, u64), LoadError> {
        let total = if *filter == CustomerFilter::default() {
            Some(self.row_total("customers", |_| true).await?)
        } else {
            None
        };
        self.snapshots_of(self.customer_rows(filter), page, total).await
    }

    /// Returns at most `limit` customers, without their sessions, newest first, without counting them.
    pub async fn newest_customers(
        &self,
        filter: &CustomerFilter,
        limit: u64,
    ) -> Result<Vec<Versioned<Customer>>, LoadError> {
        let rows = self.customer_rows(filter).limit(limit).all(&self.db).await?;
        Ok(self.readable(&rows, versioned))
    }

    /// Returns the query for the customers that match the filter, newest first.
    fn customer_rows(&self, filter: &CustomerFilter) -> Select<customers::Entity> {
        use customers::Column as C;
        let select = customers::Entity::find()
            .apply_if(filter.email.as_deref(), |all, email| all.filter(C::Email.eq(email)))
            .apply_if(filter.q.as_deref(), |all, q| {
                all.filter(self.contains(C::Email, q).or(self.contains(C::Name, q)))
            });
        select.order_by_desc(C::CreatedAt).order_by_desc(C::Id)
    }

    /// Returns the sign-in link whose token has the given hash, even if the link is no longer valid.
    pub async fn sign_in_link(&self, hash: &str) -> Result<Option<Id>, LoadError> {
        use sign_in_links::Column as C;
        let select = sign_in_links::Entity::find().select_only().column(C::Id).filter(C::Hash.eq(hash));
        let id: Option<String> = select.into_tuple().one(&self.db).await?;
        id.map(|id| id_of("sign_in_links", &id)).transpose()
    }
}
