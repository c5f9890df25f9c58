//! Body of an API operation, read from a form by the declaration of the operation's request. A page converts only what
//! people type differently than the API writes it: amounts of money, days, and several values in one field.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use domain::shop_clock::ShopClock;
use domain::typed_amount;
use http::wire::{EmptyField, FieldTexts, RequestBody, TICKED_WORD, form_members};

/// Body of an API operation being read from a form.
pub(crate) struct FormBody {
    texts: FieldTexts,
    empty: EmptyField,
    /// Members that are not read from the fields of their names, with their values; `None` for an absent one.
    others: BTreeMap<String, Option<Value>>,
}

impl FormBody {
    /// Creates a body from a form's text values. A member whose field is empty is absent.
    pub(crate) fn new(texts: FieldTexts) -> Self {
        Self { texts, empty: EmptyField::Absent, others: BTreeMap::new() }
    }

    /// Creates a body from the text values of a form that changes something. A member whose field is empty is cleared.
    pub(crate) fn change(texts: FieldTexts) -> Self {
        Self { empty: EmptyField::Clear, ..Self::new(texts) }
    }

    /// Sets a member that is not read from the field of its name.
    pub(crate) fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.others.insert(member.to_owned(), Some(value.into()));
        self
    }

    /// Leaves a member out, whatever its field contains.
    pub(crate) fn without(mut self, member: &str) -> Self {
        self.others.insert(member.to_owned(), None);
        self
    }

    /// Leaves members out if their fields are empty, for a change in which an empty field does not clear them.
    pub(crate) fn unless_empty(mut self, members: &[&str]) -> Self {
        let is_one = |name: &str| members.contains(&name.split('.').next().unwrap_or_default());
        self.texts.retain(|name, text| !text.is_empty() || !is_one(name));
        self
    }

    /// Reads a member as a checkbox, which a browser does not send if it is not checked.
    pub(crate) fn ticked(self, member: &str) -> Self {
        let is_ticked = self.text(member) == TICKED_WORD;
        self.with(member, is_ticked)
    }

    /// Reads an amount of money, as people type it, in minor units of the currency.
    pub(crate) fn amount(self, member: &str, currency: &str) -> Self {
        self.converted(member, |text| typed_amount::parse(text, currency).ok().map(Value::from))
    }

    /// Reads a day as the end of it in the clock's time zone.
    pub(crate) fn day(self, member: &str, clock: &ShopClock) -> Self {
        self.converted(member, |text| clock.parse_day_end(text).map(|at| at.to_string().into()))
    }

    /// Reads a date and time in the clock's time zone.
    pub(crate) fn minute(self, member: &str, clock: &ShopClock) -> Self {
        self.converted(member, |text| clock.parse_minute(text).map(|at| at.to_string().into()))
    }

    /// Reads a list of texts from one field, in which they are separated.
    pub(crate) fn list(self, member: &str, separator: char) -> Self {
        let texts = self.text(member).split(separator).map(str::trim).filter(|text| !text.is_empty());
        let texts: Vec<String> = texts.map(str::to_owned).collect();
        self.with(member, texts)
    }

    /// Converts the text of a field unless it is empty. A text that cannot be converted is passed on unchanged, so that
    /// the API reports the error.
    pub(crate) fn converted(self, member: &str, convert: impl FnOnce(&str) -> Option<Value>) -> Self {
        let text = self.text(member);
        if text.is_empty() {
            return self;
        }
        let value = convert(text).unwrap_or_else(|| text.into());
        self.with(member, value)
    }

    /// Returns the members of a request with this body.
    pub(crate) fn members<B: RequestBody>(self) -> Map<String, Value> {
        let mut members = form_members::<B::Value>(&self.texts, self.empty);
        for (member, value) in self.others {
            match value {
                Some(value) => members.insert(member, value),
                None => members.remove(&member),
            };
        }
        members
    }

    fn text(&self, member: &str) -> &str {
        self.texts.get(member).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use http_api::production::skus::{NewSku, SkuChange};

    fn texts(fields: &[(&str, &str)]) -> FieldTexts {
        fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn new_sku(body: FormBody) -> Value {
        body.members::<NewSku>().into()
    }

    #[test]
    fn a_page_converts_what_people_type_differently() {
        let tokyo = ShopClock::parse("JST-9").unwrap_or_default();
        let typed = texts(&[
            ("priceCents", "2,50"),
            ("images", "a\n\n b "),
            ("public", "true"),
            ("name", "2027-01-31"),
            ("code", "2027-01-31T08:30"),
        ]);
        let body = FormBody::new(typed).amount("priceCents", "usd").list("images", '\n').ticked("public");
        let body = body.ticked("active").day("name", &tokyo).minute("code", &tokyo);
        let expected = json!({
            "priceCents": 250, "images": ["a", "b"], "public": true, "active": false,
            "name": "2027-01-31T14:59:59.999Z", "code": "2027-01-30T23:30:00.000Z",
        });
        assert_eq!(new_sku(body), expected);
    }

    #[test]
    fn what_cannot_be_converted_is_passed_on_as_it_is() {
        let clock = ShopClock::default();
        for text in ["soon", "2027-02-30"] {
            let typed = texts(&[("priceCents", text), ("name", text), ("code", text)]);
            let body = FormBody::new(typed).amount("priceCents", "usd").day("name", &clock).minute("code", &clock);
            assert_eq!(new_sku(body), json!({"priceCents": text, "name": text, "code": text}));
        }
        // An amount that is too large is no number of cents either.
        let large = "99999999999999999";
        let body = FormBody::new(texts(&[("priceCents", large)])).amount("priceCents", "usd");
        assert_eq!(new_sku(body), json!({"priceCents": large}));
    }

    #[test]
    fn an_empty_field_of_a_change_clears_unless_the_page_says_otherwise() {
        let typed = [("description", ""), ("slug", ""), ("dimensions.x", ""), ("plate", ""), ("kind", "vase")];
        let change = || FormBody::change(texts(&typed));
        let members = |body: FormBody| Value::from(body.members::<SkuChange>());
        let cleared = json!({"description": null, "slug": "", "dimensions": null, "plate": "", "kind": "vase"});
        assert_eq!(members(change()), cleared);
        let body = change().unless_empty(&["slug", "dimensions", "plate"]).without("kind").with("name", "A");
        assert_eq!(members(body), json!({"description": null, "name": "A"}));
        assert_eq!(new_sku(FormBody::new(texts(&typed))), json!({"kind": "vase"}));
    }
}
