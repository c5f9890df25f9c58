//! Everyone who deals with the shop: its customers and its staff. They survive crashes of the server.

use futures::future::{OptionFuture, try_join, try_join_all, try_join5};

use crate::catalogue::Catalogue;
use crate::clerk::Clerk;
use crate::customers::SimCustomer;
use crate::error::SimError;
use crate::plan::Plan;
use crate::sellers::Seller;
use crate::setup::SetUp;
use crate::shop::Shop;
use crate::spool_keeper::SpoolKeeper;
use crate::staff::Staff;
use crate::subscribers::SimSubscriber;
use crate::world::World;

/// Everybody who deals with the shop.
pub struct People {
    /// Customers, in the order of the plan.
    pub customers: Vec<SimCustomer>,
    /// Staff.
    pub staff: Staff,
    /// Clerk, who issues invoices without orders.
    pub clerk: Clerk,
    /// Staff who manage webhook endpoints, in the order of the plan.
    pub subscribers: Vec<SimSubscriber>,
    /// Other shops, in the order of the plan.
    pub sellers: Vec<Seller>,
    /// Keeper of the spools, if there is a spool manager.
    pub keeper: Option<SpoolKeeper>,
    /// Catalogue of the shop.
    pub catalogue: Catalogue,
}

impl People {
    /// Creates the people of a plan in a newly set-up shop.
    pub fn new(plan: &Plan, set_up: SetUp) -> Self {
        let customers = plan.orders.iter().cloned().map(SimCustomer::new).collect();
        let subscribers =
            plan.endpoints.iter().cloned().map(|endpoint| SimSubscriber::new(endpoint, plan.size)).collect();
        let sellers = plan.shops.iter().cloned().map(|shop| Seller::new(shop, plan.size)).collect();
        let keeper = plan.spool_manager.clone().map(|manager| SpoolKeeper::new(manager, plan.size));
        let (staff, catalogue) = (Staff::new(plan, &set_up), Catalogue::new(plan, &set_up));
        Self { customers, staff, clerk: Clerk::new(&plan.invoices), subscribers, sellers, keeper, catalogue }
    }

    /// Returns whether all planned steps of everyone have been acknowledged.
    pub fn are_done(&self) -> bool {
        self.customers.iter().all(SimCustomer::is_done)
            && self.subscribers.iter().all(SimSubscriber::is_done)
            && self.sellers.iter().all(Seller::is_done)
            && self.keeper.as_ref().is_none_or(SpoolKeeper::is_done)
    }

    /// Returns the numbers and IDs of the placed orders.
    pub fn orders(&self) -> Vec<(usize, String)> {
        let order = |customer: &SimCustomer| Some((customer.plan.number, customer.order.as_ref()?.id.clone()));
        self.customers.iter().filter_map(order).collect()
    }

    /// Lets everybody do what is due, all at the same time.
    pub async fn step(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let orders = self.orders();
        let sold: Vec<String> = self.sellers.iter().flat_map(Seller::orders).cloned().collect();
        let Self { customers, staff, clerk, subscribers, sellers, keeper, catalogue } = self;
        let products: &[String] = &catalogue.ids;
        let customers = customers.iter_mut().map(|customer| customer.step(world, shop, products));
        let subscribers = subscribers.iter_mut().map(|subscriber| subscriber.step(world, shop));
        let sellers = sellers.iter_mut().map(|seller| seller.step(world, shop, products));
        let (staff, clerk) = (staff.step(world, shop, &orders, &sold), clerk.step(world, shop));
        let (subscribers, sellers) = (try_join_all(subscribers), try_join_all(sellers));
        let spooled = catalogue.materials.first().map(String::as_str).unwrap_or_default();
        // On the heap, because few stories have one.
        let keeper = keeper.as_mut().map(|keeper| Box::pin(keeper.step(world, shop, spooled)));
        let keeper = OptionFuture::from(keeper);
        let keeper = async { keeper.await.unwrap_or(Ok(())) };
        let others = try_join5(try_join_all(customers), staff, clerk, subscribers, sellers);
        try_join(others, keeper).await.map(drop)
    }
}
