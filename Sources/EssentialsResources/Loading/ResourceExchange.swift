import EssentialsHTTP
import EssentialsRequests

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends a request of a resource and reads its response, for loads and for all other requests.
struct ResourceExchange: Sendable {
    let service: HTTPResourceService
    let core: ResourceCore

    /// What has come back.
    enum Reply {
        case loaded(LoadedValue)
        case notModified(HTTPFields)
    }

    /// Sends a request and reads the whole body.
    func reply(to request: DataRequest, isDecorated: Bool = true) async throws(RequestFailure) -> Reply {
        try service.checkOpen()
        let response = try await service.transmit(request, for: core)
        if response.status == .notModified { return .notModified(response.headerFields) }
        let limit = service.effective(for: core, request.method).values.maximumBody
        let body = try await response.body.collect(upTo: limit)
        return .loaded(
            LoadedValue(
                body: body, contentType: response.headerFields[.contentType], head: response.head,
                method: request.method, url: response.url, codecs: request.codecs))
    }

    /// Sends a request beside the loads, and reads content from its response.
    @concurrent
    func response<Content: Sendable>(
        to request: DataRequest, _ recipe: RequestRecipe, as type: Content.Type
    ) async throws(RequestFailure) -> ResourceResponse<Content> {
        var request = request
        if let change = recipe.change { try await Self.apply(change, to: &request) }
        switch try await reply(to: request, isDecorated: !recipe.isRepeated) {
        case .loaded(let value):
            guard let content = value.content(of: type, service.codecs) else { throw Self.noContent(type) }
            return ResourceResponse(
                try content.get(), status: value.head.status, headerFields: value.head.headerFields)
        case .notModified: throw Self.noContent(type)
        }
    }

    /// Lets foreign code change a request.
    ///
    /// - Throws: What the code throws; any other error than a `RequestFailure` as `invalidRequest`, and a cancellation as
    ///   `cancelled`.
    static func apply(
        _ change: @Sendable (inout DataRequest) async throws -> Void, to request: inout DataRequest
    ) async throws(RequestFailure) {
        do {
            try await change(&request)
        } catch let failure as RequestFailure {
            throw failure
        } catch is CancellationError {
            throw LoadOutcome.cancelledFailure
        } catch {
            throw RequestFailure(
                .invalidRequest, "A change of the request has failed.", remedy: "See the underlying error.",
                underlying: error)
        }
    }

    private static func noContent<Content>(_ type: Content.Type) -> RequestFailure {
        RequestFailure(
            .decoding, "The response is not a \(type).", remedy: "Read it as the type that it has.")
    }
}
