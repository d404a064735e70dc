/// Reading rows together with rows that they refer to. The methods of ``PersistenceWork`` with the same names describe
/// the results and failures.
extension PersistenceService {
    /// The models that a query finds, each with the row that it refers to. It takes two queries on the same state.
    public func fetch<Child: PersistentModel, Parent: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>
    ) async throws(PersistenceFailure) -> [(Child, Parent?)] {
        try await result(of: .fetch(query, with: relation))
    }

    /// The models that a query finds, each with the rows that it refers to by several relations.
    public func fetch<
        Child: PersistentModel, First: PersistentModel, Second: PersistentModel, each Other: PersistentModel
    >(
        _ query: Query<Child>, with first: ToOne<Child, First>, _ second: ToOne<Child, Second>,
        _ others: repeat ToOne<Child, each Other>
    ) async throws(PersistenceFailure) -> [(Child, First?, Second?, repeat (each Other)?)] {
        try await result(of: .fetch(query, with: first, second, repeat each others))
    }

    /// The models that a query finds, each with the row that it refers to, and the row that this one refers to.
    public func fetch<Child: PersistentModel, Parent: PersistentModel, Grandparent: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>, then next: ToOne<Parent, Grandparent>
    ) async throws(PersistenceFailure) -> [(Child, Parent?, Grandparent?)] {
        try await result(of: .fetch(query, with: relation, then: next))
    }

    /// The models that a query finds, each with the rows that refer to it by its id.
    public func fetch<Parent: PersistentModel, Child: PersistentModel>(
        _ query: Query<Parent>, with relation: ToMany<Parent, Child>
    ) async throws(PersistenceFailure) -> [(Parent, [Child])] {
        try await result(of: .fetch(query, with: relation))
    }
}

extension PersistenceCall {
    /// The models that a query finds, each with the row that it refers to. It takes two queries on the same state.
    public static func fetch<Child: PersistentModel, Parent: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>
    ) -> PersistenceCall where Value == [(Child, Parent?)] {
        .relating(query.node, [Parent.table]) { (work) throws(PersistenceFailure) in
            try work.fetch(query, with: relation)
        }
    }

    /// The models that a query finds, each with the rows that it refers to by several relations.
    public static func fetch<
        Child: PersistentModel, First: PersistentModel, Second: PersistentModel, each Other: PersistentModel
    >(
        _ query: Query<Child>, with first: ToOne<Child, First>, _ second: ToOne<Child, Second>,
        _ others: repeat ToOne<Child, each Other>
    ) -> PersistenceCall where Value == [(Child, First?, Second?, repeat (each Other)?)] {
        var tables: Set = [First.table, Second.table]
        for table in repeat (each Other).table { tables.insert(table) }
        return .relating(query.node, tables) { (work) throws(PersistenceFailure) in
            try work.fetch(query, with: first, second, repeat each others)
        }
    }

    /// The models that a query finds, each with the row that it refers to, and the row that this one refers to.
    public static func fetch<Child: PersistentModel, Parent: PersistentModel, Grandparent: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>, then next: ToOne<Parent, Grandparent>
    ) -> PersistenceCall where Value == [(Child, Parent?, Grandparent?)] {
        .relating(query.node, [Parent.table, Grandparent.table]) { (work) throws(PersistenceFailure) in
            try work.fetch(query, with: relation, then: next)
        }
    }

    /// The models that a query finds, each with the rows that refer to it by its id.
    public static func fetch<Parent: PersistentModel, Child: PersistentModel>(
        _ query: Query<Parent>, with relation: ToMany<Parent, Child>
    ) -> PersistenceCall where Value == [(Parent, [Child])] {
        .relating(query.node, [Child.table]) { (work) throws(PersistenceFailure) in
            try work.fetch(query, with: relation)
        }
    }

    private static func relating(
        _ query: RowQuery, _ tables: Set<String>,
        _ read: @escaping @Sendable (PersistenceWork) throws(PersistenceFailure) -> Value
    ) -> PersistenceCall {
        PersistenceCall(PersistenceJob.Plan(.read, tables: query.tables.map { $0.union(tables) }), read)
    }
}
