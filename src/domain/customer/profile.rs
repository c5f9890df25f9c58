//! Customer profile data, and the rules for merging changes to it.

use serde::{Deserialize, Serialize};

use super::{Customer, CustomerAnswer, answer, to};
use crate::aggregate::{Decision, DecisionContext};
use crate::id::Id;
use crate::order::Address;
use crate::refusal::{Faults, Refusal};

/// Maximum number of addresses per customer. The limit exists because the record is held in memory and written as a
/// whole.
pub const MAX_ADDRESSES: usize = 10;

/// Purpose of an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AddressKind {
    /// Billing address, printed on invoices.
    Billing,
    /// Shipping address for parcels.
    Shipping,
}

impl AddressKind {
    const ALL: [Self; 2] = [Self::Billing, Self::Shipping];
}

/// Billing or shipping address of a customer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerAddress {
    /// Identifier of the address; preserved when the list is replaced.
    pub id: Id,
    /// Purpose of the address.
    pub kind: AddressKind,
    /// Postal address.
    pub address: Address,
    /// `true` if the address is used when none is specified. Exactly one address of each kind is the default.
    pub is_default: bool,
}

/// Address in a list that replaces the customer's current list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressUpdate {
    /// ID of the existing address to replace; `None` for a new address.
    pub id: Option<Id>,
    /// Purpose of the address.
    pub kind: AddressKind,
    /// Postal address.
    pub address: Address,
    /// `true` if the address is used when none is specified.
    pub is_default: bool,
}

/// Change to a profile: an outer `None` keeps the current value, an inner `None` clears it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileChange {
    /// Name of the customer.
    pub name: Option<Option<String>>,
    /// Phone number.
    pub phone: Option<Option<String>>,
    /// Company that the customer buys for.
    pub company: Option<Option<String>>,
    /// Tax ID of the company.
    pub tax_id: Option<Option<String>>,
    /// Language and region as a BCP 47 tag.
    pub locale: Option<Option<String>>,
    /// Complete list of addresses, which replaces the current list.
    pub addresses: Option<Vec<AddressUpdate>>,
}

/// Merges a change into the profile. A change that makes no difference writes nothing.
pub(super) fn update(
    customer: &Customer,
    cx: &DecisionContext<'_>,
    change: &ProfileChange,
) -> Result<Decision<Customer, CustomerAnswer>, Refusal> {
    let merged = |new_value: &Option<Option<String>>, present: &Option<String>| match new_value {
        Some(new_value) => new_value.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned),
        None => present.clone(),
    };
    let addresses = match &change.addresses {
        Some(new_addresses) => replaced(customer, cx, new_addresses)?,
        None => customer.addresses.clone(),
    };
    let next = Customer {
        name: merged(&change.name, &customer.name),
        phone: merged(&change.phone, &customer.phone),
        company: merged(&change.company, &customer.company),
        tax_id: merged(&change.tax_id, &customer.tax_id),
        locale: merged(&change.locale, &customer.locale),
        addresses,
        ..customer.clone()
    };
    if next == *customer {
        return Ok(Decision::unchanged(answer(&next)));
    }
    Ok(to(Customer { updated_at: cx.now, ..next }))
}

/// Returns the new addresses, each with its ID. If no address of a kind is marked as the default, the first one becomes
/// the default.
fn replaced(
    customer: &Customer,
    cx: &DecisionContext<'_>,
    new_addresses: &[AddressUpdate],
) -> Result<Vec<CustomerAddress>, Refusal> {
    let mut faults = Faults::default();
    faults.check(new_addresses.len() <= MAX_ADDRESSES, "addresses", format!("must have at most {MAX_ADDRESSES} items"));
    for (at, one) in new_addresses.iter().enumerate() {
        if let Some(id) = one.id {
            let is_known = customer.addresses.iter().any(|present| present.id == id);
            let again = new_addresses[..at].iter().any(|other| other.id == Some(id));
            let path = format!("addresses.{at}.id");
            faults.check(is_known, &path, "is not an address of this profile; omit it to add a new address");
            faults.check(!again, &path, "is listed twice");
        }
        let second =
            one.is_default && new_addresses[..at].iter().any(|other| other.is_default && other.kind == one.kind);
        faults.check(
            !second,
            &format!("addresses.{at}.isDefault"),
            "another address of this kind is already the default",
        );
    }
    faults.refuse()?;
    let with_id = |one: &AddressUpdate| CustomerAddress {
        id: one.id.unwrap_or_else(|| cx.ids.id()),
        kind: one.kind,
        address: one.address.clone(),
        is_default: one.is_default,
    };
    let mut all: Vec<CustomerAddress> = new_addresses.iter().map(with_id).collect();
    for kind in AddressKind::ALL {
        let mut of_kind = all.iter_mut().filter(|one| one.kind == kind);
        let named = new_addresses.iter().any(|one| one.kind == kind && one.is_default);
        if let Some(first) = of_kind.next().filter(|_| !named) {
            first.is_default = true;
        }
    }
    Ok(all)
}
