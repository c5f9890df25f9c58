//! Computable rules of EN 16931, each named as in the standard. They are checked using only the XML, as a receiver
//! would.

use super::read::Element;

/// Parses an amount to the smallest unit of the currency; all amounts of the document have the same number of decimals.
fn cents(element: &Element, name: &str) -> Result<i128, String> {
    let text = element.child_text(name).ok_or_else(|| format!("{name} is missing in {}", element.name))?;
    whole(text)
}

fn whole(text: &str) -> Result<i128, String> {
    text.replace('.', "").parse().map_err(|_| format!("{text} is no amount"))
}

fn or_zero(element: &Element, name: &str) -> Result<i128, String> {
    element.child_text(name).map_or(Ok(0), whole)
}

/// Returns the tax category and the rate in basis points.
fn category(element: &Element) -> Result<(String, i128), String> {
    let code = element.child_text("CategoryCode").ok_or("a category without a code")?;
    let rate = element.child_text("RateApplicablePercent").map_or(Ok(0), whole)?;
    match (code, rate) {
        ("S", 1..) | ("Z" | "E", 0) => {}
        ("O", _) if element.child_text("RateApplicablePercent").is_none() => {}
        _ => return Err(format!("BR-S-05, BR-Z-05, BR-E-05 or BR-O-05: {code} at {rate}")),
    }
    Ok((code.to_owned(), rate))
}

fn must(holds: bool, rule: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(rule.to_owned()) }
}

/// Checks a document against the rules; the error names the first violated rule.
pub fn check(root: &Element) -> Result<(), String> {
    let part = |name: &str| root.find(name).ok_or_else(|| format!("{name} is missing"));
    let guideline = part("GuidelineSpecifiedDocumentContextParameter")?;
    must(guideline.child_text("ID") == Some("urn:cen.eu:en16931:2017"), "BR-01: specification")?;
    let head = part("ExchangedDocument")?;
    must(head.child_text("ID").is_some_and(|id| !id.is_empty()), "BR-02: number")?;
    must(head.find("DateTimeString").is_some_and(|date| date.text.len() == 8), "BR-03: date of issue")?;
    must(matches!(head.child_text("TypeCode"), Some("380" | "381")), "BR-04: type")?;
    let (trade, settlement) = (part("SupplyChainTradeTransaction")?, part("ApplicableHeaderTradeSettlement")?);
    must(settlement.child_text("InvoiceCurrencyCode").is_some_and(|code| code.len() == 3), "BR-05: currency")?;
    for (party, rule) in [("SellerTradeParty", "BR-06 to BR-09"), ("BuyerTradeParty", "BR-07 to BR-11")] {
        let party = part(party)?;
        let country = party.find("PostalTradeAddress").and_then(|address| address.child_text("CountryID"));
        must(party.child_text("Name").is_some_and(|name| !name.is_empty()) && country.is_some(), rule)?;
    }
    sums(trade, settlement)?;
    categories(trade, settlement)?;
    registrations(part("SellerTradeParty")?, part("BuyerTradeParty")?, settlement)
}

/// Checks which parties must have a VAT registration, and which must not.
fn registrations(seller: &Element, buyer: &Element, settlement: &Element) -> Result<(), String> {
    let codes: Vec<_> = settlement.all("ApplicableTradeTax").filter_map(|tax| tax.child_text("CategoryCode")).collect();
    // Those for value added tax begin with a country; other numbers of tax offices do not in these documents.
    let is_vat =
        |one: &Element| one.child_text("ID").is_some_and(|id| id.starts_with(|c: char| c.is_ascii_uppercase()));
    let vat = |party: &Element| party.all("SpecifiedTaxRegistration").any(is_vat);
    must(buyer.all("SpecifiedTaxRegistration").all(is_vat), "BR-CO-09: country of the identifier of the buyer")?;
    must(vat(seller) || seller.child_text("ID").is_some(), "BR-CO-26: identifier of the seller")?;
    let is_registered = seller.find("SpecifiedTaxRegistration").is_some();
    let wants = codes.iter().any(|code| matches!(*code, "S" | "Z" | "E"));
    must(!wants || is_registered, "BR-S-02, BR-Z-02 or BR-E-02: identifier of the seller")?;
    must(!codes.contains(&"O") || !vat(seller) && !vat(buyer), "BR-O-02: nobody is registered")
}

fn sums(trade: &Element, settlement: &Element) -> Result<(), String> {
    let totals = settlement.find("SpecifiedTradeSettlementHeaderMonetarySummation").ok_or("no totals")?;
    let mut lines = 0;
    for (n, line) in trade.all("IncludedSupplyChainTradeLineItem").enumerate() {
        let find = |name: &str| line.find(name).ok_or_else(|| format!("line {n} has no {name}"));
        must(find("LineID")?.text == (n + 1).to_string(), "BR-21: number of a line")?;
        must(!find("Name")?.text.is_empty(), "BR-25: name of a line")?;
        let amount = whole(&find("LineTotalAmount")?.text)?;
        let quantity: i128 = find("BilledQuantity")?.text.parse().map_err(|_| "BR-22: quantity")?;
        must(quantity * whole(&find("ChargeAmount")?.text)? == amount, "BR-24: amount of a line")?;
        lines += amount;
    }
    must(trade.all("IncludedSupplyChainTradeLineItem").next().is_some(), "BR-16: at least one line")?;
    must(cents(totals, "LineTotalAmount")? == lines, "BR-CO-10: sum of the lines")?;
    let (mut allowances, mut charges) = (0, 0);
    for one in settlement.all("SpecifiedTradeAllowanceCharge") {
        must(one.child_text("Reason").is_some(), "BR-33 and BR-38: reason")?;
        let charge = one.find("Indicator").is_some_and(|indicator| indicator.text == "true");
        *(if charge { &mut charges } else { &mut allowances }) += cents(one, "ActualAmount")?;
    }
    must(or_zero(totals, "AllowanceTotalAmount")? == allowances, "BR-CO-11: sum of the allowances")?;
    must(or_zero(totals, "ChargeTotalAmount")? == charges, "BR-CO-12: sum of the charges")?;
    let net = cents(totals, "TaxBasisTotalAmount")?;
    must(net == lines - allowances + charges, "BR-CO-13: total without tax")?;
    let mut taxes = 0;
    for tax in settlement.all("ApplicableTradeTax") {
        taxes += cents(tax, "CalculatedAmount")?;
    }
    must(cents(totals, "TaxTotalAmount")? == taxes, "BR-CO-14: sum of the taxes")?;
    let grand = cents(totals, "GrandTotalAmount")?;
    must(grand == net + taxes, "BR-CO-15: total with tax")?;
    let (prepaid, rounding) = (or_zero(totals, "TotalPrepaidAmount")?, or_zero(totals, "RoundingAmount")?);
    let due = cents(totals, "DuePayableAmount")?;
    must(due == grand - prepaid + rounding, "BR-CO-16: what is to be paid")?;
    let terms = settlement.find("SpecifiedTradePaymentTerms");
    must(due <= 0 || terms.is_some_and(|terms| !terms.children.is_empty()), "BR-CO-25: terms of payment")
}

fn categories(trade: &Element, settlement: &Element) -> Result<(), String> {
    let mut seen_categories = Vec::new();
    for tax in settlement.all("ApplicableTradeTax") {
        let own = category(tax)?;
        let (basis, amount) = (cents(tax, "BasisAmount")?, cents(tax, "CalculatedAmount")?);
        // A note over a part may differ by the smallest unit, which is far from the whole one that the rule allows.
        let computed = (basis * own.1 + 5_000).div_euclid(10_000);
        must(computed.abs_diff(amount) <= 1, "BR-CO-17: tax of a category")?;
        let reason = tax.child_text("ExemptionReason").is_some();
        must(reason == matches!(own.0.as_str(), "E" | "O"), "BR-E-10, BR-O-10, BR-S-10 or BR-Z-10: reason")?;
        let mut sum = 0;
        for line in trade.all("IncludedSupplyChainTradeLineItem") {
            if category(line.find("ApplicableTradeTax").ok_or("BR-CO-04: category of a line")?)? == own {
                sum += whole(&line.find("LineTotalAmount").ok_or("no amount")?.text)?;
            }
        }
        for one in settlement.all("SpecifiedTradeAllowanceCharge") {
            if category(one.find("CategoryTradeTax").ok_or("BR-32 and BR-37: category")?)? == own {
                let charge = one.find("Indicator").is_some_and(|indicator| indicator.text == "true");
                sum += if charge { cents(one, "ActualAmount")? } else { -cents(one, "ActualAmount")? };
            }
        }
        must(sum == basis, "BR-S-08, BR-Z-08, BR-E-08 or BR-O-08: basis of a category")?;
        must(!seen_categories.contains(&own), "BR-S-01: each category and rate is there once")?;
        seen_categories.push(own);
    }
    must(!seen_categories.is_empty(), "BR-CO-18: at least one category")?;
    must(
        seen_categories.len() == 1 || seen_categories.iter().all(|one| one.0 != "O"),
        "BR-O-11: nothing else beside what is not taxed",
    )?;
    for line in trade.all("IncludedSupplyChainTradeLineItem") {
        let own = category(line.find("ApplicableTradeTax").ok_or("BR-CO-04: category of a line")?)?;
        must(seen_categories.contains(&own), "BR-S-01: the category of each line is there")?;
    }
    Ok(())
}
