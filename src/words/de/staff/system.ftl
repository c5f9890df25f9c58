### Der Zustand des Servers.
title = System
ready = Bereit
degraded = Eingeschränkt
not_ready = Nicht bereit
warnings = Warnungen
works = in Ordnung
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
redis_unused = nicht verwendet
disk = Festplatte
disk_space = { $free } von { $total } frei
disk_low = knapp
disk_unknown = unbekannt
uploads = Dateien von Kunden
uploads_unknown = unbekannt
uploads_used = { $used } belegt durch unbearbeitete Dateien
uploads_used_of = { $used } von { $limit } belegt durch unbearbeitete Dateien
uploads_rejected = neue Dateien werden abgelehnt
uploads_rejected_disk = neue Dateien werden abgelehnt: Festplatte fast voll

## Störungen

no_response = antwortet nicht
disk_full = die Festplatte ist voll
read_only = kann nicht beschrieben werden
out_of_service = außer Betrieb
down = ausgefallen

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
none = keine
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
