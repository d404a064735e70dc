import Glibc
import ServiceEssentials

/// What `essentials pins` looks at.
enum PinsSource: Equatable {
    case server(Origin)
    case file(String)

    /// Reads `https://HOST`, the name of a file that exists or looks like a path, or `HOST[:PORT]`.
    ///
    /// - Throws: `invalidRequest` for what is none of these.
    init(_ text: String) throws(RequestFailure) {
        if text.contains("://") {
            self = .server(try Self.origin(text))
        } else if text.contains("/") || text.hasSuffix(".pem") || text.hasSuffix(".crt") || access(text, F_OK) == 0 {
            self = .file(text)
        } else {
            self = .server(try Self.origin("https://" + text))
        }
    }

    private static func origin(_ text: String) throws(RequestFailure) -> Origin {
        let origin = try RequestURL(text).origin
        guard origin.scheme == .https else {
            throw RequestFailure(
                .invalidRequest, "A server shows no certificate over http.", remedy: "Use the https URL.",
                host: origin.host.text)
        }
        return origin
    }
}
