### Pages for customers.

## Frame

skip_link = Skip to content
navigation = Main
orders_tab = Orders
invoices_tab = Invoices
quotes_tab = Quotes
profile_tab = Profile
sign_out = Sign out
newer = Newer
older = Older
ask_shop = Contact us
payment_title = Continue to payment
redirect_text = You'll be redirected in a moment. If not, select Continue.
continue_button = Continue
none_yet = There's nothing for { $email } yet.

## Server on standby

standby_title = This server is on standby
standby_text = Another server is running the shop. If it fails, this one takes over automatically.
standby_link = Open the active server
standby_busy_text = The database is in use. This server starts as soon as it is free.

## Sums, of orders, invoices and quotes

items = Items
shipping = Shipping
discount = Discount
tax = Tax
total = Total
pay_amount = Pay { $amount }

## Sign-in

sign_in = Sign in
sign_in_text = View your orders, invoices and quotes. We'll email you a sign-in link, so you don't need a password.
email_field = Email address
send_link = Send me a link
link_expired = This link has expired or was already used. Request a new one.
check_email = Check your email
link_sent = We sent a sign-in link to { $email }. It works once and expires in 10 minutes.
nothing_came = Didn't get it? Check your spam folder and the address, or { $link }.
ask_again = request a new link
link_incomplete = This link is incomplete
link_incomplete_text = Open the complete link from the email, or request a new one.
new_link = Request a new link
confirm_text = To sign in on this browser, select the button below.
link_unwanted = Didn't request this link? Close this page and nothing will happen.

## Orders

orders_title = Your orders
orders_empty = Your orders will appear here, with progress and tracking.
order_count =
    { $count ->
        [one] 1 item
       *[other] { $count } items
    }
ordered_on = ordered { $day }
expected_on = expected { $day }
order_title = Order { $number }
ordered_at = Ordered { $time }
reload_order = { $link } to see the current status.
reload_order_link = Reload the page

order_draft = Draft
order_created = Unpaid
order_payment_failed = Payment failed
order_paid = Paid
order_printing = Printing
order_ready = Ready
order_shipped = Shipped
order_cancelled = Cancelled
order_refunded = Refunded

order_draft_text = This order is a draft. It will be placed when you pay.
order_created_text = We'll start as soon as we receive your payment.
order_payment_failed_text = Your last payment didn't go through. You can try again.
order_paid_text = Your order is paid and queued for printing.
order_printing_text = Your order is being printed: { $parts }.
order_ready_text = All parts are ready. We'll ship them soon.
order_picked_up_text = Your order was picked up.
order_shipped_text = Your order is on its way.
order_cancelled_text = Your order was cancelled.
order_cancelled_paid_text = Your order was cancelled. No further payment is due, and your payment will be refunded.
order_refunded_text = Your payment was refunded.

parts_made =
    { $all ->
        [one] { $good } of { $all } part is ready
       *[other] { $good ->
            [one] { $good } of { $all } parts is ready
           *[other] { $good } of { $all } parts are ready
        }
    }
parts_printing = { $parts }, { $count } being printed

history = History
step_draft = Draft created
step_created = Order placed
step_payment_failed = Payment failed
step_paid = Paid
step_printing = Printing started
step_ready = All parts ready
step_part_shipped = Some parts shipped
step_shipped = Shipped
step_cancelled = Cancelled
step_refunded = Refunded
step_plate = Print finished
step_note = Note added

to_pay_heading = Amount due: { $amount }
progress = Progress
progress_value = { $good } of { $all }
stages = Stages
stage_ordered = Ordered
stage_paid = Paid
stage_printing = Printing
stage_ready = Ready
stage_shipped = Shipped
stage_picked_up = Picked up
expected_ready = Expected to be ready { $day }
promised = Promised for { $time }
promised_ready = Promised for { $time }, ready { $ready }
promised_ready_late = Promised for { $time }, ready { $ready }. We're sorry for the delay.

part_of_set = (part of a set)
your_notes = Your notes: { $notes }
sets_complete =
    { $all ->
        [one] { $good } of { $all } set complete
       *[other] { $good } of { $all } sets complete
    }
line_made = { $good } of { $all } ready
line_shipped = { $parts }, { $shipped } shipped
parcel = Shipment { $number }
picked_up = Picked up
shipped = Shipped
carrier = Carrier
tracking_number = Tracking number
expected_delivery = Expected delivery
track_parcel = Track shipment
invoice_link = View invoice

## Invoices

invoices_title = Your invoices
invoices_empty = Your invoices will appear here. You can pay and download them.
issued_on = Issued { $day }
due_on = due { $day }
invoice_title = Invoice { $number }
invoice_draft = Draft
invoice_open = Open
invoice_partly_paid = Partly paid
invoice_overdue = Overdue
invoice_paid = Paid
invoice_refunded = Refunded
invoice_void = Void
invoice_cancelled = Order cancelled
invoice_cancelled_text = The order was cancelled. No payment is due.
invoice_cancelled_paid_text = The order was cancelled. No further payment is due, and your payment will be refunded.
download_pdf = Download PDF
order_link = View order
seller = Seller
vat_id = VAT ID { $id }
credit_notes = Credit notes
credit_note = Credit note { $number }
summary = Summary
issued = Issue date
due = Due date
paid = Paid
to_pay = Amount due
invoice_for = For { $name }
due_note = Due { $day }
nothing_to_pay = Thank you. There's nothing left to pay.

## Quotes

quotes_title = Your quotes
quotes_empty = The quotes we send you will appear here. You can accept or decline them.
quote_title = Quote { $number }
quote_draft = Draft
quote_sent = Awaiting your reply
quote_accepted = Accepted
quote_declined = Declined
quote_expired = Expired
valid_until = Valid until { $time }
quote_text = Accepting this quote places an order at this price. You can pay on the next page.
accept = Accept and order
decline = Decline
quote_expired_text = This quote is no longer valid. Contact us for a new one.
open_order = View order

## Models

models_title = Get a price for a model
models_text = Upload a model to get an instant price. We'll review it and send you a quote that you can accept.
model_field = Model
model_hint = STL or 3MF file.
quantity = Quantity
notes_field = Notes for us
upload = Upload model
uploads = Your models
model_quoted = Quoted
model_priced = Calculating price
model_checked = In review
current_price = Current price
size = Size
price_each = Unit price
net_total = Total before tax and shipping
price_pending = We're still calculating the exact price. Reload this page in about a minute. Only the quote we send you is binding.
price_text = Only the quote we send you is binding.
open_quote = View quote
load_again = Reload
all_models = All models

## Profile

profile_title = Your profile
signed_in_as = You're signed in as { $email }.
about_you = Your details
name_field = Name
phone_field = Phone
company_field = Company
tax_id_field = VAT ID
language_field = Language for pages, emails and documents
language_of_browser = Browser language; emails and documents in English
other_language = Another language
shipping_address = Shipping address
address_hint = Leave these fields empty if you don't want to save an address.
line1_field = Street and number
line2_field = Address line 2
city_field = City
region_field = State or region
postal_code_field = Postcode
country_field = Country (two-letter code)
save = Save

## Errors of forms, after the label of the field

fault_empty = must not be empty
fault_email = must be an email address
fault_country = must be a two-letter country code
fault_too_long =
    { $most ->
        [one] must be at most 1 character
       *[other] must be at most { $most } characters
    }

## Error pages

missing_title = Page not found
missing_text = Check the address, or go to your orders.
lost_text = Check the address, or go to your orders. If you work here, go to the floor.
cross_site_title = Request from another site
cross_site_text = Open the page on our site and try again.
outdated_title = Please try again
outdated_text = Go back, reload the page and submit the form again.
foreign_title = This belongs to another customer
foreign_text = Sign in with the email address it was sent to.
conflict_title = This isn't possible now
conflict_text = Go back and reload the page to see the current status.
too_large_title = Request too large
too_large_text = Go back and send a smaller file or less text.
too_many_title = Too many requests
too_many_text = Wait a moment and try again.
unavailable_title = Temporarily unavailable
unavailable_text = Nothing was lost. Try again in a minute.
invalid_title = That didn't work
invalid_text = Go back and fix the problem described above.
broken_title = Something went wrong
broken_text = It's not your fault, and we've logged the error. Try again later.
to_orders = Go to your orders
to_floor = Open the floor
export_expired_title = This link has expired
export_unknown_title = This link doesn't work
export_again_text = Exports are available for 7 days. Request a new one in your account.
