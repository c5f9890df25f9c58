### Dialog in which a label is scanned with the camera.

scan = Scan label
title = Scan a label
camera = Camera view
close = Close

## Messages of the script

starting = Starting the camera…
aim = Point the camera at the QR code of a printer, spool or bin.
opening = Opening the page…
foreign = This code is not on a label of this shop. Scan the label of a printer, spool or bin.
elsewhere = This code leads to { $address }. Only labels that lead to this site can be scanned.
denied = The camera is blocked. Allow it for this site in your browser, then try again.
none = No camera was found on this device.
no_camera = The camera could not be started. Another app may be using it.
