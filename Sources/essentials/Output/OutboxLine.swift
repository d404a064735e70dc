import FoundationEssentials
import ServiceEssentials

/// A line of `essentials outbox` about an entry.
struct OutboxLine: Encodable {
    private enum CodingKeys: CodingKey {
        case id, added, method, path, baseURL, orderingKey, idempotencyKey, bytes, state, status, failure
    }
    private enum FailureKeys: CodingKey { case reason, status, message, date }

    let entry: OutboxEntry
    /// Why the last attempt has failed; `nil` if nothing is known about it.
    var failure: RequestFailure?

    /// The line for people: `ID TIME METHOD PATH of BASE: STATE`.
    var text: String {
        let time = entry.date.formatted(.iso8601)
        let place = URLArgument.hasScheme(entry.path) ? entry.path : "\(entry.path) of \(entry.baseURL)"
        return OneLine.text("\(entry.id) \(time) \(entry.method.rawValue) \(place): \(state)")
    }

    private var state: String {
        switch entry.state {
        case .sent(let status): return "sent, status \(status)"
        case .failed(let given):
            let status = given.status.map { " \($0)" } ?? ""
            return "given up, \(given.reason.name)\(status): \(given.message)"
        default: return entry.state.name + (failure.map { ", " + FailurePrinter.text(of: $0) } ?? "")
        }
    }

    /// The line for programs: a JSON object.
    var json: String { OneLine.json(self) }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(entry.id.description, forKey: .id)
        try object.encode(entry.date.formatted(.iso8601), forKey: .added)
        try object.encode(entry.method.rawValue, forKey: .method)
        try object.encode(entry.path, forKey: .path)
        try object.encode(entry.baseURL, forKey: .baseURL)
        try object.encode(entry.orderingKey.name, forKey: .orderingKey)
        try object.encode(entry.idempotencyKey, forKey: .idempotencyKey)
        try object.encode(entry.byteCount, forKey: .bytes)
        try object.encode(entry.state.name, forKey: .state)
        if case .sent(let status) = entry.state { try object.encode(status, forKey: .status) }
        if case .failed(let given) = entry.state {
            var nested = object.nestedContainer(keyedBy: FailureKeys.self, forKey: .failure)
            try nested.encode(given.reason.name, forKey: .reason)
            try nested.encodeIfPresent(given.status, forKey: .status)
            try nested.encode(given.message, forKey: .message)
            try nested.encode(given.date.formatted(.iso8601), forKey: .date)
        } else if let failure {
            var nested = object.nestedContainer(keyedBy: FailureKeys.self, forKey: .failure)
            try nested.encode(failure.reason.name, forKey: .reason)
            try nested.encodeIfPresent(failure.status?.code, forKey: .status)
            try nested.encode(failure.message, forKey: .message)
        }
    }
}

extension OutboxEntry.State {
    /// The name of the state without its values.
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .delayed: "delayed"
        case .otherPartition: "otherPartition"
        case .otherEnvironment: "otherEnvironment"
        case .sending: "sending"
        case .sent: "sent"
        case .failed: "failed"
        case .dropped: "dropped"
        }
    }
}
