//! Import of orders from a file. The file is streamed, each order is accepted as soon as its rows are complete, and
//! every error is reported with its row.

use std::collections::BTreeSet;

use api_derive::{Request, Response};
use axum::extract::multipart::MultipartError;
use axum::extract::{self, FromRequest as _, Multipart, State};
use axum::http::{StatusCode, header};
use futures::StreamExt as _;
use serde::Serialize;
use serde_json::json;

use super::ChannelHandles;
use super::receive::hear;
use domain::channel_order::ShopOrderUpdate;
use domain::refusal::Refusal;
use domain::sales_channel::SalesChannel;
use http::access::{Caller, still};
use http::bodies::silent;
use http::command_request::{CommandRequest, find_present};
use http::error::ApiError;
use http::page::Query;
use http::part_heads::PartHeads;
use http::path_id::PathId;
use http::reply::Plain;
use kernel::envelope::CommandOrigin;
use services::sales_channels::{RowFault, TableOrder, TableReader};

/// Maximum number of errors listed in a response; additional errors are only counted.
const MAX_FAULTS_TOLD: usize = 100;
/// Maximum number of unmapped variants that are listed in a response.
const MAX_MISSING_TOLD: usize = 100;

pub(super) const ABOUT: &str = "The body is the file itself, as `text/csv` or as the field `file` of a form. Its first \
                                row names the columns: `order`, `variant`, `quantity` and `unit_price` are required; \
                                `tax_rate` (per cent), `title`, `currency`, `shipping`, `total`, `email`, `name`, \
                                `line1`, `line2`, `city`, `region`, `postal_code` and `country` are optional; others \
                                are ignored. Prices exclude tax. The rows of an order must be adjacent; values for the \
                                whole order are read from its first row. Orders with errors are skipped, and the \
                                others are imported; an order that was imported before is not imported again.";
pub(super) const EXAMPLE: &str = "order,variant,quantity,unit_price,email\r\nF-17,VASE-G,2,12.50,ann@example.org\r\n";

/// Options for importing a file.
#[derive(Request, Debug)]
pub struct ImportQuery {
    /// `true` to validate the file without importing any orders.
    #[api(default = false)]
    dry_run: bool,
}

/// Error in a row of the file.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ImportFault", example = json!({"row": 3, "column": "quantity", "message": "must be a whole number of at least 1"}))]
struct ImportFault {
    /// Row number, starting at 1 for the header row.
    row: u32,
    /// Name of the column; empty if the error affects the whole row.
    column: String,
    /// Human-readable error message.
    message: String,
}

/// Result of importing a file.
#[derive(Response, Serialize, Default)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderImport", example = json!({
    "dryRun": false, "orders": 2, "taken": 1, "known": 0, "faulty": 1,
    "faults": [{"row": 3, "column": "quantity", "message": "must be a whole number of at least 1"}], "moreFaults": 0,
    "unmapped": ["VASE-R"], "complete": true,
}))]
pub(super) struct ImportView {
    /// `true` for a dry run, which imports nothing.
    dry_run: bool,
    /// Number of orders in the file.
    orders: u32,
    /// Number of new orders or, for a dry run, of orders without errors.
    #[serde(rename = "taken")]
    new_orders: u32,
    /// Number of orders that were already imported.
    #[serde(rename = "known")]
    existing: u32,
    /// Number of orders with errors.
    faulty: u32,
    /// First errors, in row order.
    faults: Vec<ImportFault>,
    /// Number of errors not listed.
    more_faults: u32,
    /// Variants that are not mapped to a SKU; orders that contain them are on hold.
    unmapped: Vec<String>,
    /// `true` if the whole file was read; an error in the file itself stops the import.
    complete: bool,
}

/// Import in progress.
struct Import<'a> {
    app: &'a ChannelHandles,
    who: Caller,
    origin: CommandOrigin,
    channel: SalesChannel,
    reader: TableReader,
    report: ImportView,
    unmapped: BTreeSet<String>,
}

impl Import<'_> {
    /// Processes the next chunk of the file. Returns `false` if the rest of the file cannot be read.
    async fn take(&mut self, piece: &[u8]) -> Result<bool, ApiError> {
        match self.reader.push(piece) {
            Ok(done) => {
                self.add(done).await?;
                Ok(true)
            }
            Err(fault) => {
                self.fault(fault);
                Ok(false)
            }
        }
    }

    async fn add(&mut self, orders: Vec<TableOrder>) -> Result<(), ApiError> {
        // Also if no order is complete yet, so that the rest of the file is not waited for in vain.
        self.check_caller()?;
        for order in orders {
            self.report.orders += 1;
            match order {
                Ok(news) => self.one(news).await?,
                Err(faults) => {
                    self.report.faulty += 1;
                    faults.into_iter().for_each(|fault| self.fault(fault));
                }
            }
        }
        Ok(())
    }

    /// Rejects the rest of the file if the key or session has ended, or the role has changed, while the file came.
    fn check_caller(&self) -> Result<(), ApiError> {
        if still(&self.app.access, &self.who) {
            Ok(())
        } else {
            Err(ApiError::unauthorized("the API key or session is no longer valid"))
        }
    }

    async fn one(&mut self, news: ShopOrderUpdate) -> Result<(), ApiError> {
        self.check_caller()?;
        for line in news.content.iter().flat_map(|content| &content.lines) {
            let is_mapped = self.channel.mapped(line).is_some();
            if !is_mapped && self.unmapped.len() < MAX_MISSING_TOLD {
                self.unmapped.insert(line.primary_name());
            }
        }
        let fresh = self.report.dry_run || hear(self.app, self.origin.clone(), self.channel.id, news).await?;
        *if fresh { &mut self.report.new_orders } else { &mut self.report.existing } += 1;
        Ok(())
    }

    fn fault(&mut self, fault: RowFault) {
        let RowFault { row, column, message } = fault;
        if self.report.faults.len() < MAX_FAULTS_TOLD {
            self.report.faults.push(ImportFault { row, column, message });
        } else {
            self.report.more_faults += 1;
        }
    }

    async fn finish(mut self, readable: bool) -> Result<ImportView, ApiError> {
        if readable {
            let reader = std::mem::replace(&mut self.reader, TableReader::new("", self.app.environment.now()));
            match reader.finish() {
                Ok(done) => {
                    self.add(done).await?;
                    self.report.complete = true;
                }
                Err(fault) => self.fault(fault),
            }
        }
        if let (false, 0, Some(fault)) = (self.report.complete, self.report.orders, self.report.faults.first()) {
            let path = if fault.column.is_empty() { "file" } else { &fault.column };
            return Err(Refusal::field(path, fault.message.clone()).into());
        }
        self.report.unmapped = self.unmapped.into_iter().collect();
        Ok(self.report)
    }
}

/// Handles `POST /api/sales-channels/{id}/import`: imports orders from a file.
pub(super) async fn import(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    Query(query): Query<ImportQuery>,
    who: Caller,
    request: extract::Request,
) -> Result<Plain<ImportView>, ApiError> {
    let (_, channel) = find_present(&app.channels, id).await?;
    let (parts, body) = request.into_parts();
    let call = CommandRequest::without_body(&app.request, who, &parts)?;
    let media = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let report = ImportView { dry_run: query.dry_run, ..ImportView::default() };
    let reader = TableReader::new(&channel.currency, app.environment.now());
    let (origin, who, unmapped) = (call.origin(), call.who, BTreeSet::new());
    let mut import = Import { app: &app, who, origin, channel, reader, report, unmapped };
    let limit = app.config.server.upload_max_bytes;
    let (mut readable, mut read) = (true, 0u64);
    match media.as_str() {
        "text/csv" => {
            let mut pieces = body.into_data_stream();
            while let (true, Some(piece)) = (readable, pieces.next().await) {
                let piece = piece.map_err(|error| broken(&error))?;
                read += piece.len() as u64;
                within(read, limit)?;
                readable = import.take(&piece).await?;
            }
        }
        "multipart/form-data" => {
            let heads = PartHeads::default();
            let request = extract::Request::from_parts(parts, heads.bounded(body));
            let mut form = Multipart::from_request(request, &app).await.map_err(|_| unsupported())?;
            let mut file = heads.reading(form.next_field()).await.map_err(|error| malformed(&error))?;
            let Some(file) = file.as_mut().filter(|field| field.name() == Some("file")) else {
                return Err(Refusal::field("file", "is required, as the first field").into());
            };
            while let (true, Some(piece)) = (readable, file.chunk().await.map_err(|error| malformed(&error))?) {
                read += piece.len() as u64;
                within(read, limit)?;
                readable = import.take(&piece).await?;
            }
        }
        _ => return Err(unsupported()),
    }
    import.finish(readable).await.map(Plain)
}

fn within(read: u64, limit: u64) -> Result<(), ApiError> {
    if read > limit { Err(ApiError::too_large(limit)) } else { Ok(()) }
}

fn unsupported() -> ApiError {
    let message = "the body must be text/csv, or multipart/form-data with a field `file`";
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
}

fn malformed(error: &MultipartError) -> ApiError {
    silent(error).unwrap_or_else(|| ApiError::bad_request("malformed_multipart", error.body_text()))
}

fn broken(error: &axum::Error) -> ApiError {
    silent(error).unwrap_or_else(|| ApiError::bad_request("incomplete_body", "the body is incomplete"))
}
