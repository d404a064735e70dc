import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// While enough requests run, the engine keeps watching the sockets of idle connections.
@Suite("An idle connection next to busy ones", .serialized, .timeLimit(.minutes(5)))
struct DormantTests {
    /// More requests than the engine needs for this.
    private static let count = 6

    private static let answer = ServerStep.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    /// Requests that get responses once all of them have arrived, so that each has its own connection. The server
    /// closes the connections when the test opens the gate.
    private final class Round: Sendable {
        let closing = LoopbackGate()
        private let all = LoopbackGate()
        private let left = Atomic<Int>(DormantTests.count)

        func reply() -> ServerReply {
            if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { all.open() }
            return .raw([.gate(all), DormantTests.answer, .gate(closing), .close])
        }
    }

    /// The number of times that each request of a round was sent.
    private func sendings(_ transport: CurlTransport, _ server: LoopbackServer, _ path: String) async throws -> [Int] {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<Self.count {
                group.addTask { try await transport.send(request(server, path)).metrics.sendings }
            }
            var sendings: [Int] = []
            for try await count in group { sendings.append(count) }
            return sendings
        }
    }

    @Test("A closed idle connection is noticed once, keeps no thread busy, and is not reused")
    func hangUp() async throws {
        let held = LoopbackGate()
        defer { held.open() }
        let rounds = (0..<3).map { _ in Round() }
        let server = try LoopbackServer { request in
            if request.path == "/held" { return .raw([.gate(held), Self.answer, .keepAlive]) }
            guard let number = Int(request.path.dropFirst()) else { return .response(body: "ok") }
            return rounds[number].reply()
        }
        let transport = try CurlTransport()
        let busy = (0..<Self.count).map { _ in Task { try await transport.send(request(server, "/held")).text } }
        #expect(try await eventually { server.requestCount == Self.count })
        // This is repeated, because descriptors are reused.
        for (number, round) in rounds.enumerated() {
            let counts = try await sendings(transport, server, "/\(number)")
            #expect(counts.allSatisfy { $0 == 1 }, "\(counts)")
            let openCount = server.openConnectionCount
            round.closing.open()
            #expect(try await eventually { server.openConnectionCount == openCount - Self.count })
            // A socket at its end would be reported thousands of times if it was still watched.
            let turns = transport.turns
            try await Task.sleep(for: .milliseconds(300))
            #expect(transport.turns - turns < 50)
            let next = try await transport.send(request(server, "/next"))
            #expect(next.text == "ok")
            #expect(!next.connection.isReused)
            #expect(next.metrics.sendings == 1)
        }
        held.open()
        for answer in busy { #expect(try await answer.value == "ok") }
        await transport.shutdown()
    }
}
