import EssentialsHTTP

/// The configuration of a service, and header fields that are created from it once instead of for each request.
///
/// It is an object, so that a request carries one reference instead of copies of its parts.
final class ServiceSettings: Sendable {
    let configuration: HTTPDataRequestService.Configuration
    /// The limits of the origins; `nil` without limits.
    let limits: RequestLimits?
    /// The groups of equal requests; `nil` if an interceptor makes each request different.
    let joins: JoinedExchanges?
    /// The retries of requests without their own policy; `nil` if they are not retried.
    private let retries: HopRetries?
    private let environmentStages: EnvironmentStages
    private let userAgent: HTTPField
    private let acceptResponse: HTTPField
    private let acceptModel: HTTPField
    private let acceptBytes: HTTPField

    init(_ configuration: HTTPDataRequestService.Configuration) {
        func accept(_ kind: ResponseKind) -> HTTPField {
            HTTPField(name: .accept, value: configuration.accept.fieldValue(for: kind))
        }
        self.configuration = configuration
        limits = configuration.limits.isNone ? nil : RequestLimits(configuration.limits, clock: configuration.clock)
        joins = configuration.interceptors.contains(where: \.preventsJoining) ? nil : JoinedExchanges()
        retries = Self.retries(configuration.retry)
        environmentStages = EnvironmentStages(clock: configuration.clock)
        userAgent = HTTPField(name: .userAgent, value: configuration.userAgent)
        acceptResponse = accept(.response)
        acceptModel = accept(.model)
        acceptBytes = accept(.bytes)
    }

    /// Adds the service's fields, unless the request has them already.
    func complete(_ fields: inout HTTPFields, of request: DataRequest) {
        func add(_ field: HTTPField?) {
            if let field, !fields.contains(field.name) { fields.append(field) }
        }
        fields.reserveCapacity(fields.count + 3)
        add(accept(request.responseKind))
        if configuration.sendsPriority { add(request.options.priority.field) }
        add(userAgent)
    }

    /// The retries of a request, or `nil` if its policy has no effect.
    ///
    /// - Parameter own: The policy of the request or its environment; `nil` means that of the service.
    func retries(_ own: RetryPolicy?) -> HopRetries? {
        if let own { Self.retries(own) } else { retries }
    }

    private static func retries(_ policy: RetryPolicy) -> HopRetries? {
        policy.allowsRetries || policy.attemptTimeout != nil ? HopRetries(policy) : nil
    }

    /// The limits of an environment with these settings; `nil` for no limits.
    func limits(of stages: StageSettings) -> RequestLimits? {
        guard let own = stages.limits, own != configuration.limits else { return limits }
        return environmentStages.counts(of: own)
    }

    /// The cookies of an environment with these settings; `nil` for no cookies.
    func cookies(of stages: StageSettings) -> (any CookieStorage)? {
        guard let choice = stages.cookies else { return configuration.cookies }
        return environmentStages.storage(of: choice)
    }

    /// All cookies that requests of the service may have changed.
    var usedCookies: Set<CookieChoice> {
        Set(environmentStages.cookies + (configuration.cookies.map { [.storage($0)] } ?? []))
    }

    /// Whether a request shares its exchange with equal requests.
    ///
    /// - Parameter own: The request's own setting; `nil` means that of the service.
    func joins(_ own: Bool?) -> Bool { joins != nil && own ?? configuration.joinsEqualRequests }

    private func accept(_ kind: ResponseKind) -> HTTPField {
        switch kind {
        case .response: acceptResponse
        case .model: acceptModel
        case .bytes: acceptBytes
        }
    }
}

extension RequestPriority {
    private static let name = HTTPField.Name("Priority")

    /// The field that sends the priority to a server (RFC 9218, 5); `nil` for `normal`, which is the meaning of no
    /// field.
    var field: HTTPField? {
        guard self != .normal, let name = Self.name else { return nil }
        return HTTPField(name: name, value: "u=\(urgency)")
    }
}
