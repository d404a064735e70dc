import TestTools

#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite
    @testable import StoreProbe

    /// A store whose process is killed while it saves.
    @Suite(.timeLimit(.minutes(5)))
    struct KilledStoreTests {
        private static let rounds = 200

        /// The known state of a lane.
        private struct Known {
            /// The last step that was found in the store or confirmed.
            var step = 0
            /// The number of steps after it that may be stored too.
            var more = 0
        }

        private let folder: TemporaryFolder
        private var path: String { folder.file("store.sqlite") }

        init() throws { folder = try TemporaryFolder() }

        /// Starts the program and kills it.
        ///
        /// - Parameters:
        ///   - count: The number of lines that it prints before the delay begins.
        ///   - delay: The time until it is killed.
        /// - Returns: The lines that it has printed.
        private func kill(after count: Int, _ delay: Duration) async throws -> [String] {
            try await ChildProcess.onThread { [path] in
                let process = try ChildProcess("StoreProbe", ["save", path])
                var lines: [String] = []
                while lines.count < count, let line = process.line() { lines.append(line) }
                lines += process.lines(for: delay)
                return lines + process.lastLines()
            }
        }

        /// Records the confirmed steps of a process.
        ///
        /// - Returns: The number of confirmed saves.
        private func read(_ lines: [String], into known: inout [Known]) throws -> Int {
            for lane in Lane.allCases { known[lane.rawValue].more += lane.unconfirmed }
            var saves = 0
            for line in lines where line != "open" {
                let words = line.split(separator: " ")
                try #require(words.count == 3 && words[0] == "saved", "\(line)")
                let lane = try #require(Int(words[1]).flatMap(Lane.init(rawValue:)))
                known[lane.rawValue] = Known(step: try #require(Int(words[2])), more: lane.unconfirmed)
                saves += 1
            }
            return saves
        }

        /// Compares the rows in the store with the expected ones: all confirmed steps, and a few more.
        private func check(_ known: inout [Known], _ comment: Comment) async throws {
            let store = Posting.service(path)
            // The claim of the killed process has ended with it.
            try await store.ready()
            for lane in Lane.allCases {
                let (before, number) = (known[lane.rawValue], lane.rawValue)
                let step = try await store.find(Progress.self, id: Int64(number))?.step ?? 0
                #expect((before.step...before.step + before.more).contains(step), comment)
                let rows = try await store.fetch(Posting.where { $0.lane == number })
                let isWhole = rows == lane.rows(after: step)
                #expect(isWhole, "\(comment), lane \(lane): \(rows.map(\.id))")
                known[number] = Known(step: step)
            }
            #expect(try await store.sum(Posting.all.values { $0.amount }) == 0, comment)
            await store.close()
        }

        private var hasLog: Bool {
            var status = stat()
            return stat(path + "-wal", &status) == 0 && status.st_size > 0
        }

        @Test(
            "After each of 200 kills the store opens with all confirmed saves of units and scopes, each of them whole")
        func saves() async throws {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of the kills: \(seed)")
            var numbers = SeededNumbers(state: seed)
            var known = Array(repeating: Known(), count: Lane.allCases.count)
            var (kills, saves, logs) = (0, 0, 0)
            for round in 0..<Self.rounds {
                // In some rounds a second process recovers the files of the first one, and is killed too.
                for process in 0..<(round.isMultiple(of: 20) ? 2 : 1) {
                    // During the opening of the store, before the first save, and between saves.
                    let count = (round + process) % 3
                    let longest = count == 0 ? 60_000 : 40_000
                    let delay = Duration.microseconds(Int.random(in: 0...longest, using: &numbers))
                    let lines = try await kill(after: count, delay)
                    saves += try read(lines, into: &known)
                    kills += 1
                    if hasLog { logs += 1 }
                }
                try await check(&known, "seed \(seed), round \(round)")
            }
            print("kills: \(kills), confirmed saves: \(saves), recovered logs: \(logs)")
            // At least a third of the processes must have confirmed a save.
            #expect(saves >= Self.rounds / 3)
            #expect(logs > 0)
            let integrity = try await DatabaseQueue(path: path).read {
                try String.fetchAll($0, sql: "PRAGMA integrity_check")
            }
            #expect(integrity == ["ok"])
        }

        @Test("A second process is refused as busy with the number of the first, and may open after that is killed")
        func twoProcesses() async throws {
            let (first, refusal, third) = try await ChildProcess.onThread { [path] in
                let first = try ChildProcess("StoreProbe", ["hold", path])
                let isOpen = first.line() == "open"
                let second = try ChildProcess("StoreProbe", ["hold", path])
                let refusal = second.line()
                _ = second.lastLines()
                _ = first.lastLines()
                try #require(isOpen)
                let third = try ChildProcess("StoreProbe", ["hold", path])
                let line = third.line()
                _ = third.lastLines()
                return (first.identifier, refusal, line)
            }
            #expect(refusal == "failed busy: The store belongs to process \(first).")
            #expect(third == "open")
        }
    }
#endif
