import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

extension OutboxCore {
    /// Adds a request, and returns when it is on the disk.
    ///
    /// - Parameters:
    ///   - codecs: The codecs of the request or its caller; `nil` means those of the data-request service.
    ///   - reply: Waits for the response; `nil` if no caller waits.
    func add(
        _ request: DataRequest, _ codecs: CodecRegistry?, in key: OrderingKey?, _ reply: OutboxReply? = nil
    ) async throws(RequestFailure) -> OutboxEntry.ID {
        try Self.check(request)
        // The key for hashes of header fields is known after this call.
        try await open()
        var record = try record(of: request, codecs, key)
        adoptEnvironment()
        let id = try reserve(&record)
        if let reply { expect(reply, for: id) }
        let size: Int
        do throws(RequestFailure) {
            let space = reading { $0.spaceLeft } + record.expectedSize
            size = try await store.write(record, space: space)
        } catch {
            changing { $0.notStored(id, $1) }
            forget(id)
            guard error == OutboxStore.noSpace else { throw error }
            throw refusal(.bytes(0))
        }
        changing { $0.stored(id, byteCount: size, $1) }
        return id
    }

    /// Reserves a place, and gives the record its identifier.
    private func reserve(_ record: inout OutboxRecord) throws(RequestFailure) -> OutboxEntry.ID {
        var result: Result<OutboxEntry.ID, OutboxMachine.Refusal>?
        changing { machine, moment in
            record.id = machine.nextID(moment.date)
            do throws(OutboxMachine.Refusal) {
                try machine.reserve(record.entry(byteCount: record.expectedSize), moment)
                result = .success(record.id)
            } catch {
                result = .failure(error)
            }
            return []
        }
        switch result {
        case .success(let id): return id
        case .failure(let problem): throw refusal(problem)
        case nil: throw Self.closed
        }
    }

    private func refusal(_ problem: OutboxMachine.Refusal) -> RequestFailure {
        let text: String
        let failed: Int
        switch problem {
        case .count(let count): (text, failed) = ("holds \(configuration.maximumCount) entries", count)
        case .bytes(let count): (text, failed) = ("has no space left of \(configuration.maximumBytes) bytes", count)
        }
        return RequestFailure(
            .queueFull, "The outbox \(text), the most that it may hold.",
            remedy: failed > 0
                ? "Send or drop the \(failed) entries that were given up, or raise the limit."
                : "Wait until entries were sent, or raise the limit.")
    }

    private func record(
        of request: DataRequest, _ codecs: CodecRegistry?, _ key: OrderingKey?
    ) throws(RequestFailure) -> OutboxRecord {
        guard let partition = reading({ $0.partition }) else {
            throw RequestFailure(
                .invalidRequest, "No partition is entered in the outbox, so nobody owns the request.",
                remedy: "Call “enter” before requests are added.")
        }
        guard requests.beginOperation()?.admits(partition) ?? true else { throw Self.suspended }
        var parts = try StoredRequestParts(
            of: request, codecs: codecs ?? requests.codecs, encodesParameters: codecs != nil)
        let (identity, name) = currentEnvironment()
        let origin = (parts.base ?? identity.snapshot.baseURL).origin
        return OutboxRecord(
            id: OutboxEntry.ID(number: 0), date: configuration.clock.date, bootTime: configuration.clock.bootTime,
            partition: partition.name, environment: name,
            orderingKey: key?.name ?? origin.description,
            idempotencyKey: try Self.takeKey(of: request, &parts, configuration.clock), parts: parts)
    }

    /// The value of the field `Idempotency-Key`: the request's own, or a new one.
    private static func takeKey(
        of request: DataRequest, _ parts: inout StoredRequestParts, _ clock: RequestClock
    ) throws(RequestFailure) -> String {
        guard let name = HTTPField.Name.idempotencyKey else { return "" }
        let own = parts.headerFields[name]
        parts.headerFields[name] = nil
        let key = own.map { IdempotencyKey.text($0) } ?? request.idempotencyKey ?? .automatic
        return try key.field(name, random: clock.random).value
    }

    private static func check(_ request: DataRequest) throws(RequestFailure) {
        for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization]
        where request.headerFields.contains(name) {
            throw RequestFailure(
                .invalidRequest, "A request with the field “\(name)” is not stored in an outbox.",
                remedy: "Remove it, and let the data-request service add its credentials when the request is sent.")
        }
        if request.isIdempotent == false {
            throw RequestFailure(
                .invalidRequest, "The request must not be sent twice, which an outbox cannot promise.",
                remedy: "Send it directly.")
        }
    }
}

extension OutboxRecord {
    /// The size of the body, as far as it is known.
    var expectedSize: Int {
        switch parts.body {
        case .bytes(let bytes): bytes.count
        case .pieces(let body):
            if case .stream(let length?, _, _) = body.content { max(0, length) } else { 0 }
        case .none, .parameters: 0
        }
    }
}
