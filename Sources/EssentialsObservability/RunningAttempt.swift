#if Server || Inspector
    import EssentialsRequests

    /// The attempt of a call that runs, and how it ends.
    ///
    /// An attempt ends with its response, its failure or its call. If the body of its response is streamed, it ends with that
    /// body: the engine streams each response that another attempt may follow, whatever the caller asked for.
    struct RunningAttempt<Attempt: Sendable>: Sendable {
        /// An attempt that has ended, and how; `nil` if nothing is known of that.
        typealias Ended = (attempt: Attempt, end: AttemptEnd?)

        /// `nil` before the first one, and between two.
        var attempt: Attempt?
        /// The response of the attempt whose body is streamed.
        private var streamed: AttemptEnd?

        /// Begins an attempt.
        ///
        /// - Returns: The former attempt if it has not ended, such as one that was not sent.
        mutating func begin(_ next: Attempt) -> Ended? {
            let former = take()
            attempt = next
            return former
        }

        /// Ends the attempt with an event that is not the end of its call.
        ///
        /// - Returns: The attempt that has ended; `nil` if none has.
        mutating func end(by event: RequestEvent) -> Ended? {
            switch event.kind {
            case .head(let response):
                let end = AttemptEnd(response)
                guard response.isStreamed else { return take(end) }
                streamed = end
                return nil
            case .attemptFailed(let failure): return take(AttemptEnd(failure))
            case .retrying(let retry): return leaveBody(retry.failure)
            // The body of the response is read or left before the next attempt is prepared.
            case .redirected, .authorized: return leaveBody(nil)
            default: return nil
            }
        }

        /// Ends the attempt with its call. A call can end, such as by its cancellation, before its attempt does, or before it is sent.
        mutating func end(by ending: RequestEvent.Ending) -> Ended? {
            guard var ended = take() else { return nil }
            if ended.end == nil, let failure = ending.failure { ended.end = AttemptEnd(failure) }
            ended.end?.end(ending)
            return ended
        }

        /// Ends the attempt whose body is streamed, because another one follows.
        private mutating func leaveBody(_ failure: RequestFailure?) -> Ended? {
            guard var end = streamed else { return nil }
            if let failure { end.fail(failure) }
            end.isBodyKnown = false
            return take(end)
        }

        private mutating func take() -> Ended? { take(streamed) }

        private mutating func take(_ end: AttemptEnd?) -> Ended? {
            streamed = nil
            return attempt.take().map { ($0, end) }
        }
    }
#endif
