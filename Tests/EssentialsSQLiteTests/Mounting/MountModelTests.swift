#if Persistence
    import Testing

    @testable import EssentialsSQLite

    /// Compares reads over pending rows with a naive evaluation, over random sequences of changes, saves and reads.
    @Suite struct MountModelTests {
        private static let sequences = 400

        @Test("Random sequences in scopes on two connections read what a naive evaluation finds")
        func sequences() async throws {
            let seed = UInt64.random(in: .min ... .max)
            print("seed of the sequences over pending rows: \(seed)")
            var world = try MountWorld(seed: seed)
            for number in 0..<Self.sequences {
                do {
                    world.restart()
                    for _ in 0..<8 {
                        try world.step()
                        if world.number(0..<3) == 0 { try world.read() }
                    }
                    try world.read()
                } catch {
                    Issue.record("seed \(seed), sequence \(number): \(error)")
                    return
                }
                // Other tests share the threads.
                await Task.yield()
            }
            print("\(world.reads) reads")
            #expect(world.reads > Self.sequences * 2)
            world.pool.close()
        }
    }
#endif
