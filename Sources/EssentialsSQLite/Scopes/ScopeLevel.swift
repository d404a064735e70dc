#if Persistence
    import EssentialsPersistence
    import EssentialsTools

    /// The pending rows of one scope, and the lock for calls that change them.
    final class ScopeLevel: Sendable {
        private static let numbers = Atomic<UInt64>(1)

        struct Contents {
            var level: OverlayLevel
            var isClosed = false
        }

        /// The name of the scope, or the path of the store.
        let name: String
        /// A number that is unique among the scopes of the process.
        let number = ScopeLevel.numbers.wrappingAdd(1, ordering: .relaxed).oldValue
        let contents: Mutex<Contents>
        /// Held by the one call that changes the scope, from its first read to its save. A call that also changes the
        /// scopes above then takes their turns, from child to parent, so that no two calls wait for each other.
        let turn = Mutex(())

        init(_ name: String, limits: OverlayLimits) {
            self.name = name
            contents = Mutex(Contents(level: OverlayLevel(limits: limits)))
        }

        var level: OverlayLevel { contents.withLock { $0.level } }
        var isClosed: Bool { contents.withLock { $0.isClosed } }

        /// Whether rows of one of the tables are pending; `nil` means all tables.
        func isPending(in tables: Set<String>?) -> Bool {
            contents.withLock { contents in
                guard let tables else { return !contents.level.isEmpty }
                return tables.contains { !contents.level.entries(in: $0).isEmpty }
            }
        }

        /// Drops all rows, and returns the level as it was.
        func empty() -> OverlayLevel {
            contents.withLock { contents in
                defer { contents.level.rollback() }
                return contents.level
            }
        }

        /// Drops all rows permanently, and returns how many were pending.
        func close() -> Int {
            contents.withLock { contents in
                defer {
                    contents.level.rollback()
                    contents.isClosed = true
                }
                return contents.level.count
            }
        }
    }
#endif
