import EssentialsHTTP

/// A service's configuration, and what is made of it once instead of with each request.
///
/// An object, so that a request carries one reference instead of copies of its parts.
final class ServiceSettings: Sendable {
    let configuration: HTTPDataRequestService.Configuration
    private let userAgent: HTTPField
    private let forResponses: HTTPFields
    private let forModels: HTTPFields
    private let forBytes: HTTPFields

    init(_ configuration: HTTPDataRequestService.Configuration) {
        let userAgent = HTTPField(name: .userAgent, value: configuration.userAgent)
        func fields(for answer: AnswerKind) -> HTTPFields {
            HTTPFields([HTTPField(name: .accept, value: configuration.accept.fieldValue(for: answer)), userAgent])
        }
        self.configuration = configuration
        self.userAgent = userAgent
        forResponses = fields(for: .response)
        forModels = fields(for: .model)
        forBytes = fields(for: .bytes)
    }

    /// Fills in what a request has neither by its own nor by anybody else's hand.
    func complete(_ fields: inout HTTPFields, of request: DataRequest) {
        let priority = configuration.sendsPriority ? request.options.priority.field : nil
        let standard = standardFields(for: request.answer)
        if !fields.contains(.accept), let accept = standard.first { fields.append(accept) }
        if let priority, !fields.contains(priority.name) { fields.append(priority) }
        if !fields.contains(.userAgent) { fields.append(userAgent) }
    }

    /// What a request gets that has no field at all, as most.
    @inline(__always)
    func standardFields(for answer: AnswerKind) -> HTTPFields {
        switch answer {
        case .response: forResponses
        case .model: forModels
        case .bytes: forBytes
        }
    }
}
