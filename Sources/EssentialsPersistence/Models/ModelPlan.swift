import EssentialsTools

/// Where the columns of a model are in the rows of one layout.
final class ModelPlan<Model: PersistentModel>: Sendable {
    /// The columns of the model, each with its index in a row.
    let columns: [(column: ModelColumn<Model>, index: Int)]
    /// The index of the id.
    let key: Int
    let encoding: RowEncoder.Plan

    /// - Throws: A failure with the reason `schemaMismatch` if the layout lacks a column.
    init(_ layout: RowLayout) throws(PersistenceFailure) {
        var columns: [(column: ModelColumn<Model>, index: Int)] = []
        for column in Model.columns.all { columns.append((column, try Self.index(column.name, layout))) }
        self.columns = columns
        var isDeclared = [Bool](repeating: false, count: layout.names.count)
        for (_, index) in columns { isDeclared[index] = true }
        encoding = RowEncoder.Plan(
            optional: columns.filter(\.column.isOptional).map(\.index), isDeclared: isDeclared)
        key = try Self.index(Model.columns.id.name, layout)
    }

    private static func index(_ name: String, _ layout: RowLayout) throws(PersistenceFailure) -> Int {
        if let index = layout.index(of: name) { return index }
        throw PersistenceFailure(
            .schemaMismatch, "The table \(Model.table) has no column \(name).", model: Model.table)
    }
}

/// The plans of the models of one table. Each plan is created once. Most tables have one model.
final class ModelPlans: Sendable {
    /// The maximum number of plans. A new plan replaces the oldest.
    static let maximum = 8

    private let plans = Mutex<[(model: ObjectIdentifier, plan: any AnyObject & Sendable)]>([])

    /// The number of plans.
    var count: Int { plans.withLock { $0.count } }

    /// The plan of a model.
    ///
    /// - Parameter layout: The layout that keeps these plans. A plan does not refer to it.
    func plan<Model: PersistentModel>(
        of model: Model.Type, _ layout: RowLayout
    ) throws(PersistenceFailure) -> ModelPlan<Model> {
        let id = ObjectIdentifier(model)
        let known = plans.withLock { plans in plans.first { $0.model == id }?.plan }
        if let plan = known as? ModelPlan<Model> { return plan }
        // Reading the columns runs application code, which may use other models. So no lock is held here.
        let plan = try ModelPlan<Model>(layout)
        plans.withLock { plans in
            guard !plans.contains(where: { $0.model == id }) else { return }
            if plans.count >= Self.maximum { plans.removeFirst() }
            plans.append((id, plan))
        }
        return plan
    }
}
