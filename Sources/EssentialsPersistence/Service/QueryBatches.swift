/// The rows that a query finds, in batches, for results that should not be in memory at once.
///
/// ```swift
/// for try await films in store.batches(of: Film.where { $0.year < 1930 }, size: 500) {
///     try await export(films)
/// }
/// ```
///
/// Each batch is one read, in the order of the query, with the pending rows that the scope sees. Nothing is held
/// between two batches. A batch begins after the last row of the previous one. A row whose position in the order
/// changes meanwhile can occur twice or not at all; every other row occurs once. ``BatchState/oneState`` instead reads
/// all batches from one state, for a limited time.
///
/// It ends after the last row, or by throwing once: a ``PersistenceFailure``, which is `cancelled` if the task is
/// cancelled.
public struct QueryBatches<Model: PersistentModel>: AsyncSequence, Sendable {
    let service: any PersistenceService
    let query: Query<Model>
    let size: Int
    let state: BatchState

    /// Reads one batch for each request.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let batches: QueryBatches
        private var position: BatchPosition<Model>?
        private var isLast = false
        private var reader: BatchReader<Model>?
        private var isEnded = false

        init(_ batches: QueryBatches) { self.batches = batches }

        /// The next batch, which has at least one model; `nil` after the last one.
        ///
        /// - Throws: A failure with the reason `invalidQuery`, `decoding`, `cancelled`, `expired` if one state was read
        ///   for too long, or a failure of the store.
        public mutating func next() async throws(PersistenceFailure) -> [Model]? {
            guard !isEnded else { return nil }
            do throws(PersistenceFailure) {
                let batch = try await batches.state.limit == nil ? page() : part()
                isEnded = batch == nil
                if isEnded { reader = nil }
                return batch
            } catch {
                isEnded = true
                reader = nil
                throw error
            }
        }

        private mutating func page() async throws(PersistenceFailure) -> [Model]? {
            if isLast { return nil }
            let call = PersistenceCall.reading(batches.query.node) { [batches, position] work in
                try work.batch(of: batches.query, size: batches.size, after: position)
            }
            let batch = try await batches.service.result(of: call)
            position = batch.position
            isLast = position == nil
            return batch.models.isEmpty ? nil : batch.models
        }

        private mutating func part() async throws(PersistenceFailure) -> [Model]? {
            if let reader { return try await reader.next() }
            let reader = try BatchReader(batches.service, batches.query, batches.size, batches.state)
            self.reader = reader
            return try await reader.next()
        }
    }

    /// Begins with the first batch. Nothing is read before it is requested.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// The state of the rows that a sequence of batches reads.
public struct BatchState: Sendable, Hashable {
    /// The longest time from the first batch to the last; `nil` if each batch is a separate read.
    let limit: Duration?

    /// Each batch is a separate read, and sees everything that was saved before it. Nothing is held between batches.
    public static let newest = BatchState(limit: nil)
    /// All batches read one state, which is held for at most 30 seconds. A later batch fails as
    /// ``PersistenceFailure/Reason-swift.struct/expired``.
    ///
    /// Meanwhile the log of the store grows. Closing the store waits until the state is released: after the last batch,
    /// by releasing the iterator, or when the time is over.
    ///
    /// A service may limit the number of states that are held at the same time. Then a further iterator fails at once
    /// as ``PersistenceFailure/Reason-swift.struct/busy``. Other reads do not wait for iterators.
    public static let oneState = oneState(for: .seconds(30))

    /// All batches read one state, which is held for a limited time; see ``oneState``. A shorter limit of the store
    /// also applies.
    public static func oneState(for limit: Duration) -> BatchState { BatchState(limit: limit) }
}

/// One batch of a query, for calls with a handler and blocking calls.
///
/// ```swift
/// var batch = try store.wait { try $0.batch(of: Film.all, size: 500) }
/// while let position = batch.position {
///     export(batch.models)
///     batch = try store.wait { try $0.batch(of: Film.all, size: 500, after: position) }
/// }
/// export(batch.models)
/// ```
public struct QueryBatch<Model: PersistentModel>: Sendable {
    /// The models, in the order of the query. Empty if no row follows the position.
    public let models: [Model]
    /// The beginning of the next batch; `nil` if this batch is the last.
    public let position: BatchPosition<Model>?
}

/// A place in the rows of a query, after the last row of a batch.
public struct BatchPosition<Model: PersistentModel>: Sendable {
    let pages: QueryPages
}

extension PersistenceWork {
    /// Fetches one batch of a query as it is now; see ``QueryBatches``.
    ///
    /// - Parameters:
    ///   - query: The query, the same for all batches.
    ///   - size: The maximum number of models, at least 1.
    ///   - position: The position from the previous batch. It keeps the size and the query of the first batch. The
    ///     default is the beginning.
    public func batch<Model: PersistentModel>(
        of query: Query<Model>, size: Int = 1_000, after position: BatchPosition<Model>? = nil
    ) throws(PersistenceFailure) -> QueryBatch<Model> {
        var pages = if let position { position.pages } else { try QueryPages(query, size: size) }
        let models = try models(of: &pages, Model.self) ?? []
        return QueryBatch(models: models, position: pages.next == nil ? nil : BatchPosition(pages: pages))
    }

    /// The models of the next page, of which there may be none; `nil` after the last page.
    func models<Model: PersistentModel>(
        of pages: inout QueryPages, _ type: Model.Type
    ) throws(PersistenceFailure) -> [Model]? {
        guard let node = pages.next else { return nil }
        let rows = try rows.rows(node)
        try pages.take(rows)
        return try coder(Model.self).models(rows)
    }
}

extension PersistenceService {
    /// The rows that a query finds, in batches; see ``QueryBatches``.
    ///
    /// - Parameters:
    ///   - query: The query. Its limit counts all rows, and its offset is skipped once.
    ///   - size: The maximum number of models in a batch, at least 1. The default is 1,000.
    ///   - state: Whether each batch is a separate read, which is the default, or all batches read one state.
    public func batches<Model: PersistentModel>(
        of query: Query<Model>, size: Int = 1_000, state: BatchState = .newest
    ) -> QueryBatches<Model> {
        QueryBatches(service: self, query: query, size: size, state: state)
    }
}
