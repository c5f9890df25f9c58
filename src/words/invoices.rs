//! Messages for PDF invoices and credit notes.

use crate::messages;

messages! {
    "invoices":

    invoice_title(number: &str);
    credit_note_title(number: &str);
    invoice_heading();
    credit_note_heading();
    void_mark();
    bill_to();
    credit_to();
    issuer();
    vat_id(id: &str);
    tax_number(id: &str);
    issued_on();
    supplied_on();
    due_on();
    credited_invoice();
    credited_invoice_date();
    order();
    currency();

    line_number();
    description();
    quantity();
    unit_price();
    tax();
    amount();

    subtotal();
    discount();
    shipping();
    tax_of_net(rate: &str, net: &str);
    rounding();
    invoice_total();
    credit_note_total();

    payments_heading();
    payment_received(method: &str, reference: &str);
    payment_refunded(method: &str, reference: &str);
    refund_failed(method: &str, reference: &str);
    payment_method(method: &str, name: &str);
    amount_due();
    paid_in_full();
    refunded();
    nothing_due();

    void_text();
    void_by_text(number: &str);
    pay_text(number: &str);
    pay_by_text(date: &str, number: &str);
    pay_to_text(account: &str, number: &str);
    pay_by_to_text(date: &str, account: &str, number: &str);
    account(name: &str, iban: &str);
    account_with_bic(name: &str, iban: &str, bic: &str);
    credit_text(number: &str, date: &str);

    page_number(page: usize, pages: usize);
    table_summary();
    logo_of(seller: &str);
}
