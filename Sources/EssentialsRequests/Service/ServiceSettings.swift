import EssentialsHTTP
import EssentialsTools

/// The configuration of a service, and header fields that are created from it once instead of for each request.
///
/// It is an object, so that a request carries one reference instead of copies of its parts.
final class ServiceSettings: Sendable {
    let configuration: HTTPDataRequestService.Configuration
    /// The observers that are enabled.
    let observers: [any RequestObserver]
    /// What observers see of requests.
    let redaction: Shared<Redaction>
    /// Whether the service has no environment, and sends only requests with a whole URL.
    let isForAnyServer: Bool
    /// The groups of equal requests; `nil` if an interceptor makes each request different.
    let joins: JoinedExchanges?
    /// The rules for each hop.
    let hops: HopRulesTable
    /// How requests without a policy of their own use the response cache.
    let cachePolicy: CachePolicy
    private let userAgent: HTTPField
    private let accept: KindFields

    init(_ configuration: HTTPDataRequestService.Configuration, isForAnyServer: Bool = false) {
        self.isForAnyServer = isForAnyServer
        self.configuration = configuration
        observers = configuration.observers.filter(\.isEnabled)
        redaction = Shared(configuration.redaction)
        joins = configuration.interceptors.contains(where: \.preventsJoining) ? nil : JoinedExchanges()
        hops = HopRulesTable(configuration.settings, clock: configuration.clock)
        cachePolicy = configuration.settings.cachePolicy ?? .standard
        userAgent = HTTPField(name: .userAgent, value: configuration.userAgent)
        accept = KindFields(configuration.accept, beside: userAgent)
    }

    /// Whether requests have observers.
    var hasObservers: Bool { !observers.isEmpty }

    /// The log of requests; `nil` if nobody wants its messages.
    var log: RequestLog? {
        guard RequestLog.isWanted(by: configuration.logger) else { return nil }
        return RequestLog(configuration.logger, writesCommands: configuration.logsCommands)
    }

    /// Adds the service's fields, unless the request has them already.
    func complete(_ fields: inout HTTPFields, of request: DataRequest) {
        func add(_ field: HTTPField?) {
            if let field, !fields.contains(field.name) { fields.append(field) }
        }
        if fields.isEmpty, !configuration.sendsPriority || request.options.priority == .normal {
            fields = accept[request.responseKind].alone
            return
        }
        fields.reserveCapacity(fields.count + 3)
        add(accept[request.responseKind].field)
        if configuration.sendsPriority { add(request.options.priority.field) }
        add(userAgent)
    }

    /// Whether a request shares its exchange with equal requests.
    ///
    /// - Parameter own: The setting of the request or its environment; `nil` means that of the service.
    func joins(_ own: Bool?) -> Bool { joins != nil && own ?? configuration.joins ?? false }
}

/// The `Accept` field for each kind of value that is read from a response.
private struct KindFields: Sendable {
    struct Fields: Sendable {
        let field: HTTPField
        /// All fields of a request that has none itself. Requests share them, which takes no allocation.
        let alone: HTTPFields
    }

    private let response: Fields
    private let model: Fields
    private let bytes: Fields

    init(_ profile: AcceptProfile, beside userAgent: HTTPField) {
        func fields(_ kind: ResponseKind) -> Fields {
            let field = HTTPField(name: .accept, value: profile.fieldValue(for: kind))
            return Fields(field: field, alone: HTTPFields([field, userAgent]))
        }
        (response, model, bytes) = (fields(.response), fields(.model), fields(.bytes))
    }

    subscript(kind: ResponseKind) -> Fields {
        switch kind {
        case .response: response
        case .model: model
        case .bytes: bytes
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
