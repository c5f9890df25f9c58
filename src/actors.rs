//! The running aggregates: each one in memory is an actor around its rules, and each change is one durable commit.
//!
//! [`kernel`] is generic and knows no kind. Each other file is one kind of aggregate, with the effects that its state
//! calls for; [`dispatcher`] brings ready jobs and free printers together, and
//! [`slicing`] makes G-code of models.

pub mod access;
pub mod at_processor;
pub mod channel_orders;
pub mod checkouts;
pub mod dispatcher;
pub mod endpoints;
pub mod exports;
pub mod forecaster;
pub mod kernel;
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
