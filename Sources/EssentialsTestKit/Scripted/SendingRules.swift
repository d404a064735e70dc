import EssentialsHTTP
import FoundationEssentials

/// The requests that a transport refuses, and the conversion of a body to bytes, as in the network transport.
enum SendingRules {
    /// Header fields that only the transport may set.
    private static let refusedFields: [(name: String, remedy: String)] = [
        ("transfer-encoding", "Remove the field; a streamed body without a length is sent in chunks."),
        ("expect", "Set the option continueWait instead."),
        ("proxy-authorization", "Give the proxy its user and password."),
    ]

    /// Refuses a request that a transport cannot send.
    ///
    /// - Throws: `invalidRequest`.
    static func check(_ request: TransportRequest) throws(RequestFailure) {
        for field in request.headerFields {
            let name = field.name.canonicalName
            if let refused = refusedFields.first(where: { $0.name == name }) {
                throw invalid(request, "The request sets \(field.name.rawName).", refused.remedy)
            }
            guard !field.hasControlCharacters else {
                throw invalid(
                    request, "The value of the header \(field.name.rawName) has a control character.",
                    "Remove it; a value that a server sent is checked before it is sent back.")
            }
            guard name != "host" || field.value.lowercased() == request.url.origin.authority else {
                throw invalid(
                    request, "The request sets Host to another name than that of its URL.", "Put the name in the URL.")
            }
        }
        guard request.method != .head || request.body.isEmpty else {
            throw invalid(request, "A HEAD request has a body.", "Use another method, or no body.")
        }
        if case .stream(let length?, _, _) = request.body.content, length < 0 {
            throw invalid(request, "The body's length is negative.", "Use nil for an unknown length.")
        }
    }

    /// Reads a body to its end and keeps its first bytes up to a maximum.
    ///
    /// - Throws: the failure of the body's source; `encoding` for any other error and for a wrong length.
    static func body(
        of request: TransportRequest, keeping maximum: Int
    ) async throws(RequestFailure) -> (kept: Data, count: Int) {
        switch request.body.content {
        case .none: return (Data(), 0)
        case .bytes(let data): return (Data(data.prefix(maximum)), data.count)
        case .stream(let length, _, let open):
            let source = open()
            var kept = Data()
            var count = 0
            while let piece = try await next(source, request) {
                kept.append(piece.prefix(max(0, maximum - kept.count)))
                count += piece.count
                if let length, count > length { break }
            }
            guard length == nil || length == count else {
                throw RequestFailure(
                    .encoding, "The source of the request's body has more or fewer bytes than its declared length.",
                    remedy: "Declare the exact length, or nil.", phase: .sending, host: request.url.origin.host.text)
            }
            return (kept, count)
        }
    }

    private static func next(
        _ source: RequestBody.Source, _ request: TransportRequest
    ) async throws(RequestFailure) -> Data? {
        do {
            return try await source()
        } catch let failure as RequestFailure {
            throw failure
        } catch {
            throw RequestFailure(
                .encoding, "The source of the request's body failed.", remedy: "See the underlying error.",
                phase: .sending, host: request.url.origin.host.text, underlying: error)
        }
    }

    private static func invalid(_ request: TransportRequest, _ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy, host: request.url.origin.host.text)
    }
}
