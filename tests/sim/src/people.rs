//! Everybody who deals with the shop: its customers and its staff. They outlive crashes of the server.

use futures::future::{try_join_all, try_join5};

use crate::clerk::Clerk;
use crate::customers::Customer;
use crate::error::SimError;
use crate::plan::Plan;
use crate::sellers::Seller;
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
    /// Clerk, who writes invoices without orders.
    pub clerk: Clerk,
    /// Staff who look after webhook endpoints, in the order of the plan.
    pub subscribers: Vec<Subscriber>,
    /// Other shops, in the order of the plan.
    pub sellers: Vec<Seller>,
    products: Vec<String>,
}

impl People {
    /// Creates the people of a plan in a shop that was just set up.
    pub fn new(plan: &Plan, set_up: SetUp) -> Self {
        let SetUp { products, material, printers } = set_up;
        let customers = plan.orders.iter().cloned().map(Customer::new).collect();
        let subscribers = plan.endpoints.iter().cloned().map(Subscriber::new).collect();
        let staff = Staff::new(plan.seed, material, printers, &plan.spools);
        let sellers = plan.shops.iter().cloned().map(Seller::new).collect();
        Self { customers, staff, clerk: Clerk::draw(plan.seed), subscribers, sellers, products }
    }

    /// Returns whether all planned steps of everybody were acknowledged.
    pub fn are_done(&self) -> bool {
        self.customers.iter().all(Customer::is_done)
            && self.subscribers.iter().all(Subscriber::is_done)
            && self.sellers.iter().all(Seller::is_done)
    }

    /// Returns the IDs of the orders that were placed.
    pub fn orders(&self) -> Vec<String> {
        self.customers.iter().filter_map(|customer| Some(customer.order.as_ref()?.id.clone())).collect()
    }

    /// Lets everybody do what is due, all at the same time.
    pub async fn step(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let sold = self.sellers.iter().flat_map(Seller::orders).cloned();
        let orders: Vec<String> = self.orders().into_iter().chain(sold).collect();
        let Self { customers, staff, clerk, subscribers, sellers, products } = self;
        let products: &[String] = products;
        let customers = customers.iter_mut().map(|customer| customer.step(world, shop, products));
        let subscribers = subscribers.iter_mut().map(|subscriber| subscriber.step(world, shop));
        let sellers = sellers.iter_mut().map(|seller| seller.step(world, shop, products));
        let (staff, clerk) = (staff.step(world, shop, &orders), clerk.step(world, shop));
        let (subscribers, sellers) = (try_join_all(subscribers), try_join_all(sellers));
        try_join5(try_join_all(customers), staff, clerk, subscribers, sellers).await.map(drop)
    }
}
