### Termin einer Bestellung: sein Status, wann sie fertig sein muss und voraussichtlich fertig ist, und womit sie rechtzeitig fertig wird.

on_time = Pünktlich
at_risk = Gefährdet
late = Verspätet
due_expected = fällig { $deadline }, nun voraussichtlich { $expected }
due_unknown = fällig { $deadline }, keine Prognose verfügbar
promised_expected = zugesagt für { $deadline }, nun voraussichtlich { $expected }
promised_unknown = zugesagt für { $deadline }, keine Prognose verfügbar

## Maßnahmen, mit denen eine Bestellung rechtzeitig fertig wird

raise_priority = Setzen Sie die Priorität der Bestellung auf { $priority }
sign_off = Nehmen Sie { $jobs } ab
resume = Setzen Sie { $jobs } auf { $printer } fort
clear_bed = Räumen Sie das Druckbett von { $printer } ab
retry = Versuchen Sie es mit { $jobs } erneut
load = Legen Sie { $materials } in { $printer } ein
return_to_service = Nehmen Sie { $printer } wieder in Betrieb
remedy = { $request }, dann wird die Bestellung voraussichtlich { $time } fertig.
hopeless = Mit keinem einzelnen Schritt wird die Bestellung noch rechtzeitig fertig.
hopeless_earliest = Mit keinem einzelnen Schritt wird die Bestellung noch rechtzeitig fertig, sondern frühestens { $time }.

## Links und Schaltflächen zu diesen Maßnahmen

change_priority = Priorität erhöhen
open_printer = Drucker ansehen
change_priority_of = Priorität erhöhen: { $order }
open_printer_for = Drucker ansehen: { $order }
load_spool_for = Spule einlegen: { $order }
view_job_of = Druckauftrag ansehen: { $order }

## Seite „Aufgaben“

kind_late_or_at_risk = Verspätete und gefährdete Bestellungen
orders_at_risk =
    { $count ->
        [one] { $count } gefährdete Bestellung ansehen
       *[other] { $count } gefährdete Bestellungen ansehen
    }
