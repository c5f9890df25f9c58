### Seiten für Rechnungen.
# Nicht „Gutschrift“: So heißt im Umsatzsteuerrecht eine Rechnung, die der Kunde selbst ausstellt.

## Liste

title = Rechnungen
numbers = Nummern
new_invoice = Neue Rechnung
filter_label = Status
all = Alle
email_field = E-Mail-Adresse des Kunden
search = Suchen
none_match = Keine passenden Rechnungen.
show_all = Alle anzeigen
none_yet = Noch keine Rechnungen. Eine Bestellung erhält mit der ersten Zahlung eine Rechnung. Andere Rechnungen können Sie hier erstellen.
invoice_column = Rechnung
status_column = Status
customer_column = Kunde
issued_column = Ausgestellt
due_column = Fällig
total_column = Gesamtbetrag
due_amount_column = Offener Betrag
needs_attention = Handlungsbedarf
no_number = Ohne Nummer

## Status

status_draft = Entwurf
status_open = Offen
status_partly_paid = Teilweise bezahlt
status_paid = Bezahlt
status_overdue = Überfällig
status_refunded = Erstattet
status_void = Storniert
status_order_cancelled = Bestellung storniert

## Eine Rechnung

all_invoices = Alle Rechnungen
invoice_title = Rechnung { $number }
unnumbered_title = Rechnung ohne Nummer
unprintable = Im PDF steht ein ? anstelle dieser Zeichen, weil keine installierte Schrift sie enthält: { $characters }. Installieren Sie eine passende Noto-Schrift oder tragen Sie eine Schrift unter pdf.fonts ein und starten Sie den Server neu.
glance = Auf einen Blick
customer = Kunde
billing_address = Rechnungsadresse
vat_id = USt-IdNr.
order = Bestellung
view_order = Bestellung ansehen
created = Erstellt
issued = Ausgestellt
due = Fällig
paid_at = Bezahlt
notes = Anmerkungen

## Positionen und Summen

lines = Positionen
lines_label = Positionen der Rechnung
description_column = Bezeichnung
quantity_column = Menge
price_column = Einzelpreis
tax_column = USt.
amount_column = Betrag
subtotal = Zwischensumme
shipping = Versand
discount = Rabatt
tax = Umsatzsteuer
rounding = Rundung
total = Gesamtbetrag
paid = Bezahlt
due_amount = Offener Betrag

## Zahlungen

payments = Zahlungen und Erstattungen
no_payments = Noch keine.
no_payments_of_order = Noch keine. Zahlungen für die Bestellung erscheinen hier.
payment_received = eingegangen, { $time }
payment_refunded = erstattet, { $time }
refund_failed = Erstattung fehlgeschlagen, { $time }
refund_rejected = Erstattung abgelehnt
refund_requested = Erstattung beim Zahlungsdienst angefordert

## Dokumente

documents = Rechnung und Rechnungskorrekturen
no_documents = Noch keine Dokumente ausgestellt.
document_invoice = Rechnung { $number }
document_credit_note = Rechnungskorrektur { $number }
of_document = zu { $number }
stored_pdf = Gespeichertes PDF (öffentliche URL)

## Entwürfe

draft_text = So entsteht ein Entwurf. Sie können weitere Positionen hinzufügen, bevor Sie die Rechnung ausstellen. Erst dann erhält sie ihre Nummer.
edit_draft = Entwurf bearbeiten
edit_head = Kunde, Adresse, Versand, Rabatt und Anmerkungen bearbeiten
name_field = Name des Kunden
buyer_email_field = E-Mail-Adresse
vat_id_field = USt-IdNr.
shipping_field = Versand, netto
discount_field = Rabatt, netto
due_field = Fällig am
due_hint = Leer lassen für die übliche Zahlungsfrist.
address_legend = Rechnungsadresse (bestimmt die Umsatzsteuer)
notes_field = Anmerkungen für den Kunden
description_field = Bezeichnung
quantity_field = Menge
price_field = Einzelpreis, netto
rate_field = Steuersatz in %
rate_hint = Leer lassen für den Steuersatz der Rechnungsadresse.
first_line = Erste Position
currency_field = Währung
currency_hint = Drei Buchstaben, zum Beispiel EUR. Leer lassen für die Währung des Betriebs.
create_draft = Entwurf speichern
save = Speichern

## Aktionen

actions = Aktionen
issue = Rechnung ausstellen
issue_text = Die Rechnung erhält die nächste Nummer, und die Zahlungsfrist beginnt. Der Kunde kann die Rechnung dann sehen, und Sie können sie nicht mehr ändern.
issue_to = Für { $name } ausstellen
discard = Entwurf verwerfen
discard_text = Ein verworfener Entwurf erhält nie eine Nummer.
discarded = Dieser Entwurf wurde verworfen.
order_cancelled_text = Die Bestellung wurde storniert, daher ist nichts zu zahlen. Sobald alle Zahlungen erstattet sind, ist auch die Rechnung storniert.
void = Rechnung stornieren
void_text = Stellt eine Rechnungskorrektur über den gesamten Betrag aus. Die Rechnungsnummer wird nicht noch einmal vergeben.
void_number = { $number } stornieren
store_pdf_heading = PDF unter einer öffentlichen URL speichern
store_pdf_text = Wer die URL kennt, kann das PDF lesen. Sie lässt sich nicht erraten.
store_pdf = PDF speichern
record_payment = Zahlung erfassen
record_payment_text = Offener Betrag: { $amount }. Sie können auch eine Teilzahlung erfassen.
method_field = Zahlungsart
amount_field = Betrag
payment_amount_hint = Leer lassen für den gesamten offenen Betrag.
reference_field = Referenz (intern)
refund_heading = Zahlung erstatten
refund_text = Bezahlt und nicht erstattet: { $amount }. Zu jeder Erstattung wird eine Rechnungskorrektur ausgestellt. Zahlungen über den Zahlungsdienst werden auch über ihn erstattet.
latest_payment = Neueste Zahlung (Zahlungen über den Zahlungsdienst zuerst)
payment_choice = { $amount }, { $method }, { $date }
payment_field = Zahlung
refund_amount_hint = Leer lassen für den gesamten Restbetrag der Zahlung.
refund_method_field = Art der Erstattung, falls abweichend
refund_method_hint = Nur wenn Sie das Geld auf anderem Weg erstattet haben. Der Zahlungsdienst wird dann nicht verwendet.
refund = Erstatten
replace_link = Zahlungslink ersetzen
replace_link_text = Der bisherige Link funktioniert dann nicht mehr.
create_link_heading = Zahlungslink erstellen
create_link_text = Wer den Link hat, kann die Rechnung ansehen und bezahlen.
create_link = Link erstellen
link_field = Zahlungslink über { $amount }
link_ends = Gültig bis { $time }.
link_stays = Gültig, bis Sie ihn widerrufen oder die Rechnung bezahlt ist.
link_expiry_field = Gültig bis
link_expiry_hint = Leer lassen, wenn der Link nicht ablaufen soll.
revoke_link_heading = Zahlungslink widerrufen
revoke_link_text = Der Link funktioniert sofort nicht mehr.
revoke_link = Link widerrufen

## Nummern

numbering_title = Rechnungsnummern
numbering_heading = Nummern von Rechnungen und Rechnungskorrekturen
numbering_text = Berechnet aus den gespeicherten Dokumenten. Jede Nummer wird beim Ausstellen eines Dokuments vergeben, nur einmal verwendet und nie geändert.
none_missing = Es fehlen keine Nummern
some_missing = Es fehlen Nummern
series_label = Nummernkreise
series_column = Nummernkreis
first_column = Erste
last_column = Letzte
documents_column = Dokumente
missing_column = Fehlend
none_missing_in_series = Keine
gap = { $first } bis { $last }:
gaps =
    { $count ->
        [one] { $count } begründete Lücke
       *[other] { $count } begründete Lücken
    }
