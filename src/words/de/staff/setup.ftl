### Die Einrichtung: Rahmen, Schritte und die Seiten der Schritte.

## Rahmen und Schritte

skip_link = Zum Inhalt springen
steps = Schritte der Einrichtung
step_count = Einrichtung, Schritt { $number } von { $count }
welcome = Willkommen
database = Datenbank und Warteschlange
printers = Druckersuche
integrations = Integrationen
commerce = Verkauf
review = Prüfen und starten
next = Weiter: { $title }
back = Zurück
leave_note = Sie können jederzeit unterbrechen. Einstellungen, deren Test erfolgreich war, sind gespeichert; unter dieser Adresse geht es weiter.
save = Speichern

## Fehlerseiten

admins_title = Nur für Admins
admins_text = Melden Sie sich als Admin an und öffnen Sie die Seite noch einmal.
outdated_title = Bitte versuchen Sie es noch einmal
outdated_text = Gehen Sie zurück, laden Sie die Seite neu und senden Sie das Formular noch einmal ab.
missing_title = Seite nicht gefunden
missing_text = Beginnen Sie mit dem ersten Schritt.
completed_title = Die Einrichtung ist abgeschlossen
completed_text = Melden Sie sich als Admin an, um die Einstellungen zu ändern.
fixed_title = Einstellungen lassen sich hier nicht speichern
fixed_text = Setzen Sie die Umgebungsvariablen dort, wo dieser Server gestartet wird.
unreadable_title = .env ist nicht lesbar
unreadable_text = Korrigieren Sie die oben genannte Zeile und versuchen Sie es noch einmal.
conflict_title = Das ist jetzt nicht möglich
conflict_text = Gehen Sie zurück und laden Sie die Seite neu, um den aktuellen Stand zu sehen.
too_many_title = Zu viele Anfragen
too_many_text = Warten Sie einen Moment und versuchen Sie es noch einmal.
unavailable_title = Vorübergehend nicht verfügbar
unavailable_text = Es ist nichts verloren gegangen. Versuchen Sie es in einer Minute noch einmal.
invalid_title = Das hat nicht geklappt
invalid_text = Gehen Sie zurück und beheben Sie das oben genannte Problem.
broken_title = Etwas ist schiefgegangen
broken_text = Versuchen Sie es später noch einmal. Einzelheiten stehen im Log des Servers.
open_setup = Zur Einrichtung

## Zugang

enter_title = Betrieb einrichten
wrong_code = Der Code ist falsch. Verwenden Sie den Code, den der Server bei seinem letzten Start ausgegeben hat.
code_spent = Der Code wurde schon verwendet, ist abgelaufen oder wurde zu oft falsch eingegeben. Starten Sie den Server neu, um einen neuen zu erhalten.
wrong_credentials = Die E-Mail-Adresse oder das Passwort ist falsch. Versuchen Sie es noch einmal.
second_factor_required = Für dieses Konto ist die Anmeldung in zwei Schritten eingeschaltet. Geben Sie auch den Code aus Ihrer Authenticator-App ein.
wrong_factor = Der Code ist falsch oder wurde schon verwendet. Warten Sie auf den nächsten oder verwenden Sie einen Wiederherstellungscode.
code_text = Beim Start hat der Server einen Einmalcode ausgegeben, in der Zeile, die mit { $word } beginnt. Geben Sie ihn ein, um nachzuweisen, dass Sie Zugriff auf diesen Server haben.
code_field = Einmalcode
code_hint = Zum Beispiel { $sample }. Für einen neuen Code starten Sie den Server neu.
completed_note = Die Einrichtung ist abgeschlossen. Admins können sie noch einmal durchlaufen.
or_sign_in = Oder anmelden
sign_in_text = Haben Sie den Admin schon hinzugefügt? Melden Sie sich an, um fortzufahren.
email_field = E-Mail-Adresse
password_field = Passwort
factor_field = Code aus Ihrer Authenticator-App oder ein Wiederherstellungscode
factor_hint = Nur, wenn für Ihr Konto die Anmeldung in zwei Schritten eingeschaltet ist.
sign_in = Anmelden
no_admin = Die Einrichtung ist abgeschlossen, aber kein Admin kann sich anmelden. Fügen Sie auf dem Server einen hinzu:

## Willkommen

welcome_text = In sechs Schritten vom neuen Server zum ersten Druck. Der Server läuft im { $mode }.
mode_production = Produktivmodus
mode_development = Entwicklungsmodus
current_heading = Aktuelle Konfiguration
current_text = Aus { $file }, den Umgebungsvariablen und weiteren Einstellungen. Die nächsten Schritte zeigen diese Werte und behalten alle, die Sie nicht ändern.
admin_heading = Ersten Admin hinzufügen
admin_text = Admins können hier alles tun. Danach sind Sie mit diesem Konto angemeldet.
name_field = Name
password_hint = Mindestens 10 Zeichen.
create_admin = Admin hinzufügen und weiter
time_zone_heading = Zeitzone
time_zone_fault = „{ $name }“ ist keine Zeitzone dieses Servers; verwenden Sie einen Namen wie „Europe/Berlin“ oder eine Regel wie „CET-1CEST,M3.5.0,M10.5.0/3“

## Datenbank

database_text = Verbinden Sie die Datenbank des Betriebs und, wenn Sie mehrere Server betreiben, deren gemeinsamen Speicher. Beide Verbindungen werden getestet, bevor es weitergeht.
test_both = Beide Verbindungen testen
other_database = Eine andere Datenbank ist zu Beginn leer.
other_database_text = Nach dem Neustart am Ende gibt der Server einen neuen Code aus, und Sie fügen den Admin und die Drucker noch einmal hinzu.
both_must_pass = Es geht weiter, sobald beide Verbindungen den Test bestehen.

## Drucker

printers_text = Durchsucht werden dieser Server und alle Adressen seines lokalen Netzwerks. Das dauert meist weniger als eine Minute. Drucker in anderen Netzwerken fügen Sie manuell hinzu.
search = Drucker suchen
cancel_search = Suche abbrechen
reload_text = { $link }, um den Fortschritt zu sehen.
reload_link = Laden Sie die Seite neu
added_heading = Hinzugefügte Drucker
none_added = Noch keine. Sie können fortfahren und Drucker später hinzufügen.
program_at = { $program } unter { $address }
add_manually = Drucker manuell hinzufügen
search_running =
    { $count ->
        [0] Suche läuft: bisher keine Drucker gefunden.
        [one] Suche läuft: bisher { $count } Drucker gefunden.
       *[other] Suche läuft: bisher { $count } Drucker gefunden.
    }
search_complete =
    { $count ->
        [0] Suche beendet: keine Drucker gefunden.
        [one] Suche beendet: { $count } Drucker gefunden.
       *[other] Suche beendet: { $count } Drucker gefunden.
    }
search_cancelled =
    { $count ->
        [0] Suche abgebrochen: keine Drucker gefunden.
        [one] Suche abgebrochen: { $count } Drucker gefunden.
       *[other] Suche abgebrochen: { $count } Drucker gefunden.
    }
checked = Geprüfte Adressen und Ports: { $done }
checked_of = Geprüfte Adressen und Ports: { $done } von { $total }
none_found = Auf diesem Server und in seinem lokalen Netzwerk wurden keine Drucker gefunden. Prüfen Sie, ob Ihr Drucker eingeschaltet und im selben Netzwerk ist. Ist er in einem anderen Netzwerk, fügen Sie ihn manuell hinzu.
added = Hinzugefügt
add_named = { $name } hinzufügen
add_heading = Drucker hinzufügen
test_and_add = Testen und hinzufügen
cancel = Abbrechen

## Integrationen und Verkauf

integrations_text = Verbinden Sie andere Systeme mit Ihrem Betrieb. Alle sind optional.
commerce_text = Ihre Rechnungsangaben, Zahlungen und E-Mails an Kunden. Vorerst ist alles optional: Überspringen Sie, was Sie noch nicht haben.
set_up_service = Einrichten
change_service = Ändern
test_and_save = Testen und speichern
seller_heading = Angaben zum Betrieb auf Rechnungen
seller_text = Eine Rechnung muss von Gesetzes wegen ihren Aussteller nennen. Sobald sie eine Nummer hat, lässt sie sich nicht mehr ändern. Solange diese Angaben fehlen, werden Bestellungen zwar gefertigt, ihre Rechnungen aber zurückgehalten.
seller_saved = Gespeichert.
seller_saved_text = Diese Angaben erscheinen auf Ihren Rechnungen.
seller_missing = Fehlt
seller_complete_unwritten = Vollständig, noch nicht geschrieben
seller_complete = Vollständig

## Test eines Dienstes

not_tested = Nicht getestet, weil dieses Feld leer ist.
fill_in_first = Füllen Sie zuerst dieses Feld aus.
unused_text = Ihr Betrieb verwendet diesen Dienst nicht.
test_passed = Test bestanden.
test_failed = Test fehlgeschlagen.
test_details = Details:
enter_address = Geben Sie eine Adresse ein, die getestet werden soll.

## Prüfen

nothing_saved = Es wurde nichts gespeichert.
summary_heading = Zusammenfassung
changes_heading = Änderungen an .env
no_changes = Keine Änderungen.
removed = entfernt
set_not_shown = festgelegt, nicht angezeigt
backup_text = Die bisherige Datei bleibt als .env.bak erhalten. Neue Werte gelten nach einem Neustart.
write = .env schreiben und abschließen
write_text = Alle Einstellungen werden noch einmal getestet, bevor sie geschrieben werden. Danach können nur Admins die Einrichtung öffnen.
correct_value = Gehen Sie zum Schritt mit diesem Wert zurück und korrigieren Sie ihn.

## Seite nach dem letzten Schritt

done_title = Ihr Betrieb ist eingerichtet
first_print_heading = Erster Druck
next_heading = Nächste Schritte
next_floor = Ihre Drucker live sehen
next_floor_link = Zur Werkstatt
next_api = Bestellungen, Druckaufträge, Lager und Drucker über die API verwalten
next_api_link = API-Dokumentation öffnen
next_services = Prüfen, ob alle Dienste antworten
next_services_link = Status der Dienste prüfen
next_settings = Diese Einstellungen ändern
next_settings_link = Einrichtung noch einmal durchlaufen
printing = Druck läuft.
printing_text = { $name } hat den Testdruck begonnen.
uploading = Übertragung läuft.
uploading_text = Die Datei wird an { $name } gesendet.
print_refused = Prüfen Sie, ob der Drucker eingeschaltet und bereit ist und ob sein Druckbett frei ist. Versuchen Sie es dann noch einmal.
all_in_effect = Alle Einstellungen sind wirksam.
written_heading = In { $file } geschrieben
no_changes_needed = Es waren keine Änderungen nötig.
shadowed = { $setting } hat keine Wirkung: { $source } hat Vorrang vor der Datei. Entfernen Sie den Wert dort.
restart_heading = Server neu starten
no_restart = Nicht nötig: Alle geschriebenen Einstellungen sind wirksam.
restart_text = Starten Sie den Server neu, damit diese Einstellungen gelten: Drücken Sie Strg+C und führen Sie denselben Befehl noch einmal aus, oder führen Sie { $command } aus.
no_printers = Noch keine Drucker. { $link } und kommen Sie hierher zurück.
no_printers_link = Fügen Sie einen hinzu
test_print_text = Druckt in etwa zwei Minuten ein flaches Quadrat aus PLA mit 20{ "\u00A0" }mm Kantenlänge, bei 200{ "\u00A0" }°C an der Düse und 60{ "\u00A0" }°C am Druckbett. Räumen Sie vorher das Druckbett ab, legen Sie PLA ein und bleiben Sie beim Drucker.
print_test_part = Testteil auf { $name } drucken
packages_only = Nimmt nur geslicte Pakete an. Starten Sie einen Testdruck am Bildschirm des Druckers.

## Fortschritt des Testdrucks

print_starting = Der Druck auf { $name } beginnt gleich.
print_not_started = Der Druck auf { $name } hat nicht begonnen: { $reason }.
print_running = { $name } druckt.
print_paused = { $name } ist pausiert.
print_finished = Der Druck auf { $name } ist fertig. Nehmen Sie das Teil vom Druckbett.
print_ended_early = Der Druck auf { $name } endete vorzeitig. Sehen Sie nach dem Drucker, bevor Sie es noch einmal versuchen.
print_faulty = { $name } meldet einen Fehler. Sehen Sie nach dem Drucker.
print_offline = { $name } antwortet nicht. Prüfen Sie, ob er eingeschaltet und im Netzwerk ist.
progress_of = Fortschritt von { $name }
minutes_left = noch etwa { $minutes }{ "\u00A0" }Min.
open_printer = { $name } öffnen
