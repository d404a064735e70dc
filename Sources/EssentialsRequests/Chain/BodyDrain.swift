import EssentialsHTTP
import FoundationEssentials

/// Reads an unwanted body to its end if the end is near, so that its connection can be reused.
struct BodyDrain: Sendable {
    /// The maximum number of bytes to read. Opening a new connection is cheaper than reading more.
    static let limit = 64 << 10
    /// The longest time to spend on reading.
    static let time = Duration.seconds(1)

    let clock: any Clock<Duration>

    /// Reads the body and returns when it was read or abandoned. Failures are ignored, because the body is unwanted.
    func drain(_ body: ResponseBody, _ cancellation: Cancellation) async {
        guard case .stream(let source) = body.content else { return }
        _ = await read(source, keeps: false, cancellation)
    }

    /// Does the same, and returns what was read, and whether it is the whole body.
    func keep(_ body: ResponseBody, _ cancellation: Cancellation) async -> (Data, isComplete: Bool) {
        switch body.content {
        case .bytes(let data): return (data, true)
        case .stream(let source): return await read(source, keeps: true, cancellation)
        }
    }

    private func read(
        _ source: any ResponseBody.Source, keeps: Bool, _ cancellation: Cancellation
    ) async -> (Data, isComplete: Bool) {
        let registration = cancellation.add { source.abandon() }
        defer { cancellation.remove(registration) }
        return await withTaskGroup(of: (Data, isComplete: Bool)?.self) { group in
            group.addTask { await Self.read(source, keeps: keeps) }
            group.addTask {
                // The sleep is cancelled and throws when the reader is done.
                guard (try? await clock.sleep(for: Self.time, tolerance: nil)) != nil else { return nil }
                source.abandon()
                return nil
            }
            var outcome = (Data(), isComplete: false)
            for await read in group {
                if let read { outcome = read }
                group.cancelAll()
            }
            return outcome
        }
    }

    private static func read(_ source: any ResponseBody.Source, keeps: Bool) async -> (Data, isComplete: Bool) {
        var count = 0
        var data = Data()
        while count <= limit {
            do throws(RequestFailure) {
                guard let chunk = try await source.next() else { return (data, true) }
                count += chunk.count
                if keeps { chunk.withUnsafeBytes { data.append(contentsOf: $0) } }
            } catch {
                return (data, false)
            }
        }
        source.abandon()
        return (data, false)
    }
}

extension Cancellation {
    /// Reads a body, and stops if the request is cancelled.
    func whileReading<Value, Failure: Error>(
        _ body: ResponseBody, _ read: (ResponseBody) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard case .stream(let source) = body.content else { return try await read(body) }
        let registration = add { source.cancel() }
        defer { remove(registration) }
        return try await read(body)
    }
}

extension TransportResponse {
    /// The response with a collected body, if the request collects it.
    ///
    /// The transport delivers the body as a stream if the status could make it unwanted.
    func collected(
        for request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard !body.isWhole, case .collected(let limit) = request.options.delivery else { return self }
        return try await collected(upTo: limit, for: request, record)
    }

    /// The response with a collected body, whose progress is reported if the request asks for it.
    func collected(
        upTo limit: Int, for request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        let data = try await data(upTo: limit, for: request, record)
        guard !body.isWhole else { return self }
        let ending = body.ending
        // The stream is empty if a transport that wraps another one has already read it.
        if data.isEmpty, let ending, ending.metrics.bodyBytesReceived > 0, !headerFields.contains(.contentEncoding) {
            throw RequestFailure(
                .invalidRequest, "The transport has already read the body of a redirect.",
                remedy: "A transport that reads a streamed body has to return a response with the bytes that it read.",
                phase: .receiving, host: request.hostText)
        }
        return TransportResponse(
            head, body: ResponseBody(data), metrics: ending?.metrics ?? metrics, connection: connection,
            trailerFields: ending?.trailerFields ?? trailerFields, informational: informational)
    }

    private func data(
        upTo limit: Int, for request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> Data {
        guard let progress = record.rules.downloadProgress?.forOperation() else {
            return try await record.cancellation.whileReading(body) { body throws(RequestFailure) in
                try await body.collect(upTo: limit)
            }
        }
        let expected = expectedLength(for: request)
        progress.begin(expected: expected)
        defer { progress.finish() }
        do throws(RequestFailure) {
            return try await record.cancellation.whileReading(body) { body throws(RequestFailure) in
                if let expected, expected > limit {
                    if case .stream(let source) = body.content { source.cancel() }
                    throw ResponseBody.tooLarge(limit)
                }
                return try await body.collect(upTo: limit) { progress.reached(Int64($0)) }
            }
        } catch {
            guard error.host == nil else { throw error }
            throw error.changed { $0.host = request.hostText }
        }
    }

    /// The length of the body after decompression; `nil` if it is not known before the end.
    private func expectedLength(for request: TransportRequest) -> Int64? {
        if let data = body.data { return Int64(data.count) }
        // These responses have no body, whatever their fields say (RFC 9110, 6.4.1).
        if request.method == .head || [204, 304].contains(statusCode) { return 0 }
        return DownloadRules.decodedLength(headerFields)
    }
}
