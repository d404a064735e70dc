#if Server || Inspector
    import EssentialsRequests
    import EssentialsTools

    /// What an observer knows of the calls that run and of their attempts, and how these end. Calls of different numbers mostly
    /// take different locks.
    ///
    /// An attempt ends with its response, its failure or its call. If the body of its response is streamed, it ends with that
    /// body: the engine streams each response that another attempt may follow, whatever the caller asked for.
    struct RunningCalls<Facts: Sendable, Attempt: Sendable>: ~Copyable, Sendable {
        /// An attempt that has ended, and how; `nil` if nothing is known of that.
        typealias Ended = (attempt: Attempt, end: AttemptEnd?)

        /// It is an object, so that it is changed in place.
        ///
        /// `@unchecked Sendable`: it is read and changed only while the lock of its part is held. Once ``end(_:_:)`` has removed it
        /// from its part, nothing else has it.
        private final class State: @unchecked Sendable {
            var facts: Facts
            var attempt: Attempt?
            /// The response of the attempt whose body is streamed.
            var streamed: AttemptEnd?

            init(facts: Facts) { self.facts = facts }

            /// Removes the attempt.
            func takeAttempt() -> Ended? {
                defer { streamed = nil }
                return attempt.take().map { ($0, streamed) }
            }
        }

        private final class Part: Sendable {
            let states = Mutex<[RequestID: State]>([:])
        }

        /// The number of parts is a power of two.
        private let parts = (0..<16).map { _ in Part() }

        /// Adds a call that has begun.
        func begin(_ id: RequestID, _ facts: Facts) {
            part(id).states.withLock { $0[id] = State(facts: facts) }
        }

        /// Changes or reads the facts of a call, and its attempt; `nil` if it does not run.
        @discardableResult
        func change<Result: Sendable>(_ id: RequestID, _ change: (inout Facts, inout Attempt?) -> Result) -> Result? {
            changeState(id) { change(&$0.facts, &$0.attempt) }
        }

        /// Begins an attempt.
        ///
        /// - Returns: The former attempt if it has not ended, such as one that was not sent; `nil` if the call does not run.
        func begin(_ attempt: Attempt, of id: RequestID) -> Ended?? {
            changeState(id) { state in
                defer { state.attempt = attempt }
                return state.takeAttempt()
            }
        }

        /// The attempt that ends with an event; `nil` if none does. It does not handle the end of a call.
        func attempt(endedBy event: RequestEvent) -> Ended? {
            let ended: Ended??
            switch event.kind {
            case .head(let response):
                let end = AttemptEnd(response)
                ended = changeState(event.call.id) { state in
                    guard response.isStreamed else { return state.takeAttempt().map { ($0.attempt, end) } }
                    state.streamed = end
                    return nil
                }
            case .attemptFailed(let failure):
                ended = changeState(event.call.id) { $0.takeAttempt().map { ($0.attempt, AttemptEnd(failure)) } }
            case .retrying(let retry): ended = leftBody(event.call.id, retry.failure)
            // The body of the response is read or left before the next attempt is prepared.
            case .redirected, .authorized: ended = leftBody(event.call.id, nil)
            default: return nil
            }
            return ended ?? nil
        }

        /// Ends the attempt whose body is streamed, because another one follows.
        private func leftBody(_ id: RequestID, _ failure: RequestFailure?) -> Ended?? {
            changeState(id) { state in
                guard var end = state.streamed else { return nil }
                if let failure { end.fail(failure) }
                end.isBodyKnown = false
                return state.takeAttempt().map { ($0.attempt, end) }
            }
        }

        /// Removes a call that has ended.
        ///
        /// - Returns: What is known of it, and its attempt if that ends with it; `nil` if it does not run.
        func end(_ id: RequestID, _ ending: RequestEvent.Ending) -> (facts: Facts, ended: Ended?)? {
            guard let state = part(id).states.withLock({ $0.removeValue(forKey: id) }) else { return nil }
            guard var ended = state.takeAttempt() else { return (state.facts, nil) }
            // A call can end, such as by its cancellation, before its attempt does, or before it is sent.
            if ended.end == nil, let failure = ending.failure { ended.end = AttemptEnd(failure) }
            ended.end?.end(ending)
            return (state.facts, ended)
        }

        private func part(_ id: RequestID) -> Part { parts[Int(truncatingIfNeeded: id.number) & 15] }

        private func changeState<Result: Sendable>(_ id: RequestID, _ change: (State) -> Result) -> Result? {
            part(id).states.withLock { states -> Result? in
                guard let state = states[id] else { return nil }
                return change(state)
            }
        }
    }
#endif
