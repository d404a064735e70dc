/// Reading rows together with rows that they refer to, or that refer to them: one query for each table, on the same
/// state.
extension PersistenceWork {
    /// The models that a query finds, each with the rows that it refers to by one or several relations; `nil` if it
    /// refers to no row.
    ///
    /// ```swift
    /// for (film, studio) in try work.fetch(Film.all, with: Film.studio) { show(film, studio) }
    /// for (film, studio, director) in try work.fetch(Film.all, with: Film.studio, Film.director) {
    ///     show(film, studio, director)
    /// }
    /// ```
    public func fetch<Child: PersistentModel, Parent: PersistentModel, each Other: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>, _ others: repeat ToOne<Child, each Other>
    ) throws(PersistenceFailure) -> [(Child, Parent?, repeat (each Other)?)] {
        let children = try rows.rows(query.node)
        let models = try coder(Child.self).models(children)
        let parents = try self.models(of: children, relation)
        let rest = (repeat try self.models(of: children, each others))
        return models.indices.map { (models[$0], parents[$0], repeat (each rest)[$0]) }
    }

    /// The models that a query finds, each with the row that it refers to, and the row that this one refers to.
    ///
    /// ```swift
    /// for (film, studio, country) in try work.fetch(Film.all, with: Film.studio, then: Studio.country) {
    ///     show(film, studio, country)
    /// }
    /// ```
    public func fetch<Child: PersistentModel, Parent: PersistentModel, Grandparent: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>, then next: ToOne<Parent, Grandparent>
    ) throws(PersistenceFailure) -> [(Child, Parent?, Grandparent?)] {
        let children = try rows.rows(query.node)
        let parents = try parents(of: children, relation)
        let grandparents = try self.parents(of: parents, next)
        let models = try coder(Child.self).models(children)
        let parentModels = try coder(Parent.self).models(parents)
        let grandparentModels = try coder(Grandparent.self).models(grandparents)
        return models.indices.map { (models[$0], parentModels[$0], grandparentModels[$0]) }
    }

    /// The models that a query finds, each with the rows that refer to it by its id.
    ///
    /// ```swift
    /// for (studio, films) in try work.fetch(Studio.all, with: Studio.films) { show(studio, films) }
    /// ```
    public func fetch<Parent: PersistentModel, Child: PersistentModel>(
        _ query: Query<Parent>, with relation: ToMany<Parent, Child>
    ) throws(PersistenceFailure) -> [(Parent, [Child])] {
        let column = relation.inverse.column
        let parents = try rows.rows(query.node)
        let coder = try coder(Parent.self)
        let ids = parents.map { coder.id($0) }
        var found: [StoredValue: [StoredRow]] = [:]
        for (value, row) in try seen(ids, in: column, of: Child.self) { found[value, default: []].append(row) }
        let (models, children) = (try coder.models(parents), try self.coder(Child.self))
        var result: [(Parent, [Child])] = []
        result.reserveCapacity(models.count)
        for (model, id) in zip(models, ids) { result.append((model, try children.models(found[id] ?? []))) }
        return result
    }

    private func models<Child: PersistentModel, Parent: PersistentModel>(
        of children: [StoredRow], _ relation: ToOne<Child, Parent>
    ) throws(PersistenceFailure) -> [Parent?] {
        try coder(Parent.self).models(parents(of: children, relation))
    }

    /// The row that each row refers to; `nil` if it refers to no row.
    private func parents<Child: PersistentModel, Parent: PersistentModel>(
        of children: [StoredRow?], _ relation: ToOne<Child, Parent>
    ) throws(PersistenceFailure) -> [StoredRow?] {
        let keys = children.map { $0?[relation.column] ?? .null }
        let found = try rows.rows(of: Parent.table, ids: Array(Set(keys.filter { !$0.isNull })))
        return keys.map { found[$0] }
    }
}

extension ModelCoder {
    /// The models of rows, any of which may be missing. A row that occurs several times is decoded once.
    fileprivate func models(_ rows: [StoredRow?]) throws(PersistenceFailure) -> [Model?] {
        var known: [StoredValue: Model] = [:]
        var models: [Model?] = []
        models.reserveCapacity(rows.count)
        for row in rows {
            guard let row else {
                models.append(nil)
                continue
            }
            let id = id(row)
            if known[id] == nil { known[id] = try model(row) }
            models.append(known[id])
        }
        return models
    }
}
