/// What a query finds, now and after each change that may have touched it.
///
/// ```swift
/// for try await films in store.observe(Film.where { $0.year < 1930 }) {
///     show(films)
/// }
/// ```
///
/// The first element is what there is. A further one follows each change of one of the query's tables, pending or saved, by
/// this scope or others, as far as the scope sees it. One query runs at a time. A consumer that is slower than the changes
/// gets the newest state, and never a list of old ones. It ends with the task, or by throwing once: a
/// ``PersistenceFailure``, which is `closed` at the next change after the scope was closed.
public struct QueryObservation<Model: PersistentModel>: AsyncSequence, Sendable {
    let service: any PersistenceService
    let query: Query<Model>

    /// Reads the query each time that it may find something else.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let service: any PersistenceService
        private let query: Query<Model>
        private var changes: AsyncStream<Void>?
        private var observation: PersistenceObservation?
        private var isEnded = false

        init(_ service: any PersistenceService, _ query: Query<Model>) {
            self.service = service
            self.query = query
        }

        /// The next state of the query; `nil` after the task was cancelled or the observation has thrown.
        ///
        /// - Throws: What ``PersistenceService/fetch(_:)-(Query<Model>)`` throws, once.
        public mutating func next() async throws(PersistenceFailure) -> [Model]? {
            guard !isEnded else { return nil }
            do throws(PersistenceFailure) {
                if let changes {
                    var change = changes.makeAsyncIterator()
                    guard await change.next() != nil else {
                        isEnded = true
                        return nil
                    }
                } else {
                    try begin()
                }
                return try await service.fetch(query)
            } catch {
                isEnded = true
                observation = nil
                if error.reason == .cancelled, Task.isCancelled { return nil }
                throw error
            }
        }

        /// Observes before the first read, so that no change is missed.
        private mutating func begin() throws(PersistenceFailure) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let tables = query.node.tables
            observation = try service.observeChanges { change in
                if tables.map({ $0.contains { change.touches($0) } }) ?? true { continuation.yield() }
            }
            changes = stream
        }
    }

    /// Begins a new observation. Nothing is observed before its first element is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(service, query) }
}

extension PersistenceService {
    /// Observes what a query finds; see ``QueryObservation``.
    public func observe<Model: PersistentModel>(_ query: Query<Model>) -> QueryObservation<Model> {
        QueryObservation(service: self, query: query)
    }
}
