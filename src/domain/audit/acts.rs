//! Table of all audit log acts: stored name, kind of subject, and verb.

use super::AuditedKind;

/// Defines the acts from the table: first those of people and programs, then those that only the server performs.
macro_rules! audited_acts {
    (people: { $($act:ident = $name:literal of $kind:ident, $verb:literal;)+ }
     server: { $($own:ident = $own_name:literal of $own_kind:ident, $own_verb:literal;)+ }) => {
        /// Act recorded in the audit log.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum AuditedAct {
            $(#[doc = concat!("`", $name, "`: ", $verb, ".")] $act,)+
            $(#[doc = concat!("`", $own_name, "`: ", $own_verb, ".")] $own,)+
        }

        impl AuditedAct {
            /// All acts.
            pub const ALL: &[Self] = &[$(Self::$act,)+ $(Self::$own,)+];
            /// Acts performed by people and by programs outside of the server.
            pub const OF_PEOPLE: &[Self] = &[$(Self::$act,)+];

            /// Returns the act's stored name, the kind of its subject, and its verb.
            const fn row(self) -> (&'static str, AuditedKind, &'static str) {
                match self {
                    $(Self::$act => ($name, AuditedKind::$kind, $verb),)+
                    $(Self::$own => ($own_name, AuditedKind::$own_kind, $own_verb),)+
                }
            }
        }
    };
}

impl AuditedAct {
    /// Returns the name under which the act is stored, such as `order.cancel`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the kind of subject that the act applies to.
    pub const fn kind(self) -> AuditedKind {
        self.row().1
    }

    /// Returns the verb in the past tense; `{}` stands for the subject.
    pub const fn verb(self) -> &'static str {
        self.row().2
    }

    /// Returns the act that is stored under the given name, if any.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|act| act.name() == name)
    }

    /// Returns a label for the act that does not name the subject: `cancelled an order`.
    pub fn label(self) -> String {
        self.verb().replace("{}", self.kind().noun())
    }
}

audited_acts! {
    people: {
        PrinterCreate = "printer.create" of Printer, "added {}";
        PrinterUpdate = "printer.update" of Printer, "changed the settings of {}";
        PrinterDelete = "printer.delete" of Printer, "removed {}";
        PrinterConnect = "printer.connect" of Printer, "connected {}";
        PrinterDisconnect = "printer.disconnect" of Printer, "disconnected {}";
        PrinterLoadSlot = "printer.load_slot" of Printer, "loaded a spool into {}";
        PrinterRemoveSlot = "printer.remove_slot" of Printer, "removed a slot of {}";
        PrinterEmergencyStop = "printer.emergency_stop" of Printer, "stopped {} with the emergency stop";
        PrinterBedCleared = "printer.bed_cleared" of Printer, "marked the bed of {} as clear";
        PrinterClearAttention = "printer.clear_attention" of Printer, "marked {} as checked";
        PrinterHome = "printer.home" of Printer, "homed {}";
        PrinterMaintenance = "printer.maintenance" of Printer, "changed the maintenance state of {}";
        PrinterAddReminder = "printer.add_reminder" of Printer, "added a maintenance reminder to {}";
        PrinterChangeReminder = "printer.change_reminder" of Printer, "changed a maintenance reminder of {}";
        PrinterRemoveReminder = "printer.remove_reminder" of Printer, "removed a maintenance reminder from {}";
        PrinterLogMaintenance = "printer.log_maintenance" of Printer, "logged maintenance of {}";
        PrinterPause = "printer.pause" of Printer, "paused {}";
        PrinterResume = "printer.resume" of Printer, "resumed {}";
        PrinterCancel = "printer.cancel" of Printer, "cancelled the print on {}";
        PrinterGcode = "printer.gcode" of Printer, "ran G-code on {}";
        PrinterPutFile = "printer.put_file" of Printer, "uploaded a file to {}";
        PrinterDeleteFile = "printer.delete_file" of Printer, "deleted a file on {}";
        PrinterRestartFirmware = "printer.restart_firmware" of Printer, "restarted the firmware of {}";
        PrinterPrint = "printer.print" of Printer, "started a print on {}";
        PrinterCancelAttempt = "printer.cancel_attempt" of Printer, "cancelled a job’s print on {}";
        PrinterResolved = "printer.resolved" of Printer, "resolved an unclear print on {}";
        PrinterSignedOff = "printer.signed_off" of Printer, "signed off parts on {}";
        OrderCreate = "order.create" of Order, "created {}";
        OrderCreateSold = "order.create_sold" of Order, "placed {}";
        OrderUpdate = "order.update" of Order, "edited {}";
        OrderConfirm = "order.confirm" of Order, "confirmed {}";
        OrderNameBuyer = "order.name_buyer" of Order, "set the buyer of {}";
        OrderMarkPaid = "order.mark_paid" of Order, "marked {} as paid";
        OrderRefund = "order.refund" of Order, "refunded {}";
        OrderRefundOtherwise = "order.refund_otherwise" of Order, "recorded a refund of {}";
        OrderCheckOut = "order.check_out" of Order, "started the payment of {}";
        OrderPayment = "order.payment" of Order, "reported a payment for {}";
        OrderRefundNews = "order.refund_news" of Order, "reported a refund for {}";
        OrderCancel = "order.cancel" of Order, "cancelled {}";
        OrderShip = "order.ship" of Order, "shipped {}";
        OrderThere = "order.there" of Order, "reported a change to {} in the online shop";
        JobUpdate = "job.update" of Order, "changed a job’s priority or due date in {}";
        JobCancel = "job.cancel" of Order, "cancelled a job of {}";
        JobRetry = "job.retry" of Order, "queued a failed job of {} again";
        JobSignOff = "job.sign_off" of Order, "signed off a job of {}";
        JobRelease = "job.release" of Order, "released a job of {}";
        JobResolve = "job.resolve" of Order, "resolved an unclear job of {}";
        JobDispatch = "job.dispatch" of Order, "sent a job of {} to a printer";
        MaterialCreate = "material.create" of Material, "added {}";
        MaterialUpdate = "material.update" of Material, "edited {}";
        MaterialAdjust = "material.adjust" of Material, "adjusted the stock of {}";
        MaterialDelete = "material.delete" of Material, "removed {} from stock";
        MaterialLink = "material.link" of Material, "linked {} to a stock system";
        MaterialAgree = "material.agree" of Material, "resolved a stock conflict of {}";
        MaterialUnlink = "material.unlink" of Material, "unlinked {} from a stock system";
        SkuCreate = "sku.create" of Sku, "added {}";
        SkuUpdate = "sku.update" of Sku, "edited {}";
        SkuDelete = "sku.delete" of Sku, "removed {}";
        FileCreate = "file.create" of File, "uploaded {}";
        FileDelete = "file.delete" of File, "deleted {}";
        CustomerCreate = "customer.create" of Customer, "added {}";
        CustomerUpdate = "customer.update" of Customer, "edited {}";
        CustomerSignIn = "customer.sign_in" of Customer, "signed in to the pages for customers";
        CustomerSignOut = "customer.sign_out" of Customer, "signed out of the pages for customers";
        SignInLinkCreate = "sign_in_link.create" of SignInLink, "requested a sign-in link by email";
        SignInLinkRedeem = "sign_in_link.redeem" of SignInLink, "opened a sign-in link";
        InvoiceCreate = "invoice.create" of Invoice, "drafted {}";
        InvoiceUpdate = "invoice.update" of Invoice, "edited {}";
        InvoiceSend = "invoice.send" of Invoice, "issued {}";
        InvoiceVoid = "invoice.void" of Invoice, "voided {}";
        InvoiceMarkPaid = "invoice.mark_paid" of Invoice, "marked {} as paid";
        InvoiceRefund = "invoice.refund" of Invoice, "refunded {}";
        InvoiceRefundOtherwise = "invoice.refund_otherwise" of Invoice, "recorded a refund of {}";
        InvoiceCheckOut = "invoice.check_out" of Invoice, "started the payment of {}";
        InvoicePayment = "invoice.payment" of Invoice, "reported a payment for {}";
        InvoiceRefundNews = "invoice.refund_news" of Invoice, "reported a refund for {}";
        InvoiceCharge = "invoice.charge" of Invoice, "charged usage to {}";
        InvoiceOpenPayLink = "invoice.open_pay_link" of Invoice, "created a payment link for {}";
        InvoiceClosePayLink = "invoice.close_pay_link" of Invoice, "closed the payment link of {}";
        QuoteCreate = "quote.create" of Quote, "drafted {}";
        QuoteUpdate = "quote.update" of Quote, "edited {}";
        QuoteSend = "quote.send" of Quote, "sent {}";
        QuoteAccept = "quote.accept" of Quote, "accepted {}";
        QuoteDecline = "quote.decline" of Quote, "declined {}";
        QuoteDelete = "quote.delete" of Quote, "discarded {}";
        CustomRequestCreate = "custom_request.create" of CustomRequest, "sent {}";
        CustomRequestUpdate = "custom_request.update" of CustomRequest, "edited {}";
        CustomRequestClose = "custom_request.close" of CustomRequest, "closed {}";
        EndpointCreate = "endpoint.create" of Endpoint, "added {}";
        EndpointUpdate = "endpoint.update" of Endpoint, "edited {}";
        EndpointDelete = "endpoint.delete" of Endpoint, "removed {}";
        EndpointEnable = "endpoint.enable" of Endpoint, "enabled {}";
        EndpointDisable = "endpoint.disable" of Endpoint, "disabled {}";
        EndpointRotateSecret = "endpoint.rotate_secret" of Endpoint, "replaced the secret of {}";
        EndpointTest = "endpoint.test" of Endpoint, "sent a test event to {}";
        EndpointRedeliver = "endpoint.redeliver" of Endpoint, "sent an event to {} again";
        EndpointReplay = "endpoint.replay" of Endpoint, "replayed events to {}";
        SalesChannelCreate = "sales_channel.create" of SalesChannel, "connected {}";
        SalesChannelUpdate = "sales_channel.update" of SalesChannel, "edited {}";
        SalesChannelMap = "sales_channel.map" of SalesChannel, "mapped variants of {}";
        SalesChannelUnmap = "sales_channel.unmap" of SalesChannel, "removed a mapped variant of {}";
        SalesChannelDelete = "sales_channel.delete" of SalesChannel, "removed {}";
        ChannelOrderHear = "channel_order.hear" of ChannelOrder, "reported {}";
        ChannelOrderRetry = "channel_order.retry" of ChannelOrder, "tried {} again";
        ExportRequest = "export.request" of Export, "requested {}";
        ExportDeleted = "export.deleted" of Export, "deleted {}";
        AccountingBegin = "accounting.begin" of Accounting, "started to connect the accounting system";
        AccountingConnect = "accounting.connect" of Accounting, "connected the accounting system";
        AccountingRedeem = "accounting.redeem" of Accounting, "returned from the accounting system’s sign-in";
        AccountingDisconnect = "accounting.disconnect" of Accounting, "disconnected the accounting system";
        PostingRetry = "posting.retry" of Posting, "sent an entry to the accounting system again";
        InboundKeep = "inbound.keep" of PaymentEvent, "reported a payment that matched no order";
        UserCreate = "user.create" of User, "added {}";
        UserUpdate = "user.update" of User, "edited {}";
        UserDelete = "user.delete" of User, "removed {}";
        SecondFactorBegin = "second_factor.begin" of User, "began to set up two-step sign-in for {}";
        SecondFactorConfirm = "second_factor.confirm" of User, "turned on two-step sign-in for {}";
        SecondFactorRemove = "second_factor.remove" of User, "turned off two-step sign-in for {}";
        SecondFactorCode = "second_factor.code" of User, "entered a two-step code for {}";
        SecondFactorReset = "second_factor.reset" of User, "reset two-step sign-in for {}";
        SessionOpen = "session.open" of Session, "signed in";
        SessionEnd = "session.end" of Session, "signed out";
        ApiKeyCreate = "api_key.create" of ApiKey, "created {}";
        ApiKeyRevoke = "api_key.revoke" of ApiKey, "revoked {}";
        SettingsPlan = "settings.plan" of Access, "began to change the shop’s settings";
        SettingsWrite = "settings.write" of Access, "changed the shop’s settings";
        SetupComplete = "setup.complete" of Access, "completed the setup of the shop";
        RestoreBegin = "restore.begin" of Restore, "restored a backup";
        RestoreReview = "restore.review" of Restore, "reviewed the shop after a restore";
        BackupMake = "backup.make" of Backup, "downloaded a backup";
        AgentPausePrint = "agent.pause-print" of Access, "paused a print through the agent";
        AgentResumePrint = "agent.resume-print" of Access, "resumed a print through the agent";
        AgentCancelPrint = "agent.cancel-print" of Access, "cancelled a print through the agent";
        AgentEmergencyStop = "agent.emergency-stop" of Access, "stopped a printer through the agent";
        AgentPrinterStatus = "agent.printer-status" of Access, "asked the agent about a printer";
        AgentFarmStatus = "agent.farm-status" of Access, "asked the agent about the floor";
        AgentOrderStatus = "agent.order-status" of Access, "asked the agent about an order";
        AgentStockLevel = "agent.stock-level" of Access, "asked the agent about stock";
        AgentLowStock = "agent.low-stock" of Access, "asked the agent about low stock";
        AgentReleaseJob = "agent.release-job" of Access, "released a job through the agent";
        AgentBedCleared = "agent.bed-cleared" of Access, "cleared a bed through the agent";
    }
    server: {
        PrinterSeen = "printer.seen" of Printer, "noted the state of {}";
        PrinterSilent = "printer.silent" of Printer, "lost contact with {}";
        PrinterSpoolLeft = "printer.spool_left" of Printer, "noted that a spool left {}";
        PrinterSlotsReported = "printer.slots_reported" of Printer, "read the slots of {}";
        PrinterKeyShown = "printer.key_shown" of Printer, "read the key of {}";
        PrinterUploadFailed = "printer.upload_failed" of Printer, "failed to upload a print to {}";
        PrinterStartRefused = "printer.start_refused" of Printer, "could not start a print on {}";
        PrinterProgressed = "printer.progressed" of Printer, "noted progress on {}";
        PrinterJudged = "printer.judged" of Printer, "judged the result of a print on {}";
        PrinterHeard = "printer.heard" of Printer, "noted a report of {}";
        PrinterPrintOver = "printer.print_over" of Printer, "noted the end of a print on {}";
        PrinterPrintUnclear = "printer.print_unclear" of Printer, "lost track of a print on {}";
        PrinterPhotoOver = "printer.photo_over" of Printer, "took a photo of the print on {}";
        PrinterCameraTold = "printer.camera_told" of Printer, "read the camera of {}";
        PrinterFailureSuspected = "printer.failure_suspected" of Printer, "suspected a failed print on {}";
        PrinterTake = "printer.take" of Printer, "assigned a job to {}";
        PrinterUploaded = "printer.uploaded" of Printer, "uploaded a job’s file to {}";
        PrinterPrintUploaded = "printer.print_uploaded" of Printer, "uploaded the file of a print to {}";
        OrderCheckoutMade = "order.checkout_made" of Order, "opened the checkout of {}";
        OrderSessionClosed = "order.session_closed" of Order, "closed the checkout of {}";
        OrderRefundsRead = "order.refunds_read" of Order, "read the refunds of {}";
        OrderRecount = "order.recount" of Order, "recounted the payments of {}";
        OrderInvoiceTold = "order.invoice_told" of Order, "noted the invoice of {}";
        OrderIssueInvoice = "order.issue_invoice" of Order, "issued the invoice of {}";
        OrderKeepDepartures = "order.keep_departures" of Order, "stored the shipments of {}";
        OrderPrepared = "order.prepared" of Order, "prepared the files of {}";
        OrderPromise = "order.promise" of Order, "set the promised date of {}";
        OrderRecall = "order.recall" of Order, "returned the stock reserved for {}";
        OrderSettled = "order.settled" of Order, "settled the stock of {}";
        OrderShopTold = "order.shop_told" of Order, "reported the shipment of {} to the online shop";
        OrderSlicing = "order.slicing" of Order, "sliced a model of {}";
        OrderStock = "order.stock" of Order, "reserved stock for {}";
        OrderTiming = "order.timing" of Order, "checked the timing of {}";
        JobFailRefused = "job.fail_refused" of Order, "failed a job of {} that no printer accepts";
        JobAttempt = "job.attempt" of Order, "noted a report about a job of {}";
        JobSignedAtPrinter = "job.signed_at_printer" of Order, "recorded the sign-off of a job of {} at its printer";
        JobPhotographed = "job.photographed" of Order, "stored the photo of a job of {}";
        MaterialClaim = "material.claim" of Material, "reserved stock of {}";
        MaterialSettle = "material.settle" of Material, "settled reservations of {}";
        MaterialHeard = "material.heard" of Material, "noted an answer about reservations of {}";
        MaterialKept = "material.kept" of Material, "kept reservations of {}";
        MaterialSynchronise = "material.synchronise" of Material, "synchronised the stock of {}";
        MaterialBooked = "material.booked" of Material, "booked stock of {} in a stock system";
        InvoiceCheckoutMade = "invoice.checkout_made" of Invoice, "opened the checkout of {}";
        InvoiceSessionClosed = "invoice.session_closed" of Invoice, "closed the checkout of {}";
        InvoiceRefundsRead = "invoice.refunds_read" of Invoice, "read the refunds of {}";
        InvoiceRecount = "invoice.recount" of Invoice, "recounted the payments of {}";
        InvoiceFollow = "invoice.follow" of Invoice, "updated {} from its orders";
        QuoteSliced = "quote.sliced" of Quote, "sliced a model of {}";
        QuoteRequestTold = "quote.request_told" of Quote, "noted the request behind {}";
        QuoteOrdered = "quote.ordered" of Quote, "turned {} into an order";
        QuoteNotOrdered = "quote.not_ordered" of Quote, "could not turn {} into an order";
        CustomRequestCloseUnanswered = "custom_request.close_unanswered" of CustomRequest, "closed {} without an answer";
        CustomRequestQuoted = "custom_request.quoted" of CustomRequest, "noted the quote for {}";
        CustomRequestQuoteAccepted = "custom_request.quote_accepted" of CustomRequest, "noted the accepted quote for {}";
        CustomRequestQuoteDeclined = "custom_request.quote_declined" of CustomRequest, "noted the declined quote for {}";
        EndpointFollow = "endpoint.follow" of Endpoint, "queued events for {}";
        EndpointRefilled = "endpoint.refilled" of Endpoint, "queued further events for {}";
        EndpointReplayed = "endpoint.replayed" of Endpoint, "finished a replay to {}";
        EndpointTried = "endpoint.tried" of Endpoint, "delivered an event to {}";
        ChannelOrderMade = "channel_order.made" of ChannelOrder, "created the order for {}";
        ChannelOrderNotMade = "channel_order.not_made" of ChannelOrder, "could not create the order for {}";
        ChannelOrderResolved = "channel_order.resolved" of ChannelOrder, "found the products of {}";
        ChannelOrderUnresolved = "channel_order.unresolved" of ChannelOrder, "could not find the products of {}";
        ChannelOrderShipped = "channel_order.shipped" of ChannelOrder, "noted the shipment of {}";
        ChannelOrderTold = "channel_order.told" of ChannelOrder, "reported back about {}";
        ChannelOrderTracked = "channel_order.tracked" of ChannelOrder, "reported the tracking number of {}";
        ExportProgress = "export.progress" of Export, "wrote a part of {}";
        ExportFailed = "export.failed" of Export, "failed to write {}";
        ExportFinished = "export.finished" of Export, "finished {}";
        ExportVanished = "export.vanished" of Export, "lost the file of {}";
        AccountingLost = "accounting.lost" of Accounting, "lost the connection to the accounting system";
        AccountingRenew = "accounting.renew" of Accounting, "began to renew the connection to the accounting system";
        AccountingRenewed = "accounting.renewed" of Accounting, "renewed the connection to the accounting system";
        AccountingRevoked = "accounting.revoked" of Accounting, "revoked the access to the accounting system";
        PostingBegin = "posting.begin" of Posting, "prepared an entry for the accounting system";
        PostingPosted = "posting.posted" of Posting, "sent an entry to the accounting system";
        PostingRefused = "posting.refused" of Posting, "could not send an entry to the accounting system";
        InboundTried = "inbound.tried" of PaymentEvent, "tried to match a payment to an order";
        IntegrationBegin = "integration.begin" of Integration, "began to follow an integration";
        IntegrationRead = "integration.read" of Integration, "read events of an integration";
        IntegrationNeedsPerson = "integration.needs_person" of Integration, "reported a problem of an integration";
        IntegrationWell = "integration.well" of Integration, "noted that an integration works again";
        MailTried = "mail.tried" of Mail, "sent an email";
        AccessUsed = "access.used" of Access, "recorded the use of keys and sessions";
        SessionSweep = "session.sweep" of Session, "ended expired sessions";
    }
}
