### Emails to the staff.

## Frame

staff_footer = You received this email because you manage { $shop }.

## Several alerts in one email

endpoints_disabled = { $count } webhook endpoints disabled
jobs_failed = { $count } jobs failed
low_stock_alerts = Low stock: { $count } alerts
stock_discrepancies = Stock discrepancy: { $count } alerts
unmatched_payments = { $count } payments match no order
unsettled_orders = { $count } orders have an unsettled payment or refund
flagged_orders = Orders: { $count } alerts
late_orders = { $count } orders are late
flagged_printers = Printers: { $count } alerts
custom_requests = { $count } custom requests
accounting_issues = Accounting: { $count } issues need attention
flagged_integrations = Integrations: { $count } alerts
failed_backups = { $count } failed backups
not_listed = Plus { $count } more not listed here.

## Links

endpoint_link = Enable the endpoint
job_link = Retry or cancel the job
stock_link = Add stock
discrepancy_link = Correct the stock
payments_link = View the payments
orders_link = Open the orders
late_orders_link = Show the late orders
printers_link = Open the printers
requests_link = Open the custom requests
postings_link = View the documents that were not posted
integrations_link = View the integrations
backup_link = Download a backup

## Webhook endpoints

endpoint_disabled_subject = Webhook endpoint disabled after { $attempts } attempts: { $url }
endpoint_disabled =
    Deliveries to { $url } have stopped: { $reason }.
    Its events are kept and will be sent when the endpoint is enabled again.

## Jobs

job_failed_subject = { $job } failed: { $error }
job_failed = Job { $job } ({ $product }) of order { $order } failed: { $error }.
job_failed_advice = Retry or cancel it; it is not retried automatically.
not_sliced_subject = { $job } cannot be sliced
several_not_sliced_subject = { $job } and { $count } more cannot be sliced
not_sliced =
    The model of { $product } cannot be sliced with the profile { $profile }: { $error }.
    Correct the model or the profile, then release the jobs; they are not sliced again automatically.

## Stock

low_stock_subject = Low stock: { $name }, { $available } left
low_stock = { $name }: { $available } available of { $on_hand } on hand, below the reorder point of { $point }.
short_stock = { $name }: { $available } available of { $on_hand } on hand, less than a waiting job needs.
jobs_held = New jobs that need it are on hold until stock is added.
usual_order = The reorder quantity is { $amount }.
discrepancy_subject = Stock discrepancy: { $name }, { $missing } missing
used_beyond_stock = Prints used { $amount } more of { $name } than was on hand. Please count the stock.
reserved_beyond_stock = { $name }: { $on_hand } on hand, but { $reserved } reserved for jobs. Please count the stock and reorder.

## Payments that match no order

unmatched_money =
    { $kind ->
        [refund] refund
       *[payment] payment
    }
unmatched_amount =
    { $kind ->
        [refund] refund of { $amount }
       *[payment] payment of { $amount }
    }
unmatched_subject = A { $money } matches no order
unmatched = The payment processor reports a { $money } that matches no order (event { $event }).
unmatched_retries = Matching is retried with each new order and every hour, for { $days } days.
unmatched_names = It refers to { $names }.
never_matched_subject = A { $money } matched no order in { $days } days
never_matched = The payment event { $event } matched no order in { $days } days and is no longer retried.
never_matched_advice = Please look it up at the payment processor.

## Orders and invoices that need attention

flag_name =
    { $flag ->
        [refund_due] refund due
        [amount_mismatch] payment amount differs
        [refund_failed] refund failed
        [disputed] disputed
        [dispute_lost] dispute lost
        [all_jobs_cancelled] all jobs cancelled
        [short] fewer good parts than ordered
        [needs_attention] rejected parts not reprinted
        [seller_incomplete] invoice needs the shop's name and address
        [rejected_after_shipping] shipped parts rejected
        [surplus] reprint no longer needed
        [job_failed] job failed
       *[other] needs attention
    }
order_flag_subject = { $number }: { $flag }
order_flag = Order { $number } needs attention: { $reason }.
invoice_flag_subject = Invoice to { $name }: { $flag }
invoice_flag = Invoice { $invoice } to { $name } needs attention: { $reason }.
not_ordered_subject = Quote { $quote } was accepted, but its order cannot be created
not_ordered = The customer accepted quote { $quote }, but its order could not be created: { $reason }. Fix the problem; the order is created when the customer accepts again.

## Orders from sales channels

held_sale_subject = Paid order { $number } from a sales channel is on hold
held_sale = It is saved and will be produced as soon as possible.
unmapped_variants = The variant mapping has no entry for { $names }.
conflict_subject = Conflicting changes to order { $number } from a sales channel
conflict = Conflicting changes to order { $number } from a sales channel (order { $order } here): { $reason }.
unreported_shipment_subject = A shipment of order { $number } from a sales channel could not be reported
unreported_shipment =
    The sales channel does not know about shipment { $shipment } of its order { $number } (order { $order } here): { $reason }
    Enter it there manually, or retry.

## Late orders

late_subject = { $number } is late
late_order = Order { $number }
late_order_of = Order { $number } for { $customer }
due_expected = { $order }: due { $deadline }, now expected { $expected }.
due_unknown = { $order }: due { $deadline }, no forecast available.
promised_expected = { $order }: promised for { $deadline }, now expected { $expected }.
promised_unknown = { $order }: promised for { $deadline }, no forecast available.

## Printers

unreachable_subject = Printer unreachable: { $name }
unreachable = { $name } cannot be reached: { $reason }.
last_response = It last responded on { $at }.
never_responded = It has never responded.
job_held = Its current job is on hold until the printer responds again or an operator resolves the job.
leftover_subject = Unexpected print of an old file: { $name }
leftover = { $name } is printing { $file }, a file of a job that has ended. The print was not started from here: some printers restart a stored file after a power failure, or someone may have started it at the printer. The parts do not count towards any order. Stop it at the printer if you don't want it.
fault_subject = Printer fault: { $name }
fault =
    The firmware of { $name } reports: { $report }

    No other job starts on it until someone has checked the printer and marked it as checked.
suspicion_subject = Possible print failure: { $name }
suspicion = Failure detection is { $percent }% sure that the print on { $name } is failing.
print_paused = The print was paused: check it, then resume or cancel it.
print_not_paused = The print could not be paused: check it now.
print_continues = The print continues: check it.

## Maintenance

maintenance_subject = Maintenance due on { $printer }: { $task }
maintenance = { $task } is due on { $printer }: { $reason } since it was last done.
maintenance_blocks = It accepts no jobs until the work is done and logged.
maintenance_can_wait = It keeps accepting jobs; log the work when it is done.
hours_reached = { $done } of { $every } hours of printing
prints_reached = { $done } of { $every } prints
grams_reached = { $done } of { $every } grams of material
failures_reached = { $done } of { $every } failed prints

## Custom requests

request_subject = Custom request from { $customer }: { $product }, { $total }
request =
    { $photos ->
        [one] { $customer } <{ $email }> sent a custom request for “{ $product }” ({ $wishes }), with 1 photo.
       *[other] { $customer } <{ $email }> sent a custom request for “{ $product }” ({ $wishes }), with { $photos } photos.
    }
wishes =
    { $colors ->
        [one] { $subject }, style { $style }, size { $size }, base { $base }, 1 colour
       *[other] { $subject }, style { $style }, size { $size }, base { $base }, { $colors } colours
    }
phone_line = Phone: { $text }
inscription_line = Inscription: { $text }
notes_line = Notes: { $text }
estimate = Estimated at { $total }, valid until { $until }.
unpriced = Not in the price tables, estimated with defaults: { $names }.
request_advice = Check the request and answer it with a quote.

## Accounting

reconnect_subject = Reconnect the accounting system
reconnect =
    Paid invoices and credit notes are no longer sent to the accounting system: { $reason }.

    An admin who has a customer account with the same email address can reconnect it at { $url }. Documents issued in the meantime will be sent then.
not_posted_subject = { $number } was not posted
not_posted =
    The accounting system rejected { $number }: { $error }.

    Fix it there or in the settings, then retry the document. Nothing else is held up by it.

## Integrations

integration_subject = Integration needs attention: { $name }
integration =
    The integration { $name } responds, but its responses cannot be used: { $reason }.

    Someone must fix it: check the permissions of its token there, or change its URL or token at { $url }. You are notified again only if the problem recurs after it has been fixed.

## Backups

backup_subject = Backup failed
backup =
    The server could not make its scheduled backup: { $reason }.

    It tries again every 15 minutes. Check where backups are stored at { $url }. You can also download a backup there. You are notified again only if a backup fails after one has succeeded.
