### Dialog, in dem ein Etikett mit der Kamera gescannt wird.

scan = Etikett scannen
title = Etikett scannen
camera = Kamerabild
close = Schließen

## Meldungen des Skripts

starting = Die Kamera wird gestartet{ "\u00A0" }…
aim = Richten Sie die Kamera auf den QR-Code eines Druckers, einer Spule oder eines Lagerplatzes.
opening = Die Seite wird geöffnet{ "\u00A0" }…
foreign = Dieser Code gehört zu keinem Etikett dieses Betriebs. Scannen Sie das Etikett eines Druckers, einer Spule oder eines Lagerplatzes.
elsewhere = Dieser Code führt zu { $address }. Scannen können Sie nur Etiketten, die zu dieser Website führen.
denied = Die Kamera ist gesperrt. Erlauben Sie dieser Website im Browser den Zugriff und versuchen Sie es noch einmal.
none = An diesem Gerät wurde keine Kamera gefunden.
no_camera = Die Kamera konnte nicht gestartet werden. Möglicherweise wird sie gerade von einer anderen App verwendet.
