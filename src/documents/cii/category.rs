//! Tax category that applies to a tax rate (UNTDID 5305).

use super::super::xml::Xml;
use super::percent;
use domain::invoice::IssuedDocument;

/// Reason for exemption in a document that is not subject to tax.
const NOT_SUBJECT: &str = "Not subject to VAT";

/// Tax category, including its rate in basis points, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaxCategory {
    /// `S`: taxed at the given rate.
    Standard(i64),
    /// `Z`: the rate is zero.
    Zero,
    /// `E`: exempt for the reason given in the settings.
    Exempt,
    /// `O`: not subject to tax, because the seller is not registered for it.
    NotSubject,
}

impl TaxCategory {
    /// Determines the category for a tax rate in a document.
    pub fn of(document: &IssuedDocument, rate_bps: i64) -> Self {
        let taxed = document.content.sums.categories.iter().any(|one| one.rate_bps > 0);
        // `Z` and `E` are for sellers who are registered; who buys does not matter.
        let seller = &document.seller;
        let is_registered = seller.vat_id.is_some() || seller.tax_number.is_some();
        match rate_bps {
            1.. => Self::Standard(rate_bps),
            _ if document.zero_rate_reason.is_some() && (taxed || is_registered) => Self::Exempt,
            _ if taxed || seller.vat_id.is_some() => Self::Zero,
            _ => Self::NotSubject,
        }
    }

    /// Returns whether no part of a document is subject to tax, in which case it must not contain VAT IDs.
    pub fn outside(document: &IssuedDocument) -> bool {
        Self::of(document, 0) == Self::NotSubject
    }

    /// Returns the reason for exemption, if the category requires one.
    pub fn reason(self, document: &IssuedDocument) -> Option<&str> {
        match self {
            Self::Exempt => document.zero_rate_reason.as_deref(),
            Self::NotSubject => Some(NOT_SUBJECT),
            Self::Standard(_) | Self::Zero => None,
        }
    }

    /// Writes the category and rate; a category that is not subject to tax has no rate.
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

    /// Writes the complete tax element for a line, an allowance or a charge.
    pub fn named(self, xml: &mut Xml, name: &str) {
        xml.group(name, |xml| {
            xml.text("ram:TypeCode", "VAT");
            self.code_and_rate(xml);
        });
    }
}
