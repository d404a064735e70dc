import EssentialsStorage
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Entity cache in files: processes", .timeLimit(.minutes(5)))
struct EntityCacheProcessTests {
    private static let maximumBytes = 64 << 10

    /// What a process says of its cache.
    private struct Usage: Equatable {
        var count: Int
        var bytes: Int
        var damaged = 0
    }

    /// Reads the reply to the question for the usage.
    private static func usage(_ line: String?) -> Usage? {
        let words = line?.split(separator: " ") ?? []
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard words.first == "usage", numbers.count == 3 else { return nil }
        return Usage(count: numbers[0], bytes: numbers[1], damaged: numbers[2])
    }

    /// What was seen while processes used a directory.
    private struct Story {
        /// The replies to rounds of storing and loading.
        var rounds: [String?] = []
        /// The lines of the processes that were killed.
        var killed: [String?] = []
        /// The replies to the search for what another process has stored last.
        var finds: [String?] = []
        /// The usage of each process at its end.
        var usages: [Usage?] = []
        /// The space that the files took then.
        var byteCount = 0
        /// The usage of a process that began when the others had ended.
        var next: Usage?

        /// Whether all entities were whole.
        var isWhole: Bool { rounds.allSatisfy { $0?.hasPrefix("done ") == true } }
        /// The number of loaded entities that another process had written.
        var ofOthers: Int { rounds.compactMap { $0?.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +) }
    }

    @Test("Two processes store and load beside each other: entities stay whole, and the limit of each one holds")
    func beside() async throws {
        let directory = CacheDirectory()
        let story = try await ChildProcess.onThread {
            var story = Story()
            let processes = try (0...1).map { try Self.process($0, directory) }
            for _ in 1...5 {
                for process in processes { process.send("rounds 100") }
                story.rounds += processes.map { $0.line() }
            }
            // Each process may remove what the other one has stored to make room, so nothing is stored in between.
            for (number, process) in processes.enumerated() {
                story.rounds.append(process.reply(to: "rounds 1"))
                story.finds.append(processes[1 - number].reply(to: "find \(number)"))
            }
            for process in processes { story.usages.append(Self.usage(process.reply(to: "usage"))) }
            story.byteCount = directory.byteCount
            for process in processes { process.finish() }
            let next = try Self.process(0, directory)
            story.next = Self.usage(next.reply(to: "usage"))
            next.finish()
            return story
        }
        #expect(story.isWhole, "\(story.rounds)")
        #expect(story.ofOthers > 0)
        #expect(story.finds == ["found", "found"])
        for usage in story.usages {
            let usage = try #require(usage)
            #expect(usage.damaged == 0 && usage.count > 0 && usage.bytes <= Self.maximumBytes)
        }
        // Each file counts for the process that has written it.
        #expect(story.byteCount <= 2 * Self.maximumBytes)
        // The next process counts the files of both.
        #expect(story.next == Usage(count: directory.names.count, bytes: directory.byteCount))
        #expect(directory.byteCount <= Self.maximumBytes)
    }

    @Test("A process that is killed leaves whole entities, and the other one goes on")
    func killed() async throws {
        let directory = CacheDirectory()
        let seed = UInt64(20_261_126)
        let story = try await ChildProcess.onThread {
            var (story, numbers) = (Story(), SeededNumbers(state: seed))
            let steady = try Self.process(0, directory)
            for _ in 0..<40 {
                let killed = try Self.process(1, directory)
                killed.send("endless")
                let lines = (0...Int.random(in: 0...8, using: &numbers)).map { _ in killed.line() }
                story.killed += lines
                steady.send("rounds 20")
                killed.kill()
                killed.wait()
                story.rounds.append(steady.line())
            }
            // Nobody else removes what is stored last.
            story.rounds.append(steady.reply(to: "rounds 1"))
            story.usages = [Self.usage(steady.reply(to: "usage"))]
            steady.finish()
            let next = try Self.process(1, directory)
            story.finds = [next.reply(to: "find 0")]
            story.next = Self.usage(next.reply(to: "usage"))
            next.finish()
            return story
        }
        #expect(story.isWhole, "seed \(seed): \(story.rounds)")
        #expect(story.finds == ["found"])
        for usage in story.usages + [story.next] {
            let usage = try #require(usage)
            #expect(usage.damaged == 0 && usage.count > 0 && usage.bytes <= Self.maximumBytes)
        }
        #expect(story.killed.allSatisfy { $0?.hasPrefix("round ") == true }, "seed \(seed): \(story.killed)")
        // The next process has removed what killed ones have not finished.
        #expect(directory.names.allSatisfy { !RecordDirectory.isTemporary($0) })
    }

    private static func process(_ number: Int, _ directory: CacheDirectory) throws -> ChildProcess {
        try ChildProcess(cache: directory.path, number: number, maximumBytes: maximumBytes)
    }
}
