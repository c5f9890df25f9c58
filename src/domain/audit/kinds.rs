//! Kinds of subjects in the audit log, with the nouns by which people know them.

/// Defines the kinds from the table: the word under which each is stored, its noun, and its plural.
macro_rules! audited_kinds {
    ($($kind:ident = $word:literal, $noun:literal, $plural:literal;)+) => {
        /// Kind of the subject of an act in the audit log.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum AuditedKind {
            $(#[doc = concat!("`", $word, "`: ", $noun, ".")] $kind,)+
        }

        impl AuditedKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// Returns the word under which the kind is stored, its noun, and its plural.
            const fn row(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Self::$kind => ($word, $noun, $plural),)+
                }
            }
        }
    };
}

impl AuditedKind {
    /// Returns the word under which the kind is stored, such as `sales_channel`.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// Returns the noun with its article: `an order`.
    pub const fn noun(self) -> &'static str {
        self.row().1
    }

    /// Returns the name of the group of all subjects of the kind: `Orders`.
    pub const fn plural(self) -> &'static str {
        self.row().2
    }

    /// Returns the noun that stands before the subject's name, with a space after it: `order `. Things that people call
    /// by their name alone, such as printers, have none.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Order => "order ",
            Self::Invoice => "invoice ",
            Self::Quote => "quote ",
            Self::ApiKey => "API key ",
            Self::File => "file ",
            Self::Endpoint => "webhook endpoint ",
            Self::SalesChannel => "sales channel ",
            Self::CustomRequest => "the request of ",
            Self::Customer => "customer ",
            Self::Sku => "product ",
            _ => "",
        }
    }

    /// Returns the kind that is stored under the given word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

audited_kinds! {
    Printer = "printer", "a printer", "Printers";
    Order = "order", "an order", "Orders and jobs";
    Material = "material", "a material or spool", "Materials and spools";
    Sku = "sku", "a product", "Products";
    File = "file", "a file", "Files";
    Customer = "customer", "a customer", "Customers";
    SignInLink = "sign_in_link", "a sign-in link", "Sign-in links";
    CustomRequest = "custom_request", "a request", "Requests";
    Quote = "quote", "a quote", "Quotes";
    Invoice = "invoice", "an invoice", "Invoices";
    Export = "export", "an export", "Exports";
    Accounting = "accounting", "the accounting system", "Accounting";
    Posting = "posting", "an accounting entry", "Accounting entries";
    PaymentEvent = "inbound", "a payment", "Unmatched payments";
    SalesChannel = "sales_channel", "a sales channel", "Sales channels";
    ChannelOrder = "channel_order", "an order of an online shop", "Orders of online shops";
    Endpoint = "endpoint", "a webhook endpoint", "Webhook endpoints";
    User = "user", "a user", "Users";
    Session = "session", "a session", "Sign-ins";
    ApiKey = "api_key", "an API key", "API keys";
    Access = "access", "the shop’s settings", "Settings and agent";
    Integration = "integration", "an integration", "Integrations";
    Mail = "mail", "an email", "Emails";
    Backup = "backup", "a backup", "Backups";
    Restore = "restore", "a restore", "Restores";
    Request = "request", "a request", "Rejected requests";
}
