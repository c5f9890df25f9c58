### Order pages.

## Labels of orders

status_draft = Draft
status_created = Unpaid
status_payment_failed = Payment failed
status_paid = Paid
status_printing = Printing
status_ready = Ready to ship
status_shipped = Shipped
status_cancelled = Cancelled
status_refunded = Refunded
flag_refund_due = Refund due
flag_amount_mismatch = Payment amount differs
flag_job_failed = Job failed
flag_all_jobs_cancelled = All jobs cancelled
flag_short = Fewer good parts than ordered
flag_needs_attention = Rejected parts not reprinted
flag_seller_incomplete = Invoice needs the shop's name and address
flag_rejected_after_shipping = Shipped parts rejected: send replacements
flag_surplus = Reprint no longer needed
flag_refund_failed = Refund failed
flag_disputed = Payment disputed
flag_dispute_lost = Dispute lost
flag_unknown = Needs attention

## List

list_title = Orders
jobs = Jobs
new_order = New order
no_match = No orders match.
show_all = Show all
none_heading = No orders yet
none_origin = Orders come from customers, your web shop (through the API), sales channels and staff.
none_jobs = When an order is paid, its jobs are created and sent to compatible printers.
create_first = New order
view_products = View products
timing_filters = Timing
status_filters = Status
sort_links = Sort by
sort_urgent = Most urgent first
sort_newest = Newest first
all_filter = All
search_field = Number or email
flagged_field = Needs attention
show = Apply
picture_column = Picture
order_column = Order
status_column = Status
customer_column = Customer
promised_column = Promised
expected_column = Expected
total_column = Total

## One order

all_orders = All orders
order_title = Order { $number }
no_customer = No customer
more_jobs = { $count } more.
view_all_jobs = View all jobs
progress = Progress
step_paid = Paid
step_reserved = Stock reserved
step_printed = Printed
step_printing = Printing
step_ready = Ready
step_shipped = Shipped
progress_of = Progress of { $number }
parts_good = { $good } of { $ordered } good
expected_at = expected { $time }
promised_at = promised { $time }
glance = At a glance
customer = Customer
placed = Placed
paid = Paid
due_date = Due date
promised = Promised
ready = Ready
expected = Expected
priority = Priority
ship_to = Ship to
notes = Notes
internal_notes = Internal notes
history = History

## Actions on an order

confirm_draft = Confirm draft
more = More
cancel = Cancel order
cancel_text = This cancels the order's open jobs and stops prints in progress.
cancel_order = Cancel { $number }
no_waiting_field = Don't wait for unresponsive printers
edit = Edit priority, date and notes
edit_with_address = Edit priority, date, notes and address
priority_hint = 9 prints first.
due_date_hint = End of that day.
address_hint = Shipping address. Tax may depend on it.
save = Save

## Lines

lines = Lines
order_lines = Order lines
item_column = Item
ordered_column = Ordered
good_column = Good
running_column = In progress
missing_column = Missing
shipped_column = Shipped
amount_column = Amount
sets_of_kit = (kit: { $good } of { $all } sets complete)
in_kit = (in a kit)
rejected = { $count } rejected

## Shipments

shipment = Shipment { $number }
pickup = pickup
expected_delivery_on = expected delivery { $day }
packing_list = Packing list
carrier_field = Carrier
tracking_field = Tracking number
parts_field = { $item } (up to { $count })
sets_field =
    { $count ->
        [one] { $item } (up to { $count } complete set)
       *[other] { $item } (up to { $count } complete sets)
    }
accept_short_field = Customer accepts fewer parts
ship = Ship
mark_picked_up = Mark as picked up
new_shipment = New shipment
new_shipment_text = To ship in several parcels, enter fewer parts and ship the rest later.
ship_some = Ship some…
ship_some_text = These parts go out as a separate shipment. The order is marked as shipped once all parts have been sent.

## Packing list

packing_title = Packing list { $shipment } for order { $number }
back_to_order = Back to the order
no_address = No address
shipped_at = shipped { $time }
packing_notes = Notes: { $notes }
contents = Contents
packed_items = Packed items
packed_column = Packed
parts_column = Parts
of_kit = (of { $kit })
printed_in = Printed in { $prints }. If a part turns out to be bad, reject it in its job. It then counts as missing again.
parts_of_job =
    { $count ->
        [one] { $job } ({ $count } part)
       *[other] { $job } ({ $count } parts)
    }

## Payments

payments = Payments
shipping = Shipping
tax = Tax
total = Total
net_paid = Net paid
due = Due
pending_refunds = Pending refunds
refund_requested = requested { $time }
refund_rejected = Rejected by the payment processor: { $error }
refund_waiting = waiting for the payment processor
payment_refunded = refunded
payment_failed = failed
record_payment = Record payment
method_field = Payment method
amount_field = Amount in { $currency }
payment_hint = Leave empty to record the full amount due ({ $due }).
refund_payment = Refund { $amount } ({ $method }, { $time })
refund_text = Refund all or part of this payment. Payments through the payment processor are refunded there. Send any other refund yourself; it is recorded here.
refund_hint = Leave empty to refund the full remaining amount.
other_method_field = Other refund method
refund_to = Refund to { $customer }
refund_to_customer = Refund to the customer

## New order

no_skus_heading = No products to order yet
no_skus_text = Orders consist of products. First add a product with its price, material and G-code.
new_sku = New product
order_heading = Order
email_field = Customer email
email_hint = For the invoice and order updates. Leave empty to send no emails.
new_due_date_hint = End of that day. Leave empty for as soon as possible.
more_products = More products
more_products_hint = Rows without a product are ignored.
optional_fields = Address, notes and priority
new_address_hint = Optional address. Shipping and tax may depend on it.
new_priority_hint = 0 to 9; 9 prints first. Defaults to 5.
place_order = Place order
discard = Cancel
product_field = Product
quantity_field = Quantity
next_product_field = Product { $number }
next_quantity_field = Quantity ({ $number })
product_hint = Name or code of a product or kit. The catalogue price applies.

## History

event_order_cancelled = Order cancelled
event_order_created = Order created
event_order_draft = Draft created
event_order_flagged = Order needs attention
event_order_late = Order running late
event_order_paid = Order paid
event_order_part_shipped = Part of the order shipped
event_order_payment_failed = Payment failed
event_order_payment_recorded = Payment recorded
event_order_printing = Printing started
event_order_ready = Order ready
event_order_refund_recorded = Refund recorded
event_order_refunded = Order refunded
event_order_shipped = Order shipped
event_job_added = { $job } was added to replace rejected parts
event_job_blocked = { $job } needs a review
event_job_cancelled =
    { $printer ->
        [none] { $job } was cancelled
       *[other] { $job } was cancelled on { $printer }
    }
event_job_completed =
    { $printer ->
        [none] { $job } finished printing
       *[other] { $job } finished printing on { $printer }
    }
event_job_created = { $job } was created
event_job_dispatching =
    { $printer ->
        [none] { $job } was assigned to a printer
       *[other] { $job } was assigned to { $printer }
    }
event_job_failed =
    { $printer ->
        [none] { $job } failed
       *[other] { $job } failed on { $printer }
    }
event_job_not_started =
    { $printer ->
        [none] { $job } did not start
       *[other] { $job } did not start on { $printer }
    }
event_job_paused =
    { $printer ->
        [none] { $job } was paused
       *[other] { $job } was paused on { $printer }
    }
event_job_printing =
    { $printer ->
        [none] { $job } started printing
       *[other] { $job } started printing on { $printer }
    }
event_job_released = { $job } was released
event_job_resumed =
    { $printer ->
        [none] { $job } resumed
       *[other] { $job } resumed on { $printer }
    }
event_job_retried = { $job } was queued again
event_job_signed_off = { $job } was signed off
event_job_sliced = { $job } is ready to print
event_job_unverified =
    { $printer ->
        [none] { $job } may still be printing: check the printer
       *[other] { $job } may still be printing on { $printer }: check the printer
    }
event_job_validated = { $job } was checked
event_printer_attention_cleared = { $printer } was checked
event_printer_bed_cleared = The bed of { $printer } was cleared
event_printer_commanded = A command was sent to { $printer }
event_printer_connected = { $printer } was connected
event_printer_created = { $printer } was added
event_printer_deleted = { $printer } was removed
event_printer_disconnected = { $printer } was disconnected
event_printer_emergency_stopped = { $printer } was stopped with the emergency stop
event_printer_failure_suspected = The camera of { $printer } shows a possible failure
event_printer_firmware_error = { $printer } reported a firmware error
event_printer_homed = { $printer } was homed
event_printer_in_service = { $printer } was returned to service
event_printer_maintenance_due = { $printer } is due for maintenance
event_printer_maintenance_logged = Maintenance of { $printer } was logged
event_printer_offline = { $printer } went offline
event_printer_online = { $printer } is online again
event_printer_out_of_service = { $printer } was taken out of service
event_printer_updated = The settings of { $printer } were changed
event_credit_note_issued = Credit note issued
event_invoice_flagged = Invoice needs attention
event_invoice_issued = Invoice issued
event_invoice_paid = Invoice paid
event_invoice_refunded = Invoice refunded
event_invoice_voided = Invoice voided
event_unknown = Order changed
event_some_job = A job
