import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// Bodies with one side that pauses. The other side counts the bytes in between, which must stay few.
@Suite("Backpressure", .serialized, .timeLimit(.minutes(5)))
struct BackpressureTests {
    private static let piece = 64 << 10
    /// The bytes that an engine buffers, at most 2.4 MiB, and those in the sockets, which the system decides.
    private static let limit = 16 << 20

    /// The number of bytes that one side has supplied.
    private final class Count: Sendable {
        private let count = Atomic(0)
        var bytes: Int { count.load(ordering: .relaxed) }
        func add(_ bytes: Int) { count.wrappingAdd(bytes, ordering: .relaxed) }
    }

    /// Waits until a count has started and then stayed unchanged for a while, or until it is over the limit.
    private func rest(of count: Count, over limit: Int = Self.limit) async throws -> Int {
        var last = count.bytes
        var change = ContinuousClock.now
        while last < limit, last == 0 || change.duration(to: .now) < .milliseconds(500) {
            try await Task.sleep(for: .milliseconds(5))
            guard count.bytes != last else { continue }
            last = count.bytes
            change = ContinuousClock.now
        }
        return last
    }

    // MARK: Uploads

    /// A request body of this number of bytes, which are counted when they are requested.
    private func source(of size: Int, _ asked: Count) -> AsyncStream<Data> {
        AsyncStream(unfolding: {
            guard asked.bytes < size else { return nil }
            asked.add(Self.piece)
            return Data(count: Self.piece)
        })
    }

    @Test("A server that does not read pauses the source of an upload until it reads", arguments: [true, false])
    func upload(knowsLength: Bool) async throws {
        let gate = LoopbackGate()
        let options = ServerOptions(onAccept: { _ in [.gate(gate), .keepAlive] })
        let server = try LoopbackServer(options: options) { .response(body: "\($0.body.count)") }
        let transport = try CurlTransport()
        let size = Self.limit + 8 << 20
        let asked = Count()
        let body = RequestBody.stream(source(of: size, asked), length: knowsLength ? size : nil)
        let sent = try request(.post, server, body: body)
        let task = Task { try await transport.send(sent).text }
        let held = try await rest(of: asked)
        #expect(held < Self.limit)
        gate.open()
        #expect(try await task.value == "\(size)")
        #expect(asked.bytes == size)
    }

    @Test("A cancelled upload reads nothing more from its source")
    func cancelledUpload() async throws {
        let options = ServerOptions(onAccept: { _ in [.hang] })
        let server = try LoopbackServer(options: options) { _ in .close }
        let transport = try CurlTransport()
        let asked = Count()
        let sent = try request(.post, server, body: .stream(source(of: .max, asked), length: nil))
        let task = Task { await failure { try await transport.send(sent) } }
        let held = try await rest(of: asked)
        #expect(held < Self.limit)
        task.cancel()
        #expect(await task.value?.reason == .cancelled)
        // One piece may already have been requested.
        #expect(try await rest(of: asked) <= held + Self.piece)
    }

    // MARK: Downloads

    /// A server that sends a body of this number of bytes as fast as they are read, and counts them.
    private func sender(of size: Int, _ written: Count) throws -> SocketService {
        try SocketService { connection in
            var head: [UInt8] = []
            while !head.holds("\r\n\r\n") {
                let bytes = connection.channel.read()
                guard !bytes.isEmpty else { return }
                head += bytes
            }
            guard connection.channel.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n") else { return }
            let piece = [UInt8](repeating: 7, count: Self.piece)
            for _ in 0..<size / Self.piece {
                guard connection.channel.write(piece) else { return }
                written.add(Self.piece)
            }
            connection.hang()
        }
    }

    @Test("A reader that pauses stops an HTTP/1.1 server, at the beginning and later")
    func download() async throws {
        let size = 1 << 30
        let written = Count()
        let service = try sender(of: size, written)
        let transport = try CurlTransport()
        var sent = try get("http://127.0.0.1:\(service.port)/")
        sent.options.delivery = .streamed
        do {
            let response = try await transport.send(sent)
            var chunks = response.body.makeAsyncIterator()
            var received = 0
            // The system enlarges the socket's buffer for a fast reader, up to 32 MiB.
            for (amount, lead) in [(1, Self.limit), (32 << 20, 48 << 20)] {
                while received < amount, let chunk = try await chunks.next() { received += chunk.count }
                let sum = try await rest(of: written, over: received + lead)
                #expect(sum - received < lead, "\(sum) sent, \(received) received")
            }
        }
        // Dropping a body with such a long rest closes its connection, so that the server's writes fail.
        while service.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(written.bytes < size)
        await transport.shutdown()
    }
}
