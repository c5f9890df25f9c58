//! Permitted dependencies within what a crate could use: the rules get the time and randomness from the caller,
//! commands do no more with a database connection than pass it on, only adapters name a brand, and only clients name a
//! vendor. What a crate does not depend on, it cannot name; the compiler holds that.

use super::text::{names, path_of};
use super::{Rule, Scope, planted_and_innocent};

/// Modules that access files, the machine, a clock or randomness.
const NOT_HANDED_IN: [&str; 13] = [
    "std::fs",
    "std::env",
    "std::process",
    "std::thread",
    "Instant",
    "SystemTime",
    "UNIX_EPOCH",
    "Timestamp::now",
    "Zoned::now",
    "::now_v",
    "new_v4",
    "TimeZone::system",
    "RandomState",
];

const DOMAIN: Rule = Rule {
    holds: "src/domain/ reads no file, no clock and no chance: what it needs is handed in",
    scope: Scope::Product,
    check: |file| {
        if !file.within("src/domain/") {
            return Vec::new();
        }
        file.in_code(|line| NOT_HANDED_IN.iter().find(|used| line.contains(**used)).map(|used| format!("uses {used}")))
    },
    planted: &[
        ("src/domain/file.rs", "let file = std::fs::read(path);"),
        ("src/domain/schedule.rs", "use std::time::{Duration, Instant};"),
        ("src/domain/mail.rs", "let now = jiff::Timestamp::now();"),
        ("src/domain/id.rs", "Self(uuid::Uuid::now_v7())"),
        ("src/domain/lib.rs", "use std::collections::hash_map::RandomState;"),
    ],
    innocent: &[
        ("src/domain/order.rs", "//! No Instant here.\nuse crate::id::Id;\npub mod testing;"),
        ("src/domain/schedule.rs", "use std::time::Duration;\nlet now = cx.now;"),
        ("src/store/load.rs", "use std::time::Instant;"),
    ],
};

const HANDLES: Rule = Rule {
    holds: "handlers take the handles that they use, never the state of the whole server",
    scope: Scope::Product,
    check: |file| {
        if !file.within("src/http/api/production/") && !file.within("src/http/api/billing/") {
            return Vec::new();
        }
        let whole = ["State<AppState>", "app: AppState"];
        file.in_code(|line| whole.iter().find(|whole| line.contains(**whole)).map(|whole| format!("takes {whole}")))
    },
    planted: &[
        ("src/http/api/production/skus.rs", "async fn list(State(app): State<AppState>) {}"),
        ("src/http/api/production/agent.rs", "struct AgentCall {\n    app: AppState,\n}"),
    ],
    innocent: &[
        ("src/http/api/production/skus.rs", "async fn list(State(app): State<Handles>) {}"),
        ("src/http/api/production/payments.rs", "impl FromRequest<AppState> for SignedEvent {}"),
        ("src/http/serve.rs", "pub async fn serve(app: AppState) {}"),
    ],
};

/// Files that hold a connection and pass it to `store/`; they use its type and nothing else of the database.
const PASS_ON: [&str; 2] = [
    "src/cli/check/database.rs", // checks whether it can be reached, and whether its tables are up to date
    "src/cli/check/printers.rs", // loads the registered printers, by the store's `Load`
];

const TABLES: Rule = Rule {
    holds: "src/cli/ and src/server/ speak to the database through src/store/ alone; they at most pass a connection on",
    scope: Scope::Product,
    check: |file| {
        // The other crates do not depend on those of the database.
        if !file.within("src/cli/") && !file.within("src/server/") {
            return Vec::new();
        }
        let passes_on = file.is(&PASS_ON);
        file.in_code(|line| {
            if passes_on && line.trim() == "use sea_orm::DatabaseConnection;" {
                return None;
            }
            path_of(line, &["entities", "sea_orm", "sqlx"])
        })
    },
    planted: &[
        ("src/cli/check/services.rs", "use sea_orm::DatabaseConnection;"),
        ("src/cli/check/database.rs", "use sea_orm::EntityTrait;"),
        ("src/server/prepared.rs", "let order = crate::entities::orders::Entity::find();"),
        ("src/server.rs", "use sqlx::Connection;"),
    ],
    innocent: &[
        ("src/cli/check/database.rs", "use sea_orm::DatabaseConnection;"),
        ("src/store/writer.rs", "use sea_orm::EntityTrait;"),
        ("src/server/lead.rs", "let filter = \"warn,sea_orm::query=error\";"),
        ("src/lib.rs", "pub use ::entities;"),
    ],
};

/// Modules behind the store's port: its implementations, and the queries for lists that the edge may use.
const BEHIND_PORT: [&str; 4] = ["store::queries", "store::writer", "store::memory", "Queries"];

/// Tests of the kernel, which has no wiring that could give them a store: they settle commits on the one in memory.
const ON_MEMORY: [&str; 1] = ["src/actors/kernel/tests.rs"];

const PORT: Rule = Rule {
    holds: "src/actors/ knows the store by its port alone, so that any implementation will do",
    scope: Scope::Product,
    check: |file| {
        // The wiring chooses the implementation, and integrations read what is listed.
        let above = file.within("src/actors/app/") || file.within("src/actors/integrations/");
        if !file.within("src/actors/") || above || file.is(&ON_MEMORY) {
            return Vec::new();
        }
        let behind = |line: &str| BEHIND_PORT.iter().find(|behind| line.contains(**behind)).copied();
        file.in_code(|line| behind(line).map(|behind| format!("names {behind}")))
    },
    planted: &[
        ("src/actors/forecaster.rs", "use store::queries::Queries;"),
        ("src/actors/dispatcher.rs", "pub struct Sources {\n    pub queries: Queries,\n}"),
        ("src/actors/kernel/tests/supervision.rs", "use store::memory::MemoryStore;"),
    ],
    innocent: &[
        ("src/actors/endpoints.rs", "self.store.queries().events_after(seq, &filter, limit).await"),
        ("src/http/handles.rs", "use store::queries::Queries;"),
        ("src/actors/app.rs", "pub queries: Queries,"),
        ("src/actors/kernel/tests.rs", "use store::memory::MemoryStore;"),
    ],
};

const BRAND_NAMES: [&str; 16] = [
    "moonraker",
    "octoprint",
    "klipper",
    "bambu",
    "prusa",
    "creality",
    "elegoo",
    "anycubic",
    "ultimaker",
    "duet3d",
    "reprap",
    "marlin",
    "snapmaker",
    "flashforge",
    "formlabs",
    "makerbot",
];

const BRANDS: Rule = Rule {
    holds: "nothing outside src/printers/ names a brand of printers or of their software",
    scope: Scope::Product,
    check: |file| {
        // G-code names the slicer that made it, and some makers of printers make slicers too.
        if file.within("src/printers/") || file.within("src/domain/gcode/") {
            return Vec::new();
        }
        file.in_text(|line| names(line, &BRAND_NAMES))
    },
    planted: &[
        ("src/actors/printers/run.rs", "if kind == \"OctoPrint\" {"),
        ("src/domain/printer.rs", "/// As Klipper says it."),
        ("src/http/api/production/printers.rs", "fn is_bambu() {}"),
    ],
    innocent: &[
        ("src/printers/server_rest.rs", "//! Type `server_rest`: OctoPrint."),
        ("src/domain/gcode/notes.rs", "//! What PrusaSlicer says."),
        ("src/actors/app.rs", "pub struct Link;"),
    ],
};

/// Default of the setting for the signature's header name, which is that processor's; its test contains the name.
const HEADER: &str = "\"Stripe-Signature\"";

const VENDOR_NAMES: [&str; 14] = [
    "stripe",
    "xero",
    "quickbooks",
    "lexoffice",
    "paypal",
    "mollie",
    "resend",
    "sendgrid",
    "postmark",
    "mailgun",
    "inventree",
    "twilio",
    "shopify",
    "openclaw",
];

const VENDORS: Rule = Rule {
    holds: "nothing outside src/services/ names a vendor of an outside service",
    scope: Scope::Product,
    check: |file| {
        if file.within("src/services/") {
            return Vec::new();
        }
        let may_say_header = file.is(&["src/config/tests.rs"]);
        file.in_text(|line| {
            let line = if may_say_header { line.replace(HEADER, "") } else { line.to_owned() };
            names(&line, &VENDOR_NAMES)
        })
    },
    planted: &[
        ("src/domain/payment_event.rs", "//! Events of Stripe."),
        ("src/actors/mails.rs", "const URL: &str = \"https://api.resend.com\";"),
        ("src/http/api/production/payments.rs", "let header = \"Stripe-Signature\";"),
        ("src/cli/check/services.rs", "let stripe = 1;"),
    ],
    innocent: &[
        ("src/services/mail/api.rs", "//! The interface of Resend."),
        ("src/config/tests.rs", "assert_eq!(signature_header, \"Stripe-Signature\");"),
        ("src/actors/payment_events/matching.rs", "let stripes = 1; // a pattern, no company"),
        ("src/actors/kernel/envelope.rs", "/// Never resent."),
    ],
};

const START: Rule = Rule {
    holds: "a printer is told to start in two places only: the one task of an attempt, and an operator's own print",
    scope: Scope::Product,
    check: |file| {
        if file.within("src/printers/") || file.is(&["src/actors/printers/run.rs", "src/actors/printers/manual.rs"]) {
            return Vec::new();
        }
        file.in_code(|line| line.contains("adapter.launch(").then(|| "starts a print".to_owned()))
    },
    planted: &[
        ("src/actors/printers/watch.rs", "connection.adapter.launch(&launch).await?;"),
        ("src/http/api/production/operate.rs", "connection.adapter.launch(&launch).await?;"),
    ],
    innocent: &[
        ("src/actors/printers/run.rs", "match connection.adapter.launch(&launch).await {"),
        ("src/actors/app/start.rs", "dispatcher.start(&root).await?;"),
    ],
};

const ADDRESSES: Rule = Rule {
    holds: "services and integrations read addresses of other systems by PeerAddress alone, which judges those that are written out",
    scope: Scope::Product,
    check: |file| {
        let reads = file.within("src/services/") || file.within("src/actors/integrations/");
        // The payment processor's client judges its one address itself, by the same rule.
        if !reads || file.is_tests() || file.is(&["src/services/payments/send.rs"]) {
            return Vec::new();
        }
        let calls = ["Url::parse(", ".get(format!(", ".post(format!("];
        file.in_code(|line| calls.iter().find(|call| line.contains(**call)).map(|call| format!("uses {call}")))
    },
    planted: &[
        ("src/services/farm_ui.rs", "let mut request = client.get(format!(\"{url}/api/v2/printer/\"));"),
        ("src/services/agent.rs", "let mut url = reqwest::Url::parse(url).map_err(bad)?;"),
    ],
    innocent: &[
        ("src/services/farm_ui.rs", "let call = self.peer.below(Method::GET, \"api/v2/printer/\");"),
        ("src/domain/peer_address.rs", "let url = Url::parse(text.trim()).map_err(|_| no_url)?;"),
    ],
};

pub(super) const RULES: &[&Rule] = &[&DOMAIN, &HANDLES, &TABLES, &PORT, &BRANDS, &VENDORS, &START, &ADDRESSES];

#[test]
fn rules_of_layers_find_what_breaks_them() {
    planted_and_innocent(RULES);
}
