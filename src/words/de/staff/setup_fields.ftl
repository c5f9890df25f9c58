### Dienste und Einstellungen der Einrichtung und der Seite „Integrationen“: Namen, Zustände, Felder, Zwecke und Ratschläge.

## Dienste

database = Datenbank
redis = Warteschlange und gemeinsamer Speicher
smtp = Mailserver
email = E-Mail-Dienst
workflow = Automatisierung von Abläufen
farm_ui = Verwaltung der Druckerfarm
failure_detection = Fehldruckerkennung mit KI
smart_home = Smart Home
parts = Teileverwaltung
spools = Spulenverwaltung
agent = Zugang für Agenten
accounting = Buchhaltung
payments = Zahlungsdienst
printer = Drucker

## Zustände eines Dienstes

left_out = Übersprungen
begun = Unvollständig
not_used = Nicht verwendet
tested_unwritten = Getestet, noch nicht geschrieben
tested = Getestet
built_in = Eingebaut
configured = Konfiguriert

## Zwecke

about_workflow = Empfängt Ereignisse, zum Beispiel knappen Bestand, und führt Ihre eigenen Abläufe aus.
about_farm_ui = Zeigt alle Drucker auf einer eigenen Seite.
about_failure_detection = Überwacht die Kameras und meldet Fehldrucke.
about_smart_home = Zeigt die Zustände der Drucker und löst Automatisierungen aus.
about_parts = Gleicht den Bestand ab. Änderungen dort erscheinen hier innerhalb von fünf Minuten.
about_spools = Erfasst, wie viel auf jeder Spule noch übrig ist.
about_agent = Nimmt Befehle aus Chats an, zum Beispiel zum Pausieren eines Drucks.
about_payments = Wickelt Kartenzahlungen und andere Zahlungen ab. Ohne ihn markieren Sie Bestellungen manuell als bezahlt.
about_email = Sendet E-Mails über eine API. Verwenden Sie diesen Dienst oder den Mailserver darunter. Ohne beide werden E-Mails in Dateien geschrieben.
about_smtp = Sendet E-Mails über SMTP. Server, Port, Benutzername und Passwort erhalten Sie von Ihrem Anbieter.

## Felder

sample = Zum Beispiel { $sample }.
already_set = Bereits festgelegt. Lassen Sie das Feld leer, um den aktuellen Wert zu behalten.
set_by = Festgelegt durch: { $source }.
remove = Entfernen
url_field = Adresse (URL)
token_field = API-Schlüssel oder Token
token_hint = Aus den Einstellungen des Systems. Lassen Sie das Feld leer, wenn keiner nötig ist.
database_hint = Zum Beispiel postgres://user:password@localhost:5432/printfloor. Lassen Sie das Feld leer, um eine Datei im Datenverzeichnis zu verwenden; das genügt für einen kleinen Betrieb.
redis_hint = Zum Beispiel redis://localhost:6379. Lassen Sie das Feld leer, um alles im Arbeitsspeicher zu halten. Das genügt für einen Server.
port_field = Port
port_hint = Meist 587 oder 465.
user_field = Benutzername
user_hint = Lassen Sie das Feld leer, wenn keiner nötig ist.
password_field = Passwort
sender_field = Absender
sender_hint = Zum Beispiel Mein Betrieb <shop@example.org>.
email_key_field = API-Schlüssel des E-Mail-Dienstes
secret_key_field = Geheimer Schlüssel
secret_key_hint = Beginnt mit sk_ oder rk_.
webhook_secret_field = Signaturschlüssel für Webhooks
webhook_secret_hint = Beginnt mit whsec_. Der Zahlungsdienst zeigt ihn neben dem Webhook-Endpunkt für diesen Betrieb.
publishable_key_field = Veröffentlichbarer Schlüssel
publishable_key_hint = Beginnt mit pk_.
workflow_hint = Die URL, die Ereignisse empfängt.
time_zone_field = Zeitzone des Betriebs
time_zone_hint = Alle Zeitangaben auf Seiten und in E-Mails beziehen sich auf diese Zeitzone.

## Angaben zum Betrieb

your_shop = Ihr Betrieb: { $field }
seller_name_field = Name des Betriebs
seller_name_hint = Wie im Handelsregister, oder Ihr eigener Name.
line1_field = Straße und Hausnummer
line2_field = Adresszusatz
postal_code_field = Postleitzahl
city_field = Ort
country_field = Land
country_hint = Zwei Buchstaben, zum Beispiel DE oder US.
vat_id_field = USt-IdNr.
vat_id_hint = Mit Länderkennzeichen, zum Beispiel DE123456789. Lassen Sie das Feld leer, wenn Sie keine haben.
tax_number_field = Steuernummer
tax_number_hint = Vom Finanzamt, wenn Sie keine USt-IdNr. haben.
seller_gaps = Für Rechnungen fehlen noch Angaben zum Betrieb: { $names }.
gap_name = Name
gap_street = Straße und Hausnummer
gap_city = Ort
gap_country = Land
gap_vat_id = USt-IdNr. mit Länderkennzeichen
gap_tax_number = USt-IdNr. oder Steuernummer

## Ratschläge zu einem Dienst, der nicht geht

advice_refused = Unter dieser Adresse und diesem Port nimmt kein Dienst Verbindungen an. Prüfen Sie, ob der Dienst läuft und der Port stimmt. In einem Container bezeichnet `localhost` den Container selbst.
advice_credentials = Der Dienst hat geantwortet, aber die Zugangsdaten abgelehnt. Kopieren Sie Benutzername, Passwort oder Schlüssel noch einmal, ohne Leerzeichen davor oder danach.
advice_host = Der Hostname lässt sich nicht auflösen. Prüfen Sie ihn auf Tippfehler oder verwenden Sie die IP-Adresse.
advice_name = Der Server hat geantwortet, aber den Namen am Ende der Adresse gibt es dort nicht. Legen Sie ihn an oder korrigieren Sie den Namen.
advice_tls = Die sichere Verbindung kam nicht zustande. Prüfen Sie, ob die Adresse mit http:// statt https:// beginnen muss und ob das Zertifikat selbst signiert ist.
advice_time = Der Rechner hat nicht rechtzeitig geantwortet. Prüfen Sie, ob er eingeschaltet und im selben Netzwerk ist und ob keine Firewall den Port sperrt.
advice_address = Unter dieser Adresse kann kein Dienst laufen. Geben Sie die Adresse des Dienstes in Ihrem Netzwerk ein.
advice_firmware = Der Webserver des Druckers läuft, aber seine Firmware ist nicht verbunden. Schalten Sie den Drucker ein, prüfen Sie das USB-Kabel und starten Sie die Firmware auf der Webseite des Druckers neu.
advice_database = Die Adresse hat die Form postgres://user:password@machine:5432/name. Lassen Sie sie leer, um die eingebaute Datenbank zu verwenden.
advice_redis = Die Adresse hat die Form redis://machine:6379 oder redis://:password@machine:6379. Lassen Sie sie leer, um ohne Redis zu arbeiten.
advice_smtp = Prüfen Sie Server, Port, Benutzername und Passwort in den Einstellungen Ihres E-Mail-Kontos.
advice_payments = Kopieren Sie die Schlüssel noch einmal von der Entwicklerseite des Zahlungsdienstes. Alle drei müssen zum selben Konto gehören.
advice_printer = Öffnen Sie die Adresse in einem Browser auf diesem Server. Öffnet sich die Webseite des Druckers, prüfen Sie den Druckertyp und den Schlüssel.
advice_other = Öffnen Sie die Adresse in einem Browser auf diesem Server. Öffnet sich die Webseite des Systems, kopieren Sie seinen Schlüssel noch einmal.

## Ergebnisse von Tests anstelle der englischen Meldungen

result_works = antwortet rechtzeitig und nimmt Daten an
result_memory = nicht konfiguriert: Ratenbegrenzungen und Ereignisse bleiben in diesem Prozess
result_key = der Drucker lehnt den Schlüssel ab
result_read_only = der Drucker nimmt keine Befehle an
result_firmware = der Server des Druckers antwortet, seine Firmware nicht
result_silent = der Drucker antwortet nicht
result_responds = { $name } antwortet
result_created = { $name } existiert noch nicht und wird beim nächsten Start angelegt
result_unusable = { $name } lässt sich nicht verwenden
result_smtp = { $place } nimmt Verbindungen und die Zugangsdaten an
