#if Server || Inspector
    import EssentialsRequests
    import EssentialsTools

    /// Finds the observer of a call for events that come through another observer, which passes on all events alike.
    ///
    /// While ``maximum`` calls run, a further one is not observed, because the ends of some may never come.
    struct ForwardedCalls: ~Copyable, Sendable {
        static let maximum = 10_000
        private let running = Mutex<[RequestID: any RequestObserver]>([:])

        /// Passes an event on to the observer of its call.
        func observe(_ event: RequestEvent, _ observer: (RequestCall) -> any RequestObserver) {
            let id = event.call.id
            switch event.kind {
            case .began:
                let made = observer(event.call)
                let isKept = running.withLock { running in
                    guard running.count < Self.maximum || running[id] != nil else { return false }
                    running[id] = made
                    return true
                }
                if isKept { made.observe(event) }
            case .ended: running.withLock { $0.removeValue(forKey: id) }?.observe(event)
            default: running.withLock { $0[id] }?.observe(event)
            }
        }

        /// The observer of a call that runs.
        subscript(id: RequestID) -> (any RequestObserver)? { running.withLock { $0[id] } }
    }
#endif
