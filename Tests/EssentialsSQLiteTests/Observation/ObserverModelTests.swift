#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    @Suite("Observers and scopes")
    struct ObserverModelTests {
        /// The number of sequences. `ESSENTIALS_OBSERVER_SEQUENCES` sets another number, and `ESSENTIALS_OBSERVER_SEED`
        /// the seed of a single sequence to repeat.
        private static var seeds: [UInt64] {
            if let seed = number("ESSENTIALS_OBSERVER_SEED") { return [seed] }
            let first = UInt64.random(in: .min ... .max)
            return (0..<(number("ESSENTIALS_OBSERVER_SEQUENCES") ?? standardCount)).map { first &+ $0 }
        }

        #if ESSENTIALS_THREAD_SANITIZER
            private static let standardCount: UInt64 = 10
        #else
            private static let standardCount: UInt64 = 60
        #endif

        private static func number(_ variable: String) -> UInt64? {
            getenv(variable).flatMap { UInt64(String(cString: $0)) }
        }

        @Test("After each step of random sequences in scopes, every observer has the same result as a read")
        func sequences() async throws {
            let seeds = Self.seeds
            print("seeds of the sequences with observers: \(seeds.count) from \(seeds[0])")
            let store = SQLitePersistenceService(.temporary(models: Library.models), migrations: [Library.migration])
            try await store.ready()
            var seen: [String: Int] = [:]
            var failures = 0
            for seed in seeds {
                var world = try ObserverWorld(store, seed: seed)
                do {
                    let findings = try await world.run()
                    if !findings.isEmpty {
                        failures += 1
                        Issue.record(
                            "seed \(seed): \(findings.joined(separator: "\n"))\n\(world.steps.joined(separator: "\n"))")
                        break
                    }
                } catch {
                    Issue.record("seed \(seed): \(error)\n\(world.steps.joined(separator: "\n"))")
                    break
                }
                seen.merge(world.seen) { $0 + $1 }
                await Task.yield()
            }
            print("calls with observers: \(seen)")
            await store.close()
        }
    }
#endif
