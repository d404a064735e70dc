extension Column where Value: ColumnValue {
    /// The column has this value. `nil` equals `nil`.
    public static func == (column: Column, value: Value) -> Filter<Model> { column.compared(.equal, value) }
    /// The column has another value. `nil` differs from every other value.
    public static func != (column: Column, value: Value) -> Filter<Model> { column.compared(.notEqual, value) }
    /// The column's value is less than this one. `false` for `nil`.
    public static func < (column: Column, value: Value) -> Filter<Model> { column.compared(.less, value) }
    /// The column's value is less than or equal to this one. `false` for `nil`.
    public static func <= (column: Column, value: Value) -> Filter<Model> { column.compared(.lessOrEqual, value) }
    /// The column's value is greater than this one. `false` for `nil`.
    public static func > (column: Column, value: Value) -> Filter<Model> { column.compared(.greater, value) }
    /// The column's value is greater than or equal to this one. `false` for `nil`.
    public static func >= (column: Column, value: Value) -> Filter<Model> { column.compared(.greaterOrEqual, value) }

    /// Both columns have the same value. `nil` equals `nil`.
    @_disfavoredOverload
    public static func == (one: Column, other: Column) -> Filter<Model> { one.compared(.equal, other) }
    /// The columns have different values.
    @_disfavoredOverload
    public static func != (one: Column, other: Column) -> Filter<Model> { one.compared(.notEqual, other) }
    /// The first column's value is less than the second's. `false` if either is `nil`.
    public static func < (one: Column, other: Column) -> Filter<Model> { one.compared(.less, other) }
    /// The first column's value is less than or equal to the second's. `false` if either is `nil`.
    public static func <= (one: Column, other: Column) -> Filter<Model> { one.compared(.lessOrEqual, other) }
    /// The first column's value is greater than the second's. `false` if either is `nil`.
    public static func > (one: Column, other: Column) -> Filter<Model> { one.compared(.greater, other) }
    /// The first column's value is greater than or equal to the second's. `false` if either is `nil`.
    public static func >= (one: Column, other: Column) -> Filter<Model> { one.compared(.greaterOrEqual, other) }

    /// The column's value is in this list. No row passes an empty list.
    public func isIn(_ values: some Sequence<Value>) -> Filter<Model> {
        Filter(.contained(name, values.map { RowFilter.Argument($0) }))
    }

    /// The column's value is at least the first value and at most the second one. `false` for `nil`.
    public func isBetween(_ lowest: Value, _ highest: Value) -> Filter<Model> {
        Filter(.between(name, RowFilter.Argument(lowest), RowFilter.Argument(highest)))
    }

    /// The column's value is in the result of the query. `false` for `nil`.
    ///
    /// ```swift
    /// let studios = Studio.where { $0.name.hasPrefix("U") }
    /// let films = Film.where { $0.studioID.isIn(studios.values { $0.id }) }
    /// ```
    public func isIn<Other>(_ query: ValueQuery<Other, Value>) -> Filter<Model> {
        Filter(.subquery(name, query.node))
    }

    /// The column's value is in the result of the query. `false` for `nil`.
    public func isIn<Other, Wrapped>(_ query: ValueQuery<Other, Wrapped>) -> Filter<Model> where Value == Wrapped? {
        Filter(.subquery(name, query.node))
    }

    private func compared(_ comparison: RowFilter.Comparison, _ value: Value) -> Filter<Model> {
        Filter(.comparison(name, comparison, RowFilter.Argument(value)))
    }

    private func compared(_ comparison: RowFilter.Comparison, _ other: Column) -> Filter<Model> {
        Filter(.columns(name, comparison, other.name))
    }

    fileprivate func matches(_ match: RowFilter.TextMatch, _ text: String) -> Filter<Model> {
        Filter(.text(name, match, RowFilter.Argument(text)))
    }
}

extension Column where Value == String {
    /// The text contains this one. Bytes are compared, so case and combining characters count.
    public func contains(_ text: String) -> Filter<Model> { matches(.contains, text) }
    /// The text begins with this one. Bytes are compared. An index on the column is used.
    public func hasPrefix(_ text: String) -> Filter<Model> { matches(.hasPrefix, text) }
    /// The text ends with this one. Bytes are compared.
    public func hasSuffix(_ text: String) -> Filter<Model> { matches(.hasSuffix, text) }
}

extension Column where Value == String? {
    /// The text contains this one. Bytes are compared, so case and combining characters count. `false` for `nil`.
    public func contains(_ text: String) -> Filter<Model> { matches(.contains, text) }
    /// The text begins with this one. Bytes are compared. An index on the column is used. `false` for `nil`.
    public func hasPrefix(_ text: String) -> Filter<Model> { matches(.hasPrefix, text) }
    /// The text ends with this one. Bytes are compared. `false` for `nil`.
    public func hasSuffix(_ text: String) -> Filter<Model> { matches(.hasSuffix, text) }
}
