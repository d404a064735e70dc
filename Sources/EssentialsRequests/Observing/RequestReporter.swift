import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// Reports what happens to one call. If nobody listened when the call began, each report costs only a comparison.
struct RequestReporter: Sendable {
    /// The report of a call to which nobody listens.
    static let none = RequestReporter(call: nil)

    private let call: ObservedCall?

    private init(call: ObservedCall?) { self.call = call }

    /// Begins the report of a call.
    ///
    /// - Parameter request: The request before its preparation.
    @inline(__always)
    static func begin(
        _ settings: ServiceSettings, _ id: RequestID, _ request: DataRequest, in environment: EnvironmentSnapshot
    ) -> RequestReporter {
        guard settings.hasObservers || RequestLog.isWanted(by: settings.configuration.logger) else { return none }
        return RequestReporter(observing: settings, id, request, environment)
    }

    /// Reports a call that was refused before it could begin. The log has no message about it.
    static func refused(
        _ failure: RequestFailure, _ request: DataRequest, in environment: EnvironmentSnapshot,
        _ settings: ServiceSettings, id: () -> RequestID
    ) {
        guard settings.hasObservers else { return }
        RequestReporter(observing: settings, id(), request, environment, isLogged: false).failed(failure)
    }

    private init(
        observing settings: ServiceSettings, _ id: RequestID, _ request: DataRequest, _ current: EnvironmentSnapshot,
        isLogged: Bool = true
    ) {
        let isOfEnvironment = request.base.isEnvironment && !settings.isForAnyServer
        self.init(
            settings, id, request.method,
            isOfEnvironment
                ? .path(request.place(under: current.baseURL, settings))
                : .url(Self.url(of: request, current, settings)),
            template: request.urlTemplate, environment: isOfEnvironment ? current.name : nil, isBackground: false,
            isLogged: isLogged)
    }

    /// The URL of a request to another base than the service's environment; `nil` if it has none.
    private static func url(
        of request: DataRequest, _ current: EnvironmentSnapshot, _ settings: ServiceSettings
    ) -> RequestURL? {
        var request = request
        // The service has no environment, also for requests that were pinned to it.
        if settings.isForAnyServer { request.base = .anyServer }
        guard let environment = try? request.environment(in: current).snapshot else { return nil }
        return try? request.url(in: environment, settings)
    }

    /// Begins the report of a call.
    ///
    /// - Parameters:
    ///   - target: The URL.
    ///   - template: What stands for it in metrics and traces; `nil` if the request has none.
    ///   - environment: The name of the service's environment; `nil` for a call to another base.
    ///   - isBackground: Whether the service itself makes the call.
    ///   - isLogged: Whether the log has messages of the call.
    init(
        _ settings: ServiceSettings, _ id: RequestID, _ method: HTTPRequest.Method,
        _ target: RequestEvent.Beginning.Target = .url(nil),
        template: String? = nil, environment: String? = nil, isBackground: Bool, isLogged: Bool = true
    ) {
        let log = isLogged ? settings.log : nil
        guard settings.hasObservers || log != nil else {
            call = nil
            return
        }
        let redaction = settings.redaction
        call = ObservedCall(
            RequestCall(id, method, redaction, isBackground: isBackground), template: template, log,
            settings.observers)
        let name = environment.flatMap { $0.isEmpty ? nil : $0 }
        call?.tell(.began(.init(target, redaction: redaction, urlTemplate: template, environment: name)))
    }

    /// Whether anybody listens.
    @inline(__always) var isOn: Bool { call != nil }
    /// The number of bytes of a body that are told.
    var bodyLimit: Int { call?.bodyLimit ?? 0 }

    /// Tells an event.
    @inline(__always)
    func tell(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard let call else { return }
        call.tell(kind())
    }

    /// What stands for the URL of a request of this call; `nil` if nothing does, or if nobody listens.
    func template(of request: TransportRequest) -> String? { call?.template(of: request) }

    // MARK: Before and after the chain

    /// Notes the URL of the request for the later events.
    func prepared(_ request: TransportRequest) { call?.prepared(request) }

    func passedOver(_ names: [HTTPField.Name]) {
        guard let call, !names.isEmpty else { return }
        call.tell(.passedOver(names))
    }

    /// The request goes to the stages.
    func begins(_ request: TransportRequest) {
        guard let call else { return }
        call.prepared(request)
        call.tell(.prepared(call.observed(request)))
    }

    func received(_ response: DataResponse, _ record: ExchangeRecord) {
        guard let call else { return }
        call.tell(
            .received(
                .init(
                    attempts: record.attempts, redirects: record.hops.count, cache: record.cacheFacts?.use,
                    response: ObservedResponse(response.transportResponse, call.redaction))))
    }

    /// Keeps how far a request has come, for its failure.
    func keep(_ record: ExchangeRecord) {
        guard let call else { return }
        let response = record.failedResponse.map { ObservedResponse($0, call.redaction, isStreamed: false) }
        call.keep(
            .init(
                attempts: record.attempts, redirects: record.hops.count, cache: record.cacheFacts?.use,
                response: response))
    }

    // MARK: Attempts

    /// Adds the fields of observers to the next attempt.
    func addFields(to request: inout TransportRequest, isOfEnvironment: Bool) {
        call?.addFields(to: &request, isOfEnvironment: isOfEnvironment)
    }

    func sends(_ request: TransportRequest) {
        guard let call else { return }
        call.tell(.sent(call.observed(request)))
        guard call.bodyLimit > 0, case .bytes(let bytes) = request.body.content else { return }
        tell(bytes, isOfResponse: false, call)
    }

    func responds(_ response: TransportResponse) {
        guard let call else { return }
        call.tell(.head(ObservedResponse(response, call.redaction)))
        guard call.bodyLimit > 0, let bytes = response.body.data else { return }
        tell(bytes, isOfResponse: true, call)
    }

    private func tell(_ bytes: Data, isOfResponse: Bool, _ call: ObservedCall) {
        let body = RequestEvent.Body(isOfResponse: isOfResponse, bytes: bytes, isTruncated: false)
        call.tell(.body(body.limited(to: call.bodyLimit)))
    }

    // MARK: The end

    /// The call has ended with a whole response.
    @inline(__always)
    func completed() { call?.end(.completed) }

    func failed(_ failure: RequestFailure) {
        guard let call else { return }
        call.end(.failed(call.redaction.values.shown(failure)))
    }

    /// The call has failed before its work has begun, unless its end was reported. The log has no message about it.
    func hasNotBegun(_ failure: RequestFailure) { call?.endUnlogged(failure) }

    // MARK: In the stages

    func attemptFailed(_ failure: RequestFailure) {
        guard let call else { return }
        call.tell(.attemptFailed(call.redaction.values.shown(failure)))
    }

    func retries(after failure: RequestFailure, attempt: Int, in wait: Duration, budget: Int?) {
        guard let call else { return }
        let shown = call.redaction.values.shown(failure)
        call.tellAlsoLate(.retrying(.init(failure: shown, attempt: attempt, wait: wait, budget: budget)))
    }

    func leftOut(cookies count: Int) { call?.tellAlsoLate(.cookiesLeftOut(count)) }

    func refused(_ refusals: [CookieRefusal]) { call?.tellAlsoLate(.cookiesRefused(refusals)) }

    func redirected(_ hop: RedirectHop) {
        guard let call else { return }
        call.tell(.redirected(ObservedRedirect(hop, call.redaction.values)))
    }

    /// A streamed body or a download has ended.
    ///
    /// - Parameters:
    ///   - count: The number of bytes that were read.
    ///   - metrics: The metrics of the whole exchange; `nil` if the transport has none.
    ///   - beginning: The first bytes, if an observer wants them.
    func endedBody(
        _ outcome: RequestEvent.Ending.Outcome, read count: Int64, _ metrics: TransportMetrics? = nil,
        beginning: Data = Data()
    ) {
        guard let call else { return }
        var outcome = outcome
        if case .failed(let failure) = outcome { outcome = .failed(call.redaction.values.shown(failure)) }
        if call.bodyLimit > 0, !beginning.isEmpty {
            var isWhole = Int64(beginning.count) == count
            if case .completed = outcome {} else { isWhole = false }
            call.tell(.body(.init(isOfResponse: true, bytes: beginning, isTruncated: !isWhole)))
        }
        call.end(outcome, read: count, metrics)
    }
}
