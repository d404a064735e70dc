import EssentialsTransport
import ServiceEssentials

/// Adds or leaves out header fields, and prints each exchange for `--verbose`.
struct ToolTransport: TrustBearing {
    let transport: CurlTransport
    /// The fields that the user removed.
    var removedFields: [HTTPField.Name] = []
    /// The `User-Agent` of requests that no service sends; otherwise `nil`, because services set it.
    var userAgent: String?
    let log: VerboseLog?
    /// Prints the request, which is not sent; `nil` if it is sent.
    var preview: RequestPreview?

    var trustPolicy: TrustPolicy { transport.trustPolicy }
    /// Without these fields the server may respond differently, and they are removed below the cache.
    var route: String {
        let removed = removedFields.map(\.canonicalName).sorted()
        return removed.isEmpty ? transport.route : transport.route + "\u{1}without " + removed.joined(separator: " ")
    }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await send(request, cancellation: Cancellation())
    }

    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse {
        var request = request
        if let userAgent { request.headerFields[.userAgent] = userAgent }
        for name in removedFields { request.headerFields[fields: name] = [] }
        if let preview { try preview.send(request, fields: try transport.fieldLines(of: request)) }
        guard let log else { return try await transport.send(request, cancellation: cancellation) }
        log.sends(request, fields: try transport.fieldLines(of: request))
        do throws(RequestFailure) {
            let response = try await transport.send(request, cancellation: cancellation)
            log.received(response)
            return response
        } catch {
            log.failed(error)
            throw error
        }
    }

    func shutdown() async { await transport.shutdown() }
}
