import CEssentials
import EssentialsTools
import EssentialsTransport
import FoundationEssentials

/// Creates Swift values from a received response.
///
/// The awaiting task's thread creates them, because it usually releases them, too.
enum ResponseReader {
    /// Bodies up to this size are copied, so that their buffers can be reused.
    private static var copyLimit: Int { Int(CE_ANSWER_BUFFER_KEPT) }

    /// Returns the response.
    ///
    /// - Parameters:
    ///   - pipe: The pipe that delivers the body if it is streamed.
    ///   - trust: The chain and the matched pin, if the request records them.
    static func response(
        _ answer: UnsafeMutablePointer<ce_answer>, body pipe: BodyPipe?, trust: TrustFacts?
    ) -> TransportResponse {
        let body = pipe.map { ResponseBody(source: BodyStream($0)) } ?? ResponseBody(takeBody(of: answer))
        var metrics = metrics(
            answer.pointee.timings, queued: answer.pointee.queued_ms,
            sendings: answer.pointee.earlier_sendings + answer.pointee.send_count)
        // The stream has only begun.
        if pipe != nil { metrics.finished = nil }
        let trailers = answer.pointee.trailers
        let informational = answer.pointee.informational
        return TransportResponse(
            status: Int(answer.pointee.status), block: block(answer.pointee.head), body: body, metrics: metrics,
            connection: connection(answer, trust),
            trailerFields: trailers.count == 0 ? nil : HeaderBlock.read(block(trailers)),
            informational: informational.count == 0 ? [] : HeaderBlock.readAll(block(informational)))
    }

    /// Returns the trailers and metrics at the end of a streamed body. Engine thread.
    static func ending(_ transfer: OpaquePointer, of exchange: Exchange) -> ResponseEnding {
        let trailers = ce_transfer_take_trailers(transfer)
        defer { free(trailers.data) }
        return ResponseEnding(
            trailerFields: trailers.count == 0 ? [:] : HeaderBlock.read(block(trailers)),
            metrics: metrics(
                ce_transfer_timings(transfer), queued: exchange.queued,
                sendings: UInt32(exchange.machine.earlierSendings) + ce_transfer_send_count(transfer)))
    }

    private static func connection(
        _ answer: UnsafeMutablePointer<ce_answer>, _ trust: TrustFacts?
    ) -> UnreadConnection {
        var security: UnreadConnection.Security?
        if answer.pointee.tls_version.0 != 0 {
            security = (
                GateReport.text(of: answer.pointee.tls_version), GateReport.text(of: answer.pointee.cipher), trust
            )
        }
        return UnreadConnection(
            version: Int32(answer.pointee.timings.http_version), isReused: answer.pointee.timings.reused,
            port: UInt16(clamping: answer.pointee.timings.peer_port),
            address: withUnsafeBytes(of: &answer.pointee.timings.peer_address) {
                // Both sizes are constants. A difference would be an error in the two declarations.
                precondition($0.count == MemoryLayout<UnreadConnection.Address>.size)
                return $0.loadUnaligned(as: UnreadConnection.Address.self)
            }, security: security)
    }

    private static func metrics(_ timings: ce_timings, queued: Int64, sendings: UInt32) -> TransportMetrics {
        var metrics = TransportMetrics()
        metrics.queued = .milliseconds(queued)
        if !timings.reused {
            metrics.nameResolved = duration(timings.resolved_us)
            metrics.connected = duration(timings.connected_us)
            metrics.secured = duration(timings.secured_us)
        }
        metrics.requestBegan = duration(timings.began_us)
        metrics.requestSent = duration(timings.sent_us)
        metrics.firstByte = duration(timings.first_byte_us)
        metrics.finished = duration(timings.total_us)
        metrics.bodyBytesSent = Int(timings.body_bytes_sent)
        metrics.bodyBytesReceived = Int(timings.body_bytes_received)
        metrics.sendings = Int(sendings)
        return metrics
    }

    private static func duration(_ microseconds: Int64) -> Duration? {
        microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Copies a small body, and takes over the memory of a larger one.
    private static func takeBody(of answer: UnsafeMutablePointer<ce_answer>) -> Data {
        let bytes = answer.pointee.body
        guard let memory = bytes.data, bytes.count > 0 else { return Data() }
        guard bytes.count > copyLimit else { return Data(bytes: memory, count: bytes.count) }
        answer.pointee.body = ce_bytes()
        return Data(bytesNoCopy: memory, count: bytes.count, deallocator: .free)
    }

    private static func block(_ bytes: ce_bytes) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: bytes.data, count: bytes.count))
    }
}
