//! Everybody who deals with the shop: its customers and its staff. They outlive crashes of the server.

use futures::future::{try_join, try_join_all};

use crate::catalogue::Catalogue;
use crate::customers::Customer;
use crate::error::SimError;
use crate::plan::Plan;
use crate::setup::SetUp;
use crate::shop::Shop;
use crate::staff::Staff;
use crate::world::World;

/// Everybody who deals with the shop.
pub struct People {
    /// Customers, in the order of the plan.
    pub customers: Vec<Customer>,
    /// Staff.
    pub staff: Staff,
    /// Catalogue of the shop.
    pub catalogue: Catalogue,
}

impl People {
    /// Creates the people of a plan in a shop that was just set up.
    pub fn new(plan: &Plan, set_up: SetUp) -> Self {
        let customers = plan.orders.iter().cloned().map(Customer::new).collect();
        Self { customers, staff: Staff::new(plan, &set_up), catalogue: Catalogue::new(plan, &set_up) }
    }

    /// Returns the IDs of the orders that were placed, with their numbers.
    pub fn orders(&self) -> Vec<(usize, String)> {
        let order = |customer: &Customer| Some((customer.plan.number, customer.order.as_ref()?.id.clone()));
        self.customers.iter().filter_map(order).collect()
    }

    /// Lets everybody do what is due, all at the same time.
    pub async fn step(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let orders = self.orders();
        let Self { customers, staff, catalogue } = self;
        let products: &[String] = &catalogue.ids;
        let customers = customers.iter_mut().map(|customer| customer.step(world, shop, products));
        try_join(try_join_all(customers), staff.step(world, shop, &orders)).await.map(drop)
    }
}
