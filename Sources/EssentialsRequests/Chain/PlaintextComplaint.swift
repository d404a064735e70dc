import EssentialsHTTP
import FoundationEssentials

/// Recognises the response of an HTTPS port to a plain HTTP request. Servers send it unencrypted, with the status 400.
enum PlaintextComplaint {
    /// Texts from the responses of nginx, Apache, Go and Tomcat, in lower case.
    private static let texts = [
        "plain http request was sent to https port", "speaking plain http to an ssl-enabled server port",
        "sent an http request to an https server", "this combination of host and port requires tls",
    ]

    /// The number of bytes that are searched.
    private static let searched = 4_096

    /// Returns the remedy for a response of this kind, or `nil` for all others.
    static func remedy(for response: FailedResponse, to request: TransportRequest) -> String? {
        guard request.url.origin.scheme == .http, response.head.status == .badRequest else { return nil }
        let text = String(decoding: response.body.prefix(searched), as: UTF8.self).lowercased()
        guard texts.contains(where: text.contains) else { return nil }
        return "Use https: the server expects TLS on this port."
    }
}
