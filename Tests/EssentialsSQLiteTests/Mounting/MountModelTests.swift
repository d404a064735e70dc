#if Persistence
    import Testing

    @testable import EssentialsSQLite

    /// Compares reads over pending rows with a naive evaluation, over random sequences of changes, saves and reads.
    @Suite(.timeLimit(.minutes(10)))
    struct MountModelTests {
        /// Each world is a store with its own queries, whose statements are prepared once.
        private static let worlds = 40
        private static let sequences = 250

        /// - Parameter first: The seed of the first world. A failure names its own seed, which can be added here.
        @Test(
            "Random sequences in scopes on two connections read the same rows as a naive evaluation",
            arguments: [UInt64.random(in: .min ... .max)])
        func sequences(first: UInt64) async throws {
            print("seeds of the sequences over pending rows: \(Self.worlds) from \(first)")
            var (reads, pairs) = (0, 0)
            for number in 0..<UInt64(Self.worlds) {
                var world = try MountWorld(seed: first &+ number)
                for sequence in 0..<Self.sequences {
                    do {
                        world.restart()
                        for _ in 0..<8 {
                            try world.step()
                            if sequence % 25 == 0 { try world.read() }
                        }
                        try world.read()
                    } catch {
                        Issue.record("seed \(first &+ number), sequence \(sequence): \(error)")
                        return
                    }
                    // Other tests share the threads.
                    await Task.yield()
                }
                reads += world.reads
                pairs += world.pairs
                try world.close()
            }
            print("\(reads) reads, \(pairs) pairs")
            #expect(reads > Self.worlds * Self.sequences && pairs > Self.worlds * Self.sequences / 10)
        }
    }
#endif
