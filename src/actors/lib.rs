//! Actors of all aggregates. Each aggregate in memory has one actor, which applies the aggregate's domain rules and
//! makes each change durable in one commit.
//!
//! [`kernel`] is generic and independent of the aggregate kinds. Most other modules contain the effects that one kind's
//! state calls for; [`dispatcher`] matches ready jobs with free printers, and [`slicing`] produces G-code from models.

pub mod access;
pub mod app;
pub mod at_processor;
pub mod channel_orders;
pub mod checkouts;
pub mod dispatcher;
pub mod endpoints;
pub mod exports;
pub mod forecaster;
pub mod integrations;
pub use ::kernel;
pub mod mails;
pub mod materials;
pub mod orders;
pub mod payment_events;
pub mod printers;
pub mod quotes;
pub mod restores;
pub mod sales_channels;
pub mod skus;
pub mod slicing;
pub mod subscribers;
