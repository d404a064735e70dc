/// A constraint of a table, and the rows that violate it.
///
/// ```swift
/// for violation in failure.violations where violation.kind == .unique {
///     show("\(violation.columns.joined(separator: ", ")) is taken", for: violation.ids)
/// }
/// ```
public struct ConstraintViolation: Sendable, Hashable {
    /// The kind of a constraint.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Another row has the same values.
        case unique = "UNIQUE"
        /// A condition of the table is false.
        case check = "CHECK"
        /// A row refers to a row that does not exist, or a row was deleted that other rows refer to.
        case foreignKey = "FOREIGN KEY"
        /// A value is missing.
        case notNull = "NOT NULL"
        /// A trigger of the table refuses the row.
        case trigger = "TRIGGER"
    }

    /// The kind of the constraint.
    public let kind: Kind
    /// The table that has the constraint. For a foreign key this is the table of the children.
    public let table: String
    /// The columns of the constraint, as far as they are known. They are unknown for conditions and triggers.
    public let columns: [String]
    /// The name of the constraint; `nil` if it has none. An unnamed condition has its own text as name.
    public let name: String?
    /// The table that a foreign key refers to. `nil` for other constraints.
    public let parent: String?
    /// The ids of the rows that violate the constraint. For a foreign key these are the children.
    public internal(set) var ids: [StoredValue]

    /// Creates a violation.
    public init(
        _ kind: Kind, table: String, columns: [String] = [], name: String? = nil, parent: String? = nil,
        ids: [StoredValue] = []
    ) {
        self.kind = kind
        self.table = table
        self.columns = columns
        self.name = name
        self.parent = parent
        self.ids = ids
    }

    /// Whether both violate the same constraint, regardless of their rows.
    func isSameConstraint(as other: ConstraintViolation) -> Bool {
        kind == other.kind && table == other.table && columns == other.columns && name == other.name
            && parent == other.parent
    }
}

extension ConstraintViolation: CustomStringConvertible {
    /// The maximum number of ids in a description.
    private static let shownIDs = 3

    /// The constraint and the first ids, without other values.
    ///
    /// ```
    /// UNIQUE of film.title (film 1, 2)
    /// ```
    public var description: String {
        var text = kind.rawValue
        if let name { text += " \(name)" }
        text += columns.isEmpty ? " of \(table)" : " of \(columns.map { "\(table).\($0)" }.joined(separator: ", "))"
        if let parent { text += " to \(parent)" }
        if !ids.isEmpty {
            text += " (\(table) " + ids.prefix(Self.shownIDs).map(\.description).joined(separator: ", ")
            if ids.count > Self.shownIDs { text += " and \(ids.count - Self.shownIDs) more" }
            text += ")"
        }
        return text
    }
}
