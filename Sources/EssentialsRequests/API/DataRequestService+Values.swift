public import EssentialsHTTP

extension DataRequestService {
    /// The models of a request that is sent repeatedly.
    ///
    /// ```swift
    /// for try await price in requests.values(of: Prices.current, every: .seconds(30)) { show(price) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The definition. A body that can be sent only once fails as `notReplayable` the second time.
    ///   - interval: The time from one response to the next request. Zero or less means no wait.
    ///   - clock: Measures the time.
    public func values<Request: TypedRequest>(
        of request: Request, every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> RepeatedValues<Request.Response> where Request.Response: Decodable {
        RepeatedValues(interval: interval, clock: clock) { () throws(RequestFailure) in
            try await self.send(request)
        }
    }
}

/// The values of a request that is repeated, created by ``DataRequestService/values(of:every:clock:)``.
///
/// The first request is sent when the loop asks for the first value, and each later one after the interval; there is
/// never more than one. The first failure ends the sequence. If the calling task is cancelled, the sequence throws
/// `cancelled`, also during the wait.
public struct RepeatedValues<Value: Sendable>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value
    /// The failure that ends the sequence.
    public typealias Failure = RequestFailure

    let interval: Duration
    let clock: any Clock<Duration>
    let fetch: @Sendable () async throws(RequestFailure) -> Value

    /// Begins with a new request.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(values: self) }

    /// Sends the requests one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let values: RepeatedValues
        private var hasBegun = false
        private var hasEnded = false

        fileprivate init(values: RepeatedValues) { self.values = values }

        /// The next value; `nil` after a failure.
        public mutating func next() async throws(RequestFailure) -> Value? {
            try await next(isolation: #isolation)
        }

        /// The next value; `nil` after a failure. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> Value? {
            guard !hasEnded else { return nil }
            do throws(RequestFailure) {
                if hasBegun, values.interval > .zero { try await wait() }
                hasBegun = true
                return try await values.fetch()
            } catch {
                hasEnded = true
                throw error
            }
        }

        private func wait() async throws(RequestFailure) {
            do {
                try await values.clock.sleep(for: values.interval)
            } catch {
                throw RequestFailure(.cancelled, "The wait for the next request was cancelled.")
            }
        }
    }
}
