import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: processes", .timeLimit(.minutes(5)))
struct OutboxProcessTests {
    /// A server that carries out each key once, and can kill its client.
    private final class CountingServer: Sendable {
        enum Moment: Int, CaseIterable {
            /// Before the request has an effect.
            case before
            /// After the effect, before the response.
            case after
            /// After the response, in the program.
            case sent
            /// After the program has added an entry.
            case added
        }

        struct State {
            /// The numbers of the requests that had an effect, in their order.
            var effects: [Int] = []
            var keys: Set<String> = []
            var repeated = 0
            var kill: (moment: Moment, count: Int, process: ChildProcess)?
            var kills = [0, 0, 0, 0]
        }

        let state = Mutex(State())

        /// Kills the program if the moment has come.
        func reach(_ moment: Moment) {
            let process = state.withLock { state -> ChildProcess? in
                guard let kill = state.kill, kill.moment == moment else { return nil }
                guard kill.count == 0 else {
                    state.kill?.count -= 1
                    return nil
                }
                state.kill = nil
                state.kills[moment.rawValue] += 1
                return kill.process
            }
            process?.kill()
        }

        func reply(to request: ServerRequest) -> ServerReply {
            reach(.before)
            let number = Int(request.bodyText.filter(\.isNumber)) ?? -1
            state.withLock { state in
                // A killed program may have sent the request.
                if state.keys.insert(request.header("Idempotency-Key") ?? "").inserted {
                    state.effects.append(number)
                } else {
                    state.repeated += 1
                }
            }
            reach(.after)
            return .response(status: 201)
        }
    }

    @Test("If two processes use one directory, one sends, and the other reports why it does not")
    func two() async throws {
        let fixture = try OutboxFixture()
        let server = CountingServer()
        let loopback = try LoopbackServer { server.reply(to: $0) }
        defer { loopback.stop() }
        let directory = fixture.directory
        let lines = try await ChildProcess.onThread {
            let first = try ChildProcess(outbox: directory, url: loopback.url, first: 0, count: 3, holds: true)
            defer { first.wait() }
            while let line = first.line(), line != "added 2" {}
            let second = try ChildProcess(outbox: directory, url: loopback.url, first: 10, count: 1)
            let refusal = second.line()
            second.wait()
            first.kill()
            // The lock goes with the process, and its entries are sent by the next one.
            first.wait()
            let third = try ChildProcess(outbox: directory, url: loopback.url, first: 20, count: 1)
            while let line = third.line(), line != "drained" {}
            third.wait()
            return (refusal: refusal, holder: first.identifier)
        }
        let refusal = try #require(lines.refusal)
        #expect(refusal.hasPrefix("failed file:"))
        #expect(refusal.contains("in use by the process \(lines.holder)"))
        #expect(server.state.withLock { $0.effects } == [0, 1, 2, 20])
        #expect(fixture.names == ["lock"])
    }

    @Test("A process that is killed at any moment loses no entry, repeats no effect and keeps the order")
    func killed() async throws {
        let fixture = try OutboxFixture()
        let server = CountingServer()
        let loopback = try LoopbackServer { server.reply(to: $0) }
        defer { loopback.stop() }
        let directory = fixture.directory
        let rounds = 200
        let seed = UInt64(20_261_124)
        let added = try await ChildProcess.onThread {
            var numbers = SeededNumbers(state: seed)
            var added: [Int] = []
            for round in 0...rounds {
                let isLast = round == rounds
                let process = try ChildProcess(
                    outbox: directory, url: loopback.url, first: round * 10, count: isLast ? 0 : 4)
                defer { process.wait() }
                let moment = CountingServer.Moment(rawValue: round % 4) ?? .before
                let count = Int.random(in: 0...2, using: &numbers)
                server.state.withLock { $0.kill = isLast ? nil : (moment, count, process) }
                while let line = process.line() {
                    if line.hasPrefix("added "), let number = Int(line.dropFirst(6)) {
                        added.append(number)
                        server.reach(.added)
                    } else if line.hasPrefix("sent ") {
                        server.reach(.sent)
                    }
                    if line.hasPrefix("failed") { Issue.record("seed \(seed), round \(round): \(line)") }
                }
            }
            return added
        }
        let state = server.state.withLock { $0 }
        print("seed \(seed): \(state.kills) kills, \(added.count) added, \(state.repeated) repeated")
        #expect(state.kills.reduce(0, +) >= 190)
        #expect(state.kills.allSatisfy { $0 >= 40 })
        // All added requests have taken effect. A request that was being added may have taken effect too.
        #expect(Set(added).subtracting(state.effects) == [])
        #expect(Set(state.effects).count == state.effects.count)
        #expect(state.effects == state.effects.sorted())
        // Killing has caused repeated requests, which had no effect.
        #expect(state.repeated >= 40)
        #expect(fixture.names == ["lock"])
        #expect(fixture.spareCount == 0)
    }
}
