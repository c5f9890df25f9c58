//! Faults of a story. Each seed draws which of them exist and how often, so that every combination has its turn, also
//! that of a few frequent ones.

use std::collections::BTreeMap;
use std::fmt;

use fastrand::Rng;

use crate::error::SimError;

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The server loses its power between two steps.
    Crash,
    /// Commits are refused.
    CommitRefused,
    /// The answer to commits is lost, before or after they became durable.
    CommitLost,
    /// Commits are overtaken by another generation.
    Superseded,
    /// The store is unavailable for a while.
    Outage,
    /// Requests to printers are lost on their way.
    LostRequest,
    /// Answers of printers are lost on their way.
    LostAnswer,
    /// Requests to printers take long.
    Delay,
    /// Printers cannot be reached for a while.
    Offline,
    /// Printers accept connections and answer nothing for a while.
    Hang,
    /// Printers refuse every start for a while.
    StartRefused,
    /// Printers acknowledge starts that they do not execute.
    StartIgnored,
    /// Printers execute starts late.
    StartLate,
    /// The network is cut in the moment of a start.
    CutAtStart,
    /// Printers lose their power in the middle of a print.
    PowerLoss,
    /// The servers of printers restart.
    ServerRestart,
    /// Prints fail.
    PrintFails,
    /// Printers report finished prints as running once more.
    Echo,
    /// People print something of their own at the printers.
    OwnPrint,
    /// The mail service refuses mails for a while.
    MailRefused,
    /// Calls of the payment processor, or its answers, are lost on their way.
    PaymentLost,
    /// Calls of the payment processor take long.
    PaymentSlow,
    /// The payment processor refuses calls, or fails in them.
    PaymentRefused,
    /// Events of the payment processor come late, and so in another order.
    EventLate,
    /// Events of the payment processor come twice.
    EventTwice,
    /// Events of the payment processor come before the answer of the call that causes them.
    EventFirst,
    /// Events of the payment processor never come, where the server can learn the same by asking.
    EventLost,
    /// The mail service accepts mails, and its answer is lost.
    MailLost,
    /// The mail service takes long.
    MailSlow,
    /// The mail service is down for long.
    MailDown,
    /// Receivers of webhooks cannot be reached for a while, perhaps for longer than deliveries are tried.
    ReceiverDown,
    /// Receivers accept connections and answer nothing for a while.
    ReceiverHangs,
    /// Receivers take long to answer for a while.
    ReceiverSlow,
    /// Receivers answer with 500 for a while.
    ReceiverFails,
    /// Receivers redirect for a while.
    ReceiverRedirects,
    /// Receivers answer with 410 from some time on.
    ReceiverGone,
    /// Answers of receivers are lost, after they accepted a delivery.
    ReceiverAnswerLost,
    /// The interface of another shop cannot be reached for a while.
    ShopDown,
    /// The interface of another shop answers nothing for a while.
    ShopHangs,
    /// Answers of another shop are lost, after it has done what was requested.
    ShopAnswerLost,
    /// Messages of another shop arrive several times.
    MessageRepeated,
    /// Messages of another shop arrive late, and so in another order.
    MessageLate,
    /// Controllers of printers shut down, again after every restart, for a while.
    FirmwareShutdown,
    /// The servers of printers lose the connection to their controllers for a while.
    ControllerLost,
    /// The storages of printers are full for a while.
    DiskFull,
    /// Uploads to printers take long.
    SlowUpload,
    /// The connection is cut in the middle of uploads.
    CutUpload,
    /// Printers acknowledge uploads of which they store only the beginning.
    KeptBytes,
    /// Printers store uploads and close the connection without an answer.
    DropAfterUpload,
    /// Printers answer every second request with an error, and execute half of those.
    ErrorAnswers,
    /// Printers pause, resume and cancel with a delay.
    SlowCommands,
    /// Printers tell late of a state that has passed meanwhile.
    LateAnswers,
    /// Printers refuse the key for a while.
    WrongKey,
    /// The mail service rejects mails for good.
    MailRejected,
    /// Customers' banks claim the money of payments.
    Dispute,
    /// The spool manager cannot be reached for a while.
    SpoolsDown,
    /// The spool manager answers nothing for a while.
    SpoolsHang,
    /// Changes that are sent to the spool manager are lost, or its answers after it has made them.
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

    /// Returns the word for it on the command line.
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

    /// Returns the kind with the given word.
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

/// Faults that exist in a story, each with its frequency from 0 to 1.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan(BTreeMap<FaultKind, f64>);

impl FaultPlan {
    /// Draws which faults exist, and how often. One story in eight has none.
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

    /// Returns the frequency of a kind; 0 if it does not exist.
    pub fn rate(&self, kind: FaultKind) -> f64 {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    /// Returns the number of times that a kind occurs, of at most `most`; at least once if it exists.
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
