public import Dispatch

/// Observing. All observations end when the scope is closed; see ``QueryObservation``.
extension PersistenceService {
    /// Observes the models that a query finds. A query whose filter names the ids of its rows runs again only after
    /// changes of these rows.
    public func observe<Model: PersistentModel>(_ query: Query<Model>) -> QueryObservation<[Model]> {
        observe(query) { try $0.fetch($1) }
    }

    /// Observes the models with these ids, in the order of the ids. Missing models are left out.
    public func observe<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID]
    ) -> QueryObservation<[Model]> {
        observe(.fetch(type, ids: ids, missing: .ignore))
    }

    /// Observes the models that a query finds, and whether each row is stored or pending. Saving a row is a change even
    /// if its values stay the same.
    public func observeWithOrigins<Model: PersistentModel>(
        _ query: Query<Model>
    ) -> QueryObservation<[ModelWithOrigin<Model>]> {
        observe(query) { try $0.fetchWithOrigins($1) }
    }

    /// Observes the result of a closure that reads rows of a query, and rows of other models if they are named.
    ///
    /// ```swift
    /// for try await count in store.observe(Film.where { $0.year < 1930 }, by: { try $0.count($1) }) { show(count) }
    /// let pairs = store.observe(Film.all, and: Studio.self) { try $0.fetch($1, with: Film.studio) }
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - models: Other models whose rows the closure reads. The observation follows no further tables.
    ///   - read: Receives the rows and the query.
    public func observe<Model: PersistentModel, Value>(
        _ query: Query<Model>, and models: any PersistentModel.Type...,
        by read: @escaping @Sendable (PersistenceWork, Query<Model>) throws -> Value
    ) -> QueryObservation<Value> {
        let call = PersistenceCall.reading(query.node, and: Set(models.map { $0.table })) { try read($0, query) }
        let interest = models.isEmpty ? ChangeInterest(query.node) : ChangeInterest(call.plan)
        return QueryObservation(service: self, call: call, interest: interest)
    }

    /// Observes the result of any call that reads. A closure, as in ``PersistenceCall/read(_:)``, runs again after each
    /// change of any table, because it may read all.
    ///
    /// The observation fails as `invalidQuery` if the call changes rows.
    public func observe<Value>(_ call: PersistenceCall<Value>) -> QueryObservation<Value> {
        QueryObservation(service: self, call: call, interest: ChangeInterest(call.plan))
    }

    /// Calls a handler with the models that a query finds, as long as the returned observation lives; see
    /// ``QueryObservation/start(queue:_:)``.
    ///
    /// ```swift
    /// let observation = store.observe(Film.all, queue: .main) { result in show(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - queue: The queue on which the handler runs. `nil` means a serial queue of the observation, never the main
    ///     one.
    ///   - handler: Receives each state, or the failure that ends the observation.
    /// - Returns: The observation. Releasing it ends it.
    public func observe<Model: PersistentModel>(
        _ query: Query<Model>, queue: DispatchQueue? = nil,
        _ handler: @escaping @Sendable (Result<[Model], PersistenceFailure>) -> Void
    ) -> PersistenceObservation {
        observe(query).start(queue: queue, handler)
    }

    /// The ids of the rows of a model that change from now on, as seen by the scope. No rows are read.
    public func changes<Model: PersistentModel>(in type: Model.Type = Model.self) -> ModelChanges<Model> {
        ModelChanges(service: self)
    }

    /// The present state of the scope, and each state that follows. The sequence ends after
    /// ``PersistenceState/closed``.
    ///
    /// ```swift
    /// for await state in store.states {
    ///     if case .failed(let failure) = state { report(failure) }
    /// }
    /// ```
    ///
    /// A consumer that is slower than the states receives the newest one. Each sequence has one consumer. It does not
    /// keep the scope alive.
    public var states: AsyncStream<PersistenceState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PersistenceState.self, bufferingPolicy: .bufferingNewest(1))
        let observation = observeState { state in
            continuation.yield(state)
            if state == .closed { continuation.finish() }
        }
        continuation.onTermination = { _ in observation.cancel() }
        return stream
    }
}
