import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

/// Exchanges of all kinds that are cancelled at seeded moments, in a process where no other test opens
/// descriptors.
@Suite("A storm of cancellations", .serialized)
struct StormTests {
    @Test("A storm of cancellations ends each of 1,300 exchanges once and leaves nothing open")
    func storm() async throws {
        await #expect(processExitsWith: .success) {
            let authority = try Authority()
            // Everything that a process opens only once is opened now.
            try await Storm(nil).run(seed: 1, workers: 2, exchanges: 5)
            try await Storm(authority).run(seed: 2, workers: 2, exchanges: 5)
            let before = try Descriptors.count()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Storm(nil).run(seed: 3, workers: 5, exchanges: 130) }
                group.addTask { try await Storm(authority).run(seed: 4, workers: 5, exchanges: 130) }
                try await group.waitForAll()
            }
            let after = try Descriptors.count()
            #expect(after <= before + 4, "\(before) before, \(after) after")
        }
    }
}

/// Some workers that send one exchange after another and cancel most of them.
private struct Storm {
    private let server: LoopbackServer
    private let transport: CurlTransport

    private struct Counts {
        var whole = 0
        var cancelled = 0
        var others: [String] = []
    }

    init(_ authority: Authority?) throws {
        let piece = [UInt8](repeating: 0x61, count: 100_000)
        let handler: @Sendable (ServerRequest) -> ServerReply = { request in
            switch request.path.split(separator: "/").first {
            case "slow":
                .raw([
                    .head(headers: [("Content-Length", "200000")]), .send(piece), .pause(.milliseconds(2)),
                    .send(piece), .keepAlive,
                ])
            case "never": .raw([.waitForPeerClose])
            default: .response(body: request.body.isEmpty ? Array(request.target.utf8) : request.body)
            }
        }
        let tls = authority.map { ServerTLS(certificate: $0.leaf) }
        server = try LoopbackServer(tls: tls, handler: handler)
        transport = try authority.map { try CurlTransport(trust: TrustPolicy(anchors: $0.anchors)) } ?? CurlTransport()
    }

    func run(seed: UInt64, workers: Int, exchanges: Int) async throws {
        let counts = await withTaskGroup(of: Counts.self) { group in
            for worker in 0..<workers {
                group.addTask { await work(Dice(state: seed &* 1000 &+ UInt64(worker)), exchanges) }
            }
            return await group.reduce(into: Counts()) {
                $0.whole += $1.whole
                $0.cancelled += $1.cancelled
                $0.others += $1.others
            }
        }
        #expect(counts.others == [])
        #expect(counts.whole + counts.cancelled == workers * exchanges)
        if exchanges > 50 { #expect(counts.whole > 0 && counts.cancelled > 0) }
        // When the transport is idle, a good request works. After its end no connection is left.
        #expect(try await transport.send(request(server, "/last")).text == "/last")
        await transport.shutdown()
        while server.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
        server.stop()
    }

    private func work(_ seeded: Dice, _ exchanges: Int) async -> Counts {
        var dice = seeded
        var counts = Counts()
        for number in 0..<exchanges {
            let kind = dice.roll(5)
            let task = Task { try await exchange(kind, number) }
            // A few run to their end, if they have one.
            if kind == 4 || dice.roll(4) > 0 {
                await dice.wait()
                task.cancel()
            }
            switch await task.result {
            case .success(true): counts.whole += 1
            case .success(false): counts.others.append("a wrong answer of kind \(kind)")
            case .failure(let error as RequestFailure) where error.reason == .cancelled: counts.cancelled += 1
            case .failure(let error): counts.others.append("kind \(kind): \(error)")
            }
        }
        return counts
    }

    private func prepared(
        _ path: String, _ method: HTTPRequest.Method = .get, body: RequestBody = .none
    ) throws -> TransportRequest {
        try request(method, server, path, body: body)
    }

    /// Whether the response belongs to the request.
    private func exchange(_ kind: Int, _ number: Int) async throws -> Bool {
        switch kind {
        case 0: return try await transport.send(prepared("/\(number)")).text == "/\(number)"
        case 1:
            var sent = try prepared("/slow")
            sent.options.delivery = .streamed
            return try await transport.send(sent).body.collect(upTo: 1 << 20).count == 200_000
        case 2:
            var sent = try prepared("/slow")
            sent.options.delivery = .streamed
            // Dropped unread.
            return try await transport.send(sent).status == .ok
        case 3:
            let pieces = AsyncStream<Data> { continuation in
                for _ in 0..<20 { continuation.yield(Data(repeating: 0x62, count: 10_000)) }
                continuation.finish()
            }
            let sent = try prepared("/", .post, body: .stream(pieces, length: number % 2 == 0 ? 200_000 : nil))
            return try await transport.send(sent).body.data == Data(repeating: 0x62, count: 200_000)
        default: return try await transport.send(prepared("/never")).text.isEmpty
        }
    }
}

/// Random choices that are the same in each run.
private struct Dice {
    var numbers: SeededNumbers

    init(state: UInt64) { numbers = SeededNumbers(state: state) }

    mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &numbers) }

    /// Waits for no time, for a few turns of other tasks, or for some milliseconds.
    mutating func wait() async {
        if roll(2) == 0 {
            for _ in 0..<roll(60) { await Task.yield() }
        } else {
            try? await Task.sleep(for: .microseconds(roll(6000)))
        }
    }
}

/// The descriptors that this process has open.
enum Descriptors {
    static func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
}
