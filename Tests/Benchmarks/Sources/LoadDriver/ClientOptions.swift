internal import ClientHarness
internal import Glibc

/// The command line of a client. All clients take the same arguments.
package struct ClientOptions: Sendable {
    package var url: String
    package var concurrency: Int
    package var requests: Int
    package var warmup: Int
    package var bodyLength: Int
    /// The maximum number of connections of a client's pool; `nil` for its default.
    package var connections: Int?
    /// The file of the loopback servers' authority.
    package var caFile: String?
    /// The file of the system's authorities together with that one; `nil` if only that one is trusted.
    package var bundleFile: String?
    /// The file that is sent as the body of each request.
    package var uploadFile: String?
    /// The number of pieces of a streamed body before which its reader sleeps.
    package var slowPieces: Int
    package var http2: Bool
    /// Whether bodies are discarded piece by piece as they arrive.
    package var isStreamed: Bool
    /// Whether memory and descriptors are compared over the requests instead of times.
    package var isSoak: Bool

    /// Parses the command line. An error is printed on standard error and ends the program with status 2.
    package static func fromCommandLine() -> ClientOptions {
        client_raise_descriptor_limit()
        var parsed = client_options()
        guard client_options_parse(CommandLine.argc, CommandLine.unsafeArgv, &parsed), let url = parsed.url else {
            exit(2)
        }
        return ClientOptions(
            url: String(cString: url), concurrency: parsed.concurrency, requests: parsed.requests,
            warmup: parsed.warmup, bodyLength: parsed.body_length,
            connections: parsed.connections == 0 ? nil : parsed.connections,
            caFile: text(parsed.ca_file), bundleFile: text(parsed.bundle_file), uploadFile: text(parsed.upload_file),
            slowPieces: parsed.slow_pieces, http2: parsed.http2, isStreamed: parsed.is_streamed,
            isSoak: parsed.is_soak)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}
