/// A condition on the rows of a model, as a value.
///
/// Filters are two-valued as in Swift: a comparison with `nil` by `==` or `!=` is true or false, and every other
/// comparison with `nil` is false. So `!(filter)` finds exactly the rows that `filter` does not find.
///
/// ```swift
/// let silent = Film.where { ($0.year < 1930 || $0.year == 1931) && !$0.title.hasPrefix("M") }
/// let orphans = Film.where { $0.studioID == nil }
/// ```
///
/// Texts are compared by their bytes. Operators such as `==` and `<` use the collation of the column.
public struct Filter<Model: PersistentModel>: Sendable, Hashable {
    package let node: RowFilter

    package init(_ node: RowFilter) { self.node = node }

    /// Both filters hold.
    public static func && (one: Filter, other: Filter) -> Filter { Filter(.both(one.node, other.node)) }
    /// At least one filter holds.
    public static func || (one: Filter, other: Filter) -> Filter { Filter(.either(one.node, other.node)) }
    /// The filter does not hold.
    public static prefix func ! (filter: Filter) -> Filter { Filter(.opposite(filter.node)) }

    /// All filters hold. Every row passes an empty list.
    public static func all(_ filters: [Filter]) -> Filter { Filter(.all(filters.map(\.node))) }
    /// At least one filter holds. No row passes an empty list.
    public static func any(_ filters: [Filter]) -> Filter { Filter(.any(filters.map(\.node))) }

    /// A condition in SQL.
    ///
    /// The text becomes part of the statement, so it must never contain text from outside. Pass values as arguments.
    /// NULL counts as false.
    ///
    /// - Parameters:
    ///   - text: An SQL expression over the columns of the table, with `?` for each argument.
    ///   - arguments: The arguments, in their order.
    public static func sql(_ text: String, _ arguments: [StoredValue] = []) -> Filter {
        Filter(.sql(text, arguments))
    }
}
