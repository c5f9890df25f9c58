//! Settings for invoices: seller details, PDF appearance and PDF storage.

use std::path::PathBuf;

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;
use domain::address::Address;
use domain::invoice::Party;
use domain::rules::InvoiceRules;

/// `[invoices]`: seller details printed on invoices. Each invoice stores a copy of these when it is issued.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvoicesConfig {
    /// Payment term of an invoice, in days from the date of issue.
    pub payment_days: u32,
    /// Name of the shop.
    pub seller_name: String,
    /// Street and house number; if empty, invoices do not state an address.
    pub seller_line1: String,
    /// Second line of the address.
    pub seller_line2: String,
    /// City or town of the shop.
    pub seller_city: String,
    /// State or province.
    pub seller_region: String,
    /// Post code.
    pub seller_postal_code: String,
    /// Country, as an ISO 3166-1 code.
    pub seller_country: String,
    /// VAT ID with country prefix, such as `DE123456789`.
    pub seller_vat_id: String,
    /// Tax number issued by the local tax office.
    pub seller_tax_number: String,
    /// Email address for questions.
    pub seller_email: String,
    /// Telephone number for questions.
    pub seller_phone: String,
    /// IBAN of the account that customers pay into.
    pub seller_iban: String,
    /// BIC of the account's bank.
    pub seller_bic: String,
    /// Reason, stated on invoices, for not charging tax if the rate is 0.
    pub zero_rate_reason: String,
}

impl InvoicesConfig {
    /// Returns the settings in the form used by the domain rules.
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
                ..Party::default()
            },
            zero_rate_reason: some(&self.zero_rate_reason),
        }
    }
}

/// `[pdf]`: rendering and appearance of invoice PDFs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PdfConfig {
    /// Enables rendering of PDFs.
    pub enabled: bool,
    /// Logo at the top of each page, as PNG or JPEG; if empty, there is no logo.
    pub logo_file: PathBuf,
    /// Colour of lines and headings, as `#rrggbb`.
    pub accent_color: String,
    /// Text at the bottom of each page.
    pub footer: String,
    /// Font files for characters that the built-in font lacks, in order of preference.
    pub fonts: Vec<PathBuf>,
    /// Directories to search for Noto fonts, for scripts that neither the built-in font nor `fonts` covers.
    pub font_folders: Vec<PathBuf>,
}

impl PdfConfig {
    /// Returns the accent colour as red, green and blue; `None` if it does not have the form `#rrggbb`.
    pub fn accent(&self) -> Option<(u8, u8, u8)> {
        let digits = self.accent_color.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some((part(0)?, part(2)?, part(4)?))
    }
}

/// `[object_storage]`: storage for rendered PDFs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectStorageConfig {
    /// Name of the bucket; if empty, PDFs are stored in a local directory on the server.
    pub bucket: String,
    /// Service URL; if empty, Amazon's URL for the region.
    pub endpoint: String,
    /// Region of the bucket.
    pub region: String,
    /// ID of the access key for the storage service.
    pub access_key_id: String,
    /// Secret access key, which signs requests.
    pub secret_access_key: Secret,
    /// Public base URL for reading the contents of the bucket.
    pub public_url: String,
    /// Maximum duration of a request to the service.
    pub timeout_seconds: Seconds,
}
