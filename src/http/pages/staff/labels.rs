//! Labels with a QR code for printers, spools and bins. Scanning a label opens the labelled item's page, after signing
//! in if necessary; one tap on that page performs the next action, such as confirming that the bed is clear or that the
//! spool is loaded.

mod choose;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::{IntoResponse as _, Response};
use url::{Host, Url, form_urlencoded};

use super::FLOOR_PATH;
use super::stock::{SpoolFacts, StockHandles, bin_path, materials_by_name, spool_path};
use actors::app::documents::InvoiceDocuments;
use config::Config;
use documents::labels::{Label, LabelPaper, MAX_LABELS};
use domain::id::Id;
use domain::material::Material;
use domain::printer::Printer;
use domain::refusal::Refusal;
use domain::spool::{MAX_NEW_SPOOLS, new_number};
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::printers::present_all;
use words::Language;
use words::staff::labels as texts;

/// Path of the page for choosing labels.
pub(super) const PATH: &str = "/shop/labels";
/// Path of the PDF with the labels.
const PDF_PATH: &str = "/shop/labels/pdf";
/// Value of the paper field that selects sheets; with any other value, each label is printed on a separate page.
const SHEET_WORD: &str = "a4";
/// Maximum number of query parameters read.
const MAX_MEMBERS: usize = MAX_LABELS + 10;
/// Maximum number of materials listed on a bin's label.
const MAX_NAMED: usize = 3;
/// Maximum length of a bin's name, in characters, the same as for a material's location. The length is limited because
/// the QR code contains the bin's URL.
const MAX_NAME_CHARS: usize = 100;

handles! {
    /// Dependencies of the label pages.
    pub(crate) struct LabelHandles {
        stock: StockHandles,
        documents: Arc<InvoiceDocuments>,
    }
}

/// Adds the routes of the label pages.
pub(super) fn routes(routes: Routes) -> Routes {
    let (session, form) = (RequiredAccess::Session, PageBounds::Form);
    routes.page(Method::GET, session, PATH, choose::show, form).page(Method::GET, session, PDF_PATH, pdf, form)
}

/// Returns the path of a printer's label.
pub(super) fn printer_label_path(printer: Id) -> String {
    format!("{PDF_PATH}?printer={printer}")
}

/// Returns the path of a spool's label. The path includes the material, because the number alone may not identify the
/// spool's material.
pub(super) fn spool_label_path(number: i64, material: Option<Id>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("spool", &number.to_string());
    if let Some(material) = material {
        query.append_pair("material", &material.to_string());
    }
    format!("{PDF_PATH}?{}", query.finish())
}

/// Returns the path of a bin's label.
pub(super) fn bin_label_path(name: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("bin", name).finish();
    format!("{PDF_PATH}?{query}")
}

/// Labels requested by a query. Unknown values are ignored.
#[derive(Default, PartialEq, Eq, Debug)]
struct RequestedLabels {
    printers: Vec<Id>,
    /// Spool numbers.
    spools: Vec<i64>,
    bins: Vec<String>,
    /// Number of labels for new spools of the material.
    new_spools: u8,
    material: Option<Id>,
    sheet: bool,
}

impl RequestedLabels {
    fn read(query: &str) -> Self {
        let mut requested = Self::default();
        for (name, text) in form_urlencoded::parse(query.as_bytes()).take(MAX_MEMBERS) {
            match &*name {
                "printer" => requested.printers.extend(text.parse::<Id>()),
                "spool" => requested.spools.extend(text.parse::<i64>().ok().filter(|number| *number > 0)),
                "bin" if !text.trim().is_empty() && text.chars().count() <= MAX_NAME_CHARS => {
                    requested.bins.push(text.into_owned());
                }
                "new" => requested.new_spools = text.parse::<u8>().unwrap_or_default().min(MAX_NEW_SPOOLS),
                "material" => requested.material = text.parse::<Id>().ok(),
                "size" => requested.sheet = text == SHEET_WORD,
                _ => {}
            }
        }
        requested
    }
}

/// Serves the PDF of the requested labels.
async fn pdf(
    State(app): State<LabelHandles>,
    who: Caller,
    uri: Uri,
    request_headers: HeaderMap,
) -> Result<Response, ApiError> {
    let requested = RequestedLabels::read(uri.query().unwrap_or_default());
    let mut labels = printer_labels(&app, &requested.printers);
    labels.extend(spool_labels(who.language, &app, &requested));
    labels.extend(new_spool_labels(who.language, &app, &requested)?);
    labels.extend(bin_labels(&app, &requested.bins));
    if labels.is_empty() {
        return Err(Refusal::field("labels", "choose at least one printer, spool or bin").into());
    }
    let base = base_of(&app.stock.config, &request_headers);
    labels.iter_mut().for_each(|label| label.url.insert_str(0, &base));
    let paper = if requested.sheet { LabelPaper::Sheet } else { LabelPaper::Roll };
    let pdf = app.documents.labels(labels, paper).await?;
    let headers =
        [(header::CONTENT_TYPE, "application/pdf"), (header::CONTENT_DISPOSITION, "inline; filename=\"labels.pdf\"")];
    Ok((headers, pdf).into_response())
}

/// Returns the base URL for QR codes: the configured public URL or, if there is none, the host of the current request.
/// The listen address is the last resort, because other devices often cannot reach it.
fn base_of(config: &Config, request_headers: &HeaderMap) -> String {
    let host = request_headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .filter(|_| config.server.public_url.is_empty());
    let reached = host.map(|host| format!("http://{host}")).filter(|base| Url::parse(base).is_ok());
    reached.unwrap_or_else(|| config.public_url())
}

/// Returns whether a base URL points to the server's own machine, so that a phone cannot open it.
fn is_here_alone(base: &str) -> bool {
    match Url::parse(base).ok().as_ref().and_then(Url::host) {
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

fn printer_labels(app: &LabelHandles, ids: &[Id]) -> Vec<Label> {
    let residents = present_all(&app.stock.board.shop);
    let printers: BTreeMap<Id, &Printer> = residents
        .iter()
        .filter_map(|versioned| versioned.state.as_ref())
        .map(|printer| (printer.id, printer))
        .collect();
    let label = |printer: &&Printer| {
        let fields = &printer.fields;
        Label {
            name: fields.name.clone(),
            words: [fields.model.clone(), fields.location.clone()].into_iter().flatten().collect(),
            url: format!("{FLOOR_PATH}/printers/{}", printer.id),
        }
    };
    ids.iter().filter_map(|id| printers.get(id)).map(label).collect()
}

/// Builds a spool's label. Its URL is only a path, to which the base URL is prepended later.
fn spool_label(number: i64, title: String, material: Option<&Material>) -> Label {
    let url = spool_path(number, material.map(|material| material.id));
    let Some(fields) = material.map(|material| &material.fields) else {
        return Label { name: title, words: Vec::new(), url };
    };
    let more = [fields.brand.clone(), fields.variant.clone()].into_iter().flatten();
    Label { name: fields.name.clone(), words: [title].into_iter().chain(more).collect(), url }
}

fn spool_labels(language: Language, app: &LabelHandles, requested: &RequestedLabels) -> Vec<Label> {
    let label = |number: &i64| {
        let facts = SpoolFacts::find(&app.stock, *number, requested.material);
        spool_label(*number, texts::spool(language, &number.to_string()), facts.material.as_ref())
    };
    requested.spools.iter().map(label).collect()
}

/// Builds labels for newly arrived spools. Fails with `spools_counted_elsewhere` if an external system manages the
/// spools, because that system assigns the numbers, and labels are printed only for its spools.
fn new_spool_labels(
    language: Language,
    app: &LabelHandles,
    requested: &RequestedLabels,
) -> Result<Vec<Label>, ApiError> {
    if requested.new_spools == 0 {
        return Ok(Vec::new());
    }
    if !app.stock.config.spools.url.is_empty() {
        let words = "spool numbers come from the spool system; add the spool there, then print its label";
        return Err(ApiError::conflict("spools_counted_elsewhere", words));
    }
    let residents = materials_by_name(&app.stock);
    let mut materials = residents.iter().filter_map(|versioned| versioned.state.as_ref());
    let material = materials.find(|material| Some(material.id) == requested.material);
    let material = material.ok_or_else(|| Refusal::field("material", "choose the material of the spools"))?;
    let now = app.stock.board.shop.environment.now();
    let label = |nth: u8| {
        let number = new_number(now, nth);
        spool_label(number, texts::spool(language, &number.to_string()), Some(material))
    };
    Ok((1..=requested.new_spools).map(label).collect())
}

fn bin_labels(app: &LabelHandles, bins: &[String]) -> Vec<Label> {
    let residents = materials_by_name(&app.stock);
    let inside = |bin: &str| -> Vec<String> {
        let materials = residents.iter().filter_map(|versioned| versioned.state.as_ref());
        let contents = materials.filter(|material| material.fields.location.as_deref() == Some(bin));
        contents.take(MAX_NAMED).map(|material| material.fields.name.clone()).collect()
    };
    bins.iter().map(|bin| Label { name: bin.clone(), words: inside(bin), url: bin_path(bin) }).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn codes_begin_with_the_address_by_which_the_server_is_reached() {
        let mut config = Config::default();
        config.server.listen = "0.0.0.0:8787".parse().unwrap();
        let by = |config: &Config, host: &str| {
            base_of(config, &[(header::HOST, host.parse().unwrap())].into_iter().collect())
        };
        assert_eq!(by(&config, "192.168.1.5:8787"), "http://192.168.1.5:8787");
        assert_eq!(by(&config, "shop.lan"), "http://shop.lan");
        assert_eq!(by(&config, "no host"), "http://0.0.0.0:8787");
        config.server.public_url = "https://print.example".to_owned();
        assert_eq!(by(&config, "192.168.1.5:8787"), "https://print.example");
    }

    #[test]
    fn addresses_of_this_machine_alone_are_told() {
        for alone in ["http://127.0.0.1:8787", "http://0.0.0.0:8787", "http://[::1]:8787", "http://localhost"] {
            assert!(is_here_alone(alone), "{alone}");
        }
        assert!(!is_here_alone("http://192.168.1.5:8787") && !is_here_alone("https://print.example"));
    }

    #[test]
    fn a_query_asks_for_many_labels_and_what_means_nothing_for_none() {
        let id: Id = domain::testing::id(7);
        let query = format!(
            "printer={id}&printer=x&spool=12&spool=-1&spool=x&bin=Shelf+A3%2F4&bin=+&new=900&size=a4&material={id}&other=1"
        );
        let actual = RequestedLabels::read(&query);
        let expected = RequestedLabels {
            printers: vec![id],
            spools: vec![12],
            bins: vec!["Shelf A3/4".to_owned()],
            new_spools: 0,
            material: Some(id),
            sheet: true,
        };
        assert_eq!(actual, expected);
        assert_eq!(RequestedLabels::read("new=51").new_spools, MAX_NEW_SPOOLS);
        assert_eq!(RequestedLabels::read(""), RequestedLabels::default());
        let many = "spool=1&".repeat(MAX_MEMBERS * 2);
        assert_eq!(RequestedLabels::read(&many).spools.len(), MAX_MEMBERS);
        assert_eq!(
            RequestedLabels::read(spool_label_path(5, Some(id)).split_once('?').map_or("", |(_, query)| query)).spools,
            [5]
        );
        assert_eq!(bin_label_path("A & B"), "/shop/labels/pdf?bin=A+%26+B");
    }
}
