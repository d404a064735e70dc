import TestTools

#if Persistence
    import EssentialsTools

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Observers of one scope. Like an observation, each keeps its last result, and reads again only after a change
    /// that concerns it.
    final class ScopeWatch {
        /// A row as the scope sees it.
        struct Seen: Hashable {
            let row: StoredRow
            let origin: RowOrigin
        }

        private final class Gathered: Sendable {
            let list = Mutex<[PersistenceChange]>([])
        }

        /// An observer of the result of one call.
        private final class Watched {
            let name: String
            let interest: ChangeInterest
            let read: (any PersistenceService) throws(PersistenceFailure) -> AnyHashable
            var last: AnyHashable?

            init<Value: Hashable & Sendable>(_ name: String, _ interest: ChangeInterest, _ call: PersistenceCall<Value>)
            {
                self.name = name
                self.interest = interest
                read = { (service) throws(PersistenceFailure) in AnyHashable(try service.wait(for: call)) }
            }

            convenience init<Model: PersistentModel & Hashable>(_ name: String, _ query: Query<Model>) {
                self.init(name, ChangeInterest(query.node), .read { try $0.fetch(query) })
            }

            convenience init<Value: Hashable & Sendable>(_ name: String, _ call: PersistenceCall<Value>) {
                self.init(name, ChangeInterest(call.plan), call)
            }
        }

        let service: any PersistenceService
        private let gathered = Gathered()
        private var observation: PersistenceObservation?
        private var rows: [RowKey: Seen] = [:]
        private var watched: [Watched]

        init(_ service: any PersistenceService, _ numbers: inout SeededNumbers) throws(PersistenceFailure) {
            self.service = service
            watched = Array(Self.all.shuffled(using: &numbers).prefix(3))
            observation = try service.observeChanges { [gathered] change in gathered.list.withLock { $0.append(change) }
            }
            rows = try seen()
            for observer in watched { observer.last = try observer.read(service) }
        }

        private static var all: [Watched] {
            let shelves = Shelf.where { $0.name == "a" }.values { $0.id }
            return [
                Watched("books on a shelf", Book.where { $0.shelf == 1 }),
                Watched("books on shelves", Book.where { $0.shelf.isIn(shelves) }),
                Watched("one book", Book.where { $0.id == 2 }),
                Watched("first books", Book.all.sorted { [$0.title.ascending] }.limit(2)),
                Watched("a sticker", Sticker.where { $0.id == "AB" }),
                Watched("stickers by ids", .fetch(Sticker.self, ids: ["AB", "ab", "c"], missing: .ignore)),
                Watched("books by ids", .fetch(Book.self, ids: [3, 1], missing: .ignore)),
                Watched("loans", .reading(Loan.all.node) { try $0.count(Loan.all) }),
                Watched("chapters", .reading(Chapter.all.node) { try $0.counts(by: Chapter.all.values { $0.book }) }),
                Watched("tally", .reading(Tally.all.node) { try $0.sum(Tally.all.values { $0.count }) }),
                Watched("no book", .find(Book.self, id: 1)),
            ]
        }

        private func seen() throws(PersistenceFailure) -> [RowKey: Seen] {
            try service.wait(
                for: .read { work in
                    var found: [RowKey: Seen] = [:]
                    for node in Library.nodes {
                        for row in try work.rows.rows(node) {
                            let id = row["id"] ?? .null
                            found[RowKey(table: node.table, id: id)] = Seen(
                                row: row, origin: try work.rows.origin(of: id, in: node.table))
                        }
                    }
                    return found
                })
        }

        /// The changes that observers have missed since the last call; empty if each has the same result as a read.
        ///
        /// - Parameter isUnchanged: Whether the scope must not have been notified of any change.
        func findings(isUnchanged: Bool) throws(PersistenceFailure) -> [String] {
            let changes = gathered.list.withLock { changes in
                defer { changes = [] }
                return changes
            }
            var findings: [String] = []
            if isUnchanged, !changes.isEmpty { findings.append("\(service.name) is told of \(changes)") }
            let now = try seen()
            for key in Set(rows.keys).union(now.keys) where rows[key] != now[key] {
                guard !changes.contains(where: { $0.touches(key.table, ids: [key.id]) }) else { continue }
                findings.append("\(service.name) is not told that \(key.table) \(key.id) has changed")
            }
            rows = now
            for observer in watched {
                let value = try observer.read(service)
                if observer.last != value, !changes.contains(where: { observer.interest.includes($0) }) {
                    findings.append("\(service.name): the observer of \(observer.name) is not woken")
                }
                observer.last = value
            }
            return findings
        }
    }
#endif
