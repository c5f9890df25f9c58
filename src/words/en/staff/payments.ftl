### Names of payment methods.

# $method is the method's name in the API, $name is what is shown for a method that has no message here.
payment_method =
    { $method ->
        [channel] sales channel
       *[other] { $name }
    }
