//! Catalogue of the products that the shop sells, as its provider returns it, and the choice of items by a filter.

use api_derive::Response;
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::picture_address::is_picture_address;
use crate::sku::Sku;
use crate::time::Timestamp;

/// Number of items that are featured, by default and at most.
pub const MAX_FEATURED: usize = 12;

/// Product in the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Response, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CatalogItem")]
pub struct CatalogItem {
    /// The provider's ID for the item.
    pub id: String,
    /// URL-friendly name of the item.
    pub slug: String,
    /// Display name of the item.
    pub title: String,
    /// Description shown to customers.
    pub description: Option<String>,
    /// Net unit price, in minor units of the currency.
    pub price_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub currency: String,
    /// URLs or file IDs of the item's images.
    pub images: Vec<String>,
    /// Slugs of the collections that contain the item.
    pub collections: Vec<String>,
    /// Time at which the item was put on sale.
    pub published_at: Timestamp,
    /// ID of the SKU to order for the item; null if the item cannot be ordered at the moment.
    pub sku_id: Option<Id>,
}

impl CatalogItem {
    /// Builds the item of a SKU, which can be ordered or not.
    pub fn of_sku(sku: &Sku, orderable: bool) -> Self {
        let fields = &sku.fields;
        Self {
            id: sku.id.to_string(),
            slug: fields.slug.clone(),
            title: fields.name.clone(),
            description: fields.description.clone(),
            price_cents: fields.price_cents,
            currency: fields.currency.clone(),
            images: fields.images.iter().filter(|image| is_picture_address(image)).cloned().collect(),
            collections: fields.collections.clone(),
            published_at: sku.created_at,
            sku_id: orderable.then_some(sku.id),
        }
    }
}

/// Group of catalogue items.
#[derive(Clone, PartialEq, Eq, Debug, Response, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CatalogCollection")]
pub struct CatalogCollection {
    /// The provider's ID for the collection.
    pub id: String,
    /// URL-friendly name of the collection.
    pub slug: String,
    /// Display name of the collection.
    pub title: String,
}

impl CatalogCollection {
    /// Builds a collection from its slug; its title is derived from the slug.
    pub fn of_slug(slug: &str) -> Self {
        let mut title = slug.replace(['-', '_'], " ");
        if let Some(first) = title.get(..1).map(str::to_uppercase) {
            title.replace_range(..1, &first);
        }
        Self { id: slug.to_owned(), slug: slug.to_owned(), title }
    }
}

/// Catalogue as read from its provider.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Catalog {
    /// Identifier of the provider.
    pub source: String,
    /// Time at which the catalogue was read from the provider.
    pub generated_at: Timestamp,
    /// All items on sale, newest first.
    pub items: Vec<CatalogItem>,
    /// All non-empty collections, sorted by slug.
    pub collections: Vec<CatalogCollection>,
}

/// Filter for the items of a catalogue.
#[derive(Clone, Copy, Debug)]
pub struct CatalogFilter<'a> {
    /// Comma-separated slugs of collections, at least one of which must contain the item; `None` or empty for all
    /// items.
    pub collection: Option<&'a str>,
    /// Slug or ID of an item, or `true` for the newest items.
    pub featured: Option<&'a str>,
    /// Maximum number of items; applies only to the newest items.
    pub limit: Option<u64>,
}

impl Catalog {
    /// Returns the items that match the filter, newest first.
    pub fn select(&self, filter: CatalogFilter<'_>) -> Vec<CatalogItem> {
        let requested: Vec<&str> =
            filter.collection.unwrap_or_default().split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        let within = |item: &&CatalogItem| {
            requested.is_empty() || item.collections.iter().any(|one| requested.contains(&&**one))
        };
        let items = self.items.iter().filter(within);
        match filter.featured {
            None => items.cloned().collect(),
            Some("true") => {
                let most = filter.limit.map_or(MAX_FEATURED, |limit| limit as usize);
                items.take(most).cloned().collect()
            }
            Some(name) => items.filter(|item| item.slug == name || item.id == name).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(slug: &str, collections: &[&str]) -> CatalogItem {
        CatalogItem {
            id: format!("id-{slug}"),
            slug: slug.to_owned(),
            title: slug.to_owned(),
            description: None,
            price_cents: 100,
            currency: "usd".to_owned(),
            images: Vec::new(),
            collections: collections.iter().map(|one| (*one).to_owned()).collect(),
            published_at: Timestamp(0),
            sku_id: None,
        }
    }

    fn catalog() -> Catalog {
        let items = vec![item("a", &["home", "new"]), item("b", &["garden"]), item("c", &[])];
        Catalog { source: "local".to_owned(), generated_at: Timestamp(0), items, collections: Vec::new() }
    }

    fn slugs(collection: Option<&str>, featured: Option<&str>, limit: Option<u64>) -> Vec<String> {
        let filter = CatalogFilter { collection, featured, limit };
        catalog().select(filter).into_iter().map(|item| item.slug).collect()
    }

    #[test]
    fn collections_and_featured_choose_and_limit_acts_with_the_newest_alone() {
        assert_eq!(slugs(None, None, Some(1)), ["a", "b", "c"]);
        assert_eq!(slugs(Some("new, garden"), None, None), ["a", "b"]);
        assert_eq!(slugs(None, Some("true"), Some(2)), ["a", "b"]);
        assert_eq!(slugs(Some("garden"), Some("true"), None), ["b"]);
        assert_eq!(
            (slugs(None, Some("c"), None), slugs(None, Some("id-b"), None)),
            (vec!["c".to_owned()], vec!["b".to_owned()])
        );
        assert!(slugs(Some("nothing"), None, None).is_empty());
    }

    #[test]
    fn a_collection_has_a_title() {
        let title = |slug: &str| CatalogCollection::of_slug(slug).title;
        assert_eq!(title("garden-tools"), "Garden tools");
        assert_eq!(title(""), "");
        assert_eq!(title("éa"), "éa");
    }
}
