#if Server || Inspector
    import EssentialsTools

    /// The handles of one instrument, one for each combination of its attributes. A backend keeps each of them forever, so their
    /// number has a limit.
    final class SeriesTable<Key: Hashable & Sendable, Handle: Sendable>: Sendable {
        private struct State {
            var handles: [Key: Handle] = [:]
            /// The handle that was asked for last. The next request often needs the same one, and comparing texts takes less time
            /// than hashing them.
            var last: (key: Key, handle: Handle)?
        }

        private let state = Mutex(State())
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
        var count: Int { state.withLock { $0.handles.count } }

        /// The handle for some attributes. The backend makes it outside the lock. If two threads make one at the same time, the
        /// second is let go and not destroyed, because both can stand for the same series of the backend.
        subscript(key: Key) -> Handle {
            let (known, wanted) = state.withLock { state in
                if let last = state.last, last.key == key { return (last.handle as Handle?, key) }
                if let handle = state.handles[key] {
                    state.last = (key, handle)
                    return (handle, key)
                }
                let wanted = state.handles.count >= limit ? overflow : key
                return (state.handles[wanted], wanted)
            }
            if let known { return known }
            let made = make(wanted)
            let kept = state.withLock { state -> Handle? in
                if let earlier = state.handles[wanted] { return earlier }
                guard state.handles.count < limit || wanted == overflow else { return nil }
                state.handles[wanted] = made
                return made
            }
            // Others may have filled the table meanwhile.
            return kept ?? self[overflow]
        }
    }
#endif
