import Dispatch
public import EssentialsRequests

/// The values of a fetch: the cached one, the server's, or both.
///
/// ```swift
/// for try await coins in service.get("coins", as: [Coin].self) {
///     show(coins.value, from: coins.source, age: coins.age)
/// }
/// let newest = try await service.coins(from: .backend).last()?.value
/// ```
///
/// The sequence is cold: nothing is read or sent before the first value is requested, and each iteration fetches again.
/// Fetches that send equal GET or HEAD requests at the same time share one request, as described for
/// `DataRequest.joins`. If an iteration ends early, because its loop is left or its task is cancelled, its request is
/// cancelled unless another iteration waits for it.
///
/// A failure ends the sequence. If the task is cancelled, the sequence throws `cancelled`, never a `CancellationError`.
///
/// A value of the server is emitted first and stored afterwards: when the loop requests the next value, or when the
/// loop is left. A cache therefore delays no value, and the sequence ends when the value is stored. A failure of the
/// cache never ends the sequence; ``CacheProblemLog`` collects such failures.
public struct Emissions<Value: Sendable>: AsyncSequence, Sendable {
    /// A value with its source.
    public typealias Element = Emission<Value>
    /// The failure that ends the sequence.
    public typealias Failure = RequestFailure

    /// The source of the values. Its models have the type `Value`.
    let source: any EmissionSource

    init(_ source: any EmissionSource) { self.source = source }

    /// The queue for handlers of calls that name no queue.
    var callbackQueue: DispatchQueue { source.callbackQueue }

    /// Begins a new fetch.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(run: source.begin()) }

    /// Performs one fetch. Releasing it ends the fetch.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let run: any EmissionRun

        /// The next value; `nil` at the end and after a failure.
        public mutating func next() async throws(RequestFailure) -> Emission<Value>? {
            try await next(isolation: #isolation)
        }

        /// The next value; `nil` at the end and after a failure. A `for` loop calls this method.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> Emission<Value>? {
            guard let next = try await run.next() else { return nil }
            return Emission(next)
        }
    }

    /// Fetches and returns the first value; `nil` if there is none. The rest of the fetch is cancelled.
    public func first() async throws(RequestFailure) -> Emission<Value>? {
        let run = source.begin()
        guard let first = try await run.next() else { return nil }
        return Emission(first)
    }

    /// Fetches and returns the last value; `nil` if there is none. With ``FetchSource/cacheThenBackend`` it is the
    /// server's.
    ///
    /// - Throws: The failure that ended the sequence, even if there were values before it.
    public func last() async throws(RequestFailure) -> Emission<Value>? {
        let run = source.begin()
        var last: FetchEmission?
        while let next = try await run.next() { last = next }
        return last.flatMap { Emission($0) }
    }
}

/// Creates the runs of ``Emissions``, one for each iteration. All models of a source have one type, which the sequence
/// knows.
protocol EmissionSource: Sendable {
    func begin() -> any EmissionRun

    /// Begins an iteration whose values are shared with others, so that it finds out for which accounts they are.
    func beginShared() -> any EmissionRun

    /// The operation of an iteration that begins now; `nil` for a test double.
    func beginReading() -> FetchOperation?

    /// The queue for handlers of calls that name no queue.
    var callbackQueue: DispatchQueue { get }
}

extension EmissionSource {
    func beginShared() -> any EmissionRun { begin() }
}

/// One iteration of ``Emissions``. Releasing it ends its fetch.
protocol EmissionRun: AnyObject {
    /// The operation of the iteration, from its first step on; `nil` for a test double.
    var operation: FetchOperation? { get }

    /// The next value; `nil` at the end and after a failure.
    func next() async throws(RequestFailure) -> FetchEmission?
}
