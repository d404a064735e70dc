import EssentialsHTTP

/// The first stage: it runs the interceptors, encodes the body and sets the header fields.
///
/// It runs once for each request. A request that is sent again is not prepared again, so the same bytes are sent.
struct PrepareStage: Sendable {
    let settings: ServiceSettings
    let authorization: AuthorizationStore

    /// Prepares a request, and makes the record that accompanies it through the other stages.
    ///
    /// The credentials are those of the scope in which the request was submitted, however long the interceptors wait.
    ///
    /// - Parameters:
    ///   - environment: The environment of the request.
    ///   - isForeign: Whether the request goes to another origin than the service's environment.
    /// - Throws: `invalidRequest`, `encoding`, `cancelled`, `authorization` if the credentials were cleared or replaced
    ///   meanwhile, and the failures of interceptors.
    @inline(__always)  // Without interceptors, the request needs no frame of a further function.
    func prepare(
        _ request: DataRequest, in environment: EnvironmentSnapshot, isForeign: Bool, _ submitted: SubmittedRequest
    ) async throws(RequestFailure) -> ExchangeRecord {
        let origin = environment.baseURL.origin
        let scope = request.base.isAnyServer ? nil : authorization.scope(for: origin, of: request)
        let parts = try request.parts(in: environment, settings)
        // What interceptors add is meant for the servers of the service's environment.
        guard !isForeign, !settings.configuration.interceptors.isEmpty else {
            return try request.record(
                parts, in: environment, isForeign: isForeign, authorization.bound(scope), submitted, settings)
        }
        let changed = try await intercepted(request, parts, environment, submitted.place.cancellation)
        return try request.record(
            changed, in: environment, isForeign: isForeign, authorization.bound(scope), submitted, settings)
    }

    /// The parts with the changes of all interceptors. Their code runs in a task that the cancellation cancels.
    private func intercepted(
        _ request: DataRequest, _ parts: RequestParts, _ environment: EnvironmentSnapshot, _ cancellation: Cancellation
    ) async throws(RequestFailure) -> RequestParts {
        let interceptors = settings.configuration.interceptors
        let host = environment.baseURL.origin.host.text
        let draft = RequestDraft(request: request, environment: environment, parts: parts)
        return try await cancellation.runTask(host: host) { () throws(RequestFailure) in
            var draft = draft
            for interceptor in interceptors { try await interceptor.run(host: host) { try await $0.prepare(&draft) } }
            return draft.parts
        }
    }
}

/// The facts about a request that are known before its preparation.
struct SubmittedRequest: Sendable {
    /// When the request was submitted.
    let begun: Epoch
    /// The request among those in flight.
    let place: RequestsInFlight.Place
    let reporter: RequestReporter
}
