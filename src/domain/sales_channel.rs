//! A sales channel: another shop whose orders are made here. It keeps how its messages are checked, where it is told of
//! shipments, and the variant map: which of our SKUs is made for what is sold there.
//!
//! What the systems of other shops are called and how they speak is known by `services/` alone; here the kind is a
//! word.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::channel_order::{SoldLine, variant_name};
use crate::domain::id::Id;
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::requirement::{Referenced, Requirement};
use crate::domain::time::Timestamp;

/// Most entries of one variant map: it is kept in memory while orders are matched.
const MAX_VARIANTS: usize = 5_000;

/// Another shop whose orders are made here.
///
/// Invariant: no two entries of the map are for the same variant. They are rows of their own under the channel's
/// version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SalesChannel {
    /// Identifier of the channel; part of the address that its messages are sent to.
    pub id: Id,
    /// The kind of system, in its word; fixed.
    pub kind: String,
    /// What people call the shop.
    pub name: String,
    /// The site that its orders belong to.
    pub site: String,
    /// ISO 4217 code in lower case; orders of another currency wait for a person.
    pub currency: String,
    /// The secret that its messages are signed with, encrypted; empty: none, and no message is taken.
    pub encrypted_secret: String,
    /// Where its interface is; `None`: it is told nothing.
    pub base_url: Option<String>,
    /// What is shown to that interface, encrypted; empty: nothing.
    pub encrypted_token: String,
    /// Whether messages are taken and shipments told. Orders that were taken are made either way.
    pub active: bool,
    /// Deleted; orders that name it stay.
    pub archived: bool,
    /// When it was set up.
    pub created_at: Timestamp,
    /// When it or its map last changed.
    pub updated_at: Timestamp,
    /// The map, by what it is called there.
    #[serde(skip)]
    pub variants: rpds::RedBlackTreeMapSync<String, Arc<Variant>>,
}

/// An entry of the map: what is made for one of a variant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variant {
    /// Identifier of the entry.
    pub id: Id,
    /// The channel whose map it is in.
    pub channel_id: Id,
    /// Id of the variant there, or its SKU code there; of a line that has neither, its title.
    pub variant: String,
    /// Our SKU.
    pub sku_id: Id,
    /// Parts of it that one variant has, at least 1.
    pub quantity: u32,
}

/// What a channel is set up with.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// The kind of system, in its word.
    pub kind: String,
    /// What people call the shop.
    pub name: String,
    /// The site that its orders belong to; `None` takes the configured default.
    pub site: Option<String>,
    /// ISO 4217 code; `None` takes the configured default.
    pub currency: Option<String>,
    /// The secret of its messages, encrypted; empty: none.
    pub encrypted_secret: String,
    /// Where its interface is.
    pub base_url: Option<String>,
    /// What is shown to that interface, encrypted; empty: nothing.
    pub encrypted_token: String,
}

/// The members of a channel that change; `None` leaves one as it is.
#[derive(Clone, Debug, Default)]
pub struct ChannelChange {
    /// The version that the caller read; refused with 412 if it has changed since.
    pub if_version: Option<i64>,
    /// What people call the shop.
    pub name: Option<String>,
    /// The site of orders that come from now on.
    pub site: Option<String>,
    /// ISO 4217 code of orders that come from now on.
    pub currency: Option<String>,
    /// The secret of its messages, encrypted; empty: none any more.
    pub encrypted_secret: Option<String>,
    /// Where its interface is; the inner `None`: nowhere. Another address drops the token, unless one comes with it.
    pub base_url: Option<Option<String>>,
    /// What is shown to that interface, encrypted; empty: nothing.
    pub encrypted_token: Option<String>,
    /// Whether it works.
    pub active: Option<bool>,
}

/// What the map is to say of one variant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenVariant {
    /// Id or SKU code there, or the title.
    pub variant: String,
    /// Our SKU.
    pub sku_id: Id,
    /// Parts of it that one variant has.
    pub quantity: u32,
}

/// What can be asked of a sales channel.
#[derive(Clone, Debug)]
pub enum SalesChannelCommand {
    /// Sets it up.
    Create(Box<NewChannel>),
    /// Changes the members that are given.
    Update(Box<ChannelChange>),
    /// Deletes it: no more messages are taken.
    Archive,
    /// Says what these variants are made of; other entries stay.
    Map(Vec<GivenVariant>),
    /// Removes an entry of the map.
    Unmap(Id),
}

/// What a sales channel answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SalesChannelAnswer {
    /// The channel after the change, without its map.
    Channel(Box<SalesChannel>),
    /// The entries of the map that were named, in that order.
    Variants(Vec<Variant>),
    /// Done now, or done before.
    Done,
}

/// What a commit of a channel writes besides its snapshot row.
#[derive(Clone, Debug)]
pub enum SalesChannelRow {
    /// An entry as it is now (insert or replace).
    Variant(Arc<Variant>),
    /// An entry that is gone (delete).
    VariantGone(Id),
}

impl SalesChannel {
    /// What is made for a line that was sold: that of the first of its names in the map.
    pub fn mapped(&self, sold: &SoldLine) -> Option<&Arc<Variant>> {
        sold.names().find_map(|name| self.variants.get(&name))
    }

    fn shown(self) -> Decision<Self> {
        let answer = Self { variants: Default::default(), ..self.clone() };
        Decision::to(self, SalesChannelAnswer::Channel(Box::new(answer)))
    }

    fn update(mut self, cx: &DecisionContext<'_>, change: &ChannelChange) -> Decision<Self> {
        let before = self.clone();
        let moved = change.base_url.as_ref().is_some_and(|url| *url != self.base_url);
        if moved {
            // A token is never shown to another system than it was given for.
            self.encrypted_token = String::new();
        }
        let set = |to: &mut String, from: &Option<String>| {
            if let Some(from) = from {
                to.clone_from(from);
            }
        };
        set(&mut self.name, &change.name);
        set(&mut self.site, &change.site);
        set(&mut self.currency, &change.currency.as_ref().map(|currency| currency.to_lowercase()));
        set(&mut self.encrypted_secret, &change.encrypted_secret);
        set(&mut self.encrypted_token, &change.encrypted_token);
        if let Some(url) = &change.base_url {
            self.base_url.clone_from(url);
        }
        self.active = change.active.unwrap_or(self.active);
        if self == before {
            let answer = Self { variants: Default::default(), ..self };
            return Decision::unchanged(SalesChannelAnswer::Channel(Box::new(answer)));
        }
        self.updated_at = cx.now;
        self.shown()
    }

    fn map(mut self, cx: &DecisionContext<'_>, given: &[GivenVariant]) -> Result<Decision<Self>, Refusal> {
        let mut faults = Faults::default();
        let named = |one: &GivenVariant| GivenVariant { variant: variant_name(&one.variant), ..*one };
        let given: Vec<GivenVariant> = given.iter().map(named).collect();
        for (n, one) in given.iter().enumerate() {
            let twice = given[..n].iter().any(|earlier| earlier.variant == one.variant);
            faults.check(!twice, &format!("variants.{n}.variant"), "is named twice");
            faults.check(!one.variant.trim().is_empty(), &format!("variants.{n}.variant"), "must not be empty");
            faults.check(one.quantity >= 1, &format!("variants.{n}.quantity"), "must be at least 1");
        }
        let fresh = given.iter().filter(|one| self.variants.get(&one.variant).is_none()).count();
        let most = format!("the map would have more than {MAX_VARIANTS} entries");
        faults.check(self.variants.size() + fresh <= MAX_VARIANTS, "variants", most);
        faults.refuse()?;
        let (mut rows, mut shown, mut requirements) = (Vec::new(), Vec::new(), Vec::new());
        for (n, one) in given.iter().enumerate() {
            let known = self.variants.get(&one.variant);
            let entry = Variant {
                id: known.map_or_else(|| cx.ids.id(), |known| known.id),
                channel_id: self.id,
                variant: one.variant.clone(),
                sku_id: one.sku_id,
                quantity: one.quantity,
            };
            shown.push(entry.clone());
            if known.is_none_or(|known| **known != entry) {
                let entry = Arc::new(entry);
                self.variants.insert_mut(one.variant.clone(), entry.clone());
                rows.push(SalesChannelRow::Variant(entry));
                let member = format!("variants.{n}.skuId");
                requirements.push(Requirement::not_deleted(Referenced::Sku, one.sku_id, member));
            }
        }
        if rows.is_empty() {
            return Ok(Decision::unchanged(SalesChannelAnswer::Variants(shown)));
        }
        self.updated_at = cx.now;
        Ok(Decision::to(self, SalesChannelAnswer::Variants(shown)).rows(rows).requires(requirements))
    }

    fn unmap(mut self, cx: &DecisionContext<'_>, id: Id) -> Decision<Self> {
        let Some(name) = self.variants.values().find(|one| one.id == id).map(|one| one.variant.clone()) else {
            return Decision::unchanged(SalesChannelAnswer::Done);
        };
        self.variants.remove_mut(&name);
        self.updated_at = cx.now;
        Decision::to(self, SalesChannelAnswer::Done).rows([SalesChannelRow::VariantGone(id)])
    }
}

impl Aggregate for SalesChannel {
    const KIND: &'static str = "sales_channel";
    type Command = SalesChannelCommand;
    type Answer = SalesChannelAnswer;
    type Row = SalesChannelRow;
    type Created = std::convert::Infallible;
    type Effect = ();

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &SalesChannelCommand,
    ) -> Result<Decision<Self>, Refusal> {
        use SalesChannelCommand as C;
        let channel = match (this, command) {
            (None, C::Create(new)) => {
                let new = (**new).clone();
                let channel = Self {
                    id,
                    kind: new.kind,
                    name: new.name,
                    site: new.site.unwrap_or_else(|| cx.rules.site.clone()),
                    currency: new.currency.unwrap_or_else(|| cx.rules.currency.clone()).to_lowercase(),
                    encrypted_secret: new.encrypted_secret,
                    base_url: new.base_url,
                    encrypted_token: new.encrypted_token,
                    active: true,
                    archived: false,
                    created_at: cx.now,
                    updated_at: cx.now,
                    variants: Default::default(),
                };
                return Ok(channel.shown());
            }
            (Some(channel), _) if !channel.archived => channel.clone(),
            (Some(_), C::Archive) => return Ok(Decision::unchanged(SalesChannelAnswer::Done)),
            _ => return Err(Refusal::not_found(Self::KIND)),
        };
        match command {
            C::Create(_) => Err(Refusal::conflict("exists", "this sales channel exists already")),
            C::Update(change) => Ok(channel.update(cx, change)),
            C::Archive => {
                let archived = Self { archived: true, active: false, updated_at: cx.now, ..channel };
                Ok(Decision::to(archived, SalesChannelAnswer::Done))
            }
            C::Map(given) => channel.map(cx, given),
            C::Unmap(entry) => Ok(channel.unmap(cx, *entry)),
        }
    }

    fn name(command: &SalesChannelCommand) -> &'static str {
        match command {
            SalesChannelCommand::Create(_) => "sales_channel.create",
            SalesChannelCommand::Update(_) => "sales_channel.update",
            SalesChannelCommand::Archive => "sales_channel.delete",
            SalesChannelCommand::Map(_) => "sales_channel.map",
            SalesChannelCommand::Unmap(_) => "sales_channel.unmap",
        }
    }

    fn if_version(command: &SalesChannelCommand) -> Option<i64> {
        match command {
            SalesChannelCommand::Update(change) => change.if_version,
            _ => None,
        }
    }

    /// Stays in memory: each order that comes is matched to its map.
    fn at_rest(&self) -> bool {
        self.archived
    }
}
