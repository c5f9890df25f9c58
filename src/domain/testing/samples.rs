//! Sample printers, materials, orders and jobs shared by the tests of several rules.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Bench, id};
use crate::amount::Amount;
use crate::job::Job;
use crate::material::{MaterialFields, MaterialType};
use crate::order::Order;
use crate::pricing::PriceRates;
use crate::printer::{Printer, PrinterCommand, PrinterFields, PrinterNews};
use crate::printer_status::{Activity, Connection, Status};
use crate::sku::MachineType;
use crate::time::Timestamp;

/// Returns the registration of a printer with only a name, a machine type and an address.
pub fn printer_fields(name: &str, machine_type: MachineType) -> PrinterFields {
    PrinterFields::bare(name, "fw_rest", machine_type, "http://printer:7125")
}

/// Returns a printer that was observed idle at the given time.
pub fn idle_printer(number: u32, fields: PrinterFields, now: Timestamp) -> Printer {
    let bench = Bench { now, ..Bench::new() };
    let mut printer = None;
    bench.tell(&mut printer, id(number), &PrinterCommand::Create(Box::new(fields))).unwrap();
    let idle =
        Status { state: Activity::Idle, connection: Connection::Connected, updated_at: now, ..Status::default() };
    bench.tell(&mut printer, id(number), &PrinterNews::Seen(Box::new(idle))).unwrap();
    printer.unwrap()
}

/// Returns a filament with a reorder point of 0, so that its stock is never low.
pub fn pla() -> MaterialFields {
    MaterialFields {
        name: "PLA".into(),
        kind: MaterialType::Filament,
        color: None,
        brand: None,
        variant: None,
        vendor_code: None,
        location: None,
        unit_cost_cents: None,
        reorder_point: Amount::ZERO,
        reorder_quantity: Amount::ZERO,
    }
}

/// Returns a paid order without lines or jobs.
pub fn paid_order(number: u32, now: Timestamp) -> Order {
    let text = serde_json::json!({
        "id": id(number), "number": number, "kind": "manual", "status": "paid", "site": "industries", "madeBy": null,
        "customerId": null, "customerEmail": null, "lines": [], "currency": "usd", "subtotalCents": 0, "shippingCents": 0,
        "taxCents": 0, "discountCents": 0, "totalCents": 0, "notes": null, "shippingAddress": null, "priority": 5,
        "dueAt": null, "shipment": null, "flags": [], "paymentSession": null,
        "createdAt": now, "paidAt": now, "updatedAt": now,
    });
    serde_json::from_value(text).unwrap()
}

/// Returns a job waiting for a large printer: 10 g of the material with the ID 2, and one hour of printing.
pub fn sliced_job(number: u32, order: u32, now: Timestamp) -> Job {
    let text = serde_json::json!({
        "id": id(number), "number": number, "version": 1, "orderId": id(order), "orderNumber": order, "line": 0,
        "skuId": id(1), "skuName": "part", "materialId": id(2), "need": 10, "machineType": "fdm_large",
        "dimensions": null, "fileId": id(3), "fileFilamentMm": null, "estimatedSeconds": 3600, "state": "SLICED",
        "blockedBy": null, "blockReason": null, "stock": "held", "claim": 1, "released": false, "priority": 5,
        "dueAt": null, "printerId": null, "attemptId": null, "triedOn": [], "attempts": [],
        "cancelRequestedAt": null, "error": null, "consumed": 0, "createdAt": now, "updatedAt": now,
    });
    serde_json::from_value(text).unwrap()
}

/// Returns rates that make mental arithmetic easy.
pub fn rates() -> PriceRates {
    PriceRates {
        material_cents_per_kg: 2500,
        density_mg_per_cm3: 1240,
        fill_bps: 5000,
        print_mm3_per_hour: 10_000,
        heat_up_seconds: 300,
        machine_watts: 120,
        energy_cents_per_kwh: 30,
        wear_cents_per_hour: 60,
        labour_cents_per_hour: 3000,
        setup_minutes: 5,
        handling_minutes: 2,
        failure_bps: 500,
        margin_bps: 4000,
        minimum_cents: 0,
    }
}
