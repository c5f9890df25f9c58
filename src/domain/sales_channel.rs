//! A sales channel: a different shop whose orders are produced here. The record contains the secret that verifies the
//! other shop's messages, the address that shipments are reported to, and the variant map: the SKU to make for each
//! item sold there.
//!
//! Only `services/` knows the systems of other shops and their protocols; here, the kind is an opaque name.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::channel_order::{SoldLine, variant_name};
use crate::id::Id;
use crate::refusal::{Faults, Refusal};
use crate::requirement::{Referenced, Requirement};
use crate::time::Timestamp;

/// Maximum number of entries per variant map. The map is held in memory for matching orders.
const MAX_VARIANTS: usize = 5_000;

/// Sales channel: a different shop whose orders are produced here.
///
/// Invariant: no two entries in the map are for the same variant. Each entry is stored as a separate row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SalesChannel {
    /// Identifier of the channel; part of the URL that the other shop sends its messages to.
    pub id: Id,
    /// Name of the kind of system; immutable.
    pub kind: String,
    /// Display name of the shop.
    pub name: String,
    /// Site that the channel's orders belong to.
    pub site: String,
    /// Lowercase ISO 4217 code; orders in a different currency are held for an operator.
    pub currency: String,
    /// Secret that the other shop uses to sign its messages, encrypted; if it is empty, no messages are accepted.
    pub encrypted_secret: String,
    /// Base URL of the other shop's API; `None` if nothing is reported to the shop.
    pub base_url: Option<String>,
    /// Access token for the other shop's API, encrypted; may be empty.
    pub encrypted_token: String,
    /// `true` if messages are accepted and shipments reported. Accepted orders are produced in either case.
    pub active: bool,
    /// `true` if the channel was deleted; orders that reference it remain.
    pub archived: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change to the channel or its map.
    pub updated_at: Timestamp,
    /// Variant map, keyed by the variant's name in the other shop.
    #[serde(skip)]
    pub variants: rpds::RedBlackTreeMapSync<String, Arc<Variant>>,
}

/// Variant map entry: the parts that make up one unit of a variant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variant {
    /// Identifier of the entry.
    pub id: Id,
    /// Channel whose map the entry belongs to.
    pub channel_id: Id,
    /// The other shop's variant ID or SKU code; for a line with neither, its title.
    pub variant: String,
    /// SKU to make.
    pub sku_id: Id,
    /// Number of parts of the SKU per variant, at least 1.
    pub quantity: u32,
}

/// Configuration of a new channel.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// Name of the kind of system.
    pub kind: String,
    /// Display name of the shop.
    pub name: String,
    /// Site that the channel's orders belong to; `None` for the configured default.
    pub site: Option<String>,
    /// ISO 4217 code; `None` for the configured default.
    pub currency: Option<String>,
    /// Secret that the other shop uses to sign its messages, encrypted; may be empty.
    pub encrypted_secret: String,
    /// Base URL of the other shop's API.
    pub base_url: Option<String>,
    /// Access token for the other shop's API, encrypted; may be empty.
    pub encrypted_token: String,
}

/// Changes to a channel; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct ChannelChange {
    /// Version that the caller read; rejected with 412 if the channel has changed since.
    pub if_version: Option<i64>,
    /// Display name of the shop.
    pub name: Option<String>,
    /// Site of future orders.
    pub site: Option<String>,
    /// ISO 4217 code of future orders.
    pub currency: Option<String>,
    /// Secret that the other shop uses to sign its messages, encrypted; an empty value removes it.
    pub encrypted_secret: Option<String>,
    /// Base URL of the other shop's API; an inner `None` removes it. A different address removes the token, unless a
    /// new token is given as well.
    pub base_url: Option<Option<String>>,
    /// Access token for the other shop's API, encrypted; an empty value removes it.
    pub encrypted_token: Option<String>,
    /// `true` to activate the channel, `false` to deactivate it.
    pub active: Option<bool>,
}

/// New content of a variant map entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariantUpdate {
    /// The other shop's variant ID, SKU code or title.
    pub variant: String,
    /// SKU to make.
    pub sku_id: Id,
    /// Number of parts of the SKU per variant.
    pub quantity: u32,
}

/// Command that changes a sales channel's configuration.
#[derive(Clone, Debug)]
pub enum SalesChannelCommand {
    /// Creates the channel.
    Create(Box<NewChannel>),
    /// Changes the fields that are present.
    Update(Box<ChannelChange>),
}

/// Response to a [`SalesChannelCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SalesChannelAnswer {
    /// State of the channel after the change, without its map.
    #[serde(rename = "Channel")]
    pub channel: Box<SalesChannel>,
}

/// Command that sets the map entries for the given variants; all other entries are left unchanged.
#[derive(Clone, Debug)]
pub struct MapVariants(pub Vec<VariantUpdate>);

/// Response to [`MapVariants`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VariantsAnswer {
    /// Map entries set by the command, in the order of the command.
    #[serde(rename = "Variants")]
    pub variants: Vec<Variant>,
}

/// Command that removes a sales channel or one of its variants.
#[derive(Clone, Debug)]
pub enum SalesChannelRemoval {
    /// Deletes the channel: no more messages are accepted.
    Archive,
    /// Removes an entry from the map.
    Unmap(Id),
}

/// Row that a sales channel commit writes in addition to the snapshot row.
#[derive(Clone, Debug)]
pub enum SalesChannelRow {
    /// Variant to insert or replace.
    Variant(Arc<Variant>),
    /// Variant to delete from the sales channel.
    VariantGone(Id),
}

impl SalesChannel {
    /// Returns the map entry for a sold line: the entry for the first of the line's names that is in the map.
    pub fn mapped(&self, sold: &SoldLine) -> Option<&Arc<Variant>> {
        sold.names().find_map(|name| self.variants.get(&name))
    }

    /// Returns the channel that all commands except its creation apply to.
    fn existing(this: Option<&Self>) -> Result<Self, Refusal> {
        let channel = this.filter(|channel| !channel.archived);
        channel.cloned().ok_or_else(|| Refusal::not_found(Self::KIND))
    }

    fn answer(&self) -> SalesChannelAnswer {
        SalesChannelAnswer { channel: Box::new(Self { variants: Default::default(), ..self.clone() }) }
    }

    fn create(id: Id, cx: &DecisionContext<'_>, new: NewChannel) -> Decision<Self, SalesChannelAnswer> {
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
        let answer = channel.answer();
        Decision::to(channel, answer)
    }

    fn update(mut self, cx: &DecisionContext<'_>, change: &ChannelChange) -> Decision<Self, SalesChannelAnswer> {
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
            return Decision::unchanged(self.answer());
        }
        self.updated_at = cx.now;
        let answer = self.answer();
        Decision::to(self, answer)
    }

    fn map(
        mut self,
        cx: &DecisionContext<'_>,
        requested: &[VariantUpdate],
    ) -> Result<Decision<Self, VariantsAnswer>, Refusal> {
        let mut faults = Faults::default();
        let named = |one: &VariantUpdate| VariantUpdate { variant: variant_name(&one.variant), ..*one };
        let requested: Vec<VariantUpdate> = requested.iter().map(named).collect();
        for (n, one) in requested.iter().enumerate() {
            let twice = requested[..n].iter().any(|earlier| earlier.variant == one.variant);
            faults.check(!twice, &format!("variants.{n}.variant"), "is listed twice");
            faults.check(!one.variant.trim().is_empty(), &format!("variants.{n}.variant"), "must not be empty");
            faults.check(one.quantity >= 1, &format!("variants.{n}.quantity"), "must be at least 1");
        }
        let fresh = requested.iter().filter(|one| self.variants.get(&one.variant).is_none()).count();
        let most = format!("the mapping would have more than {MAX_VARIANTS} entries");
        faults.check(self.variants.size() + fresh <= MAX_VARIANTS, "variants", most);
        faults.refuse()?;
        let (mut rows, mut entries, mut requirements) = (Vec::new(), Vec::new(), Vec::new());
        for (n, one) in requested.iter().enumerate() {
            let existing = self.variants.get(&one.variant);
            let entry = Variant {
                id: existing.map_or_else(|| cx.ids.id(), |existing| existing.id),
                channel_id: self.id,
                variant: one.variant.clone(),
                sku_id: one.sku_id,
                quantity: one.quantity,
            };
            entries.push(entry.clone());
            if existing.is_none_or(|existing| **existing != entry) {
                let entry = Arc::new(entry);
                self.variants.insert_mut(one.variant.clone(), entry.clone());
                rows.push(SalesChannelRow::Variant(entry));
                let member = format!("variants.{n}.skuId");
                requirements.push(Requirement::not_deleted(Referenced::Sku, one.sku_id, member));
            }
        }
        if rows.is_empty() {
            return Ok(Decision::unchanged(VariantsAnswer { variants: entries }));
        }
        self.updated_at = cx.now;
        Ok(Decision::to(self, VariantsAnswer { variants: entries }).rows(rows).requires(requirements))
    }

    fn unmap(mut self, cx: &DecisionContext<'_>, id: Id) -> Decision<Self> {
        let Some(name) = self.variants.values().find(|one| one.id == id).map(|one| one.variant.clone()) else {
            return Decision::unchanged(Confirmation::Done);
        };
        self.variants.remove_mut(&name);
        self.updated_at = cx.now;
        Decision::to(self, Confirmation::Done).rows([SalesChannelRow::VariantGone(id)])
    }
}

impl Aggregate for SalesChannel {
    const KIND: &'static str = "sales_channel";
    type Row = SalesChannelRow;
    type Created = std::convert::Infallible;
    type Effect = ();

    fn is_archived(&self) -> bool {
        self.archived
    }

    /// Returns whether the channel may be unloaded from memory, which is the case only after it has been deleted,
    /// because each incoming order is matched against its map.
    fn at_rest(&self) -> bool {
        self.archived
    }
}

impl Command<SalesChannel> for SalesChannelCommand {
    type Answer = SalesChannelAnswer;

    fn decide(
        &self,
        this: Option<&SalesChannel>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<SalesChannel, Self::Answer> {
        if let (None, SalesChannelCommand::Create(new)) = (this, self) {
            return Ok(SalesChannel::create(id, cx, (**new).clone()));
        }
        let channel = SalesChannel::existing(this)?;
        match self {
            SalesChannelCommand::Create(_) => Err(Refusal::conflict("exists", "this sales channel already exists")),
            SalesChannelCommand::Update(change) => Ok(channel.update(cx, change)),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            SalesChannelCommand::Create(_) => AuditedAct::SalesChannelCreate,
            SalesChannelCommand::Update(_) => AuditedAct::SalesChannelUpdate,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            SalesChannelCommand::Update(change) => change.if_version,
            SalesChannelCommand::Create(_) => None,
        }
    }
}

impl Command<SalesChannel> for MapVariants {
    type Answer = VariantsAnswer;

    fn decide(
        &self,
        this: Option<&SalesChannel>,
        _: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<SalesChannel, Self::Answer> {
        SalesChannel::existing(this)?.map(cx, &self.0)
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::SalesChannelMap
    }
}

impl Command<SalesChannel> for SalesChannelRemoval {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&SalesChannel>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<SalesChannel> {
        match (self, this) {
            (SalesChannelRemoval::Archive, Some(channel)) if channel.archived => {
                Ok(Decision::unchanged(Confirmation::Done))
            }
            (SalesChannelRemoval::Archive, _) => {
                let channel = SalesChannel::existing(this)?;
                let archived = SalesChannel { archived: true, active: false, updated_at: cx.now, ..channel };
                Ok(Decision::to(archived, Confirmation::Done))
            }
            (SalesChannelRemoval::Unmap(entry), _) => Ok(SalesChannel::existing(this)?.unmap(cx, *entry)),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            SalesChannelRemoval::Archive => AuditedAct::SalesChannelDelete,
            SalesChannelRemoval::Unmap(_) => AuditedAct::SalesChannelUnmap,
        }
    }
}
