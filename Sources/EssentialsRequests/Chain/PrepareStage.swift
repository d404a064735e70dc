import EssentialsHTTP

/// The first stage: it runs the interceptors, encodes the body and sets the header fields.
///
/// It runs once for each request. A request that is sent again is not prepared again, so the same bytes are sent.
struct PrepareStage: Sendable {
    let settings: ServiceSettings
    let authorization: AuthorizationStore

    /// - Throws: `invalidRequest`, `encoding`, `cancelled`, and the failures of interceptors.
    func prepare(
        _ request: DataRequest, in environment: EnvironmentSnapshot, _ log: RequestLog, _ cancellation: Cancellation
    ) async throws(RequestFailure) -> RequestAssembly.Result {
        let assembly = RequestAssembly(request: request, environment: environment, settings: settings)
        let draft = try await intercepted(assembly.draft(), cancellation)
        let prepared = try assembly.result(
            of: draft, authorization: authorization.value(for: environment.baseURL.origin))
        log.passedOver(prepared.passedOver)
        return prepared
    }

    /// The draft with the changes of all interceptors. Their code runs in a task that the cancellation cancels.
    private func intercepted(
        _ draft: RequestDraft, _ cancellation: Cancellation
    ) async throws(RequestFailure) -> RequestDraft {
        let interceptors = settings.configuration.interceptors
        guard !interceptors.isEmpty else { return draft }
        let host = draft.environment.baseURL.origin.host.text
        return try await cancellation.runTask(host: host) { () throws(RequestFailure) in
            var draft = draft
            for interceptor in interceptors { try await interceptor.run(host: host) { try await $0.prepare(&draft) } }
            return draft
        }
    }
}
