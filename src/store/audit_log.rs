//! Verification of the audit log, from its first line to its last. It only reads, a page at a time, and works beside a
//! running server: lines that are appended meanwhile are left out.

use migrations::SchemaManager;
use sea_orm::{
    ColumnTrait as _, Condition, ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DbErr, EntityTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _, Statement,
};

use crate::connect::{self, DatabaseSettings, OpenError, refuse_newer};
use crate::rows::chain_line;
use domain::audit::chain::{ChainCheck, ChainFault, ChainHead};
use domain::time::Timestamp;
use entities::audit;

/// Number of lines read at a time.
const PAGE_LINES: u64 = 1000;

/// Reason that an audit log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditLogError {
    /// The database cannot be opened or read.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The database has no tables of Printfloor, or its file does not exist.
    #[error("it contains no shop")]
    NoShop,
    /// The lines have no hashes yet.
    #[error("its tables belong to an older version of printfloor; the next start brings them up to date")]
    OlderTables,
}

impl From<DbErr> for AuditLogError {
    fn from(error: DbErr) -> Self {
        Self::Database(error.into())
    }
}

/// Outcome of a verification.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditVerification {
    /// Last line that fits, as all lines before it do.
    pub head: ChainHead,
    /// Times of the first and the last of these lines; `None` if there are none.
    pub span: Option<(Timestamp, Timestamp)>,
    /// First fault; `None` if the whole log fits.
    pub fault: Option<ChainFault>,
    /// Description of the line at which the fault was noticed; `None` if that was the end of the log.
    pub line: Option<String>,
}

/// Audit log of a database, as it is at one moment.
pub struct AuditLog {
    db: DatabaseConnection,
    /// Head that the database stores.
    head: ChainHead,
    /// Highest number of a line.
    newest: i64,
}

impl AuditLog {
    /// Opens a database for reading.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read, or contains no audit log of this version, or of a newer one.
    pub async fn open(settings: &DatabaseSettings) -> Result<Self, AuditLogError> {
        if connect::sqlite_file(&settings.url).is_some_and(|file| !file.exists()) {
            return Err(AuditLogError::NoShop);
        }
        connect::reach(&settings.url).await?;
        let db = connect::copying(settings, None).await?;
        match read_ends(&db).await {
            Ok((head, newest)) => Ok(Self { db, head, newest }),
            Err(error) => {
                let _ = db.close().await;
                Err(error)
            }
        }
    }

    /// Returns the head that the database stores.
    pub fn head(&self) -> &ChainHead {
        &self.head
    }

    /// Verifies all lines up to the head, and that those of the heads in `elsewhere` are among them. Reports the number
    /// of lines after each page.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn verify(
        &self,
        elsewhere: Vec<ChainHead>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<AuditVerification, AuditLogError> {
        let mut check = ChainCheck::new(self.head.clone(), elsewhere);
        let mut verification = AuditVerification::default();
        let mut after = None;
        while verification.fault.is_none() {
            let rows = self.page(after).await?;
            let Some(last) = rows.last() else {
                verification.fault = check.finish().err();
                break;
            };
            after = Some((last.number, last.id.clone()));
            for row in &rows {
                if let Err(fault) = check.check(row.number, &row.chain, &chain_line(row)) {
                    (verification.fault, verification.line) = (Some(fault), Some(description(row)));
                    break;
                }
                let at = Timestamp(row.at);
                verification.span = Some((verification.span.map_or(at, |(first, _)| first), at));
            }
            progress(rows.len() as u64);
        }
        verification.head = check.head().clone();
        Ok(verification)
    }

    /// Closes the database.
    pub async fn close(self) {
        let _ = self.db.close().await;
    }

    /// Reads the lines after a number and an ID, lowest number first. Lines of the same number are all read.
    async fn page(&self, after: Option<(i64, String)>) -> Result<Vec<audit::Model>, DbErr> {
        use audit::Column as C;
        audit::Entity::find()
            .filter(C::Number.lte(self.newest))
            .apply_if(after, |some, (number, id)| {
                let later = Condition::any().add(C::Number.gt(number)).add(C::Id.gt(id));
                some.filter(C::Number.gte(number)).filter(later)
            })
            .order_by_asc(C::Number)
            .order_by_asc(C::Id)
            .limit(PAGE_LINES)
            .all(&self.db)
            .await
    }
}

/// Reads the head and the highest number of a line. Both are of the same moment, because the server writes them
/// together.
async fn read_ends(db: &DatabaseConnection) -> Result<(ChainHead, i64), AuditLogError> {
    let backend = db.get_database_backend();
    if backend == DatabaseBackend::Sqlite {
        db.execute_unprepared("PRAGMA query_only = ON").await?;
    }
    refuse_newer(db).await?;
    let tables = SchemaManager::new(db);
    if !tables.has_table("writer").await? {
        return Err(AuditLogError::NoShop);
    }
    if !tables.has_column("writer", "audit_number").await? {
        return Err(AuditLogError::OlderTables);
    }
    let query = "SELECT audit_number, audit_chain, (SELECT COALESCE(MAX(number), 0) FROM audit) AS newest \
                 FROM writer WHERE id = 1";
    let row = db.query_one_raw(Statement::from_string(backend, query)).await?.ok_or(OpenError::NoWriterRow)?;
    let head = ChainHead { number: row.try_get("", "audit_number")?, hash: row.try_get("", "audit_chain")? };
    Ok((head, row.try_get("", "newest")?))
}

/// Returns what a line says, for whoever looks into a fault.
fn description(row: &audit::Model) -> String {
    format!("{}, {}, {}, ID {}", Timestamp(row.at), row.actor, row.action, row.id)
}
