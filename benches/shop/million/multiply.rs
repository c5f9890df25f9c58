//! SQL that multiplies an order: it copies the order's rows, with jobs, attempts, payment, invoice, movements, audit
//! lines and, within their retention period, events.
//!
//! All times in a copy are those of the original, shifted by the same span. This includes its IDs, which begin with a
//! time: the copies of an ID all differ, and the rows of one copy still refer to each other. The hashes of copied audit
//! lines are random, so the audit log of such a shop cannot be verified.

use std::collections::{BTreeMap, BTreeSet};

use printfloor::domain::event::RETENTION_DAYS;
use printfloor::domain::time::{DAY_MS, Timestamp};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use crate::database::{Kind, connect, rows_of};

/// Email address in the original order.
pub const TEMPLATE_EMAIL: &str = "buyer@example.org";
/// Number of different email addresses in the copies.
pub const MAIL_BOXES: usize = 200_000;

/// Span over which the copies are spread. They end an hour before the original begins.
const SPAN_MS: i64 = 3 * 365 * DAY_MS - END_MS;
const END_MS: i64 = 3_600_000;
/// Maximum age of copies that have events, chosen so that no event expires during the measurement.
const EVENTS_MS: i64 = (RETENTION_DAYS - 1) * DAY_MS;
/// Columns with times.
const TIMES: [&str; 6] = ["created_at", "updated_at", "judged_end", "issued_at", "due_at", "at"];
/// Tables whose rows are numbered consecutively, one number per copy, and those in which a copy takes as many numbers
/// as the original.
const NUMBERED: [&str; 3] = ["orders", "jobs", "invoice_documents"];
const NUMBERED_LINES: [(&str, &str); 2] = [("events", "seq"), ("audit", "number")];

const SQLITE_SPEED: [&str; 4] = [
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA cache_size = -400000",
    "PRAGMA temp_store = MEMORY",
];
const AUDIT_HEAD: &str = "UPDATE writer SET audit_number = (SELECT MAX(number) FROM audit), \
                          audit_chain = (SELECT chain FROM audit ORDER BY number DESC LIMIT 1)";

/// Inserts the given number of copies of an order. No server may be running.
pub async fn multiply(kind: Kind, url: &str, order: &str, copies: usize) {
    let db = connect(url).await;
    if kind == Kind::Sqlite {
        for pragma in SQLITE_SPEED {
            db.execute_unprepared(pragma).await.unwrap();
        }
    }
    let original = Original::read(&db, kind, order, copies as i64).await;
    let tables = original.tables();
    let indexes = original.drop_indexes(&tables).await;
    original.number_copies().await;
    for (table, condition) in &tables {
        eprintln!("copying {table} ...");
        original.copy(table, condition).await;
    }
    for (name, definition) in indexes {
        eprintln!("creating {name} ...");
        db.execute_unprepared(&definition).await.unwrap();
    }
    for statement in [AUDIT_HEAD, "DROP TABLE bench_copies"] {
        db.execute_unprepared(statement).await.unwrap();
    }
    db.close().await.unwrap();
}

/// Order to copy.
struct Original<'a> {
    db: &'a DatabaseConnection,
    kind: Kind,
    order: &'a str,
    job: String,
    invoice: String,
    /// Time at which the order begins, in milliseconds, and then the start of the first copy, which is earlier.
    begin_ms: i64,
    first_ms: i64,
    copies: i64,
    /// Number of the order, and then the number of its job.
    number: i64,
    job_number: i64,
}

impl<'a> Original<'a> {
    async fn read(db: &'a DatabaseConnection, kind: Kind, order: &'a str, copies: i64) -> Self {
        let of_order = async |what: &str| number(db, &format!("SELECT {what} FROM orders WHERE id = '{order}'")).await;
        let begin_ms = of_order("created_at").await.min(id_ms(order).unwrap());
        let id_of = async |table: &str| text(db, &format!("SELECT id FROM {table} WHERE order_id = '{order}'")).await;
        let job = id_of("jobs").await;
        Self {
            db,
            kind,
            order,
            invoice: id_of("invoices").await,
            begin_ms,
            first_ms: begin_ms - END_MS - SPAN_MS,
            copies,
            number: of_order("number").await,
            job_number: number(db, &format!("SELECT number FROM jobs WHERE id = '{job}'")).await,
            job,
        }
    }

    /// Returns the tables, each with the condition for the rows that belong to the order.
    fn tables(&self) -> [(&'static str, String); 9] {
        let Self { order, job, invoice, .. } = self;
        [
            ("orders", format!("id = '{order}'")),
            ("jobs", format!("order_id = '{order}'")),
            ("attempts", format!("order_id = '{order}'")),
            ("payments", format!("owner_id = '{order}'")),
            ("invoices", format!("order_id = '{order}'")),
            ("invoice_documents", format!("invoice_id = '{invoice}'")),
            ("movements", format!("doc LIKE '%{job}%'")),
            ("events", format!("order_id = '{order}'")),
            ("audit", format!("subject_id IN ('{order}', '{job}', '{invoice}')")),
        ]
    }

    /// Drops the indexes of these tables, except those that enforce keys; returns their names and definitions.
    async fn drop_indexes(&self, tables: &[(&str, String)]) -> Vec<(String, String)> {
        let names: Vec<String> = tables.iter().map(|(table, _)| format!("'{table}'")).collect();
        let names = names.join(", ");
        let select = match self.kind {
            Kind::Sqlite => format!(
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ({names})"
            ),
            Kind::Postgres => format!(
                "SELECT indexname::text, indexdef::text FROM pg_indexes WHERE schemaname = 'public' \
                 AND tablename IN ({names}) AND indexname NOT IN (SELECT conname FROM pg_constraint)"
            ),
        };
        let indexes: Vec<(String, String)> = rows_of(self.db, &select)
            .await
            .iter()
            .map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap()))
            .collect();
        for (name, _) in &indexes {
            self.run(&format!("DROP INDEX \"{name}\"")).await;
        }
        indexes
    }

    /// Creates a table with the number and the time of each copy.
    async fn number_copies(&self) {
        let (first, step, copies) = (self.first_ms, SPAN_MS / self.copies.max(1), self.copies);
        self.run(&format!(
            "CREATE TABLE bench_copies AS WITH RECURSIVE c(n) AS (SELECT CAST(1 AS BIGINT) \
             UNION ALL SELECT n + 1 FROM c WHERE n < {copies}) SELECT n, {first} + n * {step} AS moment FROM c"
        ))
        .await;
    }

    /// Copies the rows of a table that belong to the order.
    async fn copy(&self, table: &str, condition: &str) {
        self.run(&format!("CREATE TABLE bench_{table} AS SELECT * FROM {table} WHERE {condition}")).await;
        let first = if table == "events" { self.first_with_events() } else { 1 };
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (column, is_text) in self.columns(table).await {
            values.push(self.value(table, &column, is_text, first).await);
            names.push(format!("\"{column}\""));
        }
        let (names, values) = (names.join(", "), values.join(", "));
        self.run(&format!(
            "INSERT INTO {table} ({names}) SELECT {values} FROM bench_copies c CROSS JOIN bench_{table} t \
             WHERE c.n >= {first}"
        ))
        .await;
        self.run(&format!("DROP TABLE bench_{table}")).await;
    }

    /// Returns the number of the first copy that has events.
    fn first_with_events(&self) -> i64 {
        let step = SPAN_MS / self.copies.max(1);
        ((self.begin_ms - EVENTS_MS - self.first_ms) / step + 1).max(1)
    }

    /// Returns the columns of a table, and whether each contains text.
    async fn columns(&self, table: &str) -> Vec<(String, bool)> {
        let select = match self.kind {
            Kind::Sqlite => format!("SELECT name, type FROM pragma_table_info('{table}')"),
            Kind::Postgres => format!(
                "SELECT column_name::text, data_type::text FROM information_schema.columns \
                 WHERE table_schema = 'public' AND table_name = '{table}' ORDER BY ordinal_position"
            ),
        };
        let columns = rows_of(self.db, &select).await.into_iter().map(|row| {
            let [name, kind]: [String; 2] = [0, 1].map(|at| row.try_get_by_index(at).unwrap());
            let is_text = ["text", "varchar", "character varying"].contains(&kind.to_lowercase().as_str());
            (name, is_text)
        });
        columns.collect()
    }

    /// Returns the SQL expression for a column of the copies; `first` is the number of the first copy.
    async fn value(&self, table: &str, column: &str, is_text: bool, first: i64) -> String {
        let own = format!("t.\"{column}\"");
        if TIMES.contains(&column) {
            return format!("{own} + (c.moment - {})", self.begin_ms);
        }
        if NUMBERED_LINES.contains(&(table, column)) {
            let of = async |what: &str, from: &str| number(self.db, &format!("SELECT {what} FROM {from}")).await;
            let (last, bench) = (of(&format!("MAX({column})"), table).await, format!("bench_{table}"));
            let least = of(&format!("MIN({column})"), &bench).await;
            let many = of(&format!("MAX({column}) - MIN({column}) + 1"), &bench).await;
            return format!("{} + (c.n - {first}) * {many} + {own} - {least}", last + 1);
        }
        match column {
            "number" if NUMBERED.contains(&table) => format!("{own} + c.n"),
            "chain" => self.random_hash().to_owned(),
            _ if is_text => {
                let texts = format!("SELECT COALESCE(\"{column}\", '') FROM bench_{table}");
                let texts: Vec<String> =
                    rows_of(self.db, &texts).await.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
                let replaced = self.replacements(&texts.join("\n")).into_iter();
                replaced.fold(own, |value, (text, by)| format!("replace({value}, '{text}', {by})"))
            }
            _ => own,
        }
    }

    /// Returns the parts of a text to replace in copies, each with the SQL expression of its replacement.
    fn replacements(&self, text: &str) -> BTreeMap<String, String> {
        let tails: Vec<&str> = text.char_indices().map(|(at, _)| &text[at..]).collect();
        let ids = tails.iter().filter_map(|tail| Some((tail.get(..13)?, id_ms(tail)?)));
        let ids: BTreeSet<(&str, i64)> = ids.filter(|(_, ms)| *ms >= self.begin_ms).collect();
        let moments = tails.iter().filter_map(|tail| Some((tail.get(..24)?, moment_ms(tail)?)));
        let moments: BTreeSet<(&str, i64)> = moments.filter(|(_, ms)| *ms >= self.begin_ms).collect();
        let moved = |ms: i64| format!("c.moment + {}", ms - self.begin_ms);
        let ids = ids.into_iter().map(|(id, ms)| (id.to_owned(), self.id_head(&moved(ms))));
        let moments = moments.into_iter().map(|(moment, ms)| (moment.to_owned(), self.iso(&moved(ms))));
        let (number, job_number) = (self.number, self.job_number);
        let numbers = [
            // Shipments and attempts have numbers as well.
            (
                format!("\"number\":{number},\"revision\""),
                format!("'\"number\":' || ({number} + c.n) || ',\"revision\"'"),
            ),
            (
                format!("\"number\":{job_number},\"version\""),
                format!("'\"number\":' || ({job_number} + c.n) || ',\"version\"'"),
            ),
            (format!("\"orderNumber\":{number},"), format!("'\"orderNumber\":' || ({number} + c.n) || ','")),
            (format!("ORD-{number:06}"), format!("'ORD-' || {}", self.six_digits(&format!("{number} + c.n")))),
            (TEMPLATE_EMAIL.to_owned(), format!("'buyer' || (c.n % {MAIL_BOXES}) || '@example.org'")),
        ];
        let numbers = numbers.into_iter().filter(|(part, _)| text.contains(part));
        ids.chain(moments).chain(numbers).collect()
    }

    /// Returns the expression for the beginning of a version-7 UUID, which is a time in milliseconds.
    fn id_head(&self, ms: &str) -> String {
        let hex = match self.kind {
            Kind::Sqlite => format!("printf('%012x', {ms})"),
            Kind::Postgres => format!("lpad(to_hex({ms}), 12, '0')"),
        };
        format!("substr({hex}, 1, 8) || '-' || substr({hex}, 9, 4)")
    }

    /// Returns the expression for a time in the format of the JSON documents.
    fn iso(&self, ms: &str) -> String {
        match self.kind {
            Kind::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%fZ', ({ms}) / 1000.0, 'unixepoch')"),
            Kind::Postgres => {
                let time = format!("to_timestamp(({ms}) / 1000.0) AT TIME ZONE 'UTC'");
                format!("to_char({time}, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')")
            }
        }
    }

    /// Returns the expression for a number with at least six digits.
    fn six_digits(&self, number: &str) -> String {
        match self.kind {
            Kind::Sqlite => format!("printf('%06d', {number})"),
            Kind::Postgres => {
                let text = format!("CAST({number} AS TEXT)");
                format!("lpad({text}, GREATEST(6, length({text})), '0')")
            }
        }
    }

    fn random_hash(&self) -> &'static str {
        match self.kind {
            Kind::Sqlite => "lower(hex(randomblob(32)))",
            Kind::Postgres => "encode(sha256(convert_to(CAST(random() AS TEXT), 'UTF8')), 'hex')",
        }
    }

    async fn run(&self, sql: &str) {
        self.db.execute_unprepared(sql).await.unwrap();
    }
}

/// Returns the time in a version-7 UUID at the beginning of a text, in milliseconds.
fn id_ms(text: &str) -> Option<i64> {
    if text.get(8..9)? != "-" || text.get(13..15)? != "-7" {
        return None;
    }
    i64::from_str_radix(&[text.get(..8)?, text.get(9..13)?].concat(), 16).ok()
}

/// Parses the time at the beginning of a text, in the format of the JSON documents; returns it in milliseconds.
fn moment_ms(text: &str) -> Option<i64> {
    let moment = text.get(..24).filter(|moment| moment.get(10..11) == Some("T") && moment.ends_with('Z'))?;
    moment.parse::<Timestamp>().ok().map(|at| at.0)
}

async fn number(db: &DatabaseConnection, sql: &str) -> i64 {
    rows_of(db, sql).await[0].try_get_by_index(0).unwrap()
}

async fn text(db: &DatabaseConnection, sql: &str) -> String {
    rows_of(db, sql).await[0].try_get_by_index(0).unwrap()
}
