//! Problems that do not stop the server, described for operators.

use tokio::time::timeout;

use super::{HealthHandles, MAX_DATABASE_WAIT};
use actors::app::customer_space::CustomerSpaceSummary;
use actors::integrations::IntegrationSummary;
use actors::restores::DispatchHold;
use domain::customer_space::SpaceRefusal;
use domain::english::english_count;
use kernel::entry::ActorSummary;

/// Maximum number of parked aggregates or damaged rows that are listed individually.
const MAX_NAMED: usize = 20;

/// Problem of a leader that another server may have followed.
const LEAD_IN_DOUBT: &str =
    "no print, payment or mail is started: the lease of the database cannot be renewed, so another server may lead";

/// Problem of a server that shares the place for its files with another one by mistake.
const PLACE_DISPUTED: &str =
    "nothing is removed from the bucket for files: another server uses the same place (files.dir); give each its own";

/// Describes the problems that do not stop the server, in plain language.
pub(super) async fn degraded(app: &HealthHandles) -> Vec<String> {
    let parked = app.kinds.summaries().into_iter().filter_map(|summary| {
        let parked = summary.statuses.get("parked").copied().unwrap_or(0);
        (parked > 0).then(|| format!("out of service: {parked} of kind {}", summary.kind))
    });
    let mut words: Vec<String> = parked.collect();
    if !words.is_empty() {
        let parked = app.kinds.actors().into_iter().filter(|actor| actor.status == "parked");
        let why = |actor: ActorSummary| Some(format!("{} {}: {}", actor.kind, actor.id, actor.last_error?));
        words.extend(parked.filter_map(why).take(MAX_NAMED));
    }
    let damaged = app.queries.damaged();
    if damaged.count() > 0 {
        words.push(format!("lists lack {} that cannot be read", english_count(damaged.count(), "row")));
        words.extend(damaged.named(MAX_NAMED));
    }
    words.extend((!app.environment.leadership().is_confirmed()).then(|| LEAD_IN_DOUBT.to_owned()));
    let redis_away = app.redis.iter().any(|redis| !redis.is_up());
    words.extend(redis_away.then(|| "Redis is unavailable: limits are counted in this process".to_owned()));
    words.extend(app.integrations.summaries().iter().filter_map(IntegrationSummary::trouble));
    words.extend(app.checkouts.work.processor.iter().filter_map(|processor| processor.trouble()));
    words.extend(app.hold.is_on().then(|| format!("no jobs are started: {}", DispatchHold::REASON)));
    words.extend(app.slicing.waits_for().map(|missing| format!("models are waiting to be sliced: {missing}")));
    words.extend(app.backup_schedule.status().failure.map(|why| format!("the last scheduled backup failed: {why}")));
    words.extend(app.content_sweep.is_disputed().then(|| PLACE_DISPUTED.to_owned()));
    let missing = Some(app.content_sweep.missing_count()).filter(|missing| *missing > 0);
    words.extend(missing.map(|missing| {
        format!("the bucket for files lacks the contents of {} (files.dir)", english_count(missing, "file"))
    }));
    let space = timeout(MAX_DATABASE_WAIT, app.space.summary()).await.ok().and_then(Result::ok);
    words.extend(space.and_then(|space| customer_files(&space)));
    words
}

/// Returns the reason customers' uploads are rejected, in plain language; `None` while they are accepted.
fn customer_files(space: &CustomerSpaceSummary) -> Option<String> {
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Some(match space.refusal? {
        SpaceRefusal::Unclaimed => format!(
            "customer uploads are rejected: unhandled files use {} MB of {} MB (files.unclaimed_max_bytes)",
            megabytes(space.stored.unclaimed_bytes),
            megabytes(space.limits.unclaimed_max_bytes)
        ),
        SpaceRefusal::Disk => format!(
            "customer uploads are rejected: {} MB are free on the disk, and {} MB must remain free \
             (files.reserved_bytes)",
            megabytes(space.stored.free_bytes.unwrap_or_default()),
            megabytes(space.limits.reserved_bytes)
        ),
    })
}
