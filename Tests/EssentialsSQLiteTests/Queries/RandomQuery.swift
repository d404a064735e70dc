import TestTools

#if Persistence
    @testable import EssentialsPersistence

    /// Random queries over samples.
    struct RandomQuery {
        typealias Columns = Sample.Columns

        var numbers: SeededNumbers

        private mutating func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: values.indices, using: &numbers)]
        }

        private mutating func maybe<Value>(_ value: Value) -> Value? {
            Int.random(in: 0..<5, using: &numbers) == 0 ? nil : value
        }

        mutating func query(depth: Int = 3) -> Query<Sample> {
            let columns = Sample.columns
            var query: Query<Sample> = pick([true, false, false, false]) ? Sample.all : Query(filter: filter(depth))
            let orders = [
                columns.text.ascending, columns.note.descending, columns.number.ascending, columns.real.descending,
                columns.bytes.ascending, columns.id.descending, columns.number.descending, columns.note.ascending,
            ]
            let order = (0..<Int.random(in: 0...2, using: &numbers)).map { _ in pick(orders) }
            query = query.sorted { _ in order }
            if pick([true, false, false]) { query = query.limit(.random(in: 0...20, using: &numbers)) }
            if pick([true, false, false, false]) { query = query.offset(.random(in: 0...5, using: &numbers)) }
            return query
        }

        mutating func filter(_ depth: Int) -> Filter<Sample> {
            if depth == 0 { return leaf(0) }
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: return filter(depth - 1) && filter(depth - 1)
            case 1: return filter(depth - 1) || filter(depth - 1)
            case 2: return !filter(depth - 1)
            case 3: return .all((0..<Int.random(in: 0...3, using: &numbers)).map { _ in filter(depth - 1) })
            case 4: return .any((0..<Int.random(in: 0...3, using: &numbers)).map { _ in filter(depth - 1) })
            default: return leaf(depth)
            }
        }

        private mutating func leaf(_ depth: Int) -> Filter<Sample> {
            let columns = Sample.columns
            switch Int.random(in: 0..<12, using: &numbers) {
            case 0: return compare(columns.text, Sample.text(&numbers))
            case 1: return compare(columns.note, maybe(Sample.text(&numbers)))
            case 2: return compare(columns.number, maybe(pick(Sample.numbers)))
            case 3: return compare(columns.real, maybe(pick(Sample.reals)))
            case 4: return compare(columns.bytes, maybe(pick(Sample.blobs)))
            case 5: return compareColumns(columns.id, columns.id)
            case 6: return Filter(.columns("other", pick(RowFilter.Comparison.allCases), "id"))
            case 7:
                let list = (0..<Int.random(in: 0...4, using: &numbers)).map { _ in maybe(Sample.text(&numbers)) }
                return columns.note.isIn(list)
            case 8: return columns.number.isBetween(maybe(pick(Sample.numbers)), maybe(pick(Sample.numbers)))
            case 9: return match(columns.text.name)
            case 10: return match(columns.note.name)
            default:
                guard depth > 0 else { return .sql("number") }
                return columns.other.isIn(query(depth: depth - 1).values { $0.id })
            }
        }

        private mutating func match(_ column: String) -> Filter<Sample> {
            let text = pick([Sample.text(&numbers), pick(Sample.texts)])
            return Filter(.text(column, pick(RowFilter.TextMatch.allCases), RowFilter.Argument(text)))
        }

        private mutating func compare<Value: ColumnValue>(
            _ column: Column<Sample, Value>, _ value: Value
        ) -> Filter<Sample> {
            switch pick(RowFilter.Comparison.allCases) {
            case .equal: column == value
            case .notEqual: column != value
            case .less: column < value
            case .lessOrEqual: column <= value
            case .greater: column > value
            case .greaterOrEqual: column >= value
            }
        }

        private mutating func compareColumns<Value: ColumnValue>(
            _ one: Column<Sample, Value>, _ other: Column<Sample, Value>
        ) -> Filter<Sample> {
            switch pick(RowFilter.Comparison.allCases) {
            case .equal: one == other
            case .notEqual: one != other
            case .less: one < other
            case .lessOrEqual: one <= other
            case .greater: one > other
            case .greaterOrEqual: one >= other
            }
        }
    }
#endif
