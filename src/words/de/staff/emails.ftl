### Nicht zugestellte E-Mails: die Seite, die sie auflistet, und ihre Zeilen auf anderen Seiten.

title = E-Mails
introduction = E-Mails, die nicht zugestellt werden konnten, mit dem Grund. Sie werden nach dem letzten Versuch 30 Tage lang aufbewahrt.
filter_label = E-Mails nach Status
undelivered = Nicht zugestellt
dismissed = Ausgeblendet
none_undelivered = Alle E-Mails wurden zugestellt oder werden noch gesendet.
none_dismissed = Es sind keine E-Mails ausgeblendet.
heading =
    { $count ->
        [one] { $count } E-Mail wurde nicht zugestellt
       *[other] { $count } E-Mails wurden nicht zugestellt
    }

## Eine E-Mail

to_recipients = E-Mail an { $recipients } zu „{ $subject }“ wurde nicht zugestellt
to_admins = E-Mail an die Admins zu „{ $subject }“ wurde nicht zugestellt
to_gateway = Nachricht an das Agent-Gateway zu „{ $subject }“ wurde nicht zugestellt
others =
    { $count ->
        [one] { $count } weiterer
       *[other] { $count } weitere
    }

## Warum sie nicht zugestellt wurde

rejected = Der Mailserver oder Maildienst hat sie abgelehnt: { $reason }
unsendable = Sie kann nicht gesendet werden: { $reason }
expired = Sie ist abgelaufen, bevor sie gesendet werden konnte: { $reason }
exhausted = Alle Versuche, sie zu senden, sind gescheitert, zuletzt: { $reason }
no_reason = kein Grund angegeben
several_reasons = Aus mehreren Gründen. Der letzte: { $reason }

## Die Liste, mit demselben in ein, zwei Wörtern

email_column = E-Mail
reason_column = Grund
acts_column = Aktionen
all_admins = Alle Admins
gateway = Agent-Gateway
state_rejected = Abgelehnt
state_unsendable = Nicht sendbar
state_expired = Abgelaufen
state_exhausted = Nicht erreicht

## Was sich tun lässt

send_again = Erneut senden
dismiss = Ausblenden
put_back = Wieder anzeigen
send_all_again =
    { $count ->
        [one] { $count } E-Mail erneut senden
       *[other] { $count } E-Mails erneut senden
    }
dismiss_all =
    { $count ->
        [one] { $count } E-Mail ausblenden
       *[other] { $count } E-Mails ausblenden
    }
view_emails = E-Mails ansehen
view_order = Bestellung ansehen
view_invoice = Rechnung ansehen
view_quote = Angebot ansehen
