### Invoices and credit notes as PDF.

## Heading and parties

invoice_title = Invoice { $number }
credit_note_title = Credit note { $number }
invoice_heading = Invoice
credit_note_heading = Credit note
void_mark = Void
bill_to = Bill to
credit_to = Credit to
issuer = From
vat_id = VAT ID { $id }
tax_number = Tax no. { $id }
issued_on = Issue date
supplied_on = Supply date
due_on = Due date
credited_invoice = Invoice number
credited_invoice_date = Invoice date
order = Order
currency = Currency

## Table of lines

line_number = No.
description = Description
quantity = Quantity
unit_price = Unit price
tax = Tax
amount = Amount

## Totals

subtotal = Subtotal
discount = Discount
shipping = Shipping
tax_of_net = Tax { $rate } on { $net }
rounding = Rounding
invoice_total = Total
credit_note_total = Total credit

## Payments

payments_heading = Payments
payment_received = received, { $method } { $reference }
payment_refunded = refunded, { $method } { $reference }
refund_failed = refund failed, { $method } { $reference }
# $name is the method as the shop entered it, $method the same for choosing.
payment_method =
    { $method ->
        [channel] sales channel
        [processor] online payment
        [dispute] chargeback
       *[other] { $name }
    }
amount_due = Amount due
paid_in_full = Paid in full
refunded = Refunded
nothing_due = No payment due

## Closing text

void_text = This invoice is void. No payment is due.
void_by_text = This invoice was voided by credit note { $number }. No payment is due.
pay_text = Please pay the amount due and quote { $number } as the payment reference.
pay_by_text = Please pay the amount due by { $date } and quote { $number } as the payment reference.
pay_to_text = Please transfer the amount due to { $account }. Payment reference: { $number }.
pay_by_to_text = Please transfer the amount due by { $date } to { $account }. Payment reference: { $number }.
account = { $name }, IBAN { $iban }
account_with_bic = { $name }, IBAN { $iban }, BIC { $bic }
credit_text = This credit note reduces invoice { $number }, dated { $date }, by the amount above.

## Footer, and texts for screen readers

page_number = Page { $page } of { $pages }
table_summary = Items and totals
logo_of = { $seller } logo
