import ServiceEssentials

/// The source whose certificates `essentials pins` prints.
enum PinsSource: Equatable {
    case server(Origin)
    case file(String)

    /// Parses a path that begins with `/`, `./` or `../`, or a server written as `https://HOST`, `HOST[:PORT]` or
    /// `:PORT` for localhost.
    ///
    /// The result never depends on existing files: a file with the name of a host makes no difference.
    ///
    /// - Parameters:
    ///   - text: The argument.
    ///   - isFile: Whether the argument is a path in any case.
    /// - Throws: `invalidRequest` if the text is neither.
    init(_ text: String, isFile: Bool = false) throws(RequestFailure) {
        if isFile || ["/", "./", "../"].contains(where: { text.utf8.starts(with: $0.utf8) }) {
            self = .file(text)
        } else if text.firstRange(of: "://") != nil {
            self = .server(try Self.origin(text))
        } else if text.utf8.contains(UInt8(ascii: "/")) {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is not a server.",
                remedy: "For a file, write ./ before its name or add --file.")
        } else {
            self = .server(try Self.origin("https://" + (URLArgument.isPort(text) ? "localhost" : "") + text))
        }
    }

    private static func origin(_ text: String) throws(RequestFailure) -> Origin {
        let origin = try RequestURL(text).origin
        guard origin.scheme == .https else {
            throw RequestFailure(
                .invalidRequest, "A server presents no certificate over http.", remedy: "Use the https URL.",
                host: origin.host.text)
        }
        return origin
    }
}
