### Der Zustand des Servers.
title = System
ready = Bereit
degraded = Eingeschränkt
not_ready = Nicht bereit
warnings = Warnungen
works = In Ordnung
backup_text = { $link }: eine Kopie der Daten Ihres Betriebs herunterladen
backup_link = Sicherung
monitoring = Zur Überwachung:

## Auf einen Blick

glance = Auf einen Blick
version = Version
development_mode = { $version }, Entwicklungsmodus
production_mode = { $version }, Produktivmodus
database = Datenbank
redis = Redis
redis_unused = Nicht verwendet
disk = Festplatte
disk_space = { $free } von { $total } frei
disk_low = Knapp
disk_unknown = Unbekannt
uploads = Dateien von Kunden
uploads_unknown = Unbekannt
uploads_used = { $used } belegt durch unbearbeitete Dateien
uploads_used_of = { $used } von { $limit } belegt durch unbearbeitete Dateien
uploads_rejected = Neue Dateien werden abgelehnt
uploads_rejected_disk = Neue Dateien werden abgelehnt: Festplatte fast voll

## Störungen

no_response = Antwortet nicht
disk_full = Festplatte voll
read_only = Schreibgeschützt
out_of_service = Außer Betrieb
down = Ausgefallen

## Komponenten

components = Komponenten
component_table = Status der Komponenten
component = Komponente
status = Status
crashes = Abstürze

## Aktoren

actors_by_kind = Aktoren nach Art
actor_table = Aktoren
kind = Art
in_memory = Im Arbeitsspeicher
queued_commands = Wartende Befehle
restarts = Neustarts
rejected = Abgelehnt (Überlast)
none = Keine
actors_starting = { $count } beim Start
actors_running = { $count } aktiv
actors_resting = { $count } in Ruhe
actors_parked = { $count } außer Betrieb
crashed = Abgestürzte Aktoren
crashed_starting =
    { $restarts ->
        [one] startet, ein Neustart
       *[other] startet, { $restarts } Neustarts
    }
crashed_running =
    { $restarts ->
        [one] aktiv, ein Neustart
       *[other] aktiv, { $restarts } Neustarts
    }
crashed_resting =
    { $restarts ->
        [one] in Ruhe, ein Neustart
       *[other] in Ruhe, { $restarts } Neustarts
    }
crashed_parked =
    { $restarts ->
        [one] außer Betrieb, ein Neustart
       *[other] außer Betrieb, { $restarts } Neustarts
    }
crashed_otherwise =
    { $restarts ->
        [one] { $status }, ein Neustart
       *[other] { $status }, { $restarts } Neustarts
    }
