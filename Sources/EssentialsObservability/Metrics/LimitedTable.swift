#if Server || Inspector
    import EssentialsTools

    /// The values of an attribute: at most so many, and one for all others.
    final class LimitedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
        private struct State {
            var values: [Key: Value] = [:]
            /// The value that was asked for last. The next request usually has the same one.
            var last: (key: Key, value: Value)?
        }

        private let state = Mutex(State())
        private let limit: Int
        private let others: Value
        private let make: @Sendable (Key) -> Value

        /// - Parameters:
        ///   - limit: The number of values.
        ///   - others: What stands for those that are too many.
        ///   - make: Makes a value, with the lock held.
        init(limit: Int, others: Value, _ make: @escaping @Sendable (Key) -> Value) {
            (self.limit, self.others, self.make) = (limit, others, make)
        }

        subscript(key: Key) -> Value {
            state.withLock { state in
                if let last = state.last, last.key == key { return last.value }
                guard let value = state.values[key] ?? add(key, &state) else { return others }
                state.last = (key, value)
                return value
            }
        }

        private func add(_ key: Key, _ state: inout State) -> Value? {
            guard state.values.count < limit else { return nil }
            let value = make(key)
            state.values[key] = value
            return value
        }
    }
#endif
