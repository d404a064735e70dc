import EssentialsCurl
import EssentialsTestKit
import Foundation
import ServiceEssentials
import Testing

// Failures of exchanges over an open connection.
extension FailureMaker {
    static func exchanges() async throws -> [PrintedFailure] {
        try await [
            failure("A TLS server that is requested over http", greeting("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}")),
            failure("A response without a status line", greeting("\(Secret.answer)\r\n")),
            failure("A connection that closes without a response", plain(.close)),
            failure("A connection that closes within a body", plain(.text(head(length: 100)), .close)),
            failure("A connection that is reset within a body", plain(.text(head(length: 100)), .reset)),
            failure("Lengths that contradict each other", plain(.text(head(length: 1, "Content-Length: 2")), .close)),
            failure("A body over its limit", plain(.text(head(length: 100)), .close)) {
                $0.options.delivery = .collected(upTo: 10)
            },
            failure("A head over its limit", plain(.text(head(length: 1)), .close)) {
                $0.options.maximumHeadSize = 20
            },
            failure("A server that does not respond in time", plain(.waitForPeerClose)) {
                $0.options.firstByteTimeout = .milliseconds(20)
            },
            failure("An exchange that takes too long", plain(.waitForPeerClose)) {
                $0.options.totalTimeout = .milliseconds(20)
            },
            failure("A body with a wrong length", plain(.waitForPeerClose)) {
                $0.body = .stream(AsyncStream<Data> { $0.finish() }, length: 7)
            },
        ] + ended()
    }

    private static func head(length: Int, _ field: String = "X-A: 1") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\(field)\r\nSet-Cookie: \(Secret.cookie)\r\n\r\n\(Secret.answer)"
    }

    /// Requests that are ended here: by cancellation, a shutdown or a full queue.
    private static func ended() async throws -> [PrintedFailure] {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            gate.open()
            return .raw([.waitForPeerClose])
        }
        let replaced = [(":\(server.port)", ":PORT")]
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        (configuration.connectionsPerOrigin, configuration.queueLimit) = (1, 1)
        let transport = try CurlTransport(configuration: configuration)
        @Sendable func send() async throws(RequestFailure) -> TransportResponse {
            let sent: TransportRequest
            do { sent = try request(server.url) } catch { throw RequestFailure(.invalidRequest, "\(error)") }
            return try await transport.send(sent)
        }
        let running = Task { try await send() }
        await gate.opened()
        let waiting = Task { try await send() }
        while await transport.load.waiting == 0 { await Task.yield() }
        let full = try await thrown("A queue that is full", replacing: replaced) { _ = try await send() }
        waiting.cancel()
        let cancelled = try await thrown("A task that was cancelled", replacing: replaced) {
            _ = try await waiting.value
        }
        await transport.shutdown()
        let ended = try await thrown("A request that a shutdown cancelled", replacing: replaced) {
            _ = try await running.value
        }
        let closed = try await thrown("A request after a shutdown", replacing: replaced) { _ = try await send() }
        return [full, cancelled, ended, closed]
    }
}
