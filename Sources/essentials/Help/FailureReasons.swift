import ServiceEssentials

/// The meaning of each failure's reason, for `essentials help reasons`.
enum FailureReasons {
    struct Meaning: Sendable {
        let name: String
        let meaning: String
    }

    static let meanings = texts.map { Meaning(name: $0.0.name, meaning: $0.1) }

    /// The meaning of the reason with this name, in any case.
    static func meaning(of name: String) -> Meaning? {
        meanings.first { $0.name.lowercased() == name.lowercased() }
    }

    private static let texts: [(RequestFailure.Reason, String)] = [
        (.invalidRequest, "A value of the command line or of the environment file is invalid. Nothing was sent."),
        (.invalidPolicy, "A pin, a certificate or the policy file is invalid. Nothing was sent."),
        (.nameResolution, "The host name has no address. Check the name, and the machine's name servers."),
        (.connection, "No connection could be opened. Check the port, the firewall, and that the server runs."),
        (.proxy, "The proxy refused or failed. Check --proxy and the proxy variables."),
        (.tls, "The TLS handshake failed for a reason other than trust."),
        (
            .trustChain,
            "The server's certificate does not lead to a trusted authority, or is not valid now. For a private "
                + "authority, give its certificate with --anchor."
        ),
        (.trustHost, "The server's certificate is for another host name."),
        (.pinMismatch, "The chain is valid but contains none of the pins. See “essentials help pins”."),
        (.unexpectedPeer, "The connection leads to another server than the requested one."),
        (.otherTrust, "A reused connection was opened under another trust policy."),
        (.tlsTooOld, "The server speaks only a TLS version below the policy's minimum."),
        (.trustEvidence, "A connection has no verified information about its server."),
        (.revoked, "A certificate of the server was revoked."),
        (.hostRefused, "The policy has no rule for this host and refuses all others, or its pins have expired."),
        (
            .plaintextRefused,
            "The URL begins with http:// although pins are required, or although it is a token endpoint. Use https://."
        ),
        (.timeout, "A time limit has passed. See --timeout and --connect-timeout."),
        (.cancelled, "The command was interrupted."),
        (.interrupted, "The server closed the connection before the response was complete."),
        (.protocolViolation, "The server violated the HTTP protocol."),
        (.tooLarge, "A body or a header exceeds its limit. See --max-body."),
        (.redirectLimit, "There were more redirects than allowed. See --max-redirects."),
        (.redirectRefused, "A redirect was refused, such as one from https to http."),
        (.notReplayable, "The body would have to be sent again, but it cannot be read a second time."),
        (
            .authorization,
            "There is nothing to authorize the request with: all challenges of the server are weaker than the "
                + "credentials allow, or there is no access token, because it could not be refreshed or the client is "
                + "logged out. Check the credentials and the token endpoint."
        ),
        (.status, "The status is not among the expected ones. See --expect."),
        (.emptyBody, "A body was expected, but the response has none."),
        (.encoding, "The request's body could not be encoded."),
        (.decoding, "The response's body could not be decoded."),
        (.file, "A file could not be read or written."),
        (.queueFull, "Too many requests are waiting."),
        (.circuitOpen, "Too many requests to the server have failed, so no more are sent for some time."),
        (.notCached, "The request accepts only a stored response, and there is none. Nothing was sent."),
        (.resources, "The system has no memory, file descriptor or thread left."),
        (.closed, "The transport was shut down."),
    ]
}
