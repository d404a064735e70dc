extension HelpTopic {
    static let pins = HelpTopic(
        "pins", "What pins are, how to get them, and how to use them.",
        """
        A pin is the SHA-256 hash of a public key or of a certificate, written as sha256/ and 44 characters of Base64. A
        server is accepted only if its verified certificate chain contains one of the pins. Pins are checked during the
        handshake, in addition to the chain and the host name: a wrong server receives no byte of the request.

        # GET PINS

        This prints the pins of a server's chain, the server's own certificate first. Nothing is sent to the server
        except the handshake.

          essentials pins localhost:8443 --anchor ca.pem

        The command shows the chain that it receives. Compare the pins with the key on the server, or ask for them from
        a second network, before you trust them.

        # USE PINS

        Give each pin with --pin, or write a policy file once and use it for every command:

          essentials pins localhost:8443 --anchor ca.pem --format json > policy.json
          essentials get https://localhost:8443/ --policy policy.json

        One match is enough. At least two different pins are required, so that the server can change its key: the pin of
        its current key and the pin of a backup key that no server uses yet. --single-pin accepts one pin alone. A
        backup key is made, and its pin is computed, without a certificate:

          openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out backup.key
          openssl pkey -in backup.key -pubout -outform DER | openssl dgst -sha256 -binary | base64

        Prefer the pin of a public key (--pin). It survives a renewal of the certificate with the same key; the pin of a
        certificate (--pin-certificate) fails at every renewal.

        # INTRODUCE PINS

        With --report-only a missing pin is a warning and the request continues. The chain and the host name are still
        enforced.

        # WHEN A PIN DOES NOT MATCH

        The request fails with the reason pinMismatch, the exit code is 1, and nothing was sent. Run “essentials pins”
        from another network. If the keys are the same there, the server has changed its key. If they differ, the
        connection from here is intercepted.
        """)

    static let policies = HelpTopic(
        "policies", "The JSON file that --policy reads.",
        """
        A policy file says which servers are trusted: authorities, pins by host, the lowest TLS version, and the
        client's certificate. The option --policy reads it. It contains the whole policy, so other trust options
        are refused beside it. This command prints one to start with:

          essentials pins localhost:8443 --anchor ca.pem --format json > policy.json

        # AN EXAMPLE

        Save this as policy.json:

          {
              "anchors": {"system": true, "files": ["ca.pem"]},
              "minimumTLS": "1.2",
              "unlistedHosts": "anchorsOnly",
              "hosts": [
                  {
                      "host": "**.example.com",
                      "pins": [
                          "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                          "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="
                      ],
                      "expires": "2040-01-01"
                  },
                  {"host": "static.example.com", "unpinned": true}
              ]
          }

        Then use it:

          essentials get https://localhost:8443/ --policy policy.json

        # MEMBERS

        Every member may be left out. An unknown name is an error.

        anchors:: The trusted authorities: "system", an array of PEM files, or an object with "system" and "files" for
        both. Paths are relative to the folder of the policy file.
        minimumTLS:: "1.2" or "1.3".
        unlistedHosts:: The treatment of hosts without a rule: "anchorsOnly" (no pins), "refused", or an object with
        "pins".
        revocation:: "none", "stapled", "requireStaple", or an object with "lists", an array of PEM files.
        identity:: The client's certificate: an object with "certificate" and "key", two PEM files.
        hosts:: Rules by host, each with "pins" or with "unpinned": true.

        A rule for api.example.com applies to that host, *.example.com to the hosts one level below, and
        **.example.com to example.com and everything below. The most specific rule applies alone. A rule may also have
        "mode" ("enforce" or "reportOnly"), "expires" (a date), "onExpiry" ("anchorsOnly" or "refuse") and "singlePin"
        (true accepts one pin).

        # ERRORS

        An error names the file and the line. Its reason is invalidPolicy and the exit code is 64; a file that cannot be
        read has the reason file and the exit code 1.
        """)

    static let environments = HelpTopic(
        "environments", "The JSON file that --environment reads.",
        """
        An environment is a server with a name: a base URL, header fields for every request, and a trust policy. With
        --environment, the URL of a command is a path below the base URL, and --env selects one of several environments.

        # AN EXAMPLE

        Save this as api.json:

          {
              "current": "local",
              "environments": {
                  "local": {"baseURL": "https://localhost:8443/v1/", "trust": {"anchors": ["ca.pem"]}},
                  "production": {
                      "baseURL": "https://api.example.com/v1/",
                      "headers": {"X-Client": "essentials"}
                  }
              }
          }

        Then use it. The first command sends its request to https://localhost:8443/v1/users/1:

          essentials get users/1 --environment api.json
          essentials get users --query role=admin --environment api.json --env local

        # MEMBERS

        current:: The environment to use without --env. By default it is the first one.
        baseURL:: The URL that paths are appended to. It is required. A path cannot leave it: ../ is refused.
        headers:: Header fields for every request. They are sent only to the environment's own origin, and --header
        overrides them.
        trust:: A policy as an object, or the path of a policy file relative to this file. With it, --pin and the other
        trust options are refused. See “essentials help policies”.
        """)
}
