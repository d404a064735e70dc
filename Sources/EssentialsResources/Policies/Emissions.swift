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
/// The sequence is cold: nothing is read or sent before the first value is asked for, and each iteration fetches again.
/// Fetches that send equal GET or HEAD requests at the same time share one request, as described for
/// `DataRequest.joins`. If an iteration ends early, because its loop is left or its task is cancelled, its request is
/// cancelled unless another one waits for it.
///
/// A failure ends the sequence. If the task is cancelled, the sequence throws `cancelled`, never a `CancellationError`.
///
/// A value of the server is emitted first and stored then: when the loop has dealt with it and asks for the next one, or when
/// the loop is left. So no cache delays a value, and the sequence ends when the value is stored. A failure of the cache
/// never ends the sequence; ``CacheProblemLog`` collects them.
public struct Emissions<Value: Sendable>: AsyncSequence, Sendable {
    /// A value with where it came from.
    public typealias Element = Emission<Value>
    /// The failure that ends the sequence.
    public typealias Failure = RequestFailure

    private let source: any EmissionSource<Value>

    init(_ source: any EmissionSource<Value>) { self.source = source }

    /// The queue for handlers of calls that name none.
    var callbackQueue: DispatchQueue { source.callbackQueue }

    /// Begins a new fetch.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(run: source.begin()) }

    /// Performs one fetch. Releasing it ends the fetch.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let run: any EmissionRun<Value>

        /// The next value; `nil` at the end and after a failure.
        public mutating func next() async throws(RequestFailure) -> Emission<Value>? {
            try await run.next()
        }

        /// The next value; `nil` at the end and after a failure. A `for` loop calls this method.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> Emission<Value>? {
            try await run.next()
        }
    }

    /// Fetches and returns the first value; `nil` if there is none. The rest of the fetch is cancelled.
    public func first() async throws(RequestFailure) -> Emission<Value>? {
        var iterator = makeAsyncIterator()
        return try await iterator.next(isolation: #isolation)
    }

    /// Fetches and returns the last value; `nil` if there is none. With ``FetchSource/cacheThenBackend`` it is the server's.
    ///
    /// - Throws: The failure that ended the sequence, also if there were values before.
    public func last() async throws(RequestFailure) -> Emission<Value>? {
        var iterator = makeAsyncIterator()
        var last: Emission<Value>?
        while let next = try await iterator.next(isolation: #isolation) { last = next }
        return last
    }
}

/// Creates the runs of ``Emissions``, one for each iteration.
protocol EmissionSource<Value>: Sendable {
    associatedtype Value: Sendable

    func begin() -> any EmissionRun<Value>

    /// The queue for handlers of calls that name none.
    var callbackQueue: DispatchQueue { get }
}

/// One iteration of ``Emissions``. Releasing it ends its fetch.
protocol EmissionRun<Value>: AnyObject {
    associatedtype Value: Sendable

    /// The next value; `nil` at the end and after a failure.
    func next() async throws(RequestFailure) -> Emission<Value>?
}
