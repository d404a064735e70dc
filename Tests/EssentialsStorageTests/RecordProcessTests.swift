import EssentialsStorage
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct RecordProcessTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    private func start(_ number: Int, _ maximum: Int = 4 << 20) throws -> ChildProcess {
        try ChildProcess("RecordProbe", [fixture.path, "\(number)", "\(maximum)"])
    }

    @Test("Two processes store, replace, remove and read in one directory, and each record is whole")
    func twoProcesses() async throws {
        let fixture = fixture
        let (one, other) = (try start(0), try start(1))
        let replies = try await ChildProcess.onThread {
            one.send("rounds 400")
            other.send("rounds 400")
            let replies = [one.line(), other.line()]
            for process in [one, other] { process.finish() }
            return replies
        }
        #expect(replies == ["done", "done"])
        try fixture.directory().sweep()
        #expect(fixture.temporaries.isEmpty)
        #expect(fixture.bodies.allSatisfy { body in fixture.records.contains { body.hasPrefix($0.dropLast(7)) } })
    }

    /// A tenth of the rounds of the full run, which sets the number.
    private static let kills =
        ProcessInfo.processInfo.environment["ESSENTIALS_KILLS"].flatMap { Int($0) } ?? 100

    @Test("A process that is killed at any moment leaves whole records, and other files only for a sweep to remove")
    func kills() async throws {
        let fixture = fixture
        var numbers = SeededNumbers(state: 7)
        for _ in 0..<Self.kills {
            let process = try start(0)
            let rounds = Int.random(in: 1...40, using: &numbers)
            let lines = try await ChildProcess.onThread {
                process.send("endless")
                var lines: [String] = []
                while lines.count < rounds, let line = process.line() { lines.append(line) }
                return lines + process.lastLines()
            }
            #expect(lines.allSatisfy { $0.hasPrefix("round") })
        }
        let checker = try start(1)
        let reply = try await ChildProcess.onThread {
            let reply = checker.reply(to: "check")
            checker.finish()
            return reply
        }
        #expect(reply == "whole")
        let directory = fixture.directory()
        try directory.open()
        try directory.sweep()
        #expect(directory.usage.count == fixture.records.count && fixture.temporaries.isEmpty)
        #expect(fixture.bodies.count <= fixture.records.count)
    }

    @Test("Records that one process has removed are neither read nor stored again by another")
    func removal() async throws {
        let directory = fixture.directory()
        let process = try start(0)
        let stored = try await ChildProcess.onThread { process.reply(to: "rounds 20") }
        #expect(stored == "done")
        var writer = try directory.begin(fixture.key("a", partition: 0))
        let removed = try await ChildProcess.onThread {
            let reply = process.reply(to: "remove")
            process.finish()
            return reply
        }
        #expect(removed == "removed")
        #expect(try writer.commit(head: []) == nil)
        #expect(fixture.records.isEmpty)
    }
}
