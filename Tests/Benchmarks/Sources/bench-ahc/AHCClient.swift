internal import AsyncHTTPClient
internal import Glibc
internal import LoadDriver
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// The load client for AsyncHTTPClient, with its defaults except for the pool limit, which `--connections` raises.
@main
struct AHCClient {
    static func main() async throws {
        let options = ClientOptions.fromCommandLine()
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(for: options))
        let request = HTTPClientRequest(url: options.url)
        let status = await LoadDriver(client: "bench-ahc", options: options).run {
            let response = try await client.execute(request, timeout: .seconds(30))
            return Reply(
                status: Int(response.status.code), bodyLength: try await length(of: response.body, options),
                wireProtocol: response.version.major == 2 ? .http2 : .http1)
        }
        try await client.shutdown()
        exit(status)
    }

    private static func configuration(for options: ClientOptions) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = options.http2 ? .automatic : .http1Only
        if let connections = options.connections {
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        }
        if let caFile = options.caFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            if options.bundleFile == nil {
                tls.trustRoots = .file(caFile)
            } else {
                tls.additionalTrustRoots = [.file(caFile)]
            }
            configuration.tlsConfiguration = tls
        }
        return configuration
    }

    /// Reads a body to its end. The reader of a stream sleeps for 100 ms before each of the first pieces.
    private static func length(of body: HTTPClientResponse.Body, _ options: ClientOptions) async throws -> Int {
        if !options.isStreamed { return try await body.collect(upTo: max(1 << 20, options.bodyLength)).readableBytes }
        var slowPieces = options.slowPieces
        var length = 0
        for try await piece in body {
            if slowPieces > 0 {
                slowPieces -= 1
                try await Task.sleep(for: .milliseconds(100))
            }
            length += piece.readableBytes
        }
        return length
    }
}
