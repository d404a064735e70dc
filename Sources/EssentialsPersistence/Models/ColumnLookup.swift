/// Finds the columns that models ask for.
///
/// Models of one type ask for the same columns in the same order, which is often that of the table. So a column is
/// expected, and searched only if another one is asked for. It belongs to one call that decodes.
final class ColumnLookup {
    private var layout: RowLayout
    /// The columns in the order of the row before, as far as it is not that of the table.
    private var order: [Int] = []
    private var position = 0

    init(_ layout: RowLayout) { self.layout = layout }

    /// Begins with a row.
    func begin(_ layout: RowLayout) {
        position = 0
        guard layout !== self.layout else { return }
        self.layout = layout
        order = []
    }

    /// The index of a column; `nil` if there is none of this name.
    func index(of name: String) -> Int? {
        let expected = position < order.count ? order[position] : position
        if expected < layout.names.count, layout.names[expected] == name {
            position += 1
            return expected
        }
        guard let index = layout.index(of: name) else { return nil }
        remember(index)
        return index
    }

    private func remember(_ index: Int) {
        // A model that asks for the same columns again and again is not followed for ever.
        guard position < 4 * layout.names.count else { return }
        if order.count < position { order += order.count..<position }
        if position < order.count { order[position] = index } else { order.append(index) }
        position += 1
    }
}
