//! Settings of invoices: what they say of the shop, how they look, where their PDFs are stored.

use std::path::PathBuf;

use serde::Deserialize;

use super::Seconds;
use crate::config::values::Secret;
use crate::domain::address::Address;
use crate::domain::invoice::Party;
use crate::domain::rules::InvoiceRules;

/// `[invoices]`: what invoices say of the shop. It is frozen in each invoice when that is issued.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invoices {
    /// Days from the issue of an invoice until it is due.
    pub payment_days: u32,
    /// Name of the shop.
    pub seller_name: String,
    /// Street and house number; empty: no address.
    pub seller_line1: String,
    /// Second line of the address.
    pub seller_line2: String,
    /// City or town where the shop is.
    pub seller_city: String,
    /// State or province.
    pub seller_region: String,
    /// Post code.
    pub seller_postal_code: String,
    /// Country as ISO 3166-1 code.
    pub seller_country: String,
    /// Identifier for value added tax.
    pub seller_vat_id: String,
    /// Number at the local tax office.
    pub seller_tax_number: String,
    /// E-mail address for questions.
    pub seller_email: String,
    /// Telephone number for questions.
    pub seller_phone: String,
    /// Account to pay to, as IBAN.
    pub seller_iban: String,
    /// Bank of that account.
    pub seller_bic: String,
    /// Why nothing is taxed where the rate is 0.
    pub zero_rate_reason: String,
}

impl Invoices {
    /// The settings as the rules use them.
    pub fn rules(&self) -> InvoiceRules {
        let some = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let parts = [&self.seller_line1, &self.seller_city, &self.seller_country];
        let address = parts.into_iter().any(|part| !part.trim().is_empty()).then(|| Address {
            line1: self.seller_line1.trim().to_owned(),
            line2: some(&self.seller_line2),
            city: self.seller_city.trim().to_owned(),
            region: some(&self.seller_region),
            postal_code: self.seller_postal_code.trim().to_owned(),
            country: self.seller_country.trim().to_uppercase(),
        });
        InvoiceRules {
            payment_days: self.payment_days.into(),
            seller: Party {
                name: self.seller_name.trim().to_owned(),
                address,
                vat_id: some(&self.seller_vat_id).map(|id| id.replace(' ', "").to_uppercase()),
                tax_number: some(&self.seller_tax_number),
                email: some(&self.seller_email),
                phone: some(&self.seller_phone),
                iban: some(&self.seller_iban).map(|iban| iban.replace(' ', "")),
                bic: some(&self.seller_bic),
            },
            zero_rate_reason: some(&self.zero_rate_reason),
        }
    }
}

/// `[pdf]`: whether invoices are rendered as PDF, and how they look.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pdf {
    /// `false`: no PDF is rendered.
    pub enabled: bool,
    /// A picture at the top of each page, PNG or JPEG; empty: none.
    pub logo_file: PathBuf,
    /// Colour of lines and headings as `#rrggbb`.
    pub accent_color: String,
    /// Text at the bottom of each page.
    pub footer: String,
    /// Font files for characters that the built-in font lacks, in the order in which they are tried.
    pub fonts: Vec<PathBuf>,
    /// Folders in which fonts of Noto are looked for, for scripts that neither the program nor `fonts` has.
    pub font_folders: Vec<PathBuf>,
}

impl Pdf {
    /// The colour as red, green and blue; `None` when it is not written as `#rrggbb`.
    pub fn accent(&self) -> Option<(u8, u8, u8)> {
        let digits = self.accent_color.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some((part(0)?, part(2)?, part(4)?))
    }
}

/// `[object_storage]`: where rendered PDFs are stored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectStorage {
    /// Name of the bucket; empty: a folder of this machine.
    pub bucket: String,
    /// Address of the service; empty: that of the region at Amazon.
    pub endpoint: String,
    /// Region of the bucket.
    pub region: String,
    /// Identifier of the access key.
    pub access_key_id: String,
    /// What requests are signed with.
    pub secret_access_key: Secret,
    /// Address at which everybody can read what is in the bucket.
    pub public_url: String,
    /// Longest time of one request to the service.
    pub timeout_seconds: Seconds,
}
