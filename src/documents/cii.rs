//! An invoice or credit note in machine-readable form: a Cross Industry Invoice (CII, D16B) that complies with EN
//! 16931.
//!
//! The XML contains the same information as the document, and nothing that happened after the document was issued, such
//! as later payments or shipments. An order that is paid before it ships has no delivery date yet, so the header
//! contains the destination instead. Names such as BT-1 in the comments are the standard's names for its elements.

mod category;
mod parties;

use super::xml::Xml;
use category::TaxCategory;
use domain::currency::plain;
use domain::invoice::{DocumentKind, InvoiceLine, IssuedDocument};
use domain::time::Timestamp;
use parties::{buyer, seller, ship_to};

/// Identifier of the standard that the XML conforms to (BT-24).
const GUIDELINE: &str = "urn:cen.eu:en16931:2017";
/// Code for a credit transfer to a bank account (UNTDID 4461).
const CREDIT_TRANSFER: &str = "30";
/// Code for a freight service (UNTDID 7161).
const FREIGHT: &str = "FC";
/// Code for a discount (UNTDID 5189).
const DISCOUNT: &str = "95";
/// Unit code for a piece (UN/ECE recommendation 20).
const PIECE: &str = "H87";

const NAMESPACES: &str = "xmlns:rsm=\"urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100\" \
     xmlns:ram=\"urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100\" \
     xmlns:qdt=\"urn:un:unece:uncefact:data:standard:QualifiedDataType:100\" \
     xmlns:udt=\"urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100\"";

/// Builds the document as XML. `preceding` is the number and issue date of the invoice that a credit note reverses.
pub fn xml(document: &IssuedDocument, preceding: Option<(&str, Timestamp)>) -> String {
    Xml::document("rsm:CrossIndustryInvoice", NAMESPACES, |xml| {
        xml.group("rsm:ExchangedDocumentContext", |xml| {
            xml.group("ram:GuidelineSpecifiedDocumentContextParameter", |xml| xml.text("ram:ID", GUIDELINE));
        });
        xml.group("rsm:ExchangedDocument", |xml| {
            xml.text("ram:ID", &document.number_text());
            xml.text("ram:TypeCode", type_code(document.kind));
            xml.group("ram:IssueDateTime", |xml| date(xml, "udt:DateTimeString", document.issued_at));
            xml.group("ram:IncludedNote", |xml| xml.some("ram:Content", document.content.notes.as_deref()));
        });
        xml.group("rsm:SupplyChainTradeTransaction", |xml| {
            for (n, line) in document.content.lines.iter().enumerate() {
                item(xml, document, n + 1, line);
            }
            xml.group("ram:ApplicableHeaderTradeAgreement", |xml| {
                seller(xml, document);
                buyer(xml, document);
                xml.group("ram:SellerOrderReferencedDocument", |xml| {
                    xml.some("ram:IssuerAssignedID", document.order_number.as_deref());
                });
            });
            xml.group("ram:ApplicableHeaderTradeDelivery", |xml| {
                ship_to(xml, document);
                // Documents of older releases say neither; something must be there.
                let issued_at = preceding.map_or(document.issued_at, |(_, at)| at);
                let at = document.supplied_at.or(document.ship_to.is_none().then_some(issued_at));
                if let Some(at) = at {
                    xml.group("ram:ActualDeliverySupplyChainEvent", |xml| {
                        xml.group("ram:OccurrenceDateTime", |xml| date(xml, "udt:DateTimeString", at));
                    });
                }
            });
            xml.group("ram:ApplicableHeaderTradeSettlement", |xml| settlement(xml, document, preceding));
        });
    })
}

/// Returns the document type code of UNTDID 1001 (BT-3).
fn type_code(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Invoice => "380",
        DocumentKind::CreditNote => "381",
    }
}

fn date(xml: &mut Xml, name: &str, at: Timestamp) {
    let digits: String = at.to_string().chars().take(10).filter(char::is_ascii_digit).collect();
    xml.with(name, ("format", "102"), &digits);
}

/// Formats basis points as a percentage with two decimals.
fn percent(bps: i64) -> String {
    format!("{}.{:02}", bps / 100, bps % 100)
}

/// Writes a line of the invoice (BG-25).
fn item(xml: &mut Xml, document: &IssuedDocument, number: usize, line: &InvoiceLine) {
    let currency = &document.content.currency;
    xml.group("ram:IncludedSupplyChainTradeLineItem", |xml| {
        xml.group("ram:AssociatedDocumentLineDocument", |xml| xml.text("ram:LineID", &number.to_string()));
        xml.group("ram:SpecifiedTradeProduct", |xml| {
            let name = line.description.trim();
            xml.text("ram:Name", if name.is_empty() { "Item" } else { name });
        });
        xml.group("ram:SpecifiedLineTradeAgreement", |xml| {
            xml.group("ram:NetPriceProductTradePrice", |xml| {
                xml.text("ram:ChargeAmount", &plain(line.unit_price_cents, currency));
            });
        });
        xml.group("ram:SpecifiedLineTradeDelivery", |xml| {
            xml.with("ram:BilledQuantity", ("unitCode", PIECE), &line.quantity.to_string());
        });
        xml.group("ram:SpecifiedLineTradeSettlement", |xml| {
            TaxCategory::of(document, line.tax_rate_bps).named(xml, "ram:ApplicableTradeTax");
            xml.group("ram:SpecifiedTradeSettlementLineMonetarySummation", |xml| {
                let amount = line.amount_cents().unwrap_or(i64::MAX);
                xml.text("ram:LineTotalAmount", &plain(amount, currency));
            });
        });
    });
}

fn settlement(xml: &mut Xml, document: &IssuedDocument, preceding: Option<(&str, Timestamp)>) {
    let (content, number) = (&document.content, document.number_text());
    let (sums, currency) = (&content.sums, &content.currency);
    let amount = |cents: i64| plain(cents, currency);
    let code = currency.to_uppercase();
    xml.text("ram:PaymentReference", &number);
    xml.text("ram:InvoiceCurrencyCode", &code);
    if let Some(iban) = document.seller.iban.as_deref().filter(|_| document.kind == DocumentKind::Invoice) {
        xml.group("ram:SpecifiedTradeSettlementPaymentMeans", |xml| {
            xml.text("ram:TypeCode", CREDIT_TRANSFER);
            xml.group("ram:PayeePartyCreditorFinancialAccount", |xml| xml.text("ram:IBANID", iban));
            xml.group("ram:PayeeSpecifiedCreditorFinancialInstitution", |xml| {
                xml.some("ram:BICID", document.seller.bic.as_deref());
            });
        });
    }
    for one in &sums.categories {
        let category = TaxCategory::of(document, one.rate_bps);
        xml.group("ram:ApplicableTradeTax", |xml| {
            xml.text("ram:CalculatedAmount", &amount(one.tax_cents));
            xml.text("ram:TypeCode", "VAT");
            xml.some("ram:ExemptionReason", category.reason(document));
            xml.text("ram:BasisAmount", &amount(one.net_cents));
            category.code_and_rate(xml);
        });
    }
    for one in &sums.categories {
        allowance_or_charge(xml, document, one.rate_bps, (false, one.discount_cents), (DISCOUNT, "Discount"));
        allowance_or_charge(xml, document, one.rate_bps, (true, one.shipping_cents), (FREIGHT, "Shipping"));
    }
    let payable = document.payable_cents();
    let due = payable.saturating_sub(document.paid_cents);
    xml.group("ram:SpecifiedTradePaymentTerms", |xml| {
        if document.kind == DocumentKind::CreditNote {
            xml.text("ram:Description", if due > 0 { "Offset against the invoice" } else { "Refunded" });
        }
        if let Some(due_at) = document.due_at {
            xml.group("ram:DueDateDateTime", |xml| date(xml, "udt:DateTimeString", due_at));
        }
    });
    xml.group("ram:SpecifiedTradeSettlementHeaderMonetarySummation", |xml| {
        xml.text("ram:LineTotalAmount", &amount(sums.subtotal_cents));
        xml.text("ram:ChargeTotalAmount", &amount(sums.shipping_cents));
        xml.text("ram:AllowanceTotalAmount", &amount(sums.discount_cents));
        let net = sums.subtotal_cents - sums.discount_cents + sums.shipping_cents;
        xml.text("ram:TaxBasisTotalAmount", &amount(net));
        xml.with("ram:TaxTotalAmount", ("currencyID", &code), &amount(sums.tax_cents));
        if document.rounding_cents != 0 {
            xml.text("ram:RoundingAmount", &amount(document.rounding_cents));
        }
        xml.text("ram:GrandTotalAmount", &amount(sums.total_cents));
        xml.text("ram:TotalPrepaidAmount", &amount(document.paid_cents));
        xml.text("ram:DuePayableAmount", &amount(due));
    });
    if let Some((number, at)) = preceding {
        xml.group("ram:InvoiceReferencedDocument", |xml| {
            xml.text("ram:IssuerAssignedID", number);
            xml.group("ram:FormattedIssueDateTime", |xml| date(xml, "qdt:DateTimeString", at));
        });
    }
}

/// Writes a document-level allowance (BG-20) or charge (BG-21) for one tax rate.
fn allowance_or_charge(
    xml: &mut Xml,
    document: &IssuedDocument,
    rate_bps: i64,
    (charge, cents): (bool, i64),
    (code, words): (&str, &str),
) {
    if cents == 0 {
        return;
    }
    xml.group("ram:SpecifiedTradeAllowanceCharge", |xml| {
        xml.group("ram:ChargeIndicator", |xml| xml.text("udt:Indicator", if charge { "true" } else { "false" }));
        xml.text("ram:ActualAmount", &plain(cents, &document.content.currency));
        xml.text("ram:ReasonCode", code);
        xml.text("ram:Reason", words);
        TaxCategory::of(document, rate_bps).named(xml, "ram:CategoryTradeTax");
    });
}
