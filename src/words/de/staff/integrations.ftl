### Die Seite der Integrationen. Namen, Felder und Tests der Dienste sind die der Einrichtung.
title = Integrationen
text = Alle Integrationen sind optional.
restart_needed = Neustart nötig
restart_text = Seit dem Start des Servers haben sich Einstellungen geändert. Die Felder zeigen die Werte, die nach einem Neustart gelten.

## Zustände

connected = Verbunden
no_calls = Noch keine Aufrufe
failing = Gestört
off = Aus
not_set_up = Nicht eingerichtet
failures_in_row =
    { $count ->
        [one] Der letzte Aufruf ist fehlgeschlagen.
       *[other] { $count } Aufrufe nacheinander sind fehlgeschlagen.
    }
last_response = Letzte erfolgreiche Antwort: { $time }
no_response = Noch keine Antwort.
works_without = Ihr Betrieb läuft auch ohne.

## Systeme ohne Formular

redis_about = Gleicht Ratenbegrenzungen zwischen Servern ab und gibt Ereignisse an andere Programme weiter.
smtp_about = Sendet E-Mails an Kunden und Team.
configure = Einzurichten in { $file } oder { $environment } (Abschnitt { $section }) oder über die API.
accounting_text = Führt Ihre Buchhaltung. Legen Sie Client-ID und Client-Secret in { $file } oder { $environment } (Abschnitt { $section }) fest und verbinden Sie die Buchhaltung dann über die API.
api_documentation = API-Dokumentation

## Formular

edit = Testen oder bearbeiten
test_only = Nur testen
test_and_save = Testen und speichern
nothing_saved = Es wurde nichts gespeichert.
success = Verbindung erfolgreich.
nothing_to_save = Verbindung erfolgreich. Es gibt nichts zu speichern.
saved = Gespeichert in { $file }.
restart_to_apply = Starten Sie den Server neu, damit die Änderungen wirksam werden.
shadowed = { $setting } hat keine Wirkung, weil { $source } Vorrang vor der Datei hat.
