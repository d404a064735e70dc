import EssentialsTools

/// Makes a stream fail if it is read a second time, instead of yielding nothing.
enum OneTimeBody {
    /// A body whose source fails with `notReplayable` when it is opened again. Bodies that are not one-time streams are
    /// returned unchanged.
    static func of(_ body: RequestBody) -> RequestBody {
        guard case .stream(let length, false, let open) = body.content else { return body }
        let flag = Flag()
        return RequestBody(
            content: .stream(length: length, isReplayable: false) {
                guard flag.raise() else {
                    return { throw RequestFailure(.notReplayable, "A stream cannot be sent twice.", phase: .sending) }
                }
                return open()
            })
    }

    private final class Flag: Sendable {
        private let isRaised = Mutex(false)

        /// Raises the flag. Returns `false` if it was already raised.
        func raise() -> Bool {
            isRaised.withLock { isRaised in
                defer { isRaised = true }
                return !isRaised
            }
        }
    }
}
