#if Server || Inspector
    import EssentialsHTTP
    import EssentialsTools

    /// The origins whose circuit breakers are open, so that each change of one is counted once, although every call that sees it
    /// is told.
    struct BreakerTable: ~Copyable, Sendable {
        /// The maximum number of open breakers that are counted.
        private static let maximum = 1_024

        private let open = Mutex<Set<Origin>>([])

        /// - Returns: Whether the breaker has become open; `nil` if nothing has changed.
        func change(of origin: Origin, isOpen: Bool) -> Bool? {
            open.withLock { open in
                guard isOpen else { return open.remove(origin) == nil ? nil : false }
                return open.count < Self.maximum && open.insert(origin).inserted ? true : nil
            }
        }
    }
#endif
