### Die Einstellungen: ihre Übersicht, Sicherungen und Wiederherstellungen.

## Übersicht

title = Einstellungen
group_own = Ihr Konto
group_people = Team und Zugänge
group_shop = Betrieb und Integrationen
group_server = Server
keys = API-Schlüssel
keys_about = Programmen Zugriff auf die API geben.
users = Benutzer
users_about = Konten und Rollen des Teams verwalten.
account = Mein Konto
account_about = Die Sprache dieser Seiten wählen.
password = Mein Passwort
password_about = Das Passwort ändern, mit dem Sie sich anmelden.
second_factor = Anmeldung in zwei Schritten
second_factor_about = Zusätzlich zum Passwort mit einem Code vom Smartphone anmelden.
sessions = Sitzungen
sessions_about = Sitzungen in anderen Browsern ansehen und beenden.
audit = Protokoll
audit_about = Änderungen und Anmeldungen ansehen, nach Benutzer und Zeit.
integrations = Integrationen
integrations_about = Andere Systeme verbinden und ihren Status prüfen.
emails = E-Mails
emails_about = E-Mails ansehen, die nicht zugestellt wurden.
system = System
system_about = Den Status des Servers, seiner Datenbank und seiner Komponenten prüfen.
backup = Sicherung
backup_about = Eine Kopie der Daten Ihres Betriebs herunterladen.
restores = Wiederherstellungen
restores_about = Den Betrieb nach dem Wiederherstellen einer Sicherung prüfen.
design = Design
design_about = Bausteine dieser Seiten, für Entwickler.
setup = Einrichtung
setup_about = Datenbank, Drucker, E-Mail und Zahlungen Schritt für Schritt einrichten.
factor_on = Ein
factor_off = Aus
session_count =
    { $count ->
        [one] { $count } Sitzung
       *[other] { $count } Sitzungen
    }
user_count = { $count } Benutzer
key_count =
    { $count ->
        [0] Keine aktiven Schlüssel
        [one] { $count } aktiver Schlüssel
       *[other] { $count } aktive Schlüssel
    }
integration_count =
    { $count ->
        [0] Keine eingerichtet
       *[other] { $count } eingerichtet
    }
integration_failing = Gestört: { $name }
email_missing = E-Mail ist nicht eingerichtet
only_admins = Nur Admins können API-Schlüssel, Benutzer und Integrationen verwalten.
no_restart = Alle Einstellungen sind wirksam. Kein Neustart nötig.
restart = Neustart
restart_needed = Nötig
restart_text = Seit dem Start des Servers haben sich Einstellungen geändert. Starten Sie ihn neu, damit sie wirksam werden, zum Beispiel mit { $command }.
only_secrets = Nur geheime Werte haben sich geändert. Sie werden nicht angezeigt.

## Sicherung

nothing_downloaded = Es wurde nichts heruntergeladen.
download = Herunterladen
download_text = Laden Sie die aktuellen Daten Ihres Betriebs als tar-Archiv herunter. Der Betrieb läuft währenddessen weiter.
download_backup = Sicherung herunterladen
scheduled_backups = Geplante Sicherungen
backups_on = Abstand: { $interval }. Ablage in { $place }.
backups_off = Der Server legt von selbst keine Sicherungen an. Schalten Sie sie mit { $interval } und { $place } ein.
last_backup = Letzte Sicherung: { $time }
no_backup_yet = Es gibt noch keine Sicherung.
backup_retried = Der letzte Versuch ist fehlgeschlagen: { $reason }. Der Server versucht es alle 15 Minuten erneut.
backup_included = Enthalten
backup_database = { $file }: ein geprüfter Stand der Datenbank
backup_files = { $folder }: G-Code, Modelle und Bilder
backup_documents = { $folder }: erstellte Rechnungen, wenn sie auf diesem Server gespeichert sind
backup_manifest = { $file }: die Zeilenzahl jeder Tabelle sowie Größe und SHA-256 jeder Datei. Sie ist die letzte Datei; ein Archiv ohne sie ist also unvollständig.
backup_not_included = Nicht enthalten
backup_secrets = Geheime Werte des Servers: { $secrets } im Datenverzeichnis und { $environment }.
backup_secrets_copy = Bewahren Sie von beiden eine Kopie an einem anderen Ort auf.
backup_secrets_use = Ohne dieselben Werte für { $key } und { $salt } startet der Server mit diesen Daten nicht, und die Passwörter und Schlüssel der Drucker und Integrationen darin sind nicht lesbar.
backup_other = { $file }, Slicer-Profile, ins Datenverzeichnis geschriebene E-Mails und exportierte Tabellen
restore_backup = Sicherung wiederherstellen
restore_stop = Halten Sie den Server an: { $command }
restore_settings = Legen Sie { $environment } und { $settings } an ihren ursprünglichen Ort zurück. Der nächste Schritt schreibt an die Orte, die in diesen Dateien stehen.
restore_data = Stellen Sie die Sicherung in einem leeren Datenverzeichnis wieder her: { $command }
restore_data_and_database = Stellen Sie die Sicherung in einem leeren Datenverzeichnis und einer leeren Datenbank wieder her, die in { $setting } angegeben ist: { $command }
restore_secrets = Kopieren Sie { $file } in dieses Verzeichnis.
restore_start = Starten Sie den Server mit diesem Verzeichnis: { $command }
restore_review = Prüfen Sie die { $link }. Vorher beginnen keine Druckaufträge.
restore_review_link = Wiederherstellung
restore_test = Proben Sie eine Wiederherstellung auf einem anderen Rechner, bevor Sie sie brauchen.

## Wiederherstellungen

never_restored = Dieser Betrieb wurde noch nie aus einer Sicherung wiederhergestellt.
backup_from = Sicherung: { $time }
restored = Wiederhergestellt: { $time }.
reviewed_by = Geprüft von { $person }, { $time }.
needs_review = Zu prüfen
waiting_text = Ihr Betrieb ist auf dem Stand dieser Sicherung. Seither kann er Druckaufträge gedruckt, Zahlungen erhalten und Nummern vergeben haben, die hier fehlen. Druckaufträge beginnen erst, wenn Sie diese Prüfung abschließen.
open_jobs = Druckaufträge, die schon gedruckt sein können ({ $count })
no_open_jobs = Es waren keine Druckaufträge offen.
open_jobs_text = Sehen Sie bei den Druckern und im Regal nach. Brechen Sie Druckaufträge ab, deren Teile schon gedruckt sind. Die übrigen werden nach der Prüfung gedruckt.
job_of = von { $order }
next_numbers = Nächste Nummern
next_numbers_text = Suchen Sie in gesendeten E-Mails und Kundendokumenten die zuletzt vergebene Nummer jedes Nummernkreises. Übersprungene Nummern werden als Lücke mit Grund festgehalten.
next_number = Nächste Nummer im Nummernkreis { $series } (letzte in der Sicherung: { $last })
note = Notiz
finish_review = Prüfung abschließen und Druckaufträge starten

## Meldungen der API, die auf Englisch sind, für die Formulare dieser Seiten

backup_under_way = Eine Sicherung läuft bereits.
invalid_settings = Der Server oder eine seiner Integrationen könnte mit diesen Einstellungen nicht starten.
backup_failed = Das Kopieren der Datenbank ist fehlgeschlagen; Einzelheiten stehen im Log des Servers.
