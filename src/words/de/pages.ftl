### Seiten für Kundinnen und Kunden.

## Rahmen

skip_link = Zum Inhalt springen
navigation = Hauptnavigation
orders_tab = Bestellungen
invoices_tab = Rechnungen
quotes_tab = Angebote
profile_tab = Profil
sign_out = Abmelden
newer = Neuere
older = Ältere
ask_shop = Frage stellen
payment_title = Weiter zur Zahlung
redirect_text = Sie werden gleich weitergeleitet. Falls nicht, klicken Sie auf „Weiter“.
continue_button = Weiter
none_yet = Für { $email } gibt es hier noch nichts.

## Server in Bereitschaft

standby_title = Dieser Server steht in Bereitschaft
standby_text = Der Betrieb läuft auf einem anderen Server. Fällt er aus, übernimmt dieser automatisch.
standby_link = Aktiven Server öffnen
standby_busy_text = Die Datenbank ist belegt. Sobald sie frei ist, startet dieser Server.

## Summen von Bestellungen, Rechnungen und Angeboten

items = Positionen
shipping = Versand
discount = Rabatt
tax = Umsatzsteuer
total = Gesamtbetrag
pay_amount = { $amount } bezahlen

## Anmeldung

sign_in = Anmelden
sign_in_text = Hier sehen Sie Ihre Bestellungen, Rechnungen und Angebote. Wir senden Ihnen einen Link per E-Mail; ein Passwort brauchen Sie nicht.
email_field = E-Mail-Adresse
send_link = Link zusenden
link_expired = Dieser Link wurde bereits verwendet oder ist abgelaufen. Bitte fordern Sie einen neuen an.
check_email = Bitte prüfen Sie Ihr Postfach
link_sent = Wir haben einen Anmeldelink an { $email } gesendet. Er ist zehn Minuten gültig und funktioniert nur einmal.
nothing_came = Nichts angekommen? Sehen Sie im Spam-Ordner nach, prüfen Sie die Adresse oder { $link }.
ask_again = fordern Sie einen neuen Link an
link_incomplete = Dieser Link ist unvollständig
link_incomplete_text = Öffnen Sie den vollständigen Link aus der E-Mail oder fordern Sie einen neuen an.
new_link = Neuen Link anfordern
confirm_text = Nur noch ein Schritt: Klicken Sie auf die Schaltfläche, um sich in diesem Browser anzumelden.
link_unwanted = Sie haben diesen Link nicht angefordert? Dann schließen Sie diese Seite einfach; es passiert nichts weiter.

## Bestellungen

orders_title = Ihre Bestellungen
orders_empty = Hier erscheinen Ihre Bestellungen mit Fortschritt und Sendungsverfolgung.
order_count =
    { $count ->
        [one] 1 Artikel
       *[other] { $count } Artikel
    }
ordered_on = bestellt: { $day }
expected_on = voraussichtlich fertig: { $day }
order_title = Bestellung { $number }
ordered_at = Bestellt: { $time }
reload_order = { $link }, um den aktuellen Stand zu sehen.
reload_order_link = Laden Sie die Seite neu

order_draft = Entwurf
order_created = Zahlung offen
order_payment_failed = Zahlung fehlgeschlagen
order_paid = Bezahlt
order_printing = Im Druck
order_ready = Fertig
order_shipped = Versendet
order_cancelled = Storniert
order_refunded = Erstattet

order_draft_text = Dies ist ein Entwurf. Erst mit der Bezahlung wird daraus eine Bestellung.
order_created_text = Wir beginnen, sobald Ihre Bestellung bezahlt ist.
order_payment_failed_text = Die letzte Zahlung ist fehlgeschlagen. Sie können es noch einmal versuchen.
order_paid_text = Ihre Bestellung ist bezahlt und wartet auf den Druck.
order_printing_text = Ihre Bestellung wird gedruckt: { $parts }.
order_ready_text = Alle Teile sind fertig. Wir versenden sie bald.
order_picked_up_text = Ihre Bestellung wurde abgeholt.
order_shipped_text = Ihre Bestellung ist unterwegs zu Ihnen.
order_cancelled_text = Ihre Bestellung wurde storniert.
order_cancelled_paid_text = Ihre Bestellung wurde storniert. Es ist nichts mehr zu zahlen, und Ihre Zahlung wird erstattet.
order_refunded_text = Ihre Zahlung wurde erstattet.

parts_made =
    { $all ->
        [one] { $good } von { $all } Teil ist fertig
       *[other] { $good ->
            [one] { $good } von { $all } Teilen ist fertig
           *[other] { $good } von { $all } Teilen sind fertig
        }
    }
parts_printing = { $parts }, { $count } im Druck

history = Verlauf
step_draft = Entwurf angelegt
step_created = Bestellt
step_payment_failed = Zahlung fehlgeschlagen
step_paid = Bezahlt
step_printing = Druck begonnen
step_ready = Alle Teile sind fertig
step_part_shipped = Teillieferung versendet
step_shipped = Versendet
step_cancelled = Storniert
step_refunded = Erstattet
step_plate = Druckdurchgang abgeschlossen
step_note = Notiz hinzugefügt

to_pay_heading = Offener Betrag: { $amount }
progress = Fortschritt
progress_value = { $good } von { $all }
stages = Schritte
stage_ordered = Bestellt
stage_paid = Bezahlt
stage_printing = Im Druck
stage_ready = Fertig
stage_shipped = Versendet
stage_picked_up = Abgeholt
expected_ready = Voraussichtlich fertig: { $day }
promised = Zugesagter Termin: { $time }
promised_ready = Zugesagter Termin: { $time }, fertig: { $ready }
promised_ready_late = Zugesagter Termin: { $time }, fertig: { $ready }. Wir bitten um Entschuldigung für die Verspätung.

part_of_set = (Teil eines Sets)
your_notes = Ihre Anmerkungen: { $notes }
sets_complete =
    { $all ->
        [one] { $good } von { $all } Set vollständig
       *[other] { $good } von { $all } Sets vollständig
    }
line_made = { $good } von { $all } gefertigt
line_shipped = { $parts }, { $shipped } versendet
parcel = Sendung { $number }
picked_up = Abgeholt
shipped = Versendet
carrier = Versanddienst
tracking_number = Sendungsnummer
expected_delivery = Voraussichtliche Zustellung
track_parcel = Sendung verfolgen
invoice_link = Rechnung ansehen

## Rechnungen

invoices_title = Ihre Rechnungen
invoices_empty = Hier erscheinen Ihre Rechnungen zum Bezahlen und Herunterladen.
issued_on = Ausgestellt: { $day }
due_on = fällig: { $day }
invoice_title = Rechnung { $number }
invoice_draft = Entwurf
invoice_open = Offen
invoice_partly_paid = Teilweise bezahlt
invoice_overdue = Überfällig
invoice_paid = Bezahlt
invoice_refunded = Erstattet
invoice_void = Storniert
invoice_cancelled = Bestellung storniert
invoice_cancelled_text = Die Bestellung wurde storniert. Es ist nichts zu zahlen.
invoice_cancelled_paid_text = Die Bestellung wurde storniert. Es ist nichts mehr zu zahlen, und Ihre Zahlung wird erstattet.
download_pdf = PDF herunterladen
order_link = Bestellung ansehen
seller = Aussteller
vat_id = USt-IdNr. { $id }
credit_notes = Rechnungskorrekturen
credit_note = Rechnungskorrektur { $number }
summary = Übersicht
issued = Ausstellungsdatum
due = Fällig am
paid = Bezahlt
to_pay = Offener Betrag
invoice_for = Für { $name }
due_note = Fällig: { $day }
nothing_to_pay = Vielen Dank! Es ist nichts mehr zu zahlen.

## Angebote

quotes_title = Ihre Angebote
quotes_empty = Hier erscheinen die Angebote, die wir Ihnen senden. Sie können jedes annehmen oder ablehnen.
quote_title = Angebot { $number }
quote_draft = Entwurf
quote_sent = Wartet auf Ihre Antwort
quote_accepted = Angenommen
quote_declined = Abgelehnt
quote_expired = Abgelaufen
valid_until = Gültig bis { $time }
quote_text = Mit Ihrer Bestellung nehmen Sie das Angebot an, und wir fertigen zu diesem Preis. Auf der nächsten Seite können Sie bezahlen.
# Wer an Verbraucherinnen und Verbraucher verkauft, muss die Schaltfläche „mit nichts anderem als den Wörtern
# ‚zahlungspflichtig bestellen‘“ oder ebenso eindeutig beschriften (§ 312j Abs. 3 BGB).
accept = Zahlungspflichtig bestellen
decline = Ablehnen
quote_expired_text = Dieses Angebot gilt nicht mehr. Auf Wunsch erstellen wir Ihnen gern ein neues.
open_order = Bestellung ansehen

## Modelle

models_title = Preis für ein Modell ermitteln
models_text = Laden Sie ein Modell hoch, und Sie sehen sofort einen Preis. Wir prüfen das Modell und senden Ihnen ein Angebot, das Sie annehmen können.
model_field = Modell
model_hint = Eine STL- oder 3MF-Datei.
quantity = Anzahl
notes_field = Anmerkungen für uns
upload = Modell hochladen
uploads = Ihre Modelle
model_quoted = Angebot liegt vor
model_priced = Preis wird berechnet
model_checked = Wird geprüft
current_price = Aktueller Preis
size = Größe
price_each = Einzelpreis
net_total = Summe ohne Umsatzsteuer und Versand
price_pending = Wir berechnen den genauen Preis noch. Laden Sie die Seite in etwa einer Minute neu. Verbindlich ist erst das Angebot, das wir Ihnen senden.
price_text = Verbindlich ist erst das Angebot, das wir Ihnen senden.
open_quote = Angebot ansehen
load_again = Neu laden
all_models = Alle Modelle

## Profil

profile_title = Ihr Profil
signed_in_as = Sie sind als { $email } angemeldet.
about_you = Ihre Angaben
name_field = Name
phone_field = Telefon
company_field = Firma
tax_id_field = USt-IdNr. oder Steuernummer der Firma
language_field = Sprache der Seiten, E-Mails und Dokumente
language_of_browser = Wie in diesem Browser eingestellt; E-Mails und Dokumente auf Englisch
other_language = Andere Sprache
shipping_address = Lieferadresse
address_hint = Lassen Sie die Felder leer, wenn Sie keine Lieferadresse angeben möchten.
line1_field = Straße und Hausnummer
line2_field = Adresszusatz
city_field = Ort
region_field = Bundesland oder Region
postal_code_field = Postleitzahl
country_field = Land (Code aus zwei Buchstaben)
save = Speichern

## Fehler in Formularen, hinter dem Namen des Feldes

fault_empty = darf nicht leer sein
fault_email = muss eine gültige E-Mail-Adresse sein
fault_country = muss ein Ländercode aus zwei Buchstaben sein
fault_too_long =
    { $most ->
        [one] darf höchstens ein Zeichen lang sein
       *[other] darf höchstens { $most } Zeichen lang sein
    }

## Fehlerseiten

missing_title = Diese Seite gibt es nicht
missing_text = Prüfen Sie die Adresse oder gehen Sie zu Ihren Bestellungen.
lost_text = Prüfen Sie die Adresse. Wenn Sie hier bestellt haben, gehen Sie zu Ihren Bestellungen; wenn Sie hier arbeiten, gehen Sie zur Werkstatt.
cross_site_title = Diese Anfrage kam nicht von unserer Website
cross_site_text = Öffnen Sie die Seite auf unserer Website und versuchen Sie es dort noch einmal.
outdated_title = Bitte versuchen Sie es noch einmal
outdated_text = Gehen Sie zurück, laden Sie die Seite neu und senden Sie das Formular noch einmal ab.
foreign_title = Das gehört zu einem anderen Kundenkonto
foreign_text = Verwenden Sie zur Anmeldung die E-Mail-Adresse, an die es gesendet wurde.
conflict_title = Das ist gerade nicht möglich
conflict_text = Laden Sie die vorige Seite neu, um den aktuellen Stand zu sehen.
too_large_title = Das ist zu viel auf einmal
too_large_text = Gehen Sie zurück und senden Sie eine kleinere Datei oder weniger Text.
too_many_title = Bitte warten Sie einen Moment
too_many_text = Von Ihnen kamen sehr viele Anfragen. Versuchen Sie es etwas später noch einmal.
unavailable_title = Das geht im Moment nicht
unavailable_text = Es ist nichts verloren gegangen. Versuchen Sie es in einer Minute noch einmal.
invalid_title = Das hat nicht funktioniert
invalid_text = Gehen Sie zurück und korrigieren Sie die oben genannten Angaben.
broken_title = Etwas ist schiefgegangen
broken_text = Das liegt nicht an Ihnen, und der Fehler wurde protokolliert. Versuchen Sie es später noch einmal.
to_orders = Zu Ihren Bestellungen
to_floor = Zur Werkstatt
export_expired_title = Dieser Link ist abgelaufen
export_unknown_title = Dieser Link funktioniert nicht
export_again_text = Exporte können 7 Tage lang heruntergeladen werden. Fordern Sie in Ihrem Konto einen neuen an.
