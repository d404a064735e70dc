internal import ClientHarness
internal import Glibc

/// What a client was told on its command line; every client takes the same arguments.
package struct ClientOptions: Sendable {
    package var url: String
    package var concurrency: Int
    package var requests: Int
    package var warmup: Int
    package var bodyLength: Int
    /// How many connections a client's pool may open, or nil for its default.
    package var connections: Int?
    /// The authority of the loopback servers.
    package var caFile: String?
    /// The system's authorities and that one in a file, or nil if that one alone is trusted.
    package var bundleFile: String?
    /// The file to send as each request's body.
    package var uploadFile: String?
    /// Before how many pieces of a streamed body its reader sleeps.
    package var slowPieces: Int
    package var http2: Bool
    /// Whether bodies are dropped piece by piece as they come.
    package var isStreamed: Bool
    /// Whether memory and descriptors are compared over the requests instead of times.
    package var isSoak: Bool

    /// Reads the command line. A mistake in it is said on standard error and ends the program with status 2.
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
