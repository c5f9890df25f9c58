//! Products of the shop: plates of one part and of two, parts of two materials, some as G-code and some as packages of
//! plates, and a kit of them.

use serde_json::{Value, json};
use simulator::gcode::orca_gcode;
use simulator::gcode::package::package_using;
use simulator::gcode::tools::gcode_of_several;

use crate::support::App;
use crate::whole::sliced;

/// Initial stock of each material, and size of each delivery of black and white, in grams.
pub const STOCK: f64 = 3.0;
pub const DELIVERY: [f64; 2] = [4.0, 2.0];
/// Colours of black and white spools, as hexadecimal RGB, in the format in which printers report them.
pub const COLORS: [&str; 2] = ["1B1B22", "F4F1E6"];

/// Ids of materials and SKUs.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Black and white, in this order.
    pub materials: [String; 2],
    /// Black, one to a plate.
    pub cube: String,
    /// White, two to a plate.
    pub ring: String,
    /// Black and white, one to a plate.
    pub badge: String,
    /// Black, one to a plate: the first plate of a package.
    pub lid: String,
    /// Black and white, one to a plate: the second plate of the same package.
    pub sign: String,
    /// A cube, three rings, a badge and a sign.
    pub kit: String,
    /// The cube's G-code file.
    pub file: String,
}

impl Catalogue {
    pub async fn new(app: &App) -> Self {
        let file = app.upload("cube.gcode", sliced(app.folder())).await.expect(201)["id"].as_str().unwrap().to_owned();
        let black = app.material("PLA black", STOCK).await;
        let white = app.material("PLA white", STOCK).await;
        let cube = app.sku("CUBE", &black, &file, 1250).await;
        let of_white = app.gcode("ring", 60, 0.6).await;
        let ring = sku(app, "RING", json!({"materialId": white, "gcodeFileId": of_white, "unitsPerPlate": 2})).await;
        // Black with its first tool, white with its second.
        let of_two = gcode_of_several("badge", 90, &[(0.9, "#1b1b22"), (0.4, "#f4f1e6")]);
        let of_two = app.upload("badge.gcode", of_two.into_bytes()).await.expect(201)["id"].clone();
        let second = json!([{"materialId": white, "estimatedConsumption": 0.4, "filament": 1}]);
        let badge = sku(app, "BADGE", json!({"materialId": black, "gcodeFileId": of_two, "materials": second})).await;
        let plates = [orca_gcode("lid", 60, 0.5, 165.0), orca_gcode("sign", 90, 0.8, 264.0)];
        let plates = package_using(&[(&plates[0], &[1]), (&plates[1], &[1, 2])]);
        let plates = app.upload("plates.gcode.3mf", plates).await.expect(201)["id"].as_str().unwrap().to_owned();
        let lid = sku(app, "LID", json!({"materialId": black, "gcodeFileId": plates})).await;
        let sign = json!({"materialId": black, "gcodeFileId": plates, "plate": 2, "materials": second});
        let sign = sku(app, "SIGN", sign).await;
        let components = json!([
            {"skuId": cube, "quantity": 1}, {"skuId": ring, "quantity": 3}, {"skuId": badge, "quantity": 1},
            {"skuId": sign, "quantity": 1},
        ]);
        let kit = json!({"code": "KIT", "name": "Kit", "priceCents": 4900, "components": components});
        let kit = app.post("/api/skus", &kit).await.expect(201)["id"].as_str().unwrap().to_owned();
        Self { materials: [black, white], cube, ring, badge, lid, sign, kit, file }
    }

    /// Returns the lines of the nth order.
    pub fn lines(&self, n: u64) -> Value {
        let some = |sku: &str, quantity: u64| json!({"skuId": sku, "quantity": quantity});
        match n % 7 {
            0 => json!([some(&self.cube, 1 + n / 7 % 3)]),
            1 => json!([some(&self.ring, 1 + n / 7 % 4)]),
            2 => json!([some(&self.badge, 1 + n / 7 % 2)]),
            3 => json!([some(&self.kit, 1)]),
            4 => json!([some(&self.lid, 1 + n / 7 % 3)]),
            5 => json!([some(&self.sign, 1), some(&self.lid, 1)]),
            _ => json!([some(&self.cube, 1), some(&self.ring, 2)]),
        }
    }
}

async fn sku(app: &App, code: &str, other: Value) -> String {
    let mut body = json!({"code": code, "name": code, "estimatedConsumption": 1, "machineType": "fdm_standard", "priceCents": 700});
    for (name, value) in other.as_object().unwrap() {
        body[name] = value.clone();
    }
    app.post("/api/skus", &body).await.expect(201)["id"].as_str().unwrap().to_owned()
}
