//! Orders in a file of comma-separated values: one row per order line, with all rows of an order adjacent. Values that
//! apply to the whole order are in its first row.
//!
//! The file is parsed as a stream: only the current order and the numbers of earlier ones are held in memory.

use std::collections::BTreeSet;

use csv_core::{ReadRecordResult, Reader};

use super::ChannelType;
use super::values::one_line;
use domain::access::normal_email;
use domain::address::{Address, NO_POSTAL_CODE};
use domain::bounds::MAX_QUANTITY;
use domain::channel_order::{MAX_SOLD_LINES, ShopOrderUpdate, SoldContent, SoldLine};
use domain::currency;
use domain::invoice::{InvoiceLine, Sums};
use domain::time::Timestamp;

pub(super) const TYPE: ChannelType = ChannelType { word: "csv", messages: None, connect: None };

/// Columns that a file may have, in any order; the first four are required.
pub const COLUMNS: [&str; 17] = [
    "order",
    "variant",
    "quantity",
    "unit_price",
    "tax_rate",
    "title",
    "currency",
    "shipping",
    "total",
    "email",
    "name",
    "line1",
    "line2",
    "city",
    "region",
    "postal_code",
    "country",
];
/// Number of leading columns in [`COLUMNS`] that are required.
const REQUIRED_COLUMNS: usize = 4;
/// Maximum size of one row in bytes.
const MAX_ROW_BYTES: usize = 16 * 1024;
/// Maximum number of fields per row.
const MAX_FIELDS: usize = 64;
/// Maximum number of rows per file.
const MAX_ROWS: u32 = 50_000;

/// Problem in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowFault {
    /// Row number, counted from 1 for the header.
    pub row: u32,
    /// Column name; empty if the problem affects the whole row.
    pub column: String,
    /// Human-readable description that continues the column name.
    pub message: String,
}

/// An order from the file, or all the problems found in it.
pub type TableOrder = Result<ShopOrderUpdate, Vec<RowFault>>;

/// Values of one row, by column; empty values are omitted.
#[derive(Clone, Default)]
struct SheetRow {
    number: u32,
    cells: Vec<String>,
}

impl SheetRow {
    fn cell(&self, column: &str) -> Option<&str> {
        let at = COLUMNS.iter().position(|name| *name == column)?;
        self.cells.get(at).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Returns the amount of money in a column, if any. The error means that the amount is invalid.
    fn money(&self, column: &str, currency: &str) -> Result<Option<i64>, ()> {
        match self.cell(column) {
            None => Ok(None),
            Some(text) => currency::parse(text, currency).filter(|cents| *cents >= 0).map(Some).ok_or(()),
        }
    }

    fn fault(&self, column: &str, message: &str) -> RowFault {
        RowFault { row: self.number, column: column.to_owned(), message: message.to_owned() }
    }

    /// Builds an order line from a row; `None` if the row has problems, which are added to `faults`.
    fn line(&self, line_id: usize, currency: &str, faults: &mut Vec<RowFault>) -> Option<SoldLine> {
        let variant = self.cell("variant");
        let quantity = self.cell("quantity").and_then(|text| text.parse().ok());
        let quantity = quantity.filter(|quantity| (1..=MAX_QUANTITY).contains(quantity));
        let price = self.money("unit_price", currency).ok().flatten();
        let rate = self.cell("tax_rate").map_or(Some(0.0), |text| text.parse::<f64>().ok());
        let rate = rate.filter(|rate| (0.0..=100.0).contains(rate));
        if variant.is_none() {
            faults.push(self.fault("variant", "is required"));
        }
        if quantity.is_none() {
            faults.push(self.fault("quantity", "must be a whole number of at least 1"));
        }
        if price.is_none() {
            faults.push(self.fault("unit_price", "must be an amount such as 12.50"));
        }
        if rate.is_none() {
            faults.push(self.fault("tax_rate", "must be a percentage from 0 to 100"));
        }
        let (variant, rate) = (variant?, rate?);
        Some(SoldLine {
            line_id: line_id.to_string(),
            variant: Some(variant.to_owned()),
            code: None,
            title: self.cell("title").unwrap_or(variant).to_owned(),
            quantity: quantity?,
            unit_price_cents: price?,
            tax_rate_bps: (rate * 100.0).round() as i64,
        })
    }
}

/// Incremental parser for a file of orders.
pub struct TableReader {
    core: Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// Number of bytes and number of fields read from the current row.
    filled: (usize, usize),
    rows: u32,
    /// Index in [`COLUMNS`] for each field of a row; `None` for an ignored field.
    head: Option<Vec<Option<usize>>>,
    /// Rows of the current order.
    order: Vec<SheetRow>,
    seen_ids: BTreeSet<String>,
    currency: String,
    now: Timestamp,
}

impl TableReader {
    /// Creates a parser. `currency` applies to orders that do not specify one; `now` is recorded as the time of the
    /// orders' last change.
    pub fn new(currency: &str, now: Timestamp) -> Self {
        Self {
            core: Reader::new(),
            fields: vec![0; MAX_ROW_BYTES],
            ends: vec![0; MAX_FIELDS],
            filled: (0, 0),
            rows: 0,
            head: None,
            order: Vec::new(),
            seen_ids: BTreeSet::new(),
            currency: currency.to_owned(),
            now,
        }
    }

    /// Parses the next chunk and returns the orders completed by it; a problem with the file as a whole stops the
    /// parser.
    pub fn push(&mut self, mut piece: &[u8]) -> Result<Vec<TableOrder>, RowFault> {
        let mut done = Vec::new();
        while !piece.is_empty() {
            piece = &piece[self.step(piece, &mut done)?..];
        }
        Ok(done)
    }

    /// Returns the remaining orders once the file has ended.
    pub fn finish(mut self) -> Result<Vec<TableOrder>, RowFault> {
        let mut done = Vec::new();
        // The last row may lack its line break.
        self.step(&[], &mut done)?;
        if self.head.is_none() {
            return Err(self.fault("the file is empty; its first row must name the columns"));
        }
        done.extend(self.complete());
        Ok(done)
    }

    fn fault(&self, message: impl Into<String>) -> RowFault {
        RowFault { row: self.rows.max(1), column: String::new(), message: message.into() }
    }

    /// Parses up to the end of a row; returns the number of bytes consumed.
    fn step(&mut self, piece: &[u8], done: &mut Vec<TableOrder>) -> Result<usize, RowFault> {
        let (bytes, fields) = self.filled;
        let (result, read, wrote, ended) =
            self.core.read_record(piece, &mut self.fields[bytes..], &mut self.ends[fields..]);
        self.filled = (bytes + wrote, fields + ended);
        match result {
            ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                self.rows += 1;
                return Err(self.fault(format!("the row is longer than {MAX_ROW_BYTES} bytes or {MAX_FIELDS} fields")));
            }
            ReadRecordResult::Record => {
                self.rows += 1;
                if self.rows > MAX_ROWS {
                    return Err(
                        self.fault(format!("the file has more than {MAX_ROWS} rows; split it into several files"))
                    );
                }
                let fields = self.row()?;
                self.filled = (0, 0);
                self.take(fields, done)?;
            }
        }
        Ok(read)
    }

    fn row(&self) -> Result<Vec<String>, RowFault> {
        let mut start = 0;
        let mut all = Vec::with_capacity(self.filled.1);
        for end in &self.ends[..self.filled.1] {
            let text = std::str::from_utf8(&self.fields[start..*end]);
            all.push(one_line(text.map_err(|_| self.fault("the row is not valid UTF-8"))?));
            start = *end;
        }
        Ok(all)
    }

    fn take(&mut self, fields: Vec<String>, done: &mut Vec<TableOrder>) -> Result<(), RowFault> {
        let Some(head) = &self.head else {
            let named: Vec<Option<usize>> = fields
                .iter()
                .map(|name| name.trim_start_matches('\u{feff}').trim().to_lowercase())
                .map(|name| COLUMNS.iter().position(|column| *column == name))
                .collect();
            for (at, column) in COLUMNS.iter().enumerate() {
                let times = named.iter().filter(|named| **named == Some(at)).count();
                if times > 1 || (times == 0 && at < REQUIRED_COLUMNS) {
                    let words = if times > 1 { "appears twice" } else { "is missing in the first row" };
                    return Err(RowFault { row: 1, column: (*column).to_owned(), message: words.to_owned() });
                }
            }
            self.head = Some(named);
            return Ok(());
        };
        let mut row = SheetRow { number: self.rows, cells: vec![String::new(); COLUMNS.len()] };
        for (text, column) in fields.into_iter().zip(head) {
            if let Some(column) = column {
                row.cells[*column] = text;
            }
        }
        let same = |first: &SheetRow| first.cell("order") == row.cell("order");
        if self.order.first().is_some_and(|first| !same(first)) {
            done.extend(self.complete());
        }
        self.order.push(row);
        if self.order.len() > MAX_SOLD_LINES {
            return Err(self.fault(format!("an order has more than {MAX_SOLD_LINES} rows")));
        }
        Ok(())
    }

    /// Builds the order from its rows, which are complete.
    fn complete(&mut self) -> Option<TableOrder> {
        let rows = std::mem::take(&mut self.order);
        let first = rows.first()?;
        let mut faults = Vec::new();
        let number = first.cell("order").unwrap_or_default().to_owned();
        if number.is_empty() {
            faults.push(first.fault("order", "is required"));
        } else if !self.seen_ids.insert(number.clone()) {
            faults.push(first.fault("order", "appears again: the rows of an order must be next to each other"));
        }
        let currency = first.cell("currency").map_or_else(|| self.currency.clone(), str::to_lowercase);
        if currency.len() != 3 {
            faults.push(first.fault("currency", "must be an ISO 4217 code"));
        }
        let numbered = rows.iter().zip(1..);
        let lines: Vec<SoldLine> = numbered.filter_map(|(row, id)| row.line(id, &currency, &mut faults)).collect();
        let [shipping, total] = ["shipping", "total"].map(|column| {
            first.money(column, &currency).unwrap_or_else(|()| {
                faults.push(first.fault(column, "must be an amount such as 12.50"));
                None
            })
        });
        let email = first.cell("email").map(normal_email).transpose().unwrap_or_else(|_| {
            faults.push(first.fault("email", "must be an email address"));
            None
        });
        let address = address(first).unwrap_or_else(|column| {
            faults.push(first.fault(column, "is required for an address; country must be a two-letter code"));
            None
        });
        let shipping_tax_rate_bps = lines.iter().map(|line| line.tax_rate_bps).max().unwrap_or(0);
        let total_cents = total.or_else(|| sum(&lines, shipping.unwrap_or(0), shipping_tax_rate_bps));
        if total_cents.is_none() && faults.is_empty() {
            faults.push(first.fault("total", "is too large"));
        }
        if !faults.is_empty() {
            return Some(Err(faults));
        }
        let content = SoldContent {
            lines,
            currency,
            taxes_included: false,
            shipping_cents: shipping.unwrap_or(0),
            shipping_tax_rate_bps,
            discount_cents: 0,
            total_cents: total_cents.unwrap_or(0),
            customer_email: email,
            address,
            recipient: first.cell("name").map(str::to_owned),
            notes: None,
        };
        Some(Ok(ShopOrderUpdate {
            external_id: number.clone(),
            number,
            changed_at: self.now,
            paid: true,
            cancelled: false,
            refunded_cents: 0,
            content: Some(content),
            unreadable: None,
        }))
    }
}

/// Returns the sum of the lines and the shipping, including tax; `None` if it is too large.
fn sum(lines: &[SoldLine], shipping_cents: i64, shipping_bps: i64) -> Option<i64> {
    let priced: Vec<InvoiceLine> = lines
        .iter()
        .map(|line| InvoiceLine {
            description: String::new(),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            tax_rate_bps: line.tax_rate_bps,
        })
        .collect();
    Sums::of(&priced, (shipping_cents, shipping_bps), 0).map(|sums| sums.total_cents)
}

/// Returns the address in a row; `None` if all its columns are empty. The error names a missing column.
fn address(row: &SheetRow) -> Result<Option<Address>, &'static str> {
    let parts = ["line1", "line2", "city", "region", "postal_code", "country"];
    if parts.iter().all(|part| row.cell(part).is_none()) {
        return Ok(None);
    }
    let [line1, line2, city, region, postal_code, country] = parts.map(|part| row.cell(part).map(str::to_owned));
    Ok(Some(Address {
        line1: line1.ok_or("line1")?,
        line2,
        city: city.ok_or("city")?,
        region,
        postal_code: postal_code.unwrap_or_else(|| NO_POSTAL_CODE.to_owned()),
        country: country.filter(|code| code.len() == 2).ok_or("country")?.to_uppercase(),
    }))
}
