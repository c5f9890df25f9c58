//! Passwords, keys and tokens: how they are made and checked ([`credentials`]), and how secrets of others are encrypted in
//! the database ([`encryption`]).

pub mod credentials;
pub mod encryption;
