import TestTools

#if Persistence
    import EssentialsPersistence

    @testable import EssentialsSQLite

    /// One random change of a unit of work. Rows have few values, so that many changes undo others.
    struct LibraryChange: Sendable, CustomStringConvertible {
        private enum Kind: CaseIterable { case create, put, update, delete, deleteByQuery }
        private enum Target: CaseIterable { case shelf, book, chapter, loan, sticker, tally }
        private struct Mistake: Error {}

        private static let stickers = ["AB", "ab", "aB", "c"]

        private let target: Target
        private let kind: Kind
        private let id: Int64
        private let number: Int
        private let sticker: String
        private let fails: Bool

        private init(_ target: Target, _ kind: Kind, _ numbers: inout SeededNumbers) {
            self.target = target
            self.kind = kind
            id = .random(in: 1...3, using: &numbers)
            number = .random(in: 0..<4, using: &numbers)
            sticker = Self.stickers.randomElement(using: &numbers) ?? "c"
            fails = Int.random(in: 0..<60, using: &numbers) == 0
        }

        static func random(_ numbers: inout SeededNumbers) -> LibraryChange {
            let targets: [Target] = [.shelf, .shelf, .book, .book, .book, .chapter, .loan, .sticker, .sticker, .tally]
            let kinds: [Kind] = [.create, .put, .put, .put, .update, .update, .delete, .delete, .deleteByQuery]
            return LibraryChange(
                targets.randomElement(using: &numbers) ?? .book, kinds.randomElement(using: &numbers) ?? .put, &numbers)
        }

        var description: String { "\(kind) \(target) \(target == .sticker ? sticker : "\(id)") \(number)" }

        private var text: String { number % 2 == 0 ? "a" : "b" }

        func run(_ work: PersistenceWork) throws {
            switch target {
            case .shelf: try change(Shelf(id: id, name: text), id, Shelf.where { $0.name == text }, work)
            case .book:
                let shelves: [Int64?] = [nil] + (try work.ids(Shelf.all))
                let book = Book(id: id, title: text, shelf: shelves[number % shelves.count])
                try change(book, id, Book.where { $0.title == text }, work)
            case .chapter:
                guard let book = try parent(work) else { return }
                try change(Chapter(id: id, book: book), id, Chapter.where { $0.book == id }, work)
            case .loan:
                guard let book = try parent(work), id < 3 else { return }
                try change(Loan(id: id, book: book), id, Loan.where { $0.book == id }, work)
            case .sticker:
                try change(Sticker(id: sticker, name: text), sticker, Sticker.where { $0.id == sticker }, work)
            case .tally: try change(Tally(id: id, count: number), id, Tally.where { $0.count > 2 }, work)
            }
            if fails { throw Mistake() }
        }

        /// An existing book.
        private func parent(_ work: PersistenceWork) throws -> Int64? {
            let books = try work.ids(Book.all)
            return books.isEmpty ? nil : books[number % books.count]
        }

        private func change<Model: PersistentModel>(
            _ model: Model, _ id: Model.ID, _ query: Query<Model>, _ work: PersistenceWork
        ) throws {
            switch kind {
            case .create: if try work.find(Model.self, id: id) == nil { try work.create(model) }
            case .put: try work.put(model)
            case .update: if try work.find(Model.self, id: id) != nil { try work.update(id: id) { $0 = model } }
            case .delete: try work.delete(Model.self, ids: [id], missing: .ignore)
            case .deleteByQuery: try work.delete(query)
            }
        }
    }
#endif
