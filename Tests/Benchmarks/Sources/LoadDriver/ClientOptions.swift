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
    package var caFile: String?
    package var http2: Bool

    /// Reads the command line. A mistake in it is said on standard error and ends the program with status 2.
    package static func fromCommandLine() -> ClientOptions {
        var parsed = client_options()
        guard client_options_parse(CommandLine.argc, CommandLine.unsafeArgv, &parsed), let url = parsed.url else {
            exit(2)
        }
        return ClientOptions(
            url: String(cString: url), concurrency: parsed.concurrency, requests: parsed.requests,
            warmup: parsed.warmup, bodyLength: parsed.body_length,
            connections: parsed.connections == 0 ? nil : parsed.connections,
            caFile: parsed.ca_file.map { String(cString: $0) }, http2: parsed.http2)
    }
}
