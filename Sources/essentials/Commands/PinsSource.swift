import ServiceEssentials

/// What `essentials pins` looks at.
enum PinsSource: Equatable {
    case server(Origin)
    case file(String)

    /// Reads a path that begins with `/`, `./` or `../`, or otherwise `https://HOST` or `HOST[:PORT]`.
    ///
    /// Which one it is never depends on the files that there are: a file with the name of a host changes nothing.
    ///
    /// - Parameters:
    ///   - text: The argument.
    ///   - isFile: Whether the argument is a path, however it begins.
    /// - Throws: `invalidRequest` for text that is none of these.
    init(_ text: String, isFile: Bool = false) throws(RequestFailure) {
        if isFile || ["/", "./", "../"].contains(where: { text.utf8.starts(with: $0.utf8) }) {
            self = .file(text)
        } else if text.firstRange(of: "://") != nil {
            self = .server(try Self.origin(text))
        } else if text.utf8.contains(UInt8(ascii: "/")) {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is no server.",
                remedy: "If it is a file, write ./ before it, or add --file.")
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
