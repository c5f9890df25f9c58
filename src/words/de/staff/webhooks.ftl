### Webhook-Endpunkte: Liste, Seite eines Endpunkts, Protokoll der Zustellungen und Formular.

## Liste

title = Webhooks
introduction = Webhook-Endpunkte empfangen Ereignisse aus Ihrem Betrieb.
event_reference = Beschreibung der Ereignisse
add_endpoint = Endpunkt anlegen
no_endpoints = Noch keine Endpunkte.
no_endpoints_advice = Legen Sie einen Endpunkt an und wählen Sie die Ereignisse, die er empfängt.
only_admins = Nur Admins können Endpunkte anlegen.
events_line = Ereignisse: { $events }

## Zustand eines Endpunkts

disabled = Deaktiviert
failing = Gestört
active = Aktiv
deliveries_stopped = Die Zustellung wurde eingestellt: { $reason }. Neue Ereignisse werden gesammelt, bis der Endpunkt wieder aktiviert wird.
no_pending = Keine ausstehenden Zustellungen.
pending =
    { $count ->
        [one] { $count } ausstehende Zustellung.
       *[other] { $count } ausstehende Zustellungen.
    }
more_pending = Mehr als { $count } ausstehende Zustellungen.
will_retry =
    { $count ->
        [one] { $count } ist fehlgeschlagen und wird erneut versucht.
       *[other] { $count } sind fehlgeschlagen und werden erneut versucht.
    }
# Der Fehler ist ein Statuscode oder „keine Antwort“, mit der Meldung in Klammern.
latest_failure = Letzter Fehler: { $failure }.
without_response = keine Antwort
last_attempt = Letzter Versuch: { $time }

## Seite eines Endpunkts

endpoint_title = Webhook-Endpunkt
all_endpoints = Alle Endpunkte
glance = Auf einen Blick
url = URL
events = Ereignisse
added = Angelegt
previous_secret = Bisheriger Schlüssel
previous_secret_until = signiert Zustellungen zusätzlich bis { $time }
replay_fact = Nachsendung
in_progress = Läuft
actions = Aktionen
enable = Endpunkt aktivieren
send_test = Testereignis senden
disable = Endpunkt deaktivieren

## Änderungen

edit_heading = Endpunkt bearbeiten
url_and_events = URL und Ereignisse bearbeiten
save = Speichern
replay_heading = Ereignisse nachsenden
since_field = Seit
since_hint = Innerhalb der letzten 30 Tage.
replay = Nachsenden
replay_note = Sendet alle Ereignisse seit diesem Zeitpunkt noch einmal. Der Header webhook-id bleibt gleich, damit Empfänger Wiederholungen erkennen.
rotate_heading = Signaturschlüssel erneuern
rotate_note = Sie sehen den neuen Schlüssel nur einmal. 24 Stunden lang werden Zustellungen zusätzlich mit dem jetzigen Schlüssel signiert, damit Sie Zeit haben, ihn zu ersetzen.
rotate = Schlüssel erneuern
delete_heading = Endpunkt löschen
delete_note = Zustellungen an { $url } enden, und ausstehende Zustellungen werden verworfen. Das lässt sich nicht rückgängig machen.
delete = { $url } löschen

## Formular, und der Schlüssel, der nur einmal angezeigt wird

url_field = URL des Endpunkts
events_field = Zu sendende Ereignisse
secret = Signaturschlüssel
secret_hint = Mindestens 24 Zeichen. Bleibt das Feld leer, wird ein Schlüssel erzeugt, den Sie auf der nächsten Seite kopieren können.
later_events_only = Der Endpunkt empfängt nur Ereignisse, die nach dem Anlegen eintreten.
added_title = Endpunkt angelegt
rotated_title = Signaturschlüssel erneuert
secret_note = Mit diesem Schlüssel prüfen Sie die Signaturen der Webhooks. Kopieren Sie ihn jetzt: Er wird nicht noch einmal angezeigt. Geht er verloren, erneuern Sie ihn.
weak_secret = Der Schlüssel ist kurz; empfohlen sind mindestens 24 Zeichen.
own_secret_used = Zustellungen werden mit dem Schlüssel signiert, den Sie eingegeben haben.
view_endpoint = Endpunkt ansehen

## Protokoll der Zustellungen

deliveries = Zustellungen
no_deliveries = Noch keine Zustellungen. Senden Sie ein Testereignis, um den Endpunkt auszuprobieren.
none_match = Keine passenden Zustellungen.
show_all = Alle anzeigen
kept_days = Zustellungen werden 30 Tage aufbewahrt.
status_field = Status
event_field = Ereignis
all = Alle
show = Anzeigen
failed = Fehlgeschlagen
delivery_pending = Ausstehend
delivered = Zugestellt
cancelled = Verworfen
retrying = Wird wiederholt
# Nach der Zeit einer Zustellung, als Aufzählung mit Kommas.
resent = nachgesendet
attempts =
    { $count ->
        [one] { $count } Versuch
       *[other] { $count } Versuche
    }
last_attempted = letzter Versuch { $time }
exchange = Anfrage und Antwort
send_again = Erneut senden
# Ergebnis des letzten Versuchs: eines der drei, danach die Dauer in Millisekunden.
response_status = Antwort { $status }
not_sent = Noch nicht gesendet
no_response = Keine Antwort
after_duration = { $answer } nach { $duration }{ "\u00A0" }ms
request = Anfrage
response = Antwort
status_line = Status { $status }
no_body = (kein Inhalt)
no_response_sentence = Keine Antwort.

## Meldungen der API für die Formulare

fault_url_length = die URL ist zu lang
fault_url = die URL muss vollständig sein und einen Host enthalten
fault_url_scheme = die URL muss mit http oder https beginnen
fault_url_credentials = die URL darf weder Benutzernamen noch Passwort enthalten
fault_url_address = die Adresse ist nicht öffentlich; webhooks.allow_private_targets = true erlaubt sie
fault_secret_length = der Schlüssel ist zu lang
