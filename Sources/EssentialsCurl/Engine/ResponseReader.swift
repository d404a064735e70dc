import CEssentials
import EssentialsHTTP
import FoundationEssentials
import Glibc

/// Moves a finished transfer's buffers into values.
enum ResponseReader {
    /// A response whose body has all come.
    static func whole(_ transfer: OpaquePointer, of exchange: Exchange) -> TransportResponse {
        make(
            transfer, body: ResponseBody(data(ce_transfer_take_body(transfer))), of: exchange,
            trailers: trailers(transfer))
    }

    /// What comes with the end of a streamed body.
    static func ending(_ transfer: OpaquePointer, of exchange: Exchange) -> ResponseEnding {
        ResponseEnding(
            trailerFields: trailers(transfer), metrics: metrics(ce_transfer_timings(transfer), transfer, of: exchange))
    }

    private static func trailers(_ transfer: OpaquePointer) -> HTTPFields {
        let trailers = ce_transfer_take_trailers(transfer)
        return trailers.count == 0 ? [:] : HeaderBlock.read(block(trailers))
    }

    /// A response whose body follows as a stream.
    static func head(_ transfer: OpaquePointer, body: ResponseBody, of exchange: Exchange) -> TransportResponse {
        make(transfer, body: body, of: exchange, trailers: [:])
    }

    private static func make(
        _ transfer: OpaquePointer, body: ResponseBody, of exchange: Exchange, trailers: HTTPFields
    ) -> TransportResponse {
        let timings = ce_transfer_timings(transfer)
        let head = ResponseHead(
            status: Int(ce_transfer_status(transfer)), block: block(ce_transfer_take_head(transfer)))
        var connection = ConnectionFacts()
        connection.protocolName =
            switch timings.http_version {
            case 20: "HTTP/2"
            case 10: "HTTP/1.0"
            default: "HTTP/1.1"
            }
        connection.peerAddress = GateReport.text(of: timings.peer_address)
        connection.peerPort = UInt16(clamping: timings.peer_port)
        connection.isReused = timings.reused
        let tls = String(cString: ce_transfer_tls_version(transfer))
        connection.tlsVersion = tls.isEmpty ? nil : tls
        connection.tlsCipher = tls.isEmpty ? nil : String(cString: ce_transfer_cipher(transfer))
        var metrics = metrics(timings, transfer, of: exchange)
        // A stream has only begun.
        if body.data == nil { metrics.finished = nil }
        let informational = ce_transfer_take_informational(transfer)
        return TransportResponse(
            head: head, body: body, metrics: metrics, connection: connection, trailerFields: trailers,
            informational: informational.count == 0 ? [] : HeaderBlock.readAll(block(informational)))
    }

    private static func metrics(
        _ timings: ce_timings, _ transfer: OpaquePointer, of exchange: Exchange
    ) -> TransportMetrics {
        var metrics = TransportMetrics()
        metrics.queued = .milliseconds(exchange.queued)
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
        metrics.sendings = exchange.earlierSendings + Int(ce_transfer_send_count(transfer))
        return metrics
    }

    private static func duration(_ microseconds: Int64) -> Duration? {
        microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Takes over malloc'ed memory without a copy.
    private static func data(_ bytes: ce_bytes) -> Data {
        guard let memory = bytes.data else { return Data() }
        guard bytes.count > 0 else {
            free(memory)
            return Data()
        }
        return Data(bytesNoCopy: memory, count: bytes.count, deallocator: .free)
    }

    private static func block(_ bytes: ce_bytes) -> [UInt8] {
        defer { free(bytes.data) }
        return Array(UnsafeRawBufferPointer(start: bytes.data, count: bytes.count))
    }
}
