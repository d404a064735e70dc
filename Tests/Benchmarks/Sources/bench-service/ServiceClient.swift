internal import Glibc
internal import LoadDriver
internal import ServiceEssentials

/// The load client for README's composition: a data-request service that makes its own transports. It has all defaults,
/// so it can be compared with `bench-ours`, whose transport it sends its requests with.
@main
struct ServiceClient {
    static func main() async throws {
        let options = ClientOptions.fromCommandLine()
        let url = try RequestURL(options.url)
        let service = try HTTPDataRequestService(
            environment: ConstantEnvironment("\(url.origin)/"), trust: TrustPolicy(anchors: anchors(for: options)))
        let path = String(url.target.dropFirst())
        let transportOptions = transportOptions(for: options)
        let status = await LoadDriver(client: "bench-service", options: options).run {
            let response = try await service.get(path, options: transportOptions)
            return Reply(
                status: response.status.code, bodyLength: response.body.data?.count ?? 0,
                wireProtocol: response.connection.protocolName == "HTTP/2" ? .http2 : .http1)
        }
        await service.shutdown()
        exit(status)
    }

    private static func anchors(for options: ClientOptions) throws -> TrustAnchors {
        guard let caFile = options.caFile else { return .system }
        let authority = try PEM(contentsOfFile: caFile)
        return options.bundleFile == nil ? try .only([authority]) : try .systemAnd([authority])
    }

    private static func transportOptions(for options: ClientOptions) -> TransportOptions {
        var transportOptions = TransportOptions()
        transportOptions.protocolVersion = options.http2 ? .automatic : .http1
        return transportOptions
    }
}
