#if Persistence
    import Testing

    @testable import EssentialsPersistence

    /// A query of one of the models of a world.
    enum MountQuery {
        case samples(Query<Sample>)
        case films(Query<Film>)
        case studios(Query<Studio>)

        static let relation = ToOne<Film, Studio>(Film.columns.studio)

        var comment: Comment { "\(node)" }

        /// The rows.
        var node: RowQuery {
            switch self {
            case .samples(let query): query.node
            case .films(let query): query.node
            case .studios(let query): query.node
            }
        }

        /// The distinct values of one column.
        var distinct: RowQuery {
            switch self {
            case .samples(let query): query.values { $0.note }.distinct().node
            case .films(let query): query.values { $0.studio }.distinct().node
            case .studios(let query): query.values { $0.name }.distinct().node
            }
        }

        /// The values of one column of all rows of the filter.
        var values: RowQuery {
            switch self {
            case .samples(let query): Query(filter: query.filter).values { $0.number }.node
            case .films(let query): Query(filter: query.filter).values { $0.year }.node
            case .studios(let query): Query(filter: query.filter).values { $0.name }.node
            }
        }
    }

    /// Queries of films and studios, whose filters refer to the other models.
    extension RandomQuery {
        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }

        mutating func mountQuery() -> MountQuery {
            switch number(0..<8) {
            case 0...2: return .samples(query(depth: 2))
            case 3:
                let films = films().values { $0.id }
                let other = filter(1)
                return .samples(Sample.where { $0.other.isIn(films) || other })
            case 4...6: return .films(films())
            default: return .studios(studios())
            }
        }

        mutating func name() -> String { ["a", "ab", "b", "B", ""].randomElement(using: &numbers) ?? "" }

        mutating func films() -> Query<Film> {
            var query = Film.all
            let (studio, year) = (Int64(number(0..<5)), number(1919..<1924))
            switch number(0..<7) {
            case 0: query = MountQuery.relation.children(of: studio)
            case 1, 2:
                let studios = studios().values { $0.id }
                let isOpposite = number(0..<2) == 0
                query = Film.where { isOpposite ? !$0.studio.isIn(studios) : $0.studio.isIn(studios) }
            case 3:
                let samples = self.query(depth: 1).values { $0.id }
                query = Film.where { $0.id.isIn(samples) && $0.year != year }
            case 4: query = Film.where { $0.year > year || $0.studio == nil }
            case 5: query = Film.where { $0.title.hasPrefix("a") && $0.studio.isIn([studio, nil]) }
            default: break
            }
            if number(0..<2) == 0 { query = query.sorted { [$0.studio.descending, $0.title.ascending] } }
            return number(0..<3) == 0 ? query.limit(number(0..<5)).offset(number(0..<3)) : query
        }

        mutating func studios() -> Query<Studio> {
            let name = name()
            switch number(0..<5) {
            case 0: return Studio.all.sorted { [$0.name.descending] }
            case 1: return Studio.where { $0.name.hasPrefix(name) }
            case 2: return Studio.where { $0.name != name }.limit(3)
            default:
                let year = number(1919..<1924)
                let films = Film.where { $0.year <= year }.values { $0.studio }
                return Query(filter: Filter(.subquery("id", films.node)))
            }
        }
    }
#endif
