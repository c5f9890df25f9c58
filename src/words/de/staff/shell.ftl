### Rahmen aller Seiten für das Team.

## Navigation

skip_link = Zum Inhalt springen
pages = Seiten
main_pages = Wichtigste Seiten
group_work = Arbeit
group_shop = Betrieb
group_reports = Berichte
to_do = Aufgaben
floor = Werkstatt
orders = Bestellungen
jobs = Druckaufträge
stock = Lager
products = Produkte
customers = Kunden
quotes = Angebote
invoices = Rechnungen
insights = Auswertung
settings = Einstellungen
webhooks = API und Webhooks
more = Mehr
needing_attention = mit Handlungsbedarf
open_tasks = offene Aufgaben

## Suche

search = Suchen
search_whole_shop = Bestellungen, Drucker, Spulen{ "\u00A0" }… suchen
# Name der Suche, für Screenreader.
whole_shop = Gesamter Betrieb

## Kontomenü

account = Konto
admin = Admin
operator = Bediener
my_account = Mein Konto
change_password = Passwort ändern
api_documentation = API-Dokumentation
sign_out = Abmelden

## Verbindung und Stand der Werkstatt

connection_lost = Verbindung unterbrochen. Diese Seite ist möglicherweise nicht aktuell. Die Verbindung wird wiederhergestellt{ "\u00A0" }…
live = Live
offline = Offline
floor_summary = Überblick über die Werkstatt
count_printing = { $count } im Druck
# Auf Seiten, die auch Druckaufträge zählen: Die Zahl ist die der Drucker.
printers_printing =
    { $count ->
        [one] { $number } Drucker im Druck
       *[other] { $number } Drucker im Druck
    }
count_ready = { $count } bereit
count_needing_attention = { $count } mit Handlungsbedarf
count_offline = { $count } offline
next_free = Als Nächster frei: { $time }

## Vergangene und verbleibende Zeit, auch so, wie das Skript sie schreibt

minutes = { $minutes }{ "\u00A0" }Min.
hours = { $hours }{ "\u00A0" }Std. { $minutes }{ "\u00A0" }Min.
elapsed = seit { $span }
elapsed_under_minute = seit weniger als einer Minute
left = noch { $span }
left_under_minute = noch weniger als eine Minute

## Meldungen des Skripts

done = Erledigt.
failed = Das hat nicht geklappt. Versuchen Sie es noch einmal.
silent = Der Server antwortet nicht. Sehen Sie nach dem Drucker, bevor Sie es noch einmal versuchen.
keep_holding = Weiter gedrückt halten: { $action }
