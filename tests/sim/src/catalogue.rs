//! Catalogue of the shop: its products, kits and materials, with the IDs that the server has given them.

use std::collections::BTreeMap;

use crate::plan::{Plan, PlannedProduct};
use crate::setup::SetUp;
use crate::workload::Kit;

/// Thousandths of a gram in a gram.
const THOUSANDTHS: f64 = 1000.0;

/// Catalogue of the shop.
pub struct Catalogue {
    products: Vec<PlannedProduct>,
    kits: Vec<Kit>,
    /// IDs of the products and then of the kits.
    pub ids: Vec<String>,
    /// IDs of the materials, by their places in the plan.
    pub materials: Vec<String>,
    /// Initial stock of the materials, in grams.
    grams: Vec<u32>,
}

/// Line that an order is expected to have.
#[derive(Debug, PartialEq, Eq)]
pub struct ExpectedLine {
    /// Number of parts, or of sets of a kit.
    pub quantity: u64,
    /// Index of the kit's line to which these parts belong, and number of parts per set; `None` if the parts were
    /// ordered on their own.
    pub of_kit: Option<(usize, u64)>,
    /// `true` if the line is a kit.
    pub is_kit: bool,
}

impl Catalogue {
    /// Creates the catalogue of a shop that was set up according to a plan.
    pub fn new(plan: &Plan, set_up: &SetUp) -> Self {
        Self {
            products: plan.products.clone(),
            kits: plan.work.kits.clone(),
            ids: set_up.products.clone(),
            materials: set_up.materials.clone(),
            grams: plan.work.materials.iter().map(|material| material.grams).collect(),
        }
    }

    /// Returns the initial stock of a material, in thousandths of a gram.
    pub fn first_stock(&self, place: usize) -> i64 {
        self.grams.get(place).map_or(0, |grams| i64::from(*grams) * 1000)
    }

    /// Returns the expected lines of an order for these products and kits: first the ordered ones, then the parts of
    /// kits.
    pub fn lines(&self, ordered: &[(usize, u64)]) -> Vec<ExpectedLine> {
        let kit_of = |place: usize| self.kits.get(place.checked_sub(self.products.len())?);
        let line = |(place, quantity): &(usize, u64)| ExpectedLine {
            quantity: *quantity,
            of_kit: None,
            is_kit: kit_of(*place).is_some(),
        };
        let parts = ordered.iter().enumerate().flat_map(|(at, (place, sets))| {
            let components = kit_of(*place).map(|kit| kit.components.as_slice()).unwrap_or_default();
            components.iter().map(move |(_, count)| ExpectedLine {
                quantity: sets * count,
                of_kit: Some((at, *count)),
                is_kit: false,
            })
        });
        ordered.iter().map(line).chain(parts).collect()
    }

    /// Returns the amount of each material that one print of a product takes, in thousandths of a gram; `None` if no
    /// product has this ID.
    pub fn needs(&self, product: &str) -> Option<BTreeMap<&str, i64>> {
        let place = self.ids.iter().position(|id| id == product)?;
        let product = self.products.get(place)?;
        let needs = [Some((product.material, product.grams)), product.further].into_iter().flatten();
        let mut sums = BTreeMap::new();
        for (material, grams) in needs {
            *sums.entry(self.materials.get(material)?.as_str()).or_insert(0) += (grams * THOUSANDTHS).round() as i64;
        }
        Some(sums)
    }
}
