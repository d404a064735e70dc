/// The expectations of a model about its table, without the model's type.
package struct ModelSchema: Sendable {
    package struct Column: Sendable, Hashable {
        package let name: String
        package let storage: ColumnStorage
        package let isOptional: Bool
    }

    /// The name of the model's type.
    package let model: String
    package let table: String
    package let key: String
    package private(set) var columns: [Column]
    /// The columns that only some of the table's models have.
    private var partial: Set<String> = []
    package let references: [ModelReference]
    package let conflictPolicy: ConflictPolicy
    /// Finds the coding keys by running the model's own decoding.
    package let codingKeys: @Sendable () -> CodingKeyProbe

    package init<Model: PersistentModel>(_ type: Model.Type) {
        model = "\(type)"
        table = Model.table
        key = Model.columns.id.name
        columns = Model.columns.all.map { Column(name: $0.name, storage: $0.storage, isOptional: $0.isOptional) }
        references = Model.references
        conflictPolicy = Model.conflictPolicy
        codingKeys = { CodingKeyProbe(Model.self) }
    }

    /// The schema of two models of one table: this schema, plus the columns that only the other one has.
    package func adding(_ other: ModelSchema) -> ModelSchema {
        var schema = self
        let names = Set(columns.map(\.name))
        schema.partial.formUnion(other.partial)
        schema.partial.formUnion(names.symmetricDifference(other.columns.map(\.name)))
        schema.columns += other.columns.filter { !names.contains($0.name) }
        return schema
    }

    /// Whether NULL in a new row means that the model that created the row lacks the column.
    ///
    /// If another model of the table declares the column optional, NULL may be a value of that model.
    package func isLacking(_ column: String) -> Bool {
        guard let found = columns.first(where: { $0.name == column }) else { return true }
        return !found.isOptional && partial.contains(column)
    }
}
