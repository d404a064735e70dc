#if Server || Inspector
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

        /// The number of series.
        var count: Int { handles.withLock { $0.count } }

        /// The handle for some attributes. The backend makes it outside the lock. If two threads make one at the same time, the
        /// second is let go and not destroyed, because both can stand for the same series of the backend.
        subscript(key: Key) -> Handle {
            let (known, wanted) = handles.withLock { handles in
                let key = handles[key] == nil && handles.count >= limit ? overflow : key
                return (handles[key], key)
            }
            if let known { return known }
            let made = make(wanted)
            let kept = handles.withLock { handles -> Handle? in
                if let earlier = handles[wanted] { return earlier }
                guard handles.count < limit || wanted == overflow else { return nil }
                handles[wanted] = made
                return made
            }
            // Others may have filled the table meanwhile.
            return kept ?? self[overflow]
        }
    }
#endif
