/// Finds the indices of the columns that a model decodes.
///
/// Models of one type decode the same columns in the same order, often that of the table. So each lookup first tries
/// the expected column, and searches only if another one is requested. A lookup belongs to one decoding call.
final class ColumnLookup {
    private var layout: RowLayout
    /// The order in which the previous row was decoded, as far as it differs from the order of the table.
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

    /// The index of a column; `nil` if no column has this name.
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
        // Limits the recorded order if a model decodes the same columns repeatedly.
        guard position < 4 * layout.names.count else { return }
        if order.count < position { order += order.count..<position }
        if position < order.count { order[position] = index } else { order.append(index) }
        position += 1
    }
}
