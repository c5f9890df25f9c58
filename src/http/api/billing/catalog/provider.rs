//! Catalogue providers: the shop's own products (the built-in default), and another shop's storefront.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use domain::catalog::{Catalog, CatalogCollection, CatalogItem};
use domain::id::Id;
use domain::sku::Sku;
use domain::time::Timestamp;
use services::catalog_cache::CatalogProvider;
use services::circuit::Circuit;
use services::storefront::{STOREFRONT_WORD, Storefront};
use store::queries::{Page, Queries, SkuFilter};

/// Maximum number of items in a catalogue, which is kept in memory and returned as a whole.
const MAX_ITEMS: u64 = 1000;

/// Maximum number of product pages that are searched for SKU codes.
const MAX_PAGES: u64 = 10;

/// Provider of the shop's own public and active products.
pub(super) struct LocalCatalog {
    /// Queries that read the products.
    pub(super) queries: Queries,
}

#[async_trait]
impl CatalogProvider for LocalCatalog {
    fn source(&self) -> &'static str {
        "local"
    }

    async fn read(&self, now: Timestamp) -> Result<Catalog, String> {
        let (skus, ready) = sold(&self.queries, 0).await?;
        let orderable = |sku: &Sku| can_be_ordered(sku, &ready);
        let items: Vec<CatalogItem> = skus.iter().map(|sku| CatalogItem::of_sku(sku, orderable(sku))).collect();
        let slugs = items.iter().flat_map(|item| &item.collections);
        let collections: BTreeMap<&str, CatalogCollection> =
            slugs.map(|slug| (slug.as_str(), CatalogCollection::of_slug(slug))).collect();
        let collections = collections.into_values().collect();
        Ok(Catalog { source: self.source().to_owned(), generated_at: now, items, collections })
    }
}

/// Returns a page of the SKUs that customers may order, and whether each can be produced.
async fn sold(queries: &Queries, page: u64) -> Result<(Vec<Sku>, BTreeMap<Id, bool>), String> {
    let sold = SkuFilter { public: Some(true), active: Some(true), ..SkuFilter::default() };
    let page = Page { limit: MAX_ITEMS, offset: page * MAX_ITEMS };
    let (results, _) = queries.skus(&sold, page).await.map_err(|error| error.to_string())?;
    let skus: Vec<Sku> = results.into_iter().filter_map(|sku| sku.state).collect();
    let ready = skus.iter().map(|sku| (sku.id, sku.fields.orderable())).collect();
    Ok((skus, ready))
}

/// Returns whether the SKU can be ordered; a kit can be ordered if all its components can.
fn can_be_ordered(sku: &Sku, ready: &BTreeMap<Id, bool>) -> bool {
    let parts = &sku.fields.components;
    if parts.is_empty() {
        return sku.fields.orderable();
    }
    // A part that is not sold by itself is not known here, and is found out when it is ordered.
    parts.iter().all(|part| ready.get(&part.sku_id).copied().unwrap_or(true))
}

/// Provider that reads another shop's storefront. Its products are matched to local SKUs by their codes.
pub(super) struct StorefrontCatalog {
    /// Client of the storefront.
    pub(super) storefront: Arc<Storefront>,
    /// Circuit breaker for calls to the storefront; includes their timeout.
    pub(super) circuit: Circuit,
    /// Currency of the storefront's prices.
    pub(super) currency: String,
    /// Queries that read the local SKUs.
    pub(super) queries: Queries,
}

#[async_trait]
impl CatalogProvider for StorefrontCatalog {
    fn source(&self) -> &'static str {
        STOREFRONT_WORD
    }

    fn is_remote(&self) -> bool {
        true
    }

    async fn read(&self, now: Timestamp) -> Result<Catalog, String> {
        let read = self.circuit.call(1.0, self.storefront.read()).await;
        let storefront = read.map_err(|fault| fault.in_one_line())?;
        let mut by_code: BTreeMap<String, Id> = BTreeMap::new();
        for page in 0..MAX_PAGES {
            let (skus, ready) = sold(&self.queries, page).await?;
            let makeable = skus.iter().filter(|sku| can_be_ordered(sku, &ready));
            by_code.extend(makeable.map(|sku| (sku.fields.code.clone(), sku.id)));
            if (skus.len() as u64) < MAX_ITEMS {
                break;
            }
        }
        let items = storefront.products.into_iter().map(|product| CatalogItem {
            sku_id: product.codes.iter().find_map(|code| by_code.get(code).copied()),
            id: product.id,
            slug: product.slug,
            title: product.title,
            description: product.description,
            price_cents: product.price_cents,
            currency: self.currency.clone(),
            images: product.images,
            collections: product.collections,
            published_at: product.published_at,
        });
        let collections = storefront.collections.into_iter();
        let collections =
            collections.map(|one| CatalogCollection { id: one.id, slug: one.slug, title: one.title }).collect();
        Ok(Catalog { source: self.source().to_owned(), generated_at: now, items: items.collect(), collections })
    }
}
