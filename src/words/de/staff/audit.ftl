### Das Protokoll: seine Seite, die Namen der Handelnden und die Nomen für das, worauf sich Vorgänge beziehen.

## Seite

title = Protokoll
none_here = In diesem Teil des Protokolls gibt es keine passenden Einträge. Sehen Sie bei den älteren Einträgen nach.
none = Keine passenden Einträge.
clear_filters = Filter zurücksetzen
newest = Neueste
older = Ältere
day_filters = Tag
any_day = Alle Tage
today = Heute
yesterday = Gestern
last_week = Letzte 7 Tage
current_filters = Aktive Filter
remove_filter = , diesen Filter entfernen
filter_log = Protokoll filtern
actor = Wer
anyone = Alle
action_filter = Vorgang
any_action = Alle Vorgänge
resource = Objekt
all_resources = Alle Objekte
from = Von
until = Bis
show = Anzeigen
by_type = Nach Art
by_printer = Nach Drucker
jobs = Druckaufträge
settings = Einstellungen

## Eintrag

details = Details
action = Vorgang
outcome = Ergebnis
request = Anfrage

## Sätze, nach dem Namen des Handelnden

did = hat { $act }
tried = hat versucht, { $act }
rejected_counted =
    { $count ->
        [one] hat eine weitere Anfrage gesendet, die abgelehnt wurde
       *[other] hat { $count } weitere Anfragen gesendet, die abgelehnt wurden
    }
rejected_uncounted = hat weitere Anfragen gesendet, die abgelehnt wurden
sign_in_failed = konnte sich nicht anmelden
rejected = hat eine Anfrage gesendet, die abgelehnt wurde: { $request }
unknown_command = hat den Befehl { $command } gesendet, den diese Version nicht kennt

## Vorgänge an Druckern, die ein Fach, ein Material oder einen Zustand nennen; der Drucker steht im Fall seines Vorgangs

slot_removed = bei { $subject } { $slot } entfernt
maintenance_begun = { $subject } außer Betrieb genommen
maintenance_over = { $subject } wieder in Betrieb genommen
marked_empty = bei { $subject } { $place } als leer markiert
loaded = bei { $subject } { $material } eingelegt
loaded_onto = bei { $subject } { $material } auf { $place } gesteckt
loaded_into = bei { $subject } { $material } in { $place } eingelegt
some_spool = eine Spule
slot = Fach { $label }
external_spool = die externe Spule
spool_holder = den Spulenhalter
external_holder = den externen Spulenhalter

## Handelnde

actor_server = Printfloor
actor_owner = Der Inhaber des Servers
actor_setup = Die Einrichtung
actor_processor = Der Zahlungsdienst
actor_anonymous = Jemand ohne Anmeldung
actor_others = Der Rest der Absender
some_customer = Ein Kunde
some_channel = Ein Vertriebskanal
some_user = Ein Benutzer
some_key = Ein API-Schlüssel
key = API-Schlüssel „{ $name }“

## Namen der Gegenstände, mit ihren Nomen

order_named = Bestellung { $name }
invoice_named = Rechnung { $name }
invoice_for = für { $name }
invoice_without_recipient = ohne Empfänger
quote_named = Angebot { $name }
file_named = Datei { $name }
endpoint_named = Webhook-Endpunkt { $name }
endpoint_without_host = ohne Adresse
channel_named = Vertriebskanal { $name }
sku_named = Produkt { $name }
customer_named = den Kunden { $name }
customer_named_indirect = dem Kunden { $name }
request_named = die Anfrage von { $name }
request_named_indirect = der Anfrage von { $name }

## Gegenstände gleicher Handlungen, im Akkusativ und im Dativ; und gleiche Handlungen an einem Gegenstand, nach dem Satz

printers_counted =
    { $count ->
        [one] { $count } Drucker
       *[other] { $count } Drucker
    }
printers_counted_indirect =
    { $count ->
        [one] { $count } Drucker
       *[other] { $count } Druckern
    }
orders_counted =
    { $count ->
        [one] { $count } Bestellung
       *[other] { $count } Bestellungen
    }
orders_counted_indirect =
    { $count ->
        [one] { $count } Bestellung
       *[other] { $count } Bestellungen
    }
several_times = ({ $count }-mal)

## Nomen für Arten von Gegenständen im Akkusativ, im Dativ und in der Mehrzahl

printer = einen Drucker
printer_indirect = einem Drucker
printer_plural = Drucker
order = eine Bestellung
order_indirect = einer Bestellung
order_plural = Bestellungen und Druckaufträge
material = ein Material oder eine Spule
material_indirect = einem Material oder einer Spule
material_plural = Materialien und Spulen
sku = ein Produkt
sku_indirect = einem Produkt
sku_plural = Produkte
file = eine Datei
file_indirect = einer Datei
file_plural = Dateien
customer = einen Kunden
customer_indirect = einem Kunden
customer_plural = Kunden
sign_in_link = einen Anmeldelink
sign_in_link_indirect = einem Anmeldelink
sign_in_link_plural = Anmeldelinks
custom_request = eine Anfrage
custom_request_indirect = einer Anfrage
custom_request_plural = Anfragen
quote = ein Angebot
quote_indirect = einem Angebot
quote_plural = Angebote
invoice = eine Rechnung
invoice_indirect = einer Rechnung
invoice_plural = Rechnungen
export = einen Export
export_indirect = einem Export
export_plural = Exporte
accounting = die Buchhaltung
accounting_indirect = der Buchhaltung
accounting_plural = Buchhaltung
posting = eine Buchung
posting_indirect = einer Buchung
posting_plural = Buchungen
payment = eine Zahlung
payment_indirect = einer Zahlung
payment_plural = Zahlungen ohne Zuordnung
sales_channel = einen Vertriebskanal
sales_channel_indirect = einem Vertriebskanal
sales_channel_plural = Vertriebskanäle
channel_order = eine Bestellung aus einem Vertriebskanal
channel_order_indirect = einer Bestellung aus einem Vertriebskanal
channel_order_plural = Bestellungen aus Vertriebskanälen
endpoint = einen Webhook-Endpunkt
endpoint_indirect = einem Webhook-Endpunkt
endpoint_plural = Webhook-Endpunkte
user = einen Benutzer
user_indirect = einem Benutzer
user_plural = Benutzer
session = eine Sitzung
session_indirect = einer Sitzung
session_plural = Anmeldungen
api_key = einen API-Schlüssel
api_key_indirect = einem API-Schlüssel
api_key_plural = API-Schlüssel
access = die Einstellungen des Betriebs
access_indirect = den Einstellungen des Betriebs
access_plural = Einstellungen und Agent
integration = eine Integration
integration_indirect = einer Integration
integration_plural = Integrationen
mail = eine E-Mail
mail_indirect = einer E-Mail
mail_plural = E-Mails
backup = eine Sicherung
backup_indirect = einer Sicherung
backup_plural = Sicherungen
restore = eine Wiederherstellung
restore_indirect = einer Wiederherstellung
restore_plural = Wiederherstellungen
rejected_request = eine Anfrage
rejected_request_indirect = einer Anfrage
rejected_request_plural = Abgelehnte Anfragen
unknown_subject = etwas

## Ergebnisse

outcome_no_response = keine Antwort vom Drucker
outcome_refused_by_printer = vom Drucker abgelehnt
outcome_printer_busy = Drucker belegt
outcome_unsupported = vom Drucker nicht unterstützt
outcome_disconnected = Drucker vom Team getrennt
outcome_not_possible = zu diesem Zeitpunkt nicht möglich
outcome_stale = inzwischen von anderen geändert
outcome_invalid = ungültige Eingabe
outcome_not_signed_in = nicht angemeldet
outcome_wrong_credentials = Passwort oder Code falsch
outcome_second_factor = zweiter Faktor fehlt
outcome_forbidden = nicht erlaubt
outcome_cross_site = von einer anderen Website gesendet
outcome_too_many = zu viele Versuche
outcome_unknown = Ausgang ungewiss
outcome_unavailable = Server nicht verfügbar
outcome_not_found = nicht gefunden
outcome_rejected = abgelehnt
