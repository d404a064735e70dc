internal import EssentialsCurl
internal import EssentialsHTTP
internal import Glibc
internal import LoadDriver

/// The load client on CurlTransport with its defaults.
@main
struct OursClient {
    static func main() async throws {
        let options = ClientOptions.fromCommandLine()
        let anchors = try options.caFile.map { try TrustAnchors.only([PEM(contentsOfFile: $0)]) } ?? .system
        let transport = try CurlTransport(trust: TrustPolicy(anchors: anchors))
        var request = TransportRequest(.get, try RequestURL(options.url))
        request.options.protocolVersion = options.http2 ? .automatic : .http1
        let prepared = request
        let status = await LoadDriver(client: "bench-ours", options: options).run {
            let response = try await transport.send(prepared)
            return Reply(
                status: response.status.code, bodyLength: response.body.data?.count ?? 0,
                wireProtocol: response.connection.protocolName == "HTTP/2" ? .http2 : .http1)
        }
        await transport.shutdown()
        exit(status)
    }
}
