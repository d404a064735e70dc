/// Resolves the URL reference of a `Location` field against the URL of the request (RFC 9110, 10.2.2).
enum RedirectLocation {
    /// Resolves a reference to an absolute URL. An empty reference is the base itself.
    ///
    /// - Throws: `protocolViolation` if the reference is not a valid URL; `redirectRefused` if it contains credentials
    ///   or has a scheme other than `http` and `https`. The messages contain no query and no credentials.
    static func resolve(_ reference: [UInt8], against base: RequestURL) throws(RequestFailure) -> RequestURL {
        do throws(URLReference.Fault) {
            return try URLReference(reference).resolved(against: base)
        } catch {
            throw failure(error, base: base)
        }
    }

    private static func failure(_ fault: URLReference.Fault, base: RequestURL) -> RequestFailure {
        switch fault {
        case .invalid(let why):
            RequestFailure(
                .protocolViolation, "\(base.origin) redirects to an invalid URL. \(why)",
                remedy: "Report this to the operators of the server: the Location field must contain a URL (RFC 3986).",
                phase: .receiving, host: base.origin.host.text)
        case .otherScheme(let scheme):
            RequestFailure(
                .redirectRefused, "\(base.origin) redirects to a URL with the scheme “\(scheme)”.",
                remedy: "Only http and https are followed; if you trust the URL, open it by other means.",
                phase: .receiving, host: base.origin.host.text)
        case .credentials:
            RequestFailure(
                .redirectRefused, "\(base.origin) redirects to a URL that contains credentials.",
                remedy: "If you trust the target, request it directly with an Authorization header.",
                phase: .receiving, host: base.origin.host.text)
        }
    }
}
