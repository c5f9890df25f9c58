//! The tax category of a rate (UNTDID 5305).

use super::super::xml::Xml;
use super::percent;
use crate::domain::invoice::Document;

/// Why nothing is taxed where no tax applies at all.
const NOT_SUBJECT: &str = "Not subject to VAT";

/// A category of tax, with its rate in basis points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaxCategory {
    /// `S`: taxed at this rate.
    Standard(i64),
    /// `Z`: the rate is zero.
    Zero,
    /// `E`: exempt, for the reason that the settings give.
    Exempt,
    /// `O`: not subject to tax; the seller is not registered for it.
    NotSubject,
}

impl TaxCategory {
    /// The category of a rate in this document.
    pub fn of(document: &Document, rate_bps: i64) -> Self {
        let taxed = document.content.sums.categories.iter().any(|one| one.rate_bps > 0);
        // `Z` and `E` are for sellers who are registered; who buys does not matter.
        let seller = &document.seller;
        let known = seller.vat_id.is_some() || seller.tax_number.is_some();
        match rate_bps {
            1.. => Self::Standard(rate_bps),
            _ if document.zero_rate_reason.is_some() && (taxed || known) => Self::Exempt,
            _ if taxed || seller.vat_id.is_some() => Self::Zero,
            _ => Self::NotSubject,
        }
    }

    /// Whether nothing of a document is subject to tax: then it names nobody's identifier for value added tax.
    pub fn outside(document: &Document) -> bool {
        Self::of(document, 0) == Self::NotSubject
    }

    /// Why nothing is taxed; `None` where that needs no reason.
    pub fn reason(self, document: &Document) -> Option<&str> {
        match self {
            Self::Exempt => document.zero_rate_reason.as_deref(),
            Self::NotSubject => Some(NOT_SUBJECT),
            Self::Standard(_) | Self::Zero => None,
        }
    }

    /// Category and rate, which one that is not subject to tax does not have.
    pub fn code_and_rate(self, xml: &mut Xml) {
        let (code, rate) = match self {
            Self::Standard(bps) => ("S", Some(bps)),
            Self::Zero => ("Z", Some(0)),
            Self::Exempt => ("E", Some(0)),
            Self::NotSubject => ("O", None),
        };
        xml.text("ram:CategoryCode", code);
        if let Some(bps) = rate {
            xml.text("ram:RateApplicablePercent", &percent(bps));
        }
    }

    /// The whole element of a line, an allowance or a charge.
    pub fn named(self, xml: &mut Xml, name: &str) {
        xml.group(name, |xml| {
            xml.text("ram:TypeCode", "VAT");
            self.code_and_rate(xml);
        });
    }
}
