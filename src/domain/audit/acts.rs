//! Table of all audit log acts: stored name, kind of subject, and verb.

use super::{AuditedKind, SUBJECT_MARK, SubjectCase};
use words::Language;
use words::staff::audit_acts as texts;

/// Verb of an act with its complements, such as "paused Curie", in each language.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ActText {
    /// Verb that mentions no subject.
    Alone(fn(Language) -> String),
    /// Verb with the subject as its direct object, which German puts into the accusative.
    Direct(fn(Language, &str) -> String),
    /// Verb with the subject in a place that German puts into the dative.
    Indirect(fn(Language, &str) -> String),
}

impl ActText {
    /// Returns the text with the given name or noun as the subject.
    pub(crate) fn write(self, language: Language, subject: &str) -> String {
        match self {
            Self::Alone(text) => text(language),
            Self::Direct(text) | Self::Indirect(text) => text(language, subject),
        }
    }
}

/// Defines the acts from the table: first those of people and programs, then those that only the server performs.
macro_rules! audited_acts {
    (people: { $($act:ident = $name:literal of $kind:ident, $case:ident($text:path);)+ }
     server: { $($own:ident = $own_name:literal of $own_kind:ident, $own_case:ident($own_text:path);)+ }) => {
        /// Act recorded in the audit log.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum AuditedAct {
            $(#[doc = concat!("`", $name, "`.")] $act,)+
            $(#[doc = concat!("`", $own_name, "`.")] $own,)+
        }

        impl AuditedAct {
            /// All acts.
            pub const ALL: &[Self] = &[$(Self::$act,)+ $(Self::$own,)+];
            /// Acts performed by people and by programs outside of the server.
            pub const OF_PEOPLE: &[Self] = &[$(Self::$act,)+];

            /// Returns the act's stored name, the kind of its subject, and its verb.
            const fn row(self) -> (&'static str, AuditedKind, ActText) {
                match self {
                    $(Self::$act => ($name, AuditedKind::$kind, ActText::$case($text)),)+
                    $(Self::$own => ($own_name, AuditedKind::$own_kind, ActText::$own_case($own_text)),)+
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

    /// Returns the grammatical case of the subject in sentences about the act.
    pub const fn case(self) -> SubjectCase {
        match self.row().2 {
            ActText::Indirect(_) => SubjectCase::Indirect,
            ActText::Alone(_) | ActText::Direct(_) => SubjectCase::Direct,
        }
    }

    /// Returns the verb in the past tense, in German its participle; [`SUBJECT_MARK`] stands for the subject.
    pub(super) fn verb(self, language: Language) -> String {
        self.row().2.write(language, SUBJECT_MARK)
    }

    /// Returns the act stored under the given name, if any.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|act| act.name() == name)
    }

    /// Returns a label for the act that does not name the subject: `cancelled an order`.
    pub fn label(self, language: Language) -> String {
        self.row().2.write(language, &self.kind().noun(language, self.case()))
    }
}

audited_acts! {
    people: {
        PrinterCreate = "printer.create" of Printer, Direct(texts::printer_create);
        PrinterUpdate = "printer.update" of Printer, Indirect(texts::printer_update);
        PrinterDelete = "printer.delete" of Printer, Direct(texts::printer_delete);
        PrinterConnect = "printer.connect" of Printer, Direct(texts::printer_connect);
        PrinterDisconnect = "printer.disconnect" of Printer, Indirect(texts::printer_disconnect);
        PrinterLoadSlot = "printer.load_slot" of Printer, Indirect(texts::printer_load_slot);
        PrinterRemoveSlot = "printer.remove_slot" of Printer, Indirect(texts::printer_remove_slot);
        PrinterEmergencyStop = "printer.emergency_stop" of Printer, Direct(texts::printer_emergency_stop);
        PrinterBedCleared = "printer.bed_cleared" of Printer, Indirect(texts::printer_bed_cleared);
        PrinterClearAttention = "printer.clear_attention" of Printer, Direct(texts::printer_clear_attention);
        PrinterHome = "printer.home" of Printer, Indirect(texts::printer_home);
        PrinterMaintenance = "printer.maintenance" of Printer, Direct(texts::printer_maintenance);
        PrinterAddReminder = "printer.add_reminder" of Printer, Indirect(texts::printer_add_reminder);
        PrinterChangeReminder = "printer.change_reminder" of Printer, Indirect(texts::printer_change_reminder);
        PrinterRemoveReminder = "printer.remove_reminder" of Printer, Indirect(texts::printer_remove_reminder);
        PrinterLogMaintenance = "printer.log_maintenance" of Printer, Indirect(texts::printer_log_maintenance);
        PrinterPause = "printer.pause" of Printer, Direct(texts::printer_pause);
        PrinterResume = "printer.resume" of Printer, Indirect(texts::printer_resume);
        PrinterCancel = "printer.cancel" of Printer, Indirect(texts::printer_cancel);
        PrinterGcode = "printer.gcode" of Printer, Indirect(texts::printer_gcode);
        PrinterPutFile = "printer.put_file" of Printer, Direct(texts::printer_put_file);
        PrinterDeleteFile = "printer.delete_file" of Printer, Indirect(texts::printer_delete_file);
        PrinterRestartFirmware = "printer.restart_firmware" of Printer, Indirect(texts::printer_restart_firmware);
        PrinterPrint = "printer.print" of Printer, Indirect(texts::printer_print);
        PrinterCancelAttempt = "printer.cancel_attempt" of Printer, Indirect(texts::printer_cancel_attempt);
        PrinterResolved = "printer.resolved" of Printer, Indirect(texts::printer_resolved);
        PrinterSignedOff = "printer.signed_off" of Printer, Indirect(texts::printer_signed_off);
        OrderCreate = "order.create" of Order, Direct(texts::order_create);
        OrderCreateSold = "order.create_sold" of Order, Direct(texts::order_create_sold);
        OrderUpdate = "order.update" of Order, Direct(texts::order_update);
        OrderConfirm = "order.confirm" of Order, Direct(texts::order_confirm);
        OrderNameBuyer = "order.name_buyer" of Order, Indirect(texts::order_name_buyer);
        OrderMarkPaid = "order.mark_paid" of Order, Direct(texts::order_mark_paid);
        OrderRefund = "order.refund" of Order, Direct(texts::order_refund);
        OrderRefundOtherwise = "order.refund_otherwise" of Order, Indirect(texts::order_refund_otherwise);
        OrderCheckOut = "order.check_out" of Order, Indirect(texts::order_check_out);
        OrderPayment = "order.payment" of Order, Indirect(texts::order_payment);
        OrderRefundNews = "order.refund_news" of Order, Indirect(texts::order_refund_news);
        OrderCancel = "order.cancel" of Order, Direct(texts::order_cancel);
        OrderShip = "order.ship" of Order, Direct(texts::order_ship);
        OrderThere = "order.there" of Order, Indirect(texts::order_there);
        JobUpdate = "job.update" of Order, Indirect(texts::job_update);
        JobCancel = "job.cancel" of Order, Indirect(texts::job_cancel);
        JobRetry = "job.retry" of Order, Indirect(texts::job_retry);
        JobSignOff = "job.sign_off" of Order, Indirect(texts::job_sign_off);
        JobRelease = "job.release" of Order, Indirect(texts::job_release);
        JobResolve = "job.resolve" of Order, Indirect(texts::job_resolve);
        JobDispatch = "job.dispatch" of Order, Indirect(texts::job_dispatch);
        MaterialCreate = "material.create" of Material, Direct(texts::material_create);
        MaterialUpdate = "material.update" of Material, Direct(texts::material_update);
        MaterialAdjust = "material.adjust" of Material, Indirect(texts::material_adjust);
        MaterialDelete = "material.delete" of Material, Direct(texts::material_delete);
        MaterialLink = "material.link" of Material, Direct(texts::material_link);
        MaterialAgree = "material.agree" of Material, Indirect(texts::material_agree);
        MaterialUnlink = "material.unlink" of Material, Indirect(texts::material_unlink);
        SkuCreate = "sku.create" of Sku, Direct(texts::sku_create);
        SkuUpdate = "sku.update" of Sku, Direct(texts::sku_update);
        SkuDelete = "sku.delete" of Sku, Direct(texts::sku_delete);
        FileCreate = "file.create" of File, Direct(texts::file_create);
        FileDelete = "file.delete" of File, Direct(texts::file_delete);
        CustomerCreate = "customer.create" of Customer, Direct(texts::customer_create);
        CustomerUpdate = "customer.update" of Customer, Direct(texts::customer_update);
        CustomerSignIn = "customer.sign_in" of Customer, Alone(texts::customer_sign_in);
        CustomerSignOut = "customer.sign_out" of Customer, Alone(texts::customer_sign_out);
        SignInLinkCreate = "sign_in_link.create" of SignInLink, Alone(texts::sign_in_link_create);
        SignInLinkRedeem = "sign_in_link.redeem" of SignInLink, Alone(texts::sign_in_link_redeem);
        InvoiceCreate = "invoice.create" of Invoice, Direct(texts::invoice_create);
        InvoiceUpdate = "invoice.update" of Invoice, Direct(texts::invoice_update);
        InvoiceSend = "invoice.send" of Invoice, Direct(texts::invoice_send);
        InvoiceVoid = "invoice.void" of Invoice, Direct(texts::invoice_void);
        InvoiceMarkPaid = "invoice.mark_paid" of Invoice, Direct(texts::invoice_mark_paid);
        InvoiceRefund = "invoice.refund" of Invoice, Direct(texts::invoice_refund);
        InvoiceRefundOtherwise = "invoice.refund_otherwise" of Invoice, Indirect(texts::invoice_refund_otherwise);
        InvoiceCheckOut = "invoice.check_out" of Invoice, Indirect(texts::invoice_check_out);
        InvoicePayment = "invoice.payment" of Invoice, Indirect(texts::invoice_payment);
        InvoiceRefundNews = "invoice.refund_news" of Invoice, Indirect(texts::invoice_refund_news);
        InvoiceCharge = "invoice.charge" of Invoice, Indirect(texts::invoice_charge);
        InvoiceOpenPayLink = "invoice.open_pay_link" of Invoice, Direct(texts::invoice_open_pay_link);
        InvoiceClosePayLink = "invoice.close_pay_link" of Invoice, Indirect(texts::invoice_close_pay_link);
        QuoteCreate = "quote.create" of Quote, Direct(texts::quote_create);
        QuoteUpdate = "quote.update" of Quote, Direct(texts::quote_update);
        QuoteSend = "quote.send" of Quote, Direct(texts::quote_send);
        QuoteAccept = "quote.accept" of Quote, Direct(texts::quote_accept);
        QuoteDecline = "quote.decline" of Quote, Direct(texts::quote_decline);
        QuoteDelete = "quote.delete" of Quote, Direct(texts::quote_delete);
        CustomRequestCreate = "custom_request.create" of CustomRequest, Direct(texts::custom_request_create);
        CustomRequestUpdate = "custom_request.update" of CustomRequest, Direct(texts::custom_request_update);
        CustomRequestClose = "custom_request.close" of CustomRequest, Direct(texts::custom_request_close);
        EndpointCreate = "endpoint.create" of Endpoint, Direct(texts::endpoint_create);
        EndpointUpdate = "endpoint.update" of Endpoint, Direct(texts::endpoint_update);
        EndpointDelete = "endpoint.delete" of Endpoint, Direct(texts::endpoint_delete);
        EndpointEnable = "endpoint.enable" of Endpoint, Direct(texts::endpoint_enable);
        EndpointDisable = "endpoint.disable" of Endpoint, Direct(texts::endpoint_disable);
        EndpointRotateSecret = "endpoint.rotate_secret" of Endpoint, Indirect(texts::endpoint_rotate_secret);
        EndpointTest = "endpoint.test" of Endpoint, Direct(texts::endpoint_test);
        EndpointRedeliver = "endpoint.redeliver" of Endpoint, Direct(texts::endpoint_redeliver);
        EndpointReplay = "endpoint.replay" of Endpoint, Direct(texts::endpoint_replay);
        SalesChannelCreate = "sales_channel.create" of SalesChannel, Direct(texts::sales_channel_create);
        SalesChannelUpdate = "sales_channel.update" of SalesChannel, Direct(texts::sales_channel_update);
        SalesChannelMap = "sales_channel.map" of SalesChannel, Indirect(texts::sales_channel_map);
        SalesChannelUnmap = "sales_channel.unmap" of SalesChannel, Indirect(texts::sales_channel_unmap);
        SalesChannelDelete = "sales_channel.delete" of SalesChannel, Direct(texts::sales_channel_delete);
        ChannelOrderHear = "channel_order.hear" of ChannelOrder, Direct(texts::channel_order_hear);
        ChannelOrderRetry = "channel_order.retry" of ChannelOrder, Direct(texts::channel_order_retry);
        ExportRequest = "export.request" of Export, Direct(texts::export_request);
        ExportDeleted = "export.deleted" of Export, Direct(texts::export_deleted);
        AccountingBegin = "accounting.begin" of Accounting, Alone(texts::accounting_begin);
        AccountingConnect = "accounting.connect" of Accounting, Alone(texts::accounting_connect);
        AccountingRedeem = "accounting.redeem" of Accounting, Alone(texts::accounting_redeem);
        AccountingDisconnect = "accounting.disconnect" of Accounting, Alone(texts::accounting_disconnect);
        PostingRetry = "posting.retry" of Posting, Alone(texts::posting_retry);
        InboundKeep = "inbound.keep" of PaymentEvent, Alone(texts::inbound_keep);
        UserCreate = "user.create" of User, Direct(texts::user_create);
        UserUpdate = "user.update" of User, Direct(texts::user_update);
        UserDelete = "user.delete" of User, Direct(texts::user_delete);
        SecondFactorBegin = "second_factor.begin" of User, Direct(texts::second_factor_begin);
        SecondFactorConfirm = "second_factor.confirm" of User, Direct(texts::second_factor_confirm);
        SecondFactorRemove = "second_factor.remove" of User, Direct(texts::second_factor_remove);
        SecondFactorCode = "second_factor.code" of User, Indirect(texts::second_factor_code);
        SecondFactorReset = "second_factor.reset" of User, Direct(texts::second_factor_reset);
        SessionOpen = "session.open" of Session, Alone(texts::session_open);
        SessionEnd = "session.end" of Session, Alone(texts::session_end);
        ApiKeyCreate = "api_key.create" of ApiKey, Direct(texts::api_key_create);
        ApiKeyRevoke = "api_key.revoke" of ApiKey, Direct(texts::api_key_revoke);
        SettingsPlan = "settings.plan" of Access, Alone(texts::settings_plan);
        SettingsWrite = "settings.write" of Access, Alone(texts::settings_write);
        SetupComplete = "setup.complete" of Access, Alone(texts::setup_complete);
        MailSendAgain = "mail.send_again" of Mail, Direct(texts::mail_send_again);
        MailDismiss = "mail.dismiss" of Mail, Direct(texts::mail_dismiss);
        MailReopen = "mail.reopen" of Mail, Direct(texts::mail_reopen);
        RestoreBegin = "restore.begin" of Restore, Alone(texts::restore_begin);
        RestoreReview = "restore.review" of Restore, Alone(texts::restore_review);
        SecretsRotate = "secrets.rotate" of Access, Alone(texts::secrets_rotate);
        BackupMake = "backup.make" of Backup, Alone(texts::backup_make);
        AgentPausePrint = "agent.pause-print" of Access, Alone(texts::agent_pause_print);
        AgentResumePrint = "agent.resume-print" of Access, Alone(texts::agent_resume_print);
        AgentCancelPrint = "agent.cancel-print" of Access, Alone(texts::agent_cancel_print);
        AgentEmergencyStop = "agent.emergency-stop" of Access, Alone(texts::agent_emergency_stop);
        AgentPrinterStatus = "agent.printer-status" of Access, Alone(texts::agent_printer_status);
        AgentFarmStatus = "agent.farm-status" of Access, Alone(texts::agent_farm_status);
        AgentOrderStatus = "agent.order-status" of Access, Alone(texts::agent_order_status);
        AgentStockLevel = "agent.stock-level" of Access, Alone(texts::agent_stock_level);
        AgentLowStock = "agent.low-stock" of Access, Alone(texts::agent_low_stock);
        AgentReleaseJob = "agent.release-job" of Access, Alone(texts::agent_release_job);
        AgentBedCleared = "agent.bed-cleared" of Access, Alone(texts::agent_bed_cleared);
    }
    server: {
        PrinterSeen = "printer.seen" of Printer, Indirect(texts::printer_seen);
        PrinterSilent = "printer.silent" of Printer, Indirect(texts::printer_silent);
        PrinterSpoolLeft = "printer.spool_left" of Printer, Indirect(texts::printer_spool_left);
        PrinterSlotsReported = "printer.slots_reported" of Printer, Indirect(texts::printer_slots_reported);
        PrinterKeyShown = "printer.key_shown" of Printer, Indirect(texts::printer_key_shown);
        PrinterUploadFailed = "printer.upload_failed" of Printer, Direct(texts::printer_upload_failed);
        PrinterStartRefused = "printer.start_refused" of Printer, Indirect(texts::printer_start_refused);
        PrinterProgressed = "printer.progressed" of Printer, Indirect(texts::printer_progressed);
        PrinterJudged = "printer.judged" of Printer, Indirect(texts::printer_judged);
        PrinterHeard = "printer.heard" of Printer, Indirect(texts::printer_heard);
        PrinterPrintOver = "printer.print_over" of Printer, Indirect(texts::printer_print_over);
        PrinterPrintUnclear = "printer.print_unclear" of Printer, Indirect(texts::printer_print_unclear);
        PrinterPhotoOver = "printer.photo_over" of Printer, Indirect(texts::printer_photo_over);
        PrinterCameraTold = "printer.camera_told" of Printer, Indirect(texts::printer_camera_told);
        PrinterFailureSuspected = "printer.failure_suspected" of Printer, Indirect(texts::printer_failure_suspected);
        PrinterTake = "printer.take" of Printer, Indirect(texts::printer_take);
        PrinterUploaded = "printer.uploaded" of Printer, Direct(texts::printer_uploaded);
        PrinterPrintUploaded = "printer.print_uploaded" of Printer, Direct(texts::printer_print_uploaded);
        OrderCheckoutMade = "order.checkout_made" of Order, Indirect(texts::order_checkout_made);
        OrderSessionClosed = "order.session_closed" of Order, Indirect(texts::order_session_closed);
        OrderRefundsRead = "order.refunds_read" of Order, Indirect(texts::order_refunds_read);
        OrderRecount = "order.recount" of Order, Indirect(texts::order_recount);
        OrderInvoiceTold = "order.invoice_told" of Order, Indirect(texts::order_invoice_told);
        OrderIssueInvoice = "order.issue_invoice" of Order, Indirect(texts::order_issue_invoice);
        OrderKeepDepartures = "order.keep_departures" of Order, Indirect(texts::order_keep_departures);
        OrderPrepared = "order.prepared" of Order, Indirect(texts::order_prepared);
        OrderPromise = "order.promise" of Order, Indirect(texts::order_promise);
        OrderRecall = "order.recall" of Order, Direct(texts::order_recall);
        OrderSettled = "order.settled" of Order, Indirect(texts::order_settled);
        OrderShopTold = "order.shop_told" of Order, Indirect(texts::order_shop_told);
        OrderSlicing = "order.slicing" of Order, Indirect(texts::order_slicing);
        OrderStock = "order.stock" of Order, Direct(texts::order_stock);
        OrderTiming = "order.timing" of Order, Indirect(texts::order_timing);
        JobFailRefused = "job.fail_refused" of Order, Indirect(texts::job_fail_refused);
        JobAttempt = "job.attempt" of Order, Indirect(texts::job_attempt);
        JobSignedAtPrinter = "job.signed_at_printer" of Order, Indirect(texts::job_signed_at_printer);
        JobPhotographed = "job.photographed" of Order, Indirect(texts::job_photographed);
        MaterialClaim = "material.claim" of Material, Indirect(texts::material_claim);
        MaterialSettle = "material.settle" of Material, Indirect(texts::material_settle);
        MaterialHeard = "material.heard" of Material, Indirect(texts::material_heard);
        MaterialKept = "material.kept" of Material, Indirect(texts::material_kept);
        MaterialSynchronise = "material.synchronise" of Material, Indirect(texts::material_synchronise);
        MaterialBooked = "material.booked" of Material, Indirect(texts::material_booked);
        InvoiceCheckoutMade = "invoice.checkout_made" of Invoice, Indirect(texts::invoice_checkout_made);
        InvoiceSessionClosed = "invoice.session_closed" of Invoice, Indirect(texts::invoice_session_closed);
        InvoiceRefundsRead = "invoice.refunds_read" of Invoice, Indirect(texts::invoice_refunds_read);
        InvoiceRecount = "invoice.recount" of Invoice, Indirect(texts::invoice_recount);
        InvoiceFollow = "invoice.follow" of Invoice, Direct(texts::invoice_follow);
        QuoteSliced = "quote.sliced" of Quote, Indirect(texts::quote_sliced);
        QuoteRequestTold = "quote.request_told" of Quote, Indirect(texts::quote_request_told);
        QuoteOrdered = "quote.ordered" of Quote, Indirect(texts::quote_ordered);
        QuoteNotOrdered = "quote.not_ordered" of Quote, Indirect(texts::quote_not_ordered);
        CustomRequestCloseUnanswered = "custom_request.close_unanswered"
            of CustomRequest, Direct(texts::custom_request_close_unanswered);
        CustomRequestQuoted = "custom_request.quoted" of CustomRequest, Indirect(texts::custom_request_quoted);
        CustomRequestQuoteAccepted = "custom_request.quote_accepted"
            of CustomRequest, Indirect(texts::custom_request_quote_accepted);
        CustomRequestQuoteDeclined = "custom_request.quote_declined"
            of CustomRequest, Indirect(texts::custom_request_quote_declined);
        EndpointFollow = "endpoint.follow" of Endpoint, Direct(texts::endpoint_follow);
        EndpointRefilled = "endpoint.refilled" of Endpoint, Direct(texts::endpoint_refilled);
        EndpointReplayed = "endpoint.replayed" of Endpoint, Direct(texts::endpoint_replayed);
        EndpointTried = "endpoint.tried" of Endpoint, Direct(texts::endpoint_tried);
        ChannelOrderMade = "channel_order.made" of ChannelOrder, Indirect(texts::channel_order_made);
        ChannelOrderNotMade = "channel_order.not_made" of ChannelOrder, Indirect(texts::channel_order_not_made);
        ChannelOrderResolved = "channel_order.resolved" of ChannelOrder, Indirect(texts::channel_order_resolved);
        ChannelOrderUnresolved = "channel_order.unresolved" of ChannelOrder, Indirect(texts::channel_order_unresolved);
        ChannelOrderShipped = "channel_order.shipped" of ChannelOrder, Indirect(texts::channel_order_shipped);
        ChannelOrderTold = "channel_order.told" of ChannelOrder, Indirect(texts::channel_order_told);
        ChannelOrderTracked = "channel_order.tracked" of ChannelOrder, Indirect(texts::channel_order_tracked);
        ExportProgress = "export.progress" of Export, Indirect(texts::export_progress);
        ExportFailed = "export.failed" of Export, Direct(texts::export_failed);
        ExportFinished = "export.finished" of Export, Direct(texts::export_finished);
        ExportVanished = "export.vanished" of Export, Indirect(texts::export_vanished);
        AccountingLost = "accounting.lost" of Accounting, Alone(texts::accounting_lost);
        AccountingRenew = "accounting.renew" of Accounting, Alone(texts::accounting_renew);
        AccountingRenewed = "accounting.renewed" of Accounting, Alone(texts::accounting_renewed);
        AccountingRevoked = "accounting.revoked" of Accounting, Alone(texts::accounting_revoked);
        PostingBegin = "posting.begin" of Posting, Alone(texts::posting_begin);
        PostingPosted = "posting.posted" of Posting, Alone(texts::posting_posted);
        PostingRefused = "posting.refused" of Posting, Alone(texts::posting_refused);
        InboundTried = "inbound.tried" of PaymentEvent, Alone(texts::inbound_tried);
        IntegrationBegin = "integration.begin" of Integration, Alone(texts::integration_begin);
        IntegrationRead = "integration.read" of Integration, Alone(texts::integration_read);
        IntegrationNeedsPerson = "integration.needs_person" of Integration, Alone(texts::integration_needs_person);
        IntegrationWell = "integration.well" of Integration, Alone(texts::integration_well);
        MailTried = "mail.tried" of Mail, Alone(texts::mail_tried);
        AccessUsed = "access.used" of Access, Alone(texts::access_used);
        SessionSweep = "session.sweep" of Session, Alone(texts::session_sweep);
    }
}
