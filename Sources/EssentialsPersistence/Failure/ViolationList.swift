/// Violations, one for each constraint, with a maximum number of rows in all of them together.
package struct ViolationList: Sendable {
    /// The maximum number of rows.
    package static let maximum = 100

    /// The maximum number of constraints in a message.
    private static let shown = 3

    package private(set) var violations: [ConstraintViolation] = []
    private var count = 0

    package var isEmpty: Bool { violations.isEmpty }
    package var isFull: Bool { count >= Self.maximum }

    package init() {}

    /// Adds a violation. Ids beyond the maximum are left out.
    package mutating func append(_ violation: ConstraintViolation) {
        guard !isFull else { return }
        var violation = violation
        violation.ids = Array(violation.ids.prefix(Self.maximum - count))
        // A violation without ids counts as one row.
        count += max(violation.ids.count, 1)
        if let index = violations.firstIndex(where: { $0.isSameConstraint(as: violation) }) {
            violations[index].ids += violation.ids
        } else {
            violations.append(violation)
        }
    }

    /// The failure of a save or a deletion with these violations.
    package var failure: PersistenceFailure {
        let tables = Set(violations.map(\.table))
        var texts = violations.prefix(Self.shown).map(\.description)
        if violations.count > Self.shown { texts.append("\(violations.count - Self.shown) more") }
        let isUnique = violations.contains { $0.kind == .unique }
        return PersistenceFailure(
            .constraint, "Rows violate constraints: \(texts.joined(separator: "; ")).",
            remedy: isUnique
                ? "Choose other values. Rows that exchange unique values need a free value in between."
                : nil,
            model: tables.count == 1 ? tables.first : nil, ids: violations.flatMap(\.ids), violations: violations)
    }
}
