import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A policy that is shared", .serialized)
struct SharedPolicyAttacks {
    /// An attempt of a task and its result.
    private enum Outcome: Hashable {
        case answered, refused(RequestFailure.Reason), judged(RequestFailure.Reason?)
    }

    /// The state that the tasks share.
    private struct Bench: Sendable {
        let trust: CompiledTrust
        let good, bad: LoopbackServer
        let transports: [CurlTransport]
        let chain: [[UInt8]]

        init() throws {
            good = try AttackBench.server()
            bad = try AttackBench.server("leaf-rekeyed")
            trust = try CompiledTrust(
                AttackBench.policy([Fixture.key("leaf"), strangePin()], identity: Fixture.identity("client-a")))
            let (compiled, servers) = (trust, [good, bad])
            transports = try (0..<4).map { _ in
                try CurlTransport(trust: compiled, configuration: AttackBench.configuration(to: servers))
            }
            chain = try Fixture.chain("leaf").map(\.der)
        }

        func attempt(_ number: Int) async throws -> Outcome {
            let transport = transports[number / 4 % 4]
            switch number % 4 {
            case 0:
                let sent = try AttackBench.request(good)
                return await failure { try await transport.send(sent) }.map { .refused($0.reason) } ?? .answered
            case 1:
                let sent = try AttackBench.request(bad)
                return await failure { try await transport.send(sent) }.map { .refused($0.reason) } ?? .answered
            case 2:
                let host = try HostName("pin.test")
                return .judged(await failure { try trust.evaluate(chain: chain, host: host) }?.reason)
            default:
                let wrong = try Array(Fixture.chain("leaf-rekeyed").map(\.der))
                let host = try HostName("pin.test")
                return .judged(await failure { try trust.evaluate(chain: wrong, host: host) }?.reason)
            }
        }
    }

    @Test("One policy judges requests and chains of many concurrent tasks, each separately")
    func manyTasks() async throws {
        let bench = try Bench()
        let reports = bench.trust.reports()
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for number in 0..<160 { group.addTask { try await bench.attempt(number) } }
            return try await group.reduce(into: [Outcome: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(
            outcomes == [
                .answered: 40, .refused(.pinMismatch): 40, .judged(nil): 40, .judged(.pinMismatch): 40,
            ])
        for transport in bench.transports { await transport.shutdown() }
        try await AttackBench.closed(bench.bad)
        #expect(bench.good.requestCount == 40)
        #expect(bench.bad.requestCount == 0)
        #expect(bench.bad.applicationBytesReceived == 0)
        #expect(bench.bad.handshakes.allSatisfy { $0.clientCertificatePEM == nil && !$0.succeeded })
        var reader = reports.makeAsyncIterator()
        #expect(try #require(await reader.next()).reason == .pinMismatch)
    }

    @Test("A policy and its transports outlive each other in any order")
    func lifetimes() async throws {
        let server = try AttackBench.server()
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("leaf"), strangePin()]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let transport = try AttackBench.transport(trust, to: server)
                    let sent = try AttackBench.request(server)
                    #expect(try await transport.send(sent).text == "ok")
                    // Half of them are released, and end in the background.
                    if number % 2 == 0 { await transport.shutdown() }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requestCount == 24)
        #expect(server.handshakes.allSatisfy { !$0.resumed })
    }

    @Test("One policy judges the connections of many threads")
    func ownConnections() async throws {
        let server = try AttackBench.server()
        let rogue = try AttackBench.server("rogue-leaf")
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("leaf"), strangePin()]))
        let counts = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let connection = try PeerContext(trust).connect(to: number % 2 == 0 ? server : rogue)
                    guard connection.isEstablished else { return "refused" }
                    return try connection.failure(under: trust) == nil && connection.exchange() ? "answered" : "judged"
                }
            }
            return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(counts == ["answered": 16, "refused": 16])
        #expect(rogue.applicationBytesReceived == 0)
    }
}
