import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The wait of a caller for the response to an entry, and how the response is read.
final class OutboxReply: Sendable {
    typealias Outcome = Result<DataResponse, RequestFailure>

    private let codecs: CodecRegistry?
    private let errorModel: (any (Decodable & Sendable).Type)?
    private let requesting: @Sendable (DataRequest) -> DataRequest
    private let completion = OneShot<Outcome>()

    /// - Parameters:
    ///   - request: The request that is added. Its error model is not stored.
    ///   - codecs: The codecs of the request or its caller; `nil` means those of the service that sends it.
    ///   - requesting: Adds the kind of value that is read from the response.
    init(
        to request: DataRequest, _ codecs: CodecRegistry?,
        _ requesting: @escaping @Sendable (DataRequest) -> DataRequest
    ) {
        (self.codecs, errorModel, self.requesting) = (codecs, request.errorModel, requesting)
    }

    /// The request of the stored entry, with the settings of the caller that are not stored.
    ///
    /// With codecs, the body of the entry is bytes. The codecs read the response and the error model.
    func prepared(_ request: DataRequest) -> DataRequest {
        var request = requesting(request)
        request.errorModel = errorModel
        request.codecs = codecs
        return request
    }

    func complete(_ outcome: Outcome) { completion.provide(outcome) }

    /// Waits for the response. A cancelled task stops waiting, but the entry stays.
    func response() async throws(RequestFailure) -> DataResponse {
        guard let outcome = await completion.valueUnlessCancelled() else {
            throw RequestFailure(
                .cancelled, "The task was cancelled while its request waited in an outbox.",
                remedy: "Nothing has to be done: the outbox still sends it. Drop the entry if it should not.")
        }
        return try outcome.get()
    }
}

/// The callers of an outbox that wait for a response, by entry. Each entry has at most one.
struct OutboxReplies: Sendable {
    private struct Waiting {
        let reply: OutboxReply
        /// The outcome of the last attempt.
        var last: OutboxReply.Outcome?
    }

    private var waiting: [OutboxEntry.ID: Waiting] = [:]

    subscript(id: OutboxEntry.ID) -> OutboxReply? { waiting[id]?.reply }

    mutating func add(_ reply: OutboxReply, for id: OutboxEntry.ID) { waiting[id] = Waiting(reply: reply) }

    mutating func remove(_ id: OutboxEntry.ID) { waiting[id] = nil }

    /// Records the outcome of an attempt.
    mutating func note(_ outcome: OutboxReply.Outcome, _ id: OutboxEntry.ID) { waiting[id]?.last = outcome }

    /// Records a change of an entry.
    ///
    /// - Returns: A closure to call outside all locks, if the caller need not wait any longer.
    mutating func change(_ entry: OutboxEntry) -> (() -> Void)? {
        guard let (reply, last) = waiting[entry.id].map({ ($0.reply, $0.last) }) else { return nil }
        let outcome: OutboxReply.Outcome
        switch entry.state {
        case .waiting, .delayed, .otherPartition, .otherEnvironment, .sending: return nil
        case .sent: outcome = last ?? .failure(Self.gone)
        case .dropped: outcome = .failure(RequestFailure(.cancelled, "The entry was dropped from the outbox."))
        case .failed(let problem):
            if case .failure(let failure)? = last, failure.reason == problem.reason {
                outcome = .failure(failure)
            } else {
                outcome = .failure(RequestFailure(problem.reason, problem.message))
            }
        }
        waiting[entry.id] = nil
        return { reply.complete(outcome) }
    }

    /// Ends the wait for an entry that is gone without a response.
    mutating func lose(_ id: OutboxEntry.ID) -> (() -> Void)? {
        guard let reply = waiting.removeValue(forKey: id)?.reply else { return nil }
        return { reply.complete(.failure(Self.gone)) }
    }

    /// Ends all waits, because the outbox has ended.
    mutating func endAll(_ failure: RequestFailure) -> [() -> Void] {
        defer { waiting = [:] }
        return waiting.values.map { entry in { entry.reply.complete(.failure(failure)) } }
    }

    private static let gone = RequestFailure(
        .file, "The entry of the outbox could not be read any more.",
        remedy: "Check the directory of the outbox; see “damagedFiles”.")
}
