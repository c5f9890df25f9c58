//! Kinds of audit log subjects, with the nouns that people use for them.

/// Defines the kinds from the table: stored name, noun, and plural.
macro_rules! audited_kinds {
    ($($kind:ident = $word:literal, $noun:literal, $plural:literal;)+) => {
        /// Kind of subject that an audit log act applies to.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum AuditedKind {
            $(#[doc = concat!("`", $word, "`: ", $noun, ".")] $kind,)+
        }

        impl AuditedKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// Returns the stored name, the noun, and the plural of the kind.
            const fn row(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Self::$kind => ($word, $noun, $plural),)+
                }
            }
        }
    };
}

impl AuditedKind {
    /// Returns the name under which the kind is stored, such as `sales_channel`.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// Returns the noun with its article: `an order`.
    pub const fn noun(self) -> &'static str {
        self.row().1
    }

    /// Returns the plural noun, which is the heading for all subjects of the kind: `Orders`.
    pub const fn plural(self) -> &'static str {
        self.row().2
    }

    /// Returns the noun to put before the subject's name, followed by a space: `order `. Empty for subjects that people
    /// call by name alone, such as printers.
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

    /// Returns the kind that is stored under the given name, if any.
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
