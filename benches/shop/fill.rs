//! Fills a shop with many orders, printers and endpoints, through its own commands.

use std::io::stdin;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _, stream};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::app::App;
use printfloor::domain::aggregate::{Aggregate as _, Versioned};
use printfloor::domain::amount::Amount;
use printfloor::domain::endpoint::EndpointCommand;
use printfloor::domain::event::OUTBOUND;
use printfloor::domain::id::Id;
use printfloor::domain::job::JobState;
use printfloor::domain::order::{NewOrder, Order, OrderCommand, OrderKind, OrderLine, OrderNews, ProductionData};
use printfloor::domain::principal::Principal;
use printfloor::domain::printer::{PrinterCommand, PrinterFields};
use printfloor::domain::sku::MachineType;
use printfloor::secrets::random::secret_bytes;
use printfloor::server::Server;
use serde_json::Value;

use super::ground::{config, config_with, material};

const AT_ONCE: usize = 128;
const MATERIALS: usize = 8;

/// Returns the origin of the commands that fill a shop.
pub fn caller() -> CommandOrigin {
    CommandOrigin::new(Principal::Machine)
}

/// Fills the shop in a folder and closes it: paid orders, each with one job that has its stock and waits for a printer;
/// unreachable printers; and endpoints without deliveries.
pub async fn fill(folder: &Path, [orders, printers, endpoints]: [usize; 3]) {
    let server = Server::start_local(config(folder, None)).await.unwrap();
    let shop = server.shop().clone();
    let mut materials = Vec::new();
    for n in 0..MATERIALS {
        materials.push(shop.materials.create(caller(), material(n)).await.unwrap().0);
    }
    each(orders, |n| paid_order(&shop, materials[n % MATERIALS], 1).map(drop)).await;
    waiting(&shop, orders).await;
    each(endpoints, |n| endpoint(&shop, n)).await;
    each(printers, |n| printer(&shop, n).map(drop)).await;
    server.stop(Duration::from_secs(60)).await;
}

/// Fills the shop in a folder with completed orders, and closes it: each is paid in cash, invoiced, refunded and
/// credited, and its only job is cancelled.
pub async fn finish(folder: &Path, orders: usize) {
    // A mail that is still to be sent is open work, and would be measured as such.
    let quiet = config_with(folder, None, &[("PRINTFLOOR_MAIL__RECEIPTS", "false")]);
    let server = Server::start_local(quiet).await.unwrap();
    let shop = server.shop().clone();
    let material = shop.materials.create(caller(), material(0)).await.unwrap().0;
    each(orders, |_| finished_order(&shop, material)).await;
    // Their invoices follow, and what was begun for the jobs comes to its end.
    let at_rest = |(_, order): (Id, Arc<Versioned<Order>>)| order.state.as_ref().is_none_or(Order::at_rest);
    while !shop.orders.all_resident().into_iter().all(at_rest) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.stop(Duration::from_secs(60)).await;
}

async fn finished_order(shop: &App, material: Id) {
    let (id, _) = shop.orders.create(caller(), order(shop, material, 1)).await.unwrap();
    let paid = OrderCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None };
    let paid = shop.orders.ask(id, caller(), paid).await.unwrap();
    let payment = Some(paid.answer.order.ledger.payments[0].id);
    let back = OrderCommand::Refund { payment, amount_cents: None, at_processor: false };
    shop.orders.ask(id, caller(), back).await.unwrap();
}

async fn each<F: Future<Output = ()>>(count: usize, make: impl Fn(usize) -> F) {
    stream::iter(0..count).map(make).buffer_unordered(AT_ONCE).collect::<()>().await;
}

/// Builds a new order with this number of lines, one job each.
pub fn order(shop: &App, material: Id, lines: usize) -> OrderCommand {
    let line = || OrderLine {
        sku_id: shop.environment.id(),
        quantity: 1,
        unit_price_cents: 1250,
        description: "Bracket, left, with two holes".to_owned(),
        tax_rate_bps: 0,
        make: Some(ProductionData {
            units_per_plate: 1,
            material_id: material,
            need: Amount::units(20),
            further: Vec::new(),
            machine_type: MachineType::FdmStandard,
            dimensions: None,
            file_id: Some(shop.environment.id()),
            source: None,
            file_form: Default::default(),
            sliced_for: Default::default(),
            file_filament_mm: Some(6700.0),
            estimated_seconds: Some(3600),
        }),
        kit_line: None,
        per_set: None,
    };
    OrderCommand::Create(Box::new(NewOrder {
        kind: OrderKind::Catalog,
        site: None,
        made_by: None,
        customer_email: Some("somebody@example.com".to_owned()),
        buyer: None,
        lines: std::iter::repeat_with(line).take(lines).collect(),
        currency: "usd".to_owned(),
        notes: None,
        internal_notes: None,
        shipping_address: None,
        priority: None,
        due_at: None,
        draft: false,
        own_use: false,
        customer_id: None,
    }))
}

/// Creates a paid order with this number of lines, one job each; returns its id.
pub async fn paid_order(shop: &App, material: Id, lines: usize) -> Id {
    let new = order(shop, material, lines);
    let OrderCommand::Create(placed) = &new else { panic!("{new:?}") };
    let lines = placed.lines.clone();
    let (id, _) = shop.orders.create(caller(), new).await.unwrap();
    let paid = OrderCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None };
    shop.orders.ask(id, caller(), paid).await.unwrap();
    for line in lines {
        // The SKU is none that exists: what it says is handed in.
        let make = Box::new(line.make.unwrap());
        shop.orders.ask(id, caller(), OrderNews::Prepared { sku: line.sku_id, make }).await.unwrap();
    }
    id
}

/// Waits until the jobs of this number of orders have their stock.
pub async fn waiting(shop: &App, orders: usize) {
    let stocked = |order: &Order| order.jobs.values().all(|job| job.state == JobState::Sliced);
    loop {
        let all = shop.orders.all_resident();
        let ready = all.iter().filter(|(_, order)| order.state.as_ref().is_some_and(stocked)).count();
        if ready >= orders {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn endpoint(shop: &App, n: usize) {
    let command = EndpointCommand::Create {
        url: format!("https://customer-{n}.example.com/hook"),
        events: vec![OUTBOUND[4].to_owned()],
        encrypted_secret: shop.cipher.encrypt("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", secret_bytes()),
        cursor: *shop.outbox.last().borrow(),
    };
    shop.endpoints.create(caller(), command).await.unwrap();
}

/// Registers printers in the shop in a folder, and closes it: each line of standard input describes a printer by type,
/// address, key and serial number. Prints their IDs in the same order.
pub async fn register(folder: &Path) {
    let lines: Vec<Value> = stdin().lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let server = Server::start_local(config(folder, None)).await.unwrap();
    let shop = server.shop().clone();
    let numbered = lines.iter().enumerate();
    let ids: Vec<Id> =
        stream::iter(numbered.map(|(n, line)| described(&shop, n, line))).buffered(AT_ONCE).collect().await;
    server.stop(Duration::from_secs(60)).await;
    ids.iter().for_each(|id| println!("{id}"));
}

async fn described(shop: &App, n: usize, line: &Value) -> Id {
    let text = |member: &str| line[member].as_str().unwrap();
    let fields = PrinterFields {
        encrypted_api_key: shop.cipher.encrypt(text("apiKey"), secret_bytes()),
        serial: Some(text("serial").to_owned()),
        auto_clear: true,
        ..PrinterFields::bare(&format!("Printer {n}"), text("type"), MachineType::FdmStandard, text("baseUrl"))
    };
    shop.printers.create(caller(), PrinterCommand::Create(Box::new(fields))).await.unwrap().0
}

/// Registers an unreachable printer; returns its id.
pub async fn printer(shop: &App, n: usize) -> Id {
    // The port of the discard service, where nobody listens: every look is refused at once.
    let fields =
        PrinterFields::bare(&format!("Printer {n}"), "fw_rest", MachineType::FdmStandard, "http://127.0.0.1:9");
    shop.printers.create(caller(), PrinterCommand::Create(Box::new(fields))).await.unwrap().0
}
