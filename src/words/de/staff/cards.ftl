### Drucker, wie alle Seiten sie zeigen, und ihre Karten.

## Zustände

state_disconnected = Getrennt
state_maintenance = Außer Betrieb
state_offline = Offline
state_error = Fehler
state_check_bed = Druckbett prüfen
state_uploading = Datei wird übertragen
state_starting = Startet
state_printing = Druckt
state_paused = Pausiert
state_ready = Bereit
state_stopped = Durch Fehler angehalten
state_clear_bed = Druckbett abräumen
state_attention = Handlungsbedarf

## Gründe, aus denen ein Drucker jemanden braucht

bed_not_cleared = Druckbett nicht frei
needs_home = Referenzfahrt nötig
maintenance = Außer Betrieb
maintenance_due = Wartung fällig
print_failed = Letzter Druck fehlgeschlagen
firmware_error = Firmwarefehler
start_refused = Start abgelehnt
disk_full = Speicher voll
unreachable = Antwortet nicht
wrong_key = API-Schlüssel abgelehnt
read_only = Verbindung nur mit Lesezugriff
unverified = Druckbett prüfen: Start oder Ende nicht bestätigt
foreign_print = Manueller Druck läuft

## Dieselben ausführlich, mit dem Text des Druckers

firmware_reason = Firmwarefehler: { $text }
disk_reason = Speicher voll; löschen Sie Dateien auf dem Drucker: { $text }
refusals_reason =
    { $count ->
        [one] Start eines Drucks abgelehnt: { $text }
       *[other] Start von { $count } Drucken nacheinander abgelehnt: { $text }
    }
maintenance_reason = Wartung fällig ({ $names })
maintenance_reason_of_more =
    { $count ->
        [one] Wartung fällig ({ $names } und eine weitere)
       *[other] Wartung fällig ({ $names } und { $count } weitere)
    }

## Spulen

loaded_spools = Eingelegte Spulen
slot = Fach
external_spool = Extern
no_spool = Keine Spule
running_low = fast leer

## Gegenstand einer Karte

camera_of = Kamerabild von { $printer }
view_job = Druckauftrag ansehen
manual_print = Manueller Druck
last_print = Letzter Druck
print_failed_of = { $print } fehlgeschlagen
print_on_bed = { $print } auf dem Druckbett
idle = Bereit { $time }
print_starting = Druck startet
disconnected_manually = Manuell getrennt
no_response = Keine Antwort
no_response_since = Keine Antwort { $time }

## Fortschritt und nächster Druckauftrag

progress_of = Fortschritt von { $printer }
time_left = Restzeit:
ends = endet { $time }
layer = Schicht
nozzle_and_bed = Düse und Druckbett
next = Als Nächstes:
planned_job = { $job } { $part }, { $time }
more_jobs =
    { $count ->
        [one] und ein weiterer
       *[other] und { $count } weitere
    }
nothing_queued = Nichts in der Warteschlange
no_job = Kein passender Druckauftrag in der Warteschlange
# Die zweite Meldung folgt auf die erste und fällt weg, wo kein Platz ist.
jobs_waiting =
    { $count ->
        [one] { $count } Druckauftrag wartet
       *[other] { $count } Druckaufträge warten
    }
for_this_printer = auf diesen Drucker
jobs_waiting_for_printer =
    { $count ->
        [one] { $count } Druckauftrag wartet auf diesen Drucker
       *[other] { $count } Druckaufträge warten auf diesen Drucker
    }

## Aktionen

bed_is_clear = Druckbett ist frei
mark_checked = Als geprüft markieren
home_axes = Referenzfahrt starten
resume = Fortsetzen
resume_on = { $print } auf { $printer } fortsetzen
connect = Verbinden
view_details = Details ansehen
start_manual_print = Manueller Druck{ "\u00A0" }…
start_manual_print_on = Manueller Druck{ "\u00A0" }… auf { $printer }
pause = { $printer } pausieren
pause_short = Pausieren
done_with = { $action }: erledigt.
more_actions = Weitere Aktionen für { $printer }
open = { $printer } öffnen
cancel = Abbrechen{ "\u00A0" }…
cancel_on = Abbrechen{ "\u00A0" }… { $print } auf { $printer }
edit_or_remove = Bearbeiten oder entfernen
print_label = Etikett drucken
# Anstelle der Nummer eines Druckauftrags oder des Namens einer Datei.
some_print = Druck

## Temperaturen

readings = Messwerte
no_temperatures = Noch keine Temperaturen.
filament_used = Filament verbraucht
chart_range = Letzte { $minutes } Minuten, von 0 bis { $top }{ "\u00A0" }°C
nozzle = Düse
bed = Druckbett
chamber = Bauraum
tool = Werkzeug { $number }
target = Soll { $temperature }
