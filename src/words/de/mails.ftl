### E-Mails an Kundinnen und Kunden.

## Rahmen und Anlagen

customer_footer = Sie erhalten diese E-Mail, weil Sie bei { $shop } Kundin oder Kunde sind.
invoice_label = Rechnung
# Nicht „Gutschrift“: So heißt im Umsatzsteuerrecht eine Rechnung, die der Kunde selbst ausstellt.
credit_note_label = Rechnungskorrektur

## Tabellen

more_items =
    { $count ->
        [one] und eine weitere Position
       *[other] und { $count } weitere Positionen
    }
item_of_kit = { $item } (aus { $kit })
discount = Rabatt
shipping = Versand
tax = Umsatzsteuer
total = Gesamtbetrag
paid = Bezahlt
to_pay = Offener Betrag

## Anmeldelink

sign_in_subject = Ihr Anmeldelink
sign_in_text =
    Mit dem folgenden Link können Sie sich anmelden. Er ist { $minutes ->
        [one] eine Minute
       *[other] { $minutes } Minuten
    } gültig und funktioniert nur einmal.

    Falls Sie diese E-Mail nicht angefordert haben, können Sie sie ignorieren. Ohne den Link kann sich niemand anmelden.
sign_in_link = Anmelden

## Zahlungsbestätigung

receipt_subject = Ihre Zahlung ist eingegangen
receipt_text = Vielen Dank für Ihre Zahlung! Ihre Rechnung ist bezahlt.
order_receipt_subject = Zahlungsbestätigung zu Ihrer Bestellung { $number }
order_receipt_text = Vielen Dank für Ihre Zahlung! Ihre Bestellung { $number } ist bezahlt.
receipt_link = Rechnung ansehen

## Rechnung

invoice_subject = Ihre Rechnung
invoice_text = Hiermit erhalten Sie Ihre Rechnung.
due_invoice_text = Hiermit erhalten Sie Ihre Rechnung. Bitte begleichen Sie den Betrag bis zum { $date }.
invoice_link = Rechnung ansehen und bezahlen

## Angebot

quote_subject = Unser Angebot { $number }
quote_text = Hiermit erhalten Sie unser Angebot { $number }.
limited_quote_text = Hiermit erhalten Sie unser Angebot { $number }. Sie können es bis zum { $date } annehmen.
quote_link = Angebot ansehen

## Versand

# Der Betreff und ein Teil des Textes.
shipment_sentence =
    { $content ->
        [replacement] Eine Ersatzlieferung zu Ihrer Bestellung { $number }
        [rest] Der Rest Ihrer Bestellung { $number }
        [part] Ein Teil Ihrer Bestellung { $number }
       *[whole] Ihre Bestellung { $number }
    } { $way ->
        [pickup] wurde abgeholt
       *[parcel] ist unterwegs
    }
shipment_text =
    Guten Tag!

    { $sentence }:
partial_shipment_text =
    Guten Tag!

    { $sentence }. Der Rest folgt.
carrier = Versanddienst
tracking_number = Sendungsnummer
expected_delivery = Voraussichtliche Zustellung
tracking_link = Sendung verfolgen
order_link = Bestellung ansehen
promise_met = Wir hatten Ihre Bestellung für den { $promised } zugesagt und haben Wort gehalten: Fertig war sie am { $ready }.
promise_broken = Wir hatten Ihre Bestellung für den { $promised } zugesagt. Fertig war sie erst am { $ready }. Das tut uns leid.
promise_overdue = Wir hatten Ihre vollständige Bestellung für den { $promised } zugesagt. Der Rest verspätet sich leider. Das tut uns leid.
promise_open = Ihre vollständige Bestellung ist für den { $promised } zugesagt.

## Export

exported_invoices = Rechnungen
exported_quotes = Angebote
export_subject = Ihr Export „{ $records }“ ist fertig
export_text =
    Ihr Export „{ $records }“ ist fertig: { $rows ->
        [one] eine Zeile
       *[other] { $rows } Zeilen
    } als CSV-Datei.

    Der folgende Link gilt bis zum { $until }. Wer ihn hat, kann die Datei herunterladen; geben Sie ihn daher nur mit Bedacht weiter.
export_link = Datei herunterladen
failed_export_subject = Ihr Export „{ $records }“ ist fehlgeschlagen
failed_export_text =
    Der von Ihnen angeforderte Export „{ $records }“ ist nach { $attempts ->
        [one] einem Versuch
       *[other] { $attempts } Versuchen
    } fehlgeschlagen. Bitte fordern Sie ihn später noch einmal an.
