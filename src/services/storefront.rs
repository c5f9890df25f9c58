//! Client for the public storefront of a Shopify shop, which serves products and collections as JSON without an API
//! key.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Client, Method};
use serde_json::Value;

use super::peer_client::{PeerClient, PeerSettingError, TokenForm, whole};
use super::peer_fault::PeerFault;
use domain::currency;
use domain::picture_address::is_picture_address;
use domain::refusal::shortened;
use domain::time::Timestamp;

/// Name of this kind of catalogue in settings and responses.
pub const STOREFRONT_WORD: &str = "shopify";
/// Number of products per page, which is the storefront's maximum.
const PAGE_SIZE: usize = 250;
/// Maximum number of pages per list.
const MAX_PAGES: usize = 4;
/// Maximum number of collections whose products are read.
const MAX_COLLECTIONS: usize = 50;
/// Maximum number of images per product.
const MAX_IMAGES: usize = 20;
/// Maximum size of one page in bytes.
const MAX_PAGE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum length of a name, in characters; descriptions have their own limit.
const MAX_NAME_CHARS: usize = 200;
const MAX_ABOUT_CHARS: usize = 5_000;
/// Name used for the storefront in messages.
const OTHER_SIDE: &str = "the storefront";

/// Product, as shown in the storefront.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreProduct {
    /// ID of the product in the shop.
    pub id: String,
    /// URL slug.
    pub slug: String,
    /// Display title.
    pub title: String,
    /// Plain-text description, if any.
    pub description: Option<String>,
    /// First variant's price in minor units.
    pub price_cents: i64,
    /// URLs of the product's images.
    pub images: Vec<String>,
    /// Slugs of the collections that contain the product.
    pub collections: Vec<String>,
    /// Time at which the product was published.
    pub published_at: Timestamp,
    /// SKU codes of the product's variants, in order.
    pub codes: Vec<String>,
}

/// Collection, as shown in the storefront.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreCollection {
    /// ID of the collection in the shop.
    pub id: String,
    /// URL slug.
    pub slug: String,
    /// Display title.
    pub title: String,
}

/// Complete catalogue of a storefront.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoreCatalog {
    /// Products, newest first.
    pub products: Vec<StoreProduct>,
    /// Collections that contain products.
    pub collections: Vec<StoreCollection>,
}

/// Client for one storefront.
pub struct Storefront {
    peer: PeerClient,
    currency: String,
}

impl Storefront {
    /// Creates a client for the given address without calling it yet. The currency is passed in because the storefront
    /// does not report it.
    pub fn new(client: Client, url: &str, currency: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(client, url, TokenForm::Bearer, "")?, currency: currency.to_lowercase() })
    }

    /// Reads the whole catalogue, within limits on size and number; the caller limits the time.
    pub async fn read(&self) -> Result<StoreCatalog, PeerFault> {
        let mut products = Vec::new();
        for value in self.all("products.json", "products").await? {
            // One that cannot be read is left out: the others are still sold.
            products.extend(product(&value, &self.currency));
        }
        let mut collections = Vec::new();
        for value in self.all("collections.json", "collections").await?.iter().take(MAX_COLLECTIONS) {
            collections.extend(collection(value));
        }
        let mut within: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for StoreCollection { slug, .. } in &collections {
            for value in self.all(&format!("collections/{slug}/products.json"), "products").await? {
                if let Some(id) = value["id"].as_u64() {
                    within.entry(id.to_string()).or_default().insert(slug.clone());
                }
            }
        }
        for product in &mut products {
            product.collections = within.remove(&product.id).unwrap_or_default().into_iter().collect();
        }
        let used: BTreeSet<&String> = products.iter().flat_map(|one| &one.collections).collect();
        collections.retain(|one| used.contains(&one.slug));
        collections.sort_by(|a, b| a.slug.cmp(&b.slug));
        products.sort_by(|a, b| b.published_at.cmp(&a.published_at).then_with(|| a.id.cmp(&b.id)));
        Ok(StoreCatalog { products, collections })
    }

    /// Reads a list page by page and returns all its items.
    async fn all(&self, path: &str, member: &str) -> Result<Vec<Value>, PeerFault> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = [("limit", PAGE_SIZE.to_string()), ("page", page.to_string())];
            let call = self.peer.below(Method::GET, path).query(&query).header("accept", "application/json");
            let mut answer = self.peer.send(call, OTHER_SIDE).await?;
            let status = answer.status();
            if !status.is_success() {
                let words = format!("the storefront responded with {} for {path}", status.as_u16());
                return Err(PeerFault::new(words));
            }
            let body = whole(&mut answer, MAX_PAGE_BYTES, OTHER_SIDE).await?;
            let nonsense = || PeerFault::new(format!("the storefront sent an invalid response for {path}"));
            let mut value = bounded_json::read(&body, bounded_json::ANSWER).map_err(|_| nonsense())?;
            let Some(Value::Array(items)) = value.get_mut(member).map(Value::take) else { return Err(nonsense()) };
            let count = items.len();
            all.extend(items.into_iter().take(PAGE_SIZE));
            if count < PAGE_SIZE {
                break;
            }
        }
        Ok(all)
    }
}

fn name(value: &Value) -> Option<String> {
    let plain: String = value.as_str()?.chars().filter(|c| !c.is_control()).collect();
    Some(shortened(plain.trim().to_owned(), MAX_NAME_CHARS)).filter(|text| !text.is_empty())
}

/// Returns a slug if it is valid; it becomes part of requested URLs.
fn slug(value: &Value) -> Option<String> {
    let slug = name(value)?;
    let plain = |c: char| c.is_alphanumeric() || "-_".contains(c);
    slug.chars().all(plain).then_some(slug)
}

fn collection(of: &Value) -> Option<StoreCollection> {
    Some(StoreCollection { id: of["id"].as_u64()?.to_string(), slug: slug(&of["handle"])?, title: name(&of["title"])? })
}

fn product(of: &Value, currency: &str) -> Option<StoreProduct> {
    let list = |name: &str| of[name].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let variants = list("variants");
    let price = &variants.first()?["price"];
    let images = list("images").iter().filter_map(|image| image["src"].as_str());
    // Theirs are never the IDs of our files.
    let web = |url: &&str| url.starts_with("http") && is_picture_address(url);
    Some(StoreProduct {
        id: of["id"].as_u64()?.to_string(),
        slug: slug(&of["handle"])?,
        title: name(&of["title"])?,
        description: of["body_html"].as_str().map(without_markup).filter(|text| !text.is_empty()),
        price_cents: currency::parse(price.as_str()?, currency).filter(|cents| *cents >= 0)?,
        images: images.filter(web).take(MAX_IMAGES).map(|url| shortened(url.to_owned(), 2_000)).collect(),
        collections: Vec::new(),
        published_at: of["published_at"].as_str()?.parse().ok()?,
        codes: variants.iter().filter_map(|variant| name(&variant["sku"])).collect(),
    })
}

/// Reads an entry of each list, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(crate) fn parse_answer(answer: &Value) {
    let _ = product(answer, "usd");
    let _ = collection(answer);
}

/// Converts an HTML description to plain text.
fn without_markup(html: &str) -> String {
    let (mut text, mut inside) = (String::new(), false);
    for letter in html.chars() {
        match letter {
            '<' => {
                inside = true;
                text.push(' ');
            }
            '>' if inside => inside = false,
            letter if !inside => text.push(letter),
            _ => {}
        }
    }
    let entities = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = entities.iter().fold(text, |text, (from, to)| text.replace(from, to));
    shortened(text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_ABOUT_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_product_is_read_and_nonsense_is_not() {
        let whole = json!({
            "id": 7, "handle": "vase", "title": "Vase", "body_html": "<p>A&nbsp;<b>vase</b> &amp; more</p>",
            "published_at": "2026-11-01T10:00:00-05:00", "variants": [{"price": "12.50", "sku": "VASE-1"}, {"sku": ""}],
            "images": [{"src": "https://cdn.example/a.png"}, {"src": "javascript:alert(1)"}],
        });
        let read = product(&whole, "usd").map(|one| (one.description, one.price_cents, one.images.len(), one.codes));
        let description = Some("A vase & more".to_owned());
        assert_eq!(read, Some((description, 1250, 1, vec!["VASE-1".to_owned()])));
        for (member, value) in
            [("id", json!("x")), ("handle", json!("../admin")), ("variants", json!([])), ("published_at", json!(1))]
        {
            let mut spoilt = whole.clone();
            spoilt[member] = value;
            assert_eq!(product(&spoilt, "usd"), None, "{member}");
        }
    }
}
