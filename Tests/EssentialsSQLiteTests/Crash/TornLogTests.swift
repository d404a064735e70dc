import TestTools

#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite
    @testable import StoreProbe

    /// Stores whose log is torn, as after a loss of power.
    @Suite(.timeLimit(.minutes(5)))
    struct TornLogTests {
        /// A log of SQLite: a header of 32 bytes, then pages with a header of 24 bytes each.
        private struct Log {
            let bytes: [UInt8]
            /// The number of times that the log was restarted.
            let generation: Int
            /// The number of pages of the present generation. Older ones may follow them.
            private(set) var pages = 0
            /// The end of each transaction of the present generation.
            private(set) var ends: [Int] = []

            init(_ bytes: [UInt8]) throws {
                self.bytes = bytes
                try #require(bytes.count > 32)
                func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
                let pageSize = number(8)
                generation = number(12)
                for start in stride(from: 32, to: bytes.count - 24 - pageSize + 1, by: 24 + pageSize) {
                    // The salts identify the pages of the present generation.
                    guard bytes[start + 8..<start + 16] == bytes[16..<24] else { break }
                    pages += 1
                    if number(start + 4) != 0 { ends.append(start + 24 + pageSize) }
                }
            }

            /// The number of transactions before a position.
            func transactions(before place: Int) -> Int { ends.count { $0 <= place } }
        }

        private enum Damage: CaseIterable {
            /// The end is missing.
            case truncated
            /// The end has its full size, but was never written.
            case zeros
            case bit
            /// A sector was not written, or has other content.
            case sector, garbage
            /// The end has the content from before the restart of the log.
            case old

            /// Damages a log from a random position on.
            func apply(to bytes: inout [UInt8], old: [UInt8], _ numbers: inout SeededNumbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                let sector = place / 512 * 512..<min(place / 512 * 512 + 512, bytes.count)
                switch self {
                case .truncated: bytes.removeSubrange(place...)
                case .zeros: bytes.replaceSubrange(place..., with: Array(repeating: 0, count: bytes.count - place))
                case .bit: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
                case .sector: for index in sector { bytes[index] = 0 }
                case .garbage: for index in sector { bytes[index] = .random(in: .min ... .max, using: &numbers) }
                case .old: bytes.replaceSubrange(place..., with: old.dropFirst(place))
                }
            }
        }

        private static let rounds = 120

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// Makes forty steps in a process that is then killed, so that its log is left.
        private func run() async throws -> Int {
            let path = folder.file("store.sqlite")
            let line = try await ChildProcess.onThread {
                let process = try ChildProcess("StoreProbe", ["log", path])
                let line = process.line()
                _ = process.lastLines()
                return line
            }
            return try #require(line.flatMap { $0.hasPrefix("saved ") ? Int($0.dropFirst(6)) : nil }, "\(line ?? "")")
        }

        /// Damages copies of a log, and checks the contents of their stores.
        ///
        /// - Parameters:
        ///   - last: The last step in the log.
        ///   - old: The log as it was some time before.
        private func damage(_ log: Log, last: Int, old: [UInt8], rounds: Int) async throws {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of the torn logs: \(seed)")
            var numbers = SeededNumbers(state: seed)
            let file = try folder.bytes("store.sqlite")
            var found: Set<Int> = []
            for round in 0..<rounds {
                var bytes = log.bytes
                let damage = Damage.allCases[round % Damage.allCases.count]
                damage.apply(to: &bytes, old: old, &numbers)
                // All transactions before the first differing byte must remain, and none after it.
                let place = Self.firstDifference(log.bytes, bytes)
                let kept = log.transactions(before: place)
                let expected = max(0, last - log.ends.count + kept)
                try folder.write(file, to: "copy.sqlite")
                try folder.write(bytes, to: "copy.sqlite-wal")
                let postings = try await FoundPostings(folder.file("copy.sqlite"))
                let comment: Comment = "seed \(seed), round \(round), \(damage) at \(place)"
                #expect(postings.step == expected, comment)
                #expect(postings.faults == [], comment)
                found.insert(postings.step)
                folder.removeStore("copy.sqlite")
            }
            print("steps found in \(rounds) torn logs: \(found.count) of \(log.ends.count)")
            #expect(found.count > 10)
        }

        /// The position of the first byte that differs, or the end of the shorter one.
        private static func firstDifference(_ one: [UInt8], _ other: [UInt8]) -> Int {
            let end = min(one.count, other.count)
            return one.withUnsafeBytes { one in
                other.withUnsafeBytes { other in
                    // Large parts are compared first, because single bytes take long.
                    for start in stride(from: 0, to: end, by: 4_096) {
                        let part = start..<min(start + 4_096, end)
                        guard let left = one.baseAddress, let right = other.baseAddress,
                            memcmp(left + start, right + start, part.count) != 0
                        else { continue }
                        return part.first { one[$0] != other[$0] } ?? end
                    }
                    return end
                }
            }
        }

        @Test("A torn log yields exactly the saves before the first damaged byte, each of them whole")
        func first() async throws {
            let store = Posting.service(folder.file("store.sqlite"))
            try await store.ready()
            await store.close()
            let last = try await run()
            let log = try Log(folder.bytes("store.sqlite-wal"))
            try #require(log.generation == 0 && log.pages < LogPages.step && log.ends.count >= last)
            try await damage(log, last: last, old: [], rounds: Self.rounds)
        }

        @Test("A torn log that was restarted loses nothing that was copied before, and shows no older page")
        func later() async throws {
            var last = 0
            var log: Log?
            var old: [UInt8] = []
            // Repeated until a restarted log has grown and was not copied again.
            for _ in 0..<40 where log == nil {
                last = try await run()
                let bytes = try folder.bytes("store.sqlite-wal")
                let present = try Log(bytes)
                // With fewer transactions, random damage would find few of them.
                if present.generation > 0, (100..<900).contains(present.pages), present.ends.count >= 40 {
                    log = present
                } else {
                    old = bytes
                }
            }
            let present = try #require(log, "The log was never begun anew.")
            try await damage(present, last: last, old: old, rounds: Self.rounds)
        }
    }
#endif
