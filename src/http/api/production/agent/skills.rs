//! Skills of the agent gateway. Each follows the same rules as the corresponding API operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{AgentCall, AgentReply};
use crate::production::printers::PrinterAct;
use crate::production::{jobs, orders, printers};
use ::printers::connections::PrinterConnection;
use domain::agent::Skill;
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::material::Material;
use domain::order::{JobCommand, Order, PrinterRecords};
use domain::printer::{DirectAction, Printer, PrinterCommand};
use domain::refusal::Refusal;
use domain::sign_off::Inspection;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use store::queries::{JobFilter, OrderFilter, Page};

const JOB: &[&str] = &["jobId", "job"];
const PRINTER: &[&str] = &["printerId", "printer"];
const ORDER: &[&str] = &["orderId", "order", "number"];
const MATERIAL: &[&str] = &["materialId", "material", "name"];
const FIRST: Page = Page { limit: 1, offset: 0 };

impl AgentCall {
    pub(super) async fn carry_out(&self, skill: Skill) -> Result<AgentReply, ApiError> {
        match skill {
            Skill::PausePrint => self.print(DirectAction::Pause).await,
            Skill::ResumePrint => self.print(DirectAction::Resume).await,
            Skill::CancelPrint => self.print(DirectAction::Cancel).await,
            Skill::EmergencyStop => self.emergency_stop().await,
            Skill::PrinterStatus => self.printer_status(),
            Skill::FarmStatus => self.farm_status().await,
            Skill::OrderStatus => self.order_status().await,
            Skill::StockLevel => self.stock_level(),
            Skill::LowStock => Ok(self.low_stock()),
            Skill::ReleaseJob => self.release_job().await,
            Skill::BedCleared => self.bed_cleared().await,
        }
    }

    /// Pauses, resumes or cancels the given job's print, or the given printer's current print.
    async fn print(&self, act: DirectAction) -> Result<AgentReply, ApiError> {
        if self.param(JOB).is_none() && self.param(PRINTER).is_some() {
            let printer = self.printer()?;
            let call = PrinterAct { printer: printer.id, origin: self.caller(), act, detail: None };
            let wire = |link: Arc<PrinterConnection>| async move {
                match act {
                    DirectAction::Resume => link.adapter.resume().await.map(|()| "resumed"),
                    DirectAction::Cancel => link.adapter.cancel().await.map(|()| "cancelled"),
                    _ => link.adapter.pause().await.map(|()| "paused"),
                }
            };
            let handles = &self.app.printer_handles;
            let verb = call.carry_out(&handles.printers, &handles.printer_connections, wire).await?;
            let message = format!("The print on {} has been {verb}.", printer.fields.name);
            return Ok(AgentReply { message, data: json!({"printerId": printer.id}) });
        }
        let job = self.job().await?;
        let number = job.number_text();
        let (job, message) = match act {
            DirectAction::Resume => {
                let job = jobs::operations::resume_print(&self.app.job_handles, job.id, self.caller()).await?;
                (job, format!("Asked the printer to resume {number}."))
            }
            DirectAction::Cancel => {
                let job = self
                    .ask_job(&job, JobCommand::Cancel { job: job.id, force: false, prints: PrinterRecords::new() })
                    .await?;
                let done = job.state == JobState::Cancelled;
                let message = if done { "is cancelled." } else { "will be cancelled as soon as its printer confirms." };
                (job, format!("{number} {message}"))
            }
            _ => {
                let job = jobs::operations::pause_print(&self.app.job_handles, job.id, self.caller()).await?;
                (job, format!("Asked the printer to pause {number}."))
            }
        };
        Ok(AgentReply { message, data: to_json(&jobs::JobView::new(&self.app.job_handles, &job))? })
    }

    async fn emergency_stop(&self) -> Result<AgentReply, ApiError> {
        let printer = match (self.param(PRINTER), self.param(JOB)) {
            (None, Some(_)) => {
                let job = self.job().await?;
                let nowhere = || ApiError::conflict("not_on_printer", "the job is not on a printer");
                self.printer_of(job.printer_id.ok_or_else(nowhere)?)?
            }
            _ => self.printer()?,
        };
        let recorded = printers::stop_now(&self.app.printer_handles, printer.id, &self.who).await?;
        let name = &printer.fields.name;
        let message = if printers::gentle(&self.app.printer_handles, printer.id) {
            format!("{name}: {}", printers::GENTLE)
        } else {
            format!("{name} has been stopped. It must be homed and cleared before the next print.")
        };
        Ok(AgentReply { message, data: json!({"printerId": printer.id, "recorded": recorded}) })
    }

    fn printer_status(&self) -> Result<AgentReply, ApiError> {
        let printer = self.printer()?;
        let status = json!(printers::StatusView::of(&self.app.printer_handles, &printer));
        let word = |name: &str| status[name].as_str().unwrap_or_default().to_owned();
        let on = matches!(word("state").as_str(), "printing" | "paused")
            .then(|| format!(", {:.0} % of {}", status["progress"].as_f64().unwrap_or(0.0), word("file")));
        let attention: Vec<&str> =
            status["attention"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let calls = (!attention.is_empty()).then(|| format!(" ({})", attention.join(", ").replace('_', " ")));
        let message = format!(
            "{} is {}{}{}.",
            printer.fields.name,
            word("state"),
            on.unwrap_or_default(),
            calls.unwrap_or_default()
        );
        Ok(AgentReply {
            message,
            data: json!({"printerId": printer.id, "name": printer.fields.name, "status": status}),
        })
    }

    async fn farm_status(&self) -> Result<AgentReply, ApiError> {
        let all = self.printers();
        let mut states = BTreeMap::<String, u64>::new();
        let mut rows = Vec::new();
        for printer in &all {
            let status = json!(printers::StatusView::of(&self.app.printer_handles, printer));
            *states.entry(status["state"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
            rows.push(json!({"printerId": printer.id, "name": printer.fields.name, "status": status}));
        }
        let waiting: u64 = {
            use JobState as S;
            let counts = self.app.queries.jobs_by_state().await?;
            let waits = |state: &S| matches!(state, S::Created | S::Validated | S::AwaitingManualReview | S::Sliced);
            counts.iter().filter(|(state, _)| waits(state)).map(|(_, count)| count).sum()
        };
        let words: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
        let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        let message = format!("{} printers: {words}. {waiting} jobs are waiting.", all.len());
        Ok(AgentReply { message, data: json!({"printers": rows, "byState": states, "jobsWaiting": waiting}) })
    }

    async fn order_status(&self) -> Result<AgentReply, ApiError> {
        let (version, order) = self.order().await?;
        let total = order.jobs.size();
        let done = order.jobs.values().filter(|job| job.state == JobState::Completed).count();
        let message = format!("{} is {}; {done} of {total} jobs are done.", order.number_text(), order.status);
        Ok(AgentReply {
            message,
            data: to_json(&orders::OrderView::new(
                &order,
                &order.ledger.payments,
                version,
                orders::OrderReader::Staff,
            ))?,
        })
    }

    fn stock_level(&self) -> Result<AgentReply, ApiError> {
        let query = self.param(MATERIAL);
        let mut materials = self.materials();
        if let Some(query) = &query {
            let id: Option<Id> = query.parse().ok();
            let query = query.to_lowercase();
            materials.retain(|one| Some(one.id) == id || one.fields.name.to_lowercase().contains(&query));
            if materials.is_empty() {
                return Err(Refusal::not_found("material").into());
            }
        }
        Ok(stock("", &materials))
    }

    fn low_stock(&self) -> AgentReply {
        let mut low = self.materials();
        low.retain(|material| material.available() < material.fields.reorder_point);
        if low.is_empty() {
            return AgentReply {
                message: "No material is below its reorder point.".to_owned(),
                data: json!({"materials": []}),
            };
        }
        stock("Below the reorder point: ", &low)
    }

    async fn release_job(&self) -> Result<AgentReply, ApiError> {
        let job = self.job().await?;
        let job = self.ask_job(&job, jobs::operations::release_command(&self.app.job_handles, job.id).await?).await?;
        Ok(AgentReply {
            message: format!("{} is released.", job.number_text()),
            data: to_json(&jobs::JobView::new(&self.app.job_handles, &job))?,
        })
    }

    async fn bed_cleared(&self) -> Result<AgentReply, ApiError> {
        let printer = self.printer()?;
        self.app
            .printer_handles
            .printers
            .ask(printer.id, self.caller(), PrinterCommand::BedCleared(Inspection::default()))
            .await?;
        let message = format!("The bed of {} was confirmed as clear.", printer.fields.name);
        Ok(AgentReply { message, data: json!({"printerId": printer.id}) })
    }

    async fn ask_job(&self, job: &Job, command: JobCommand) -> Result<Arc<Job>, ApiError> {
        Ok(self.app.orders.ask(job.order_id, self.caller(), command).await?.answer.job)
    }

    /// Looks up a job by ID or by number (`JOB-000123`, `123`).
    async fn job(&self) -> Result<Arc<Job>, ApiError> {
        let reference = self.needed(JOB)?;
        if let Ok(id) = reference.parse() {
            return jobs::find(&self.app.job_handles, id).await;
        }
        let number = number_of(&reference, "JOB-").ok_or_else(|| Refusal::not_found("job"))?;
        let (matching, _) =
            self.app.queries.jobs(&JobFilter { number: Some(number), ..JobFilter::default() }, FIRST).await?;
        let first = matching.first().ok_or_else(|| Refusal::not_found("job"))?;
        jobs::find(&self.app.job_handles, first.id).await
    }

    /// Looks up an order by ID or by number (`ORD-000123`, `123`).
    async fn order(&self) -> Result<(i64, Order), ApiError> {
        let reference = self.needed(ORDER)?;
        let id = match reference.parse() {
            Ok(id) => id,
            Err(_) => {
                let number = number_of(&reference, "ORD-").ok_or_else(|| Refusal::not_found("order"))?;
                let filter = OrderFilter { number: Some(number), ..OrderFilter::default() };
                let (matching, _) = self.app.queries.orders(&filter, FIRST).await?;
                let first = matching.into_iter().find_map(|one| one.state);
                first.ok_or_else(|| Refusal::not_found("order"))?.id
            }
        };
        let (version, state) = find_existing(&self.app.orders, id).await?;
        Ok((version, state_of(&state)?.clone()))
    }

    /// Looks up a printer by ID or by name.
    fn printer(&self) -> Result<Printer, ApiError> {
        let reference = self.needed(PRINTER)?;
        let id: Option<Id> = reference.parse().ok();
        let mut named = self.printers();
        named.retain(|one| Some(one.id) == id || one.fields.name.eq_ignore_ascii_case(&reference));
        match named.len() {
            0 => Err(Refusal::not_found("printer").into()),
            1 => Ok(named.remove(0)),
            many => {
                Err(ApiError::conflict("ambiguous", format!("{many} printers have this name; send the printer's ID")))
            }
        }
    }

    fn printer_of(&self, id: Id) -> Result<Printer, ApiError> {
        let printer = self.printers().into_iter().find(|printer| printer.id == id);
        printer.ok_or_else(|| Refusal::not_found("printer").into())
    }

    fn printers(&self) -> Vec<Printer> {
        printers::present_all(&self.app.printer_handles)
            .iter()
            .filter_map(|versioned| versioned.state.clone())
            .collect()
    }

    fn materials(&self) -> Vec<Material> {
        let all = self.app.materials.all_resident();
        let mut all: Vec<Material> = all.iter().filter_map(|(_, state)| state.present().cloned()).collect();
        all.sort_by(|a, b| a.fields.name.cmp(&b.fields.name));
        all
    }
}

fn number_of(text: &str, prefix: &str) -> Option<i64> {
    let digits = text.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix));
    digits.map_or(text, |start| &text[start.len()..]).parse().ok()
}

fn stock(before: &str, materials: &[Material]) -> AgentReply {
    let words = materials.iter().map(|one| {
        let unit = one.fields.kind.unit();
        format!("{} {} {unit} free of {} {unit}", one.fields.name, one.available(), one.quantity)
    });
    let rows = materials.iter().map(|one| {
        json!({
            "materialId": one.id, "name": one.fields.name, "quantity": one.quantity, "reserved": one.reserved,
            "available": one.available(), "reorderPoint": one.fields.reorder_point,
            "reorderQuantity": one.fields.reorder_quantity, "unit": one.fields.kind.unit(),
        })
    });
    let message = format!("{before}{}.", words.collect::<Vec<_>>().join("; "));
    AgentReply { message, data: json!({"materials": rows.collect::<Vec<_>>()}) }
}

fn to_json(view: &impl serde::Serialize) -> Result<serde_json::Value, ApiError> {
    serde_json::to_value(view).map_err(ApiError::internal)
}
