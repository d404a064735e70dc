import Synchronization

/// Streams that say so when they are read a second time, rather than giving nothing.
enum OneTimeBody {
    /// A body whose source fails as `notReplayable` from its second opening on. Others stay as they are.
    static func of(_ body: RequestBody) -> RequestBody {
        guard case .stream(let length, false, let open) = body.content else { return body }
        let flag = Flag()
        return RequestBody(
            content: .stream(length: length, isReplayable: false) {
                guard flag.raise() else {
                    return { throw RequestFailure(.notReplayable, "A stream was to be sent twice.", phase: .sending) }
                }
                return open()
            })
    }

    private final class Flag: Sendable {
        private let isRaised = Mutex(false)

        /// False when it is up already.
        func raise() -> Bool {
            isRaised.withLock { isRaised in
                defer { isRaised = true }
                return !isRaised
            }
        }
    }
}
