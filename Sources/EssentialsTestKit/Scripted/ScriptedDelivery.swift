import EssentialsHTTP
import FoundationEssentials

/// Turns a scripted answer into a response with the delivery that the request asked for.
struct ScriptedDelivery: Sendable {
    let record: RecordedRequest
    let pace: ScriptedPace
    let running: RunningExchanges

    private var host: String { record.url.origin.host.text }

    /// Waits for the answer's delay, then returns its response or throws its failure.
    func deliver(_ answer: ScriptedAnswer) async throws(RequestFailure) -> TransportResponse {
        try await pace.wait(from: record.time, for: answer.delay, isHead: true)
        switch answer.outcome {
        case .reason(let reason, let message, let phase):
            throw ScriptedFailure.make(reason, message: message, phase: phase, host)
        case .failure(let failure), .unusable(let failure): throw failure
        case .response(let status, let pieces):
            let hasBody = record.method != .head && status.code != 204 && status.code != 304
            return try await respond(status, hasBody ? pieces : [], answer)
        }
    }

    private func respond(
        _ status: HTTPResponse.Status, _ pieces: [ScriptedPiece], _ answer: ScriptedAnswer
    ) async throws(RequestFailure) -> TransportResponse {
        let start = record.time.advanced(by: max(.zero, answer.delay))
        var metrics = TransportMetrics()
        metrics.requestBegan = .zero
        metrics.requestSent = pace.began.duration(to: record.time)
        metrics.firstByte = elapsed
        metrics.bodyBytesSent = record.bodyByteCount
        metrics.sendings = 1
        let body: ResponseBody
        switch record.options.delivery {
        case .collected(let limit):
            let data = try await collect(pieces, upTo: max(0, limit), from: start)
            metrics.bodyBytesReceived = data.count
            metrics.finished = elapsed
            body = ResponseBody(data)
        case .streamed:
            let received = pieces.reduce(0) { count, piece in
                if case .bytes(let data) = piece { count + data.count } else { count }
            }
            let pieces = ScriptedBody(pieces, from: start, pace: pace)
            let stream = ScriptedStream(pieces, in: running) { [metrics, pace] in
                var metrics = metrics
                metrics.bodyBytesReceived = received
                metrics.finished = pace.began.duration(to: pace.clock.now)
                return ResponseEnding(trailerFields: answer.trailerFields, metrics: metrics)
            }
            guard let stream else {
                throw ScriptedFailure.make(
                    .cancelled, message: "The request was cancelled.", phase: .receiving, host)
            }
            body = ResponseBody(source: stream)
        }
        return TransportResponse(
            HTTPResponse(status: status, headerFields: answer.headerFields), body: body, metrics: metrics,
            connection: answer.connection, trailerFields: body.data == nil ? [:] : answer.trailerFields,
            informational: answer.informational)
    }

    private var elapsed: Duration { pace.began.duration(to: pace.clock.now) }

    private func collect(
        _ pieces: [ScriptedPiece], upTo limit: Int, from start: ManualClock.Instant
    ) async throws(RequestFailure) -> Data {
        var collected = Data()
        var moment = start
        for piece in pieces {
            switch piece {
            case .bytes(let data):
                guard data.count <= limit - collected.count else {
                    throw RequestFailure(
                        .tooLarge, "The body of the response exceeds \(limit) bytes.", phase: .receiving, host: host)
                }
                collected.append(data)
            case .pause(let duration):
                try await pace.wait(from: moment, for: duration, isHead: false)
                moment = moment.advanced(by: max(.zero, duration))
            case .failure(let reason): throw ScriptedFailure.make(reason, phase: .receiving, host)
            }
        }
        return collected
    }
}
