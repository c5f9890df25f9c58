//! Faults in a story. Each seed chooses which of them occur and how often, so that every combination is eventually
//! tested, including a few frequent ones.

use std::collections::BTreeMap;
use std::fmt;

use fastrand::Rng;

use crate::error::SimError;

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The server loses power between two steps.
    Crash,
    /// Commits are refused.
    CommitRefused,
    /// The result of a commit is lost, before or after the commit becomes durable.
    CommitLost,
    /// A commit is overtaken by one of another generation.
    Superseded,
    /// The store is unavailable for a while.
    Outage,
    /// Requests to printers are lost.
    LostRequest,
    /// Responses from printers are lost.
    LostAnswer,
    /// Requests to printers are delayed.
    Delay,
    /// Printers are unreachable for a while.
    Offline,
    /// Printers accept connections but do not respond for a while.
    Hang,
    /// Printers refuse every start for a while.
    StartRefused,
    /// Printers acknowledge starts that they never execute.
    StartIgnored,
    /// Printers execute starts late.
    StartLate,
    /// The network is cut just as a print is started.
    CutAtStart,
    /// Printers lose power in the middle of a print.
    PowerLoss,
    /// The servers of printers restart.
    ServerRestart,
    /// Prints fail.
    PrintFails,
    /// Printers report a finished print as running again.
    Echo,
    /// People start their own prints on the printers.
    OwnPrint,
    /// The mail service rejects emails for a while.
    MailRefused,
    /// Calls to the payment processor, or its responses, are lost.
    PaymentLost,
    /// Calls to the payment processor take long.
    PaymentSlow,
    /// The payment processor refuses calls, or fails while processing them.
    PaymentRefused,
    /// Events from the payment processor arrive late, and thus out of order.
    EventLate,
    /// Events from the payment processor arrive twice.
    EventTwice,
    /// Events from the payment processor arrive before the response to the call that causes them.
    EventFirst,
    /// Events from the payment processor never arrive, if the server can learn the same by querying.
    EventLost,
    /// The mail service accepts emails, but its response is lost.
    MailLost,
    /// The mail service responds slowly.
    MailSlow,
    /// The mail service is down for a long time.
    MailDown,
    /// Receivers of webhooks are unreachable for a while, possibly longer than deliveries are retried.
    ReceiverDown,
    /// Receivers accept connections but do not respond for a while.
    ReceiverHangs,
    /// Receivers respond slowly for a while.
    ReceiverSlow,
    /// Receivers respond with 500 for a while.
    ReceiverFails,
    /// Receivers respond with redirects for a while.
    ReceiverRedirects,
    /// Receivers respond with 410 permanently from some time on.
    ReceiverGone,
    /// Responses from receivers are lost after they accepted a delivery.
    ReceiverAnswerLost,
    /// The API of another shop is unreachable for a while.
    ShopDown,
    /// The API of another shop does not respond for a while.
    ShopHangs,
    /// Responses from another shop are lost after it has executed the request.
    ShopAnswerLost,
    /// Messages from another shop arrive several times.
    MessageRepeated,
    /// Messages from another shop arrive late, and thus out of order.
    MessageLate,
    /// Printer controllers shut down, and do so again after every restart, for a while.
    FirmwareShutdown,
    /// The servers of printers lose the connection to their controllers for a while.
    ControllerLost,
    /// Printer storage is full for a while.
    DiskFull,
    /// Uploads to printers take long.
    SlowUpload,
    /// The connection is lost in the middle of an upload.
    CutUpload,
    /// Printers acknowledge uploads but store only the start of the file.
    KeptBytes,
    /// Printers store uploads and close the connection without a response.
    DropAfterUpload,
    /// Printers respond to every second request with an error, but execute half of those requests.
    ErrorAnswers,
    /// Printers pause, resume and cancel with a delay.
    SlowCommands,
    /// Printers report an outdated state.
    LateAnswers,
    /// Printers reject the key for a while.
    WrongKey,
    /// The mail service rejects emails permanently.
    MailRejected,
    /// Customers' banks claim the money of payments.
    Dispute,
    /// The spool manager cannot be reached for a while.
    SpoolsDown,
    /// The spool manager answers nothing for a while.
    SpoolsHang,
    /// Changes sent to the spool manager are lost, or its answers are lost after it has made the changes.
    SpoolsLost,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 58] = [
        Self::Crash,
        Self::CommitRefused,
        Self::CommitLost,
        Self::Superseded,
        Self::Outage,
        Self::LostRequest,
        Self::LostAnswer,
        Self::Delay,
        Self::Offline,
        Self::Hang,
        Self::StartRefused,
        Self::StartIgnored,
        Self::StartLate,
        Self::CutAtStart,
        Self::PowerLoss,
        Self::ServerRestart,
        Self::PrintFails,
        Self::Echo,
        Self::OwnPrint,
        Self::MailRefused,
        Self::PaymentLost,
        Self::PaymentSlow,
        Self::PaymentRefused,
        Self::EventLate,
        Self::EventTwice,
        Self::EventFirst,
        Self::EventLost,
        Self::MailLost,
        Self::MailSlow,
        Self::MailDown,
        Self::ReceiverDown,
        Self::ReceiverHangs,
        Self::ReceiverSlow,
        Self::ReceiverFails,
        Self::ReceiverRedirects,
        Self::ReceiverGone,
        Self::ReceiverAnswerLost,
        Self::ShopDown,
        Self::ShopHangs,
        Self::ShopAnswerLost,
        Self::MessageRepeated,
        Self::MessageLate,
        Self::FirmwareShutdown,
        Self::ControllerLost,
        Self::DiskFull,
        Self::SlowUpload,
        Self::CutUpload,
        Self::KeptBytes,
        Self::DropAfterUpload,
        Self::ErrorAnswers,
        Self::SlowCommands,
        Self::LateAnswers,
        Self::WrongKey,
        Self::MailRejected,
        Self::Dispute,
        Self::SpoolsDown,
        Self::SpoolsHang,
        Self::SpoolsLost,
    ];

    /// Returns the name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::CommitRefused => "commit-refused",
            Self::CommitLost => "commit-lost",
            Self::Superseded => "superseded",
            Self::Outage => "outage",
            Self::LostRequest => "lost-request",
            Self::LostAnswer => "lost-answer",
            Self::Delay => "delay",
            Self::Offline => "offline",
            Self::Hang => "hang",
            Self::StartRefused => "start-refused",
            Self::StartIgnored => "start-ignored",
            Self::StartLate => "start-late",
            Self::CutAtStart => "cut-at-start",
            Self::PowerLoss => "power-loss",
            Self::ServerRestart => "server-restart",
            Self::PrintFails => "print-fails",
            Self::Echo => "echo",
            Self::OwnPrint => "own-print",
            Self::MailRefused => "mail-refused",
            Self::PaymentLost => "payment-lost",
            Self::PaymentSlow => "payment-slow",
            Self::PaymentRefused => "payment-refused",
            Self::EventLate => "event-late",
            Self::EventTwice => "event-twice",
            Self::EventFirst => "event-first",
            Self::EventLost => "event-lost",
            Self::MailLost => "mail-lost",
            Self::MailSlow => "mail-slow",
            Self::MailDown => "mail-down",
            Self::ReceiverDown => "receiver-down",
            Self::ReceiverHangs => "receiver-hangs",
            Self::ReceiverSlow => "receiver-slow",
            Self::ReceiverFails => "receiver-fails",
            Self::ReceiverRedirects => "receiver-redirects",
            Self::ReceiverGone => "receiver-gone",
            Self::ReceiverAnswerLost => "receiver-answer-lost",
            Self::ShopDown => "shop-down",
            Self::ShopHangs => "shop-hangs",
            Self::ShopAnswerLost => "shop-answer-lost",
            Self::MessageRepeated => "message-repeated",
            Self::MessageLate => "message-late",
            Self::FirmwareShutdown => "firmware-shutdown",
            Self::ControllerLost => "controller-lost",
            Self::DiskFull => "disk-full",
            Self::SlowUpload => "slow-upload",
            Self::CutUpload => "cut-upload",
            Self::KeptBytes => "kept-bytes",
            Self::DropAfterUpload => "drop-after-upload",
            Self::ErrorAnswers => "error-answers",
            Self::SlowCommands => "slow-commands",
            Self::LateAnswers => "late-answers",
            Self::WrongKey => "wrong-key",
            Self::MailRejected => "mail-rejected",
            Self::Dispute => "dispute",
            Self::SpoolsDown => "spools-down",
            Self::SpoolsHang => "spools-hang",
            Self::SpoolsLost => "spools-lost",
        }
    }

    /// Returns the kind with this command-line name.
    pub fn of_word(word: &str) -> Result<Self, SimError> {
        let kind = Self::ALL.into_iter().find(|kind| kind.word() == word);
        kind.ok_or_else(|| SimError::Argument(format!("no fault is called {word}")))
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Faults that occur in a story, each with its frequency from 0 to 1.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan(BTreeMap<FaultKind, f64>);

impl FaultPlan {
    /// Chooses which faults occur, and how often. One story in eight has none.
    pub fn draw(chance: &mut Rng) -> Self {
        let share = if chance.u8(..8) == 0 { 0.0 } else { chance.f64() * 0.6 };
        let mut rates = BTreeMap::new();
        for kind in FaultKind::ALL {
            let (exists, rate) = (chance.f64() < share, chance.f64());
            if exists {
                rates.insert(kind, rate);
            }
        }
        Self(rates)
    }

    /// Returns the frequency of a kind; 0 if it does not occur.
    pub fn rate(&self, kind: FaultKind) -> f64 {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    /// Returns how many times a kind occurs, at most `most`, and at least once if it is part of the plan.
    pub fn times(&self, kind: FaultKind, most: u32) -> u32 {
        (self.rate(kind) * f64::from(most)).ceil() as u32
    }

    /// Returns the kinds that exist.
    pub fn kinds(&self) -> impl Iterator<Item = FaultKind> + '_ {
        self.0.keys().copied()
    }

    /// Removes a kind.
    pub fn remove(&mut self, kind: FaultKind) {
        self.0.remove(&kind);
    }
}
