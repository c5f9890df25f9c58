//! Flags of orders and invoices. They are stored by their names, so the names never change.

/// Problem of an order or invoice that needs an operator's attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttentionFlag {
    /// Order with a FAILED job.
    JobFailed,
    /// Order whose jobs were all cancelled.
    AllJobsCancelled,
    /// Order that is ready with fewer good parts than ordered.
    Short,
    /// Order with rejected parts that are not replaced by any job.
    NeedsAttention,
    /// Order whose customer received parts that were rejected later and have no replacement.
    RejectedAfterShipping,
    /// Order for which a printer is producing more parts than needed.
    Surplus,
    /// Order whose invoice cannot be issued, because the seller's details are incomplete.
    SellerIncomplete,
    /// Payments beyond the amount due, or for something that was cancelled.
    RefundDue,
    /// Payment with a different amount or currency than was due.
    AmountMismatch,
    /// Refund that the processor rejected or that failed later.
    RefundFailed,
    /// Open dispute about a payment.
    Disputed,
    /// Dispute about a payment that was lost.
    DisputeLost,
}

impl AttentionFlag {
    /// All flags.
    pub const ALL: [Self; 12] = [
        Self::JobFailed,
        Self::AllJobsCancelled,
        Self::Short,
        Self::NeedsAttention,
        Self::RejectedAfterShipping,
        Self::Surplus,
        Self::SellerIncomplete,
        Self::RefundDue,
        Self::AmountMismatch,
        Self::RefundFailed,
        Self::Disputed,
        Self::DisputeLost,
    ];

    /// Returns the flag's name in the API and in the database.
    pub const fn word(self) -> &'static str {
        match self {
            Self::JobFailed => "job_failed",
            Self::AllJobsCancelled => "all_jobs_cancelled",
            Self::Short => "short",
            Self::NeedsAttention => "needs_attention",
            Self::RejectedAfterShipping => "rejected_after_shipping",
            Self::Surplus => "surplus",
            Self::SellerIncomplete => "seller_incomplete",
            Self::RefundDue => "refund_due",
            Self::AmountMismatch => "amount_mismatch",
            Self::RefundFailed => "refund_failed",
            Self::Disputed => "disputed",
            Self::DisputeLost => "dispute_lost",
        }
    }

    /// Returns the flag with the given name, if any.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.word() == word)
    }
}
