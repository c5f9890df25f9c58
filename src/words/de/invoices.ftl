### Rechnungen und Rechnungskorrekturen als PDF.
# Nicht „Gutschrift“: So heißt im Umsatzsteuerrecht eine Rechnung, die der Kunde selbst ausstellt.

## Kopf und Beteiligte

invoice_title = Rechnung { $number }
credit_note_title = Rechnungskorrektur { $number }
invoice_heading = Rechnung
credit_note_heading = Rechnungskorrektur
void_mark = Storniert
bill_to = Rechnung an
credit_to = Rechnungskorrektur an
issuer = Aussteller
vat_id = USt-IdNr. { $id }
tax_number = Steuernummer { $id }
issued_on = Ausstellungsdatum
supplied_on = Leistungsdatum
due_on = Fällig am
credited_invoice = Zu Rechnung
credited_invoice_date = Rechnungsdatum
order = Bestellung
currency = Währung

## Tabelle der Positionen

line_number = Nr.
description = Bezeichnung
quantity = Menge
unit_price = Einzelpreis
tax = USt.
amount = Betrag

## Summen

subtotal = Zwischensumme
discount = Rabatt
shipping = Versand
tax_of_net = Umsatzsteuer { $rate } auf { $net }
rounding = Rundung
invoice_total = Gesamtbetrag
credit_note_total = Korrekturbetrag

## Zahlungen

payments_heading = Zahlungen
payment_received = eingegangen, { $method } { $reference }
payment_refunded = erstattet, { $method } { $reference }
refund_failed = Erstattung fehlgeschlagen, { $method } { $reference }
payment_method =
    { $method ->
        [cash] bar
        [card] Karte
        [bank_transfer] Überweisung
        [channel] Vertriebskanal
        [processor] Online-Zahlung
        [dispute] Rückbuchung
       *[other] { $name }
    }
amount_due = Offener Betrag
paid_in_full = Vollständig bezahlt
refunded = Erstattet
nothing_due = Keine Zahlung fällig

## Schlusstext

void_text = Diese Rechnung wurde storniert. Es ist nichts zu zahlen.
void_by_text = Diese Rechnung wurde durch die Rechnungskorrektur { $number } storniert. Es ist nichts zu zahlen.
pay_text = Bitte zahlen Sie den offenen Betrag unter Angabe der Rechnungsnummer { $number }.
pay_by_text = Bitte zahlen Sie den offenen Betrag bis zum { $date } unter Angabe der Rechnungsnummer { $number }.
pay_to_text = Bitte überweisen Sie den offenen Betrag an { $account }. Verwendungszweck: { $number }.
pay_by_to_text = Bitte überweisen Sie den offenen Betrag bis zum { $date } an { $account }. Verwendungszweck: { $number }.
account = { $name }, IBAN { $iban }
account_with_bic = { $name }, IBAN { $iban }, BIC { $bic }
credit_text = Diese Rechnungskorrektur berichtigt die Rechnung { $number } vom { $date }: Der Rechnungsbetrag mindert sich um den oben genannten Betrag.

## Fußzeile und Texte für Vorleseprogramme

page_number = Seite { $page } von { $pages }
table_summary = Positionen und Summen
logo_of = Logo von { $seller }
