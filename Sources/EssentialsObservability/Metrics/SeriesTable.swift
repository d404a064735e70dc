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
            let known = state.withLock { state -> Handle? in
                if let last = state.last, last.key == key { return last.handle }
                guard let handle = state.handles[key] else { return nil }
                state.last = (key, handle)
                return handle
            }
            return known ?? newHandle(key)
        }

        private func newHandle(_ key: Key) -> Handle {
            let (known, wanted) = state.withLock { state in
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

    /// A handle of an instrument that not every series has. It is made when it is used first.
    final class LazyHandle<Handle: Sendable>: Sendable {
        private let handle = Mutex<Handle?>(nil)
        private let make: @Sendable () -> Handle

        init(_ make: @escaping @Sendable () -> Handle) { self.make = make }

        /// The backend makes it outside the lock. One of two that are made at the same time is let go.
        var value: Handle {
            if let known = handle.withLock({ $0 }) { return known }
            let made = make()
            return handle.withLock { handle in
                if let earlier = handle { return earlier }
                handle = made
                return made
            }
        }
    }
#endif
