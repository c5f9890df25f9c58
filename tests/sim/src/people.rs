//! Everybody who deals with the shop: its customers and its staff. They outlive crashes of the server.

use futures::future::{try_join_all, try_join3};

use crate::customers::Customer;
use crate::error::SimError;
use crate::plan::Plan;
use crate::setup::SetUp;
use crate::shop::Shop;
use crate::staff::Staff;
use crate::subscribers::Subscriber;
use crate::world::World;

/// Everybody who deals with the shop.
pub struct People {
    /// Customers, in the order of the plan.
    pub customers: Vec<Customer>,
    /// Staff.
    pub staff: Staff,
    /// Staff who look after webhook endpoints, in the order of the plan.
    pub subscribers: Vec<Subscriber>,
    products: Vec<String>,
}

impl People {
    /// Creates the people of a plan in a shop that was just set up.
    pub fn new(plan: &Plan, set_up: SetUp) -> Self {
        let SetUp { products, material, printers } = set_up;
        let customers = plan.orders.iter().cloned().map(Customer::new).collect();
        let subscribers = plan.endpoints.iter().cloned().map(Subscriber::new).collect();
        let staff = Staff::new(plan.seed, material, printers, &plan.spools);
        Self { customers, staff, subscribers, products }
    }

    /// Returns whether all planned steps of everybody were acknowledged.
    pub fn are_done(&self) -> bool {
        self.customers.iter().all(Customer::is_done) && self.subscribers.iter().all(Subscriber::is_done)
    }

    /// Returns the IDs of the orders that were placed.
    pub fn orders(&self) -> Vec<String> {
        self.customers.iter().filter_map(|customer| Some(customer.order.as_ref()?.id.clone())).collect()
    }

    /// Lets everybody do what is due, all at the same time.
    pub async fn step(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let orders = self.orders();
        let Self { customers, staff, subscribers, products } = self;
        let products: &[String] = products;
        let customers = customers.iter_mut().map(|customer| customer.step(world, shop, products));
        let subscribers = subscribers.iter_mut().map(|subscriber| subscriber.step(world, shop));
        let staff = staff.step(world, shop, &orders);
        try_join3(try_join_all(customers), staff, try_join_all(subscribers)).await.map(drop)
    }
}
