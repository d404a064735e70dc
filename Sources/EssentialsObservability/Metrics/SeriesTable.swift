#if Server
    import EssentialsTools

    /// The handles of one instrument, one for each combination of its attributes. A backend keeps each of them forever, so their
    /// number has a limit.
    final class SeriesTable<Key: Hashable & Sendable, Handle: Sendable>: Sendable {
        private let handles = Mutex<[Key: Handle]>([:])
        private let limit: Int
        private let overflow: Key
        private let make: @Sendable (Key) -> Handle

        /// - Parameters:
        ///   - limit: The maximum number of series, beside the last one.
        ///   - overflow: The attributes of the last series, for all combinations that are too many.
        ///   - make: Makes a handle.
        init(limit: Int, overflow: Key, _ make: @escaping @Sendable (Key) -> Handle) {
            (self.limit, self.overflow, self.make) = (limit, overflow, make)
        }

        /// The handle for some attributes.
        subscript(key: Key) -> Handle {
            if let known = handles.withLock({ $0[key] }) { return known }
            return handles.withLock { handles in
                let key = handles[key] == nil && handles.count >= limit ? overflow : key
                if let known = handles[key] { return known }
                // A backend makes a handle under its own lock, and calls nothing of ours.
                let handle = make(key)
                handles[key] = handle
                return handle
            }
        }
    }
#endif
