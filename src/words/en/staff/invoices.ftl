### Pages of invoices.

## List

title = Invoices
numbers = Numbers
new_invoice = New invoice
filter_label = Status
all = All
email_field = Customer email
search = Search
none_match = No invoices match.
show_all = Show all
none_yet = No invoices yet. An order gets an invoice with its first payment. You can create other invoices here.
invoice_column = Invoice
status_column = Status
customer_column = Customer
issued_column = Issued
due_column = Due
total_column = Total
due_amount_column = Amount due
needs_attention = Needs attention
no_number = No number

## Statuses

status_draft = Draft
status_open = Open
status_partly_paid = Partly paid
status_paid = Paid
status_overdue = Overdue
status_refunded = Refunded
status_void = Void
status_order_cancelled = Order cancelled

## An invoice

all_invoices = All invoices
invoice_title = Invoice { $number }
unnumbered_title = Invoice without a number
unprintable = The PDF shows ? for these characters because no installed font contains them: { $characters }. Install a Noto font for them, or set a font in pdf.fonts, then restart the server.
glance = At a glance
customer = Customer
billing_address = Billing address
vat_id = VAT ID
order = Order
view_order = View order
created = Created
issued = Issued
due = Due
paid_at = Paid
notes = Notes

## Lines and sums

lines = Lines
lines_label = Invoice lines
description_column = Description
quantity_column = Quantity
price_column = Price
tax_column = Tax
amount_column = Amount
subtotal = Subtotal
shipping = Shipping
discount = Discount
tax = Tax
rounding = Rounding
total = Total
paid = Paid
due_amount = Amount due

## Payments

payments = Payments and refunds
no_payments = None yet.
no_payments_of_order = None yet. Payments for the order appear here.
payment_received = received, { $time }
payment_refunded = refunded, { $time }
refund_failed = refund failed, { $time }
refund_rejected = Refund rejected
refund_requested = Refund requested from the payment processor

## Documents

documents = Invoice and credit notes
no_documents = No documents issued yet.
document_invoice = Invoice { $number }
document_credit_note = Credit note { $number }
of_document = of { $number }
stored_pdf = Stored PDF (public URL)

## Drafts

draft_text = This creates a draft. You can add more lines before you issue the invoice, which assigns its number.
edit_draft = Edit draft
edit_head = Edit customer, address, shipping, discount and notes
name_field = Customer name
buyer_email_field = Email address
vat_id_field = VAT ID
shipping_field = Shipping, excluding tax
discount_field = Discount, excluding tax
due_field = Due date
due_hint = Leave empty for the default payment term.
address_legend = Billing address (determines tax)
notes_field = Notes to customer
description_field = Description
quantity_field = Quantity
price_field = Unit price, excluding tax
rate_field = Tax rate in %
rate_hint = Leave empty for the rate of the billing address.
first_line = First line
currency_field = Currency
currency_hint = Three letters, such as EUR. Leave empty for the shop's currency.
create_draft = Save draft
save = Save

## Actions

actions = Actions
issue = Issue invoice
issue_text = Assigns the next number and starts the payment term. The customer can see the invoice, and you can no longer change it.
issue_to = Issue to { $name }
discard = Discard draft
discard_text = A discarded draft never gets a number.
discarded = This draft was discarded.
order_cancelled_text = The order was cancelled, so nothing is due. The invoice becomes void once all payments are refunded.
void = Void invoice
void_text = Issues a credit note for the full amount. The invoice number is not used again.
void_number = Void { $number }
store_pdf_heading = Store PDF at a public URL
store_pdf_text = Anyone with the URL can read the PDF. The URL can't be guessed.
store_pdf = Store PDF
record_payment = Record payment
record_payment_text = { $amount } is due. You can also record a partial payment.
method_field = Payment method
amount_field = Amount
payment_amount_hint = Leave empty for the full amount due.
reference_field = Reference (internal)
refund_heading = Refund a payment
refund_text = { $amount } has been paid and not refunded. A refund issues a credit note. Payments made through the payment processor are refunded through it.
latest_payment = Latest payment (through the payment processor, if any)
payment_choice = { $amount } by { $method }, { $date }
payment_field = Payment
refund_amount_hint = Leave empty for the full remaining amount of the payment.
refund_method_field = Refund method, if different
refund_method_hint = Only if you refunded the money another way. The payment processor won't be used.
refund = Refund
replace_link = Replace payment link
replace_link_text = The current link stops working.
create_link_heading = Create payment link
create_link_text = Anyone with the link can view and pay the invoice.
create_link = Create link
link_field = Payment link for { $amount }
link_ends = Works until { $time }.
link_stays = Works until you revoke it or the invoice is paid.
link_expiry_field = Expiry date
link_expiry_hint = Leave empty for no expiry.
revoke_link_heading = Revoke payment link
revoke_link_text = The link stops working immediately.
revoke_link = Revoke link

## Numbering

numbering_title = Invoice numbers
numbering_heading = Invoice and credit note numbers
numbering_text = Calculated from the stored documents. Each number is assigned when a document is issued, used once, and never changes.
none_missing = No numbers missing
some_missing = Numbers missing
series_label = Number series
series_column = Series
first_column = First
last_column = Last
documents_column = Documents
missing_column = Missing
none_missing_in_series = None
gap = { $first } to { $last }:
gaps =
    { $count ->
        [one] { $count } gap with a reason
       *[other] { $count } gaps with a reason
    }
