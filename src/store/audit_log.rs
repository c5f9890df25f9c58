//! Verification of the audit log, from its first line to its last. It only reads, a page at a time, and works beside a
//! running server: lines that are appended meanwhile are left out.

use migrations::SchemaManager;
use sea_orm::{
    ColumnTrait as _, Condition, ConnectionTrait as _, DatabaseConnection, DbErr, EntityTrait as _, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _, Statement,
};

use crate::connect::{DatabaseSettings, OpenError};
use crate::rows::chain_line;
use crate::stored_shop::{StoredShopError, open_for_reading};
use domain::audit::chain::{ChainCheck, ChainFault, ChainHead};
use domain::time::Timestamp;
use entities::audit;

/// Number of lines read at a time.
const PAGE_LINES: u64 = 1000;
/// Number of lines at the end of the log that are verified where the whole log would take too long.
const END_LINES: i64 = 100;

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

/// Audit log of a database at one point in time.
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
    pub async fn open(settings: &DatabaseSettings) -> Result<Self, StoredShopError> {
        let db = open_for_reading(settings).await?;
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

    /// Verifies all lines up to the head, and that the lines of the heads in `elsewhere` are among them. Reports the
    /// number of lines after each page.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn verify(
        &self,
        elsewhere: Vec<ChainHead>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<AuditVerification, StoredShopError> {
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

    /// Verifies the last lines, up to the head; earlier lines are trusted. Returns the first fault.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn verify_end(&self) -> Result<Option<ChainFault>, StoredShopError> {
        let before = (self.head.number - END_LINES).max(0);
        let mut rows = self.page(Some((before, String::new()))).await?.into_iter();
        let mut check = ChainCheck::new(self.head.clone(), Vec::new());
        if before > 0 {
            // This line only provides the hash that the next one continues.
            match rows.next() {
                Some(row) if row.number == before => {
                    let line = ChainHead { number: before, hash: row.chain };
                    check = ChainCheck::after(line, self.head.clone());
                }
                other => {
                    let last = other.map_or(self.head.number, |row| row.number - 1);
                    return Ok(Some(ChainFault::Missing { first: before, last }));
                }
            }
        }
        for row in rows {
            if let Err(fault) = check.check(row.number, &row.chain, &chain_line(&row)) {
                return Ok(Some(fault));
            }
        }
        Ok(check.finish().err())
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
async fn read_ends(db: &DatabaseConnection) -> Result<(ChainHead, i64), StoredShopError> {
    if !SchemaManager::new(db).has_column("writer", "audit_number").await? {
        return Err(StoredShopError::OlderTables);
    }
    let query = "SELECT audit_number, audit_chain, (SELECT COALESCE(MAX(number), 0) FROM audit) AS newest \
                 FROM writer WHERE id = 1";
    let query = Statement::from_string(db.get_database_backend(), query);
    let row = db.query_one_raw(query).await?.ok_or(OpenError::NoWriterRow)?;
    let head = ChainHead { number: row.try_get("", "audit_number")?, hash: row.try_get("", "audit_chain")? };
    Ok((head, row.try_get("", "newest")?))
}

/// Returns the content of a line, for investigating a fault.
fn description(row: &audit::Model) -> String {
    format!("{}, {}, {}, ID {}", Timestamp(row.at), row.actor, row.action, row.id)
}
