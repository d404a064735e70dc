import EssentialsResources
import FoundationEssentials
import ServiceEssentials

/// A line of `essentials watch`: an event of a resource, and the state after it.
struct WatchLine: Encodable {
    private enum CodingKeys: CodingKey { case time, event, version, status, content, failure, missed }
    private enum ContentKeys: CodingKey { case bytes, mediaType, entityTag, source, age }

    private let time: String
    private let event: ResourceEvent
    private let state: ResourceState<Data>
    private let missed: Int
    private let status: Int?
    private let failure: RequestFailure?

    /// - Parameters:
    ///   - change: The event and the state.
    ///   - status: The status of the last response.
    ///   - date: The present time.
    init(_ change: ResourceChange<Data>, status: Int?, date: Date) {
        time = date.ISO8601Format()
        (event, state, missed) = (change.event, change.state, change.missed)
        switch change.event {
        case .newContent: self.status = status
        case .notModified: self.status = 304
        case .failed(let failure): self.status = failure.status?.code
        default: self.status = nil
        }
        if case .failed(let failure) = change.event {
            self.failure = failure
        } else {
            // A content that is no bytes has failed, too, but no load.
            failure = state.failureAge == nil ? nil : state.failure
        }
    }

    /// Whether the event ends a load with a success or a failure.
    var endsLoad: Bool {
        switch event {
        case .newContent, .notModified, .failed: true
        default: false
        }
    }

    private var content: (entity: Entity, source: Provenance, age: Duration)? {
        guard let entity = state.entity, let source = state.provenance, let age = state.age else { return nil }
        return (entity, source, age)
    }

    /// The line for people: `TIME EVENT: STATUS OR FAILURE; CONTENT`.
    var text: String {
        var parts: [String] = []
        if let failure {
            let message = failure.message.hasSuffix(".") ? failure.message.dropLast() : failure.message[...]
            parts.append("\(failure.reason.name): \(message)")
        } else if let status {
            parts.append("status \(status)")
        }
        if let content {
            let type = content.entity.mediaType.map { " of \($0)" } ?? ""
            let age = BenchReport.decimal(content.age / .seconds(1), 1)
            parts.append("\(content.entity.byteCount) bytes\(type) from \(content.source.name), \(age) s old")
        } else {
            parts.append("no content")
        }
        if missed > 0 { parts.append("\(missed) events missed") }
        return OneLine.text("\(time) \(event.name): \(parts.joined(separator: "; "))")
    }

    /// The line for programs: a JSON object.
    var json: String { OneLine.json(self) }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(time, forKey: .time)
        try object.encode(event.name, forKey: .event)
        try object.encode(state.version, forKey: .version)
        try object.encodeIfPresent(status, forKey: .status)
        if let content {
            var nested = object.nestedContainer(keyedBy: ContentKeys.self, forKey: .content)
            try nested.encode(content.entity.byteCount, forKey: .bytes)
            try nested.encodeIfPresent(content.entity.mediaType?.description, forKey: .mediaType)
            try nested.encodeIfPresent(content.entity.entityTag, forKey: .entityTag)
            try nested.encode(content.source.name, forKey: .source)
            try nested.encode((content.age / .milliseconds(1)).rounded() / 1000, forKey: .age)
        }
        try object.encodeIfPresent(failure.map { FailurePrinter.Object(failure: $0) }, forKey: .failure)
        if missed > 0 { try object.encode(missed, forKey: .missed) }
    }
}

extension ResourceEvent {
    /// The name of the event without its values.
    var name: String {
        switch self {
        case .attached: "attached"
        case .requested: "requested"
        case .cancelled: "cancelled"
        case .superseded: "superseded"
        case .progress: "progress"
        case .newContent: "newContent"
        case .notModified: "notModified"
        case .failed: "failed"
        case .invalidated: "invalidated"
        case .layered: "layered"
        case .undone: "undone"
        case .wiped: "wiped"
        }
    }
}

extension Provenance {
    /// The name of the source without its values.
    fileprivate var name: String {
        switch self {
        case .network: "network"
        case .httpCache: "httpCache"
        case .entityCache: "entityCache"
        case .local: "local"
        case .optimistic: "optimistic"
        case .pushed: "pushed"
        }
    }
}
