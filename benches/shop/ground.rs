//! Server in this process, with its own folder on the disk of the build folder.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::app::App;
use printfloor::config::{Config, LoadOptions};
use printfloor::domain::access::AddKey;
use printfloor::domain::amount::Amount;
use printfloor::domain::id::Id;
use printfloor::domain::material::{MaterialCommand, MaterialFields, MaterialType};
use printfloor::domain::principal::{Principal, Role};
use printfloor::secrets::credentials::{api_key_hash, last4, new_api_key};
use printfloor::server::Server;
use printfloor::store::connect::{self, DatabaseSettings, WritingHost};
use sea_orm::DatabaseConnection;
use tempfile::TempDir;

use super::database::{BenchDatabase, Kind};

const PREFIX: &str = "key_test_";

/// Creates a folder that is removed on drop.
pub fn folder() -> TempDir {
    tempfile::Builder::new().prefix("bench-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Builds the default settings, but with this data folder and higher limits for callers.
pub fn config(folder: &Path, database: Option<&str>) -> Config {
    config_with(folder, database, &[])
}

/// Builds settings as [`config`] does, with additional environment variables, which override those of the same name.
pub fn config_with(folder: &Path, database: Option<&str>, more: &[(&str, &str)]) -> Config {
    let settings = variables(folder, database);
    let own = settings.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    let own = own.map(|(name, text)| ((*name).to_owned(), text.clone()));
    let options = LoadOptions {
        file: None,
        env: own.chain(more.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))).collect(),
        cwd: folder.to_owned(),
        overrides: Vec::new(),
    };
    Config::load(options).unwrap().config
}

/// Returns the environment variables for a server whose data is in this folder: the secrets shared by all shops in the
/// benchmark, a seller, and limits that no caller reaches.
pub fn variables(folder: &Path, database: Option<&str>) -> Vec<(&'static str, String)> {
    let settings = [
        ("PRINTFLOOR_SERVER__LISTEN", "127.0.0.1:0"),
        ("PRINTFLOOR_LIMITS__MAX_QUEUED_COMMANDS", "4096"),
        ("PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE", "4000000000"),
        ("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", "4000000000"),
        ("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", "4000000000"),
        ("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_EMAIL_PER_15_MINUTES", "4000000000"),
        ("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_ADDRESS_PER_15_MINUTES", "4000000000"),
        ("PRINTFLOOR_WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true"),
        ("PRINTFLOOR_INVOICES__SELLER_NAME", "Shop of Benchmarks"),
        ("PRINTFLOOR_INVOICES__SELLER_LINE1", "Lindenstraße 12"),
        ("PRINTFLOOR_INVOICES__SELLER_CITY", "Köln"),
        ("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "DE"),
        ("DATABASE_URL", database.unwrap_or_default()),
        ("API_KEY_SALT", "a salt of the benchmark that is long enough"),
        ("SESSION_SECRET", "a secret of the benchmark that is long enough"),
        ("SECRETS_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
    ];
    let data = ("PRINTFLOOR_SERVER__DATA_DIR", folder.join("data").to_str().unwrap().to_owned());
    settings.into_iter().map(|(name, text)| (name, text.to_owned())).chain([data]).collect()
}

/// Running server with everything needed to call it.
pub struct Ground {
    server: Server,
    /// API key of an admin.
    pub key: String,
    /// Principal of that key.
    pub by: Arc<Principal>,
    config: Box<Config>,
    postgres: Option<BenchDatabase>,
    _folder: TempDir,
}

impl Ground {
    /// Starts a server with a new shop.
    pub async fn new(kind: Kind) -> Self {
        let folder = folder();
        let postgres = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => Some(BenchDatabase::fresh().await),
        };
        let config = Box::new(config(folder.path(), postgres.as_ref().map(BenchDatabase::url).as_deref()));
        let server = Box::pin(Server::start(Config::clone(&config))).await.unwrap();
        let (key, by) = admin_key(server.shop(), &config).await;
        Self { server, key, by: Arc::new(by), config, postgres, _folder: folder }
    }

    /// Returns the app of the shop.
    pub fn shop(&self) -> Arc<App> {
        self.server.shop().clone()
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address().unwrap()
    }

    /// Returns a command origin for the key's principal.
    pub fn caller(&self) -> CommandOrigin {
        CommandOrigin { by: self.by.clone(), request_id: None, key: None }
    }

    /// Creates materials with much stock.
    pub async fn materials(&self, count: usize) -> Vec<Id> {
        let mut ids = Vec::new();
        for n in 0..count {
            ids.push(self.shop().materials.create(self.caller(), material(n)).await.unwrap().0);
        }
        ids
    }

    /// Opens a read pool like the server's own.
    pub async fn reading(&self) -> DatabaseConnection {
        let settings = DatabaseSettings {
            url: self.config.database_url().expose().to_owned(),
            read_connections: self.config.database.read_connections,
            statement_timeout: self.config.database.statement_timeout_seconds.duration(),
            hosts: WritingHost::default(),
        };
        connect::reading(&settings).await.unwrap()
    }

    /// Vacuums the database, so that autovacuum does not run during the measurement.
    pub async fn settle(&self) {
        if let Some(postgres) = &self.postgres {
            postgres.vacuum().await;
        }
    }

    /// Stops the server.
    pub async fn end(self) {
        self.server.stop(Duration::from_secs(10)).await;
        if let Some(postgres) = self.postgres {
            postgres.drop().await;
        }
    }
}

/// Builds a material with much stock, above its reorder point.
pub fn material(n: usize) -> MaterialCommand {
    let fields = MaterialFields {
        name: format!("PLA black {n}"),
        kind: MaterialType::Filament,
        color: Some("#000000".to_owned()),
        brand: None,
        variant: None,
        vendor_code: None,
        location: None,
        unit_cost_cents: None,
        reorder_point: Amount::units(1),
        reorder_quantity: Amount::units(1000),
    };
    MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(10_000_000) }
}

/// Creates an admin's API key.
pub async fn admin_key(shop: &App, config: &Config) -> (String, Principal) {
    let key = new_api_key(PREFIX);
    let command = AddKey {
        name: "bench".to_owned(),
        hash: api_key_hash(config.auth.api_key_salt.expose(), &key),
        prefix: PREFIX.to_owned(),
        last4: last4(&key),
        role: Role::Admin,
        customer_email: None,
        expires_at: None,
    };
    let answered = shop.access.ask(Id::ONLY, CommandOrigin::new(Principal::Machine), command).await.unwrap();
    let entry = answered.answer.key;
    let by = Principal::Key { id: entry.id, name: entry.name.clone(), role: Role::Admin, customer_email: None };
    (key, by)
}
