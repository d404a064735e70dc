import TestTools

#if Persistence
    import EssentialsSQLite
    import Glibc
    import Testing

    @testable import StoreProbe

    /// Stores whose machine loses its power. Only synchronized data is certain to remain.
    @Suite(.timeLimit(.minutes(5)))
    struct PowerLossTests {
        private static let rounds = 40

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func record(_ mode: String) async throws -> RecordedDisk {
            let path = folder.file("store.sqlite")
            let lines = try await ChildProcess.onThread {
                let process = try ChildProcess("StoreProbe", [mode, path])
                defer { process.wait() }
                return process.lines(for: .seconds(60))
            }
            try #require(lines == ["recorded"])
            return try RecordedDisk(folder.bytes("store.sqlite-record"))
        }

        /// Opens the results of many power losses, and returns how many of them have lost confirmed saves.
        private func lose(_ disk: RecordedDisk) async throws -> Int {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of the losses of power: \(seed)")
            var numbers = SeededNumbers(state: seed)
            var costly = 0
            for round in 0..<Self.rounds {
                let moment = Int.random(in: 0...disk.count, using: &numbers)
                let loss = RecordedDisk.Loss.allCases[round % RecordedDisk.Loss.allCases.count]
                let files = disk.files(after: moment, loss, &numbers)
                for (suffix, bytes) in zip(["", "-wal", "-journal"], files) where !bytes.isEmpty || suffix.isEmpty {
                    try folder.write(bytes, to: "lost.sqlite" + suffix)
                }
                let comment: Comment = "seed \(seed), round \(round): \(loss) at \(moment) of \(disk.count)"
                let found = try await FoundPostings(folder.file("lost.sqlite"))
                #expect(found.faults == [], comment)
                let confirmed = disk.confirmed(before: moment)
                #expect(found.step <= confirmed + 1, comment)
                if found.step < confirmed { costly += 1 }
                folder.removeStore("lost.sqlite")
            }
            return costly
        }

        @Test("With the durability power, a loss of power costs no confirmed save, and each save is whole")
        func power() async throws {
            #expect(try await lose(record("record-power")) == 0)
        }

        @Test("With the durability process, a loss of power may cost the last saves, but never the file")
        func process() async throws {
            #expect(try await lose(record("record")) > 0)
        }
    }
#endif
