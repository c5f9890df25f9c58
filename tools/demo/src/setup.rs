//! Initial contents of the shop, created through its API. Resources from an earlier start are left unchanged.

use std::collections::BTreeMap;
use std::sync::Arc;

use api_requests::{HttpApi, RequestError};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use simulator::SimHandle;

use super::catalogue::{self, KIT, MATERIALS, PARTS, SamplePart};
use super::floor::DemoFloor;
use super::folder::DemoState;
use super::mishaps::DemoPrinter;
use super::sliced::sliced_file;
use crate::error::DemoError;

/// Email address of the demo's admin.
pub const ADMIN: &str = "admin@demo.example";
/// Factor by which customers prefer parts that are sliced as a package.
const PACKAGE_FANS: usize = 3;
/// Name of the demo's API keys.
const KEY_NAME: &str = "demo";
/// Events to which the shop's webhook receiver subscribes: all existing ones.
const WEBHOOK_EVENTS: [&str; 12] = [
    "order.created",
    "order.paid",
    "order.printing",
    "order.ready",
    "order.late",
    "order.shipped",
    "order.cancelled",
    "job.failed",
    "job.completed",
    "inventory.low",
    "printer.offline",
    "shop.restored",
];

/// Names by ID, and the articles on sale.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Printer names, by ID.
    pub printers: Arc<BTreeMap<String, String>>,
    /// Part names, by ID.
    pub parts: Arc<BTreeMap<String, String>>,
    /// IDs of the articles that the printers can make, each repeated according to how often customers should choose it;
    /// the kit comes last.
    pub on_sale: Arc<Vec<String>>,
}

/// Simulated printer as registered with the server.
struct RegisteredPrinter {
    id: String,
    name: String,
    machine_type: String,
    /// `true` if the printer accepts only packages.
    packages: bool,
    handle: SimHandle,
}

/// Creates an API key and revokes those from earlier starts.
pub async fn key(machine: &HttpApi) -> Result<String, DemoError> {
    for old in machine.list::<Value>("/api/auth/api-keys", "apiKeys").await? {
        if old["name"] == KEY_NAME && old["revokedAt"].is_null() {
            machine.delete(&format!("/api/auth/api-keys/{}", id(&old)?)).await?;
        }
    }
    let created = machine.post("/api/auth/api-keys", &json!({"name": KEY_NAME, "role": "admin"})).await?;
    text(&created, "key")
}

/// Creates the admin account with the stored password if it does not exist; returns its ID.
pub async fn admin(machine: &HttpApi, memory: &DemoState) -> Result<String, DemoError> {
    let users = machine.list::<Value>("/api/users", "users").await?;
    if let Some(existing) = users.iter().find(|user| user["email"] == ADMIN) {
        return id(existing);
    }
    let user = json!({"email": ADMIN, "name": "Demo", "role": "admin", "password": memory.password});
    id(&machine.post("/api/users", &user).await?)
}

/// Creates a link that signs in a staff user once, in a browser on this machine; returns the link's path.
pub async fn sign_in_path(machine: &HttpApi, user: &str) -> Result<String, DemoError> {
    text(&machine.post(&format!("/login/once?user={user}"), &json!({})).await?, "path")
}

/// Creates everything that the shop needs before the first order.
pub async fn shop(
    api: &HttpApi,
    memory: &DemoState,
    floor: &DemoFloor,
) -> Result<(Names, Vec<DemoPrinter>), DemoError> {
    let url = floor.sink.url();
    let endpoints = api.list::<Value>("/api/webhooks/endpoints", "endpoints").await?;
    if endpoints.iter().all(|endpoint| endpoint["url"] != url.as_str()) {
        let endpoint = json!({"url": url, "events": WEBHOOK_EVENTS, "secret": memory.webhook_secret});
        api.post("/api/webhooks/endpoints", &endpoint).await?;
    }
    let materials = materials(api).await?;
    let mut parts = parts(api, &materials).await?;
    let printers = printers(api, floor).await?;
    // The first one has a changer with all colours.
    if let Some(first) = printers.first() {
        spools(api, &first.id, &materials).await?;
    }
    let (mut on_sale, mut sold) = (Vec::new(), Vec::new());
    for (part, (id, _)) in PARTS.iter().zip(&parts) {
        if part.second.is_some() {
            continue; // Sold in the kit.
        }
        // Repeated once for each printer that can make it; those that can make nothing else are to have something to
        // do.
        let able =
            |printer: &&RegisteredPrinter| printer.machine_type == part.machine && printer.packages == part.package;
        let able = printers.iter().filter(able).count() * if part.package { PACKAGE_FANS } else { 1 };
        on_sale.extend(std::iter::repeat_n(id.clone(), able));
        sold.push((id, able > 0));
    }
    sell(api, &sold).await?;
    let kit = kit(api, &parts).await?;
    on_sale.extend(std::iter::repeat_n(kit.clone(), (on_sale.len() / 4).max(1)));
    parts.push((kit, KIT.name.to_owned()));
    let names = Names {
        printers: Arc::new(printers.iter().map(|printer| (printer.id.clone(), printer.name.clone())).collect()),
        parts: Arc::new(parts.into_iter().collect()),
        on_sale: Arc::new(on_sale),
    };
    let machines =
        printers.into_iter().map(|RegisteredPrinter { id, name, handle, .. }| DemoPrinter::new(id, name, handle));
    Ok((names, machines.collect()))
}

/// Creates the missing [`MATERIALS`] and returns the IDs of all of them, in order.
async fn materials(api: &HttpApi) -> Result<Vec<String>, DemoError> {
    let existing = api.list::<Value>("/api/inventory/materials", "materials").await?;
    let mut ids = Vec::new();
    for sample in MATERIALS {
        let matching = existing.iter().find(|material| material["name"] == sample.name);
        if let Some(material) = matching {
            ids.push(id(material)?);
            // Of a demo without printers that report their spools.
            if sample.vendor_code.is_some() && material["vendorCode"].is_null() {
                let code = json!({"vendorCode": sample.vendor_code});
                api.patch(&format!("/api/inventory/materials/{}", id(material)?), &code).await?;
            }
            continue;
        }
        let body = json!({
            "name": sample.name, "type": "filament", "unit": "g", "color": sample.color, "brand": "Sample Polymers",
            "vendorCode": sample.vendor_code,
            "quantity": sample.grams, "reorderPoint": catalogue::REORDER_POINT,
            "reorderQuantity": catalogue::REORDER_QUANTITY,
        });
        ids.push(id(&api.post("/api/inventory/materials", &body).await?)?);
    }
    Ok(ids)
}

/// Creates the missing [`PARTS`] and returns the IDs and names of all of them, in order.
async fn parts(api: &HttpApi, materials: &[String]) -> Result<Vec<(String, String)>, DemoError> {
    let existing = api.list::<Value>("/api/skus", "skus").await?;
    let mut skus = Vec::new();
    for part in &PARTS {
        if let Some(sku) = existing.iter().find(|sku| sku["code"] == part.code) {
            let sku_id = id(sku)?;
            // Of a demo whose prints took longer.
            if sku["estimatedSeconds"] != part.seconds {
                let newer = json!({"gcodeFileId": upload(api, part).await?, "estimatedSeconds": part.seconds});
                api.patch(&format!("/api/skus/{sku_id}"), &newer).await?;
            }
            skus.push((sku_id, part.name.to_owned()));
            continue;
        }
        let file = upload(api, part).await?;
        let second: Vec<Value> = part
            .second
            .iter()
            .map(|(material, grams)| json!({"materialId": materials.get(*material), "estimatedConsumption": grams, "filament": 1}))
            .collect();
        let (x, y, z) = part.size;
        let body = json!({
            "code": part.code, "name": part.name, "kind": "part", "materialId": materials.get(part.material),
            "estimatedConsumption": part.grams, "machineType": part.machine,
            "dimensions": {"x": x, "y": y, "z": z}, "priceCents": part.cents, "unitsPerPlate": part.per_plate,
            "gcodeFileId": file, "estimatedSeconds": part.seconds, "materials": second,
            // What takes two colours is sold in the kit.
            "public": part.second.is_none(),
        });
        skus.push((id(&api.post("/api/skus", &body).await?)?, part.name.to_owned()));
    }
    Ok(skus)
}

/// Publishes exactly those parts in the catalogue that a printer on the floor can make, because the floor may differ
/// from that of the previous run.
async fn sell(api: &HttpApi, sold: &[(&String, bool)]) -> Result<(), DemoError> {
    let skus = api.list::<Value>("/api/skus", "skus").await?;
    for (id, is_sold) in sold {
        if skus.iter().any(|sku| sku["id"] == id.as_str() && sku["public"] != *is_sold) {
            api.patch(&format!("/api/skus/{id}"), &json!({"public": is_sold})).await?;
        }
    }
    Ok(())
}

/// Creates the kit from the given parts, which are in the order of [`PARTS`]; returns the kit's ID.
async fn kit(api: &HttpApi, parts: &[(String, String)]) -> Result<String, DemoError> {
    let skus = api.list::<Value>("/api/skus", "skus").await?;
    if let Some(sku) = skus.iter().find(|sku| sku["code"] == KIT.code) {
        return id(sku);
    }
    let components: Vec<Value> = KIT
        .components
        .iter()
        .filter_map(|(code, quantity)| {
            let (_, (sku, _)) = PARTS.iter().zip(parts).find(|(part, _)| part.code == *code)?;
            Some(json!({"skuId": sku, "quantity": quantity}))
        })
        .collect();
    let body =
        json!({"code": KIT.code, "name": KIT.name, "kind": "kit", "priceCents": KIT.cents, "components": components});
    id(&api.post("/api/skus", &body).await?)
}

/// Assigns spools to a printer's slots unless they are already assigned.
async fn spools(api: &HttpApi, printer: &str, materials: &[String]) -> Result<(), DemoError> {
    let details = api.get(&format!("/api/printers/{printer}")).await?;
    if details["slots"].as_array().is_some_and(|slots| slots.len() >= materials.len()) {
        return Ok(());
    }
    for (slot, material) in materials.iter().enumerate() {
        let spool = json!({"materialId": material});
        api.post(&format!("/api/printers/{printer}/slots/{slot}"), &spool).await?;
    }
    Ok(())
}

/// Uploads a part's G-code, as a slicer would write it.
async fn upload(api: &HttpApi, part: &SamplePart) -> Result<String, DemoError> {
    let (name, content) = sliced_file(part);
    let form = Form::new().part("file", Part::bytes(content).file_name(name));
    id(&api.upload("/api/files", form).await?)
}

/// Registers the printers; a printer already registered at its address is left unchanged.
async fn printers(api: &HttpApi, floor: &DemoFloor) -> Result<Vec<RegisteredPrinter>, DemoError> {
    let existing = api.list::<Value>("/api/printers", "printers").await?;
    let mut used_names: Vec<String> =
        existing.iter().filter_map(|one| one["name"].as_str().map(str::to_owned)).collect();
    let mut all = Vec::new();
    for printer in floor.printers() {
        let (handle, packages) = (printer.handle.clone(), printer.kind.protocol().prints_packages);
        if let Some(one) = existing.iter().find(|one| one["baseUrl"] == printer.base_url.as_str()) {
            let (id, name, machine_type) = (id(one)?, text(one, "name")?, text(one, "machineType")?);
            all.push(RegisteredPrinter { id, name, machine_type, packages, handle });
            continue;
        }
        let machine = catalogue::machine_type(used_names.len(), packages);
        let (x, y, z) = catalogue::build_volume(machine);
        let name = free_name(&used_names);
        used_names.push(name.clone());
        let body = json!({
            "name": name, "type": printer.kind.as_str(), "machineType": machine, "baseUrl": printer.base_url,
            "apiKey": printer.api_key, "serial": printer.serial, "buildVolume": {"x": x, "y": y, "z": z},
            "autoClear": true, "location": "Demo floor",
        });
        let id = id(&api.post("/api/printers", &body).await?)?;
        all.push(RegisteredPrinter { id, name, machine_type: machine.to_owned(), packages, handle });
    }
    Ok(all)
}

/// Returns the first unused printer name: one from the list or, if all are used, one from the list with a number.
fn free_name(used_names: &[String]) -> String {
    let rounds = (1..).flat_map(|round| catalogue::NAMES.iter().map(move |name| (round, name)));
    let mut names = rounds.map(|(round, name)| if round == 1 { (*name).to_owned() } else { format!("{name} {round}") });
    names.find(|name| !used_names.contains(name)).unwrap_or_default()
}

/// Returns a resource's `id`.
pub fn id(resource: &Value) -> Result<String, DemoError> {
    text(resource, "id")
}

/// Returns a text field of a resource.
pub fn text(resource: &Value, name: &str) -> Result<String, DemoError> {
    let member = resource[name].as_str().map(str::to_owned);
    member.ok_or_else(|| RequestError::Unexpected(format!("the field {name} is missing in {resource}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_printers_have_the_same_name() {
        let mut used_names = Vec::new();
        for _ in 0..100 {
            let name = free_name(&used_names);
            assert!(!name.is_empty() && !used_names.contains(&name), "{name} in {used_names:?}");
            used_names.push(name);
        }
        assert_eq!((used_names[0].as_str(), used_names[12].as_str()), ("Ada", "Ada 2"));
    }
}
