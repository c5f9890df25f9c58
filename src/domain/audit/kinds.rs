//! Kinds of audit log subjects, with the nouns that people use for them.

use words::Language;
use words::staff::audit as texts;

/// Grammatical case of a subject, which German nouns and articles follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubjectCase {
    /// Direct object: accusative.
    Direct,
    /// Any other place: dative.
    Indirect,
}

/// Noun in each language.
type NounText = fn(Language) -> String;

/// Defines the kinds from the table: stored name, noun as a direct object, noun in other places, and plural.
macro_rules! audited_kinds {
    ($($kind:ident = $word:literal, $direct:path, $indirect:path, $plural:path;)+) => {
        /// Kind of subject that an audit log act applies to.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum AuditedKind {
            $(#[doc = concat!("`", $word, "`.")] $kind,)+
        }

        impl AuditedKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// Returns the name under which the kind is stored, such as `sales_channel`.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }

            /// Returns the noun in each case, and the plural of the kind.
            const fn nouns(self) -> (NounText, NounText, NounText) {
                match self {
                    $(Self::$kind => ($direct, $indirect, $plural),)+
                }
            }
        }
    };
}

impl AuditedKind {
    /// Returns the noun with its article: `an order`.
    pub fn noun(self, language: Language, case: SubjectCase) -> String {
        let (direct, indirect, _) = self.nouns();
        match case {
            SubjectCase::Direct => direct(language),
            SubjectCase::Indirect => indirect(language),
        }
    }

    /// Returns the plural noun, which is the heading for all subjects of the kind: `Orders`.
    pub fn plural(self, language: Language) -> String {
        let (_, _, plural) = self.nouns();
        plural(language)
    }

    /// Returns a subject's name with its noun: `order ORD-000012`. Subjects that people call by name alone, such as
    /// printers, have no noun, and the names of API keys contain it.
    pub fn named(self, language: Language, case: SubjectCase, name: &str) -> String {
        use SubjectCase::{Direct, Indirect};
        match (self, case) {
            (Self::Order, _) => texts::order_named(language, name),
            (Self::Invoice, _) => texts::invoice_named(language, name),
            (Self::Quote, _) => texts::quote_named(language, name),
            (Self::File, _) => texts::file_named(language, name),
            (Self::Endpoint, _) => texts::endpoint_named(language, name),
            (Self::SalesChannel, _) => texts::channel_named(language, name),
            (Self::CustomRequest, Direct) => texts::request_named(language, name),
            (Self::CustomRequest, Indirect) => texts::request_named_indirect(language, name),
            (Self::Customer, Direct) => texts::customer_named(language, name),
            (Self::Customer, Indirect) => texts::customer_named_indirect(language, name),
            (Self::Sku, _) => texts::sku_named(language, name),
            _ => name.to_owned(),
        }
    }

    /// Returns the number of subjects with its noun, `3 printers`, for the kinds whose acts are gathered.
    pub fn counted(self, language: Language, case: SubjectCase, count: usize) -> Option<String> {
        Some(match (self, case) {
            (Self::Printer, SubjectCase::Direct) => texts::printers_counted(language, count),
            (Self::Printer, SubjectCase::Indirect) => texts::printers_counted_indirect(language, count),
            (Self::Order, SubjectCase::Direct) => texts::orders_counted(language, count),
            (Self::Order, SubjectCase::Indirect) => texts::orders_counted_indirect(language, count),
            _ => return None,
        })
    }

    /// Returns the kind stored under the given name, if any.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

audited_kinds! {
    Printer = "printer", texts::printer, texts::printer_indirect, texts::printer_plural;
    Order = "order", texts::order, texts::order_indirect, texts::order_plural;
    Material = "material", texts::material, texts::material_indirect, texts::material_plural;
    Sku = "sku", texts::sku, texts::sku_indirect, texts::sku_plural;
    File = "file", texts::file, texts::file_indirect, texts::file_plural;
    Customer = "customer", texts::customer, texts::customer_indirect, texts::customer_plural;
    SignInLink = "sign_in_link", texts::sign_in_link, texts::sign_in_link_indirect, texts::sign_in_link_plural;
    CustomRequest = "custom_request", texts::custom_request, texts::custom_request_indirect, texts::custom_request_plural;
    Quote = "quote", texts::quote, texts::quote_indirect, texts::quote_plural;
    Invoice = "invoice", texts::invoice, texts::invoice_indirect, texts::invoice_plural;
    Export = "export", texts::export, texts::export_indirect, texts::export_plural;
    Accounting = "accounting", texts::accounting, texts::accounting_indirect, texts::accounting_plural;
    Posting = "posting", texts::posting, texts::posting_indirect, texts::posting_plural;
    PaymentEvent = "inbound", texts::payment, texts::payment_indirect, texts::payment_plural;
    SalesChannel = "sales_channel", texts::sales_channel, texts::sales_channel_indirect, texts::sales_channel_plural;
    ChannelOrder = "channel_order", texts::channel_order, texts::channel_order_indirect, texts::channel_order_plural;
    Endpoint = "endpoint", texts::endpoint, texts::endpoint_indirect, texts::endpoint_plural;
    User = "user", texts::user, texts::user_indirect, texts::user_plural;
    Session = "session", texts::session, texts::session_indirect, texts::session_plural;
    ApiKey = "api_key", texts::api_key, texts::api_key_indirect, texts::api_key_plural;
    Access = "access", texts::access, texts::access_indirect, texts::access_plural;
    Integration = "integration", texts::integration, texts::integration_indirect, texts::integration_plural;
    Mail = "mail", texts::mail, texts::mail_indirect, texts::mail_plural;
    Backup = "backup", texts::backup, texts::backup_indirect, texts::backup_plural;
    Restore = "restore", texts::restore, texts::restore_indirect, texts::restore_plural;
    Request = "request", texts::rejected_request, texts::rejected_request_indirect, texts::rejected_request_plural;
}
