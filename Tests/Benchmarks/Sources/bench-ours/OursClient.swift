internal import EssentialsCurl
internal import EssentialsTransport
internal import Glibc
internal import LoadDriver

/// The load client for CurlTransport, with its defaults except for the limits, which `--connections` raises.
@main
struct OursClient {
    static func main() async throws {
        let options = ClientOptions.fromCommandLine()
        let transport = try CurlTransport(
            trust: TrustPolicy(anchors: anchors(for: options)), configuration: configuration(for: options))
        let prepared = try request(for: options)
        let status = await LoadDriver(client: "bench-ours", options: options).run {
            let response = try await transport.send(prepared)
            return Reply(
                status: response.status.code,
                bodyLength: try await length(of: response.body, slowPieces: options.slowPieces),
                wireProtocol: response.connection.protocolName == "HTTP/2" ? .http2 : .http1)
        }
        await transport.shutdown()
        exit(status)
    }

    private static func anchors(for options: ClientOptions) throws -> TrustAnchors {
        guard let caFile = options.caFile else { return .system }
        let authority = try PEM(contentsOfFile: caFile)
        return options.bundleFile == nil ? try .only([authority]) : try .systemAnd([authority])
    }

    private static func configuration(for options: ClientOptions) -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        if let connections = options.connections {
            configuration.connectionsPerOrigin = connections
            configuration.requestsInFlight = connections
            configuration.queueLimit = connections
            configuration.connectionCacheSize = connections
        }
        return configuration
    }

    private static func request(for options: ClientOptions) throws -> TransportRequest {
        var request = TransportRequest(.get, try RequestURL(options.url))
        request.options.protocolVersion = options.http2 ? .automatic : .http1
        request.options.delivery = options.isStreamed ? .streamed : .collected(upTo: max(64 << 20, options.bodyLength))
        if let uploadFile = options.uploadFile {
            request.method = .put
            request.body = try .file(uploadFile)
        }
        return request
    }

    /// Reads a stream to its end, sleeping for 100 ms before each of the first pieces.
    private static func length(of body: ResponseBody, slowPieces: Int) async throws -> Int {
        if let data = body.data { return data.count }
        var slowPieces = slowPieces
        var length = 0
        for try await piece in body {
            if slowPieces > 0 {
                slowPieces -= 1
                try await Task.sleep(for: .milliseconds(100))
            }
            length += piece.count
        }
        return length
    }
}
