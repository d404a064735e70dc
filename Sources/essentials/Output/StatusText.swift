import ServiceEssentials

/// A status with its usual words, which a response in HTTP/2 does not carry.
enum StatusText {
    private static let known: [HTTPResponse.Status] = [
        .continue, .switchingProtocols, .earlyHints, .ok, .created, .accepted, .nonAuthoritativeInformation,
        .noContent, .resetContent, .partialContent, .multipleChoices, .movedPermanently, .found, .seeOther,
        .notModified, .temporaryRedirect, .permanentRedirect, .badRequest, .unauthorized, .forbidden,
        .notFound, .methodNotAllowed, .notAcceptable, .proxyAuthenticationRequired, .requestTimeout,
        .conflict, .gone, .lengthRequired, .preconditionFailed, .contentTooLarge, .uriTooLong,
        .unsupportedMediaType, .rangeNotSatisfiable, .expectationFailed, .misdirectedRequest,
        .unprocessableContent, .tooEarly, .upgradeRequired, .preconditionRequired, .tooManyRequests,
        .requestHeaderFieldsTooLarge, .unavailableForLegalReasons, .internalServerError, .notImplemented,
        .badGateway, .serviceUnavailable, .gatewayTimeout, .httpVersionNotSupported,
        .networkAuthenticationRequired,
    ]

    /// `404 Not Found`, or the number alone of a status without usual words.
    static func text(of status: HTTPResponse.Status) -> String {
        let named = status.reasonPhrase.isEmpty ? known.first { $0.code == status.code } ?? status : status
        return named.reasonPhrase.isEmpty ? "\(named.code)" : "\(named.code) \(named.reasonPhrase)"
    }
}
