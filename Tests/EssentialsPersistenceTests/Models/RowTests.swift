import FoundationEssentials
import Testing

@testable import EssentialsPersistence

@Suite struct RowTests {
    private let layout = RowLayout(Film.columns.all.map(\.name))

    private func film() -> Film {
        Film(
            title: "Metropolis", year: 1926, studioID: ModelID(), genre: .drama, tags: ["silent", "it's \"big\""],
            premiere: Date(timeIntervalSince1970: -1_358_000_000), poster: [0, 1, 255])
    }

    @Test("A model is read as it was stored")
    func roundTrip() throws {
        let film = film()
        let row = try RowEncoder.row(film, layout: layout)
        #expect(try RowDecoder.model(Film.self, from: row) == film)
        #expect(row["id"] == .blob(film.id.bytes))
        #expect(row["genre"] == "drama")
        #expect(row["tags"] == #"["silent","it's \"big\""]"#)
        #expect(row["premiere"] == "1926-12-20 09:46:40.000")
        #expect(row["director"] == nil)
    }

    /// A model whose values have an order only in their encodings.
    private struct Selection: PersistentModel {
        enum Genre: String, Codable, CaseIterable { case drama, comedy, noir, western }
        /// Values that cannot be compared.
        struct Marks: Codable { var names: Set<String> }

        var id: Int64 = 1
        var numbers: Set<Int>
        var counts: [Genre: Int]
        var marks: Marks

        static let table = "selection"
        static let columns = Columns()
        struct Columns: ModelColumns {
            let id = Column<Selection, Int64>("id")
            let numbers = Column<Selection, Set<Int>>(json: "numbers")
            let counts = Column<Selection, [Genre: Int]>(json: "counts")
            let marks = Column<Selection, Marks>(json: "marks")
            var all: [ModelColumn<Selection>] { [id.erased, numbers.erased, counts.erased, marks.erased] }
        }

        /// Equal models whose sets have different orders.
        init(capacity: Int) {
            numbers = Set(minimumCapacity: 8 * capacity)
            numbers.formUnion([10, 9, 1].shuffled())
            counts = Dictionary(minimumCapacity: 8 * capacity)
            for genre in Genre.allCases.shuffled() { counts[genre] = genre.rawValue.count }
            var names = Set<String>(minimumCapacity: 8 * capacity)
            names.formUnion(["b", "a", "c"].shuffled())
            marks = Marks(names: names)
        }
    }

    @Test("Equal sets and dictionaries are stored as equal texts, so they cause no change and no conflict")
    func unordered() throws {
        let layout = RowLayout(Selection.columns.all.map(\.name))
        let coder = try ModelCoder<Selection>(layout)
        let first = try coder.row(Selection(capacity: 1))
        #expect(first["numbers"] == "[1,9,10]" && first["marks"] == #"{"names":["a","b","c"]}"#)
        for capacity in 2...20 {
            let other = Selection(capacity: capacity)
            #expect(try coder.row(other) == first)
            #expect(try coder.updated(first) { $0 = other } == nil)
            #expect(try coder.row(other, replacing: first) == first)
        }
    }

    @Test("If an equal set was stored in another order, its bytes stay")
    func storedOrder() throws {
        let layout = RowLayout(Selection.columns.all.map(\.name))
        let coder = try ModelCoder<Selection>(layout)
        var stored = try coder.row(Selection(capacity: 1))
        stored.values[1] = "[10,1,9]"
        stored.values[3] = #"{ "names": ["c", "a", "b"] }"#
        #expect(try coder.updated(stored) { $0 = Selection(capacity: 7) } == nil)
        let changed = try #require(try coder.updated(stored) { $0.numbers.insert(2) })
        #expect(changed["numbers"] == "[1,2,9,10]" && changed["marks"] == stored["marks"])
    }

    @Test("Values that are nil are NULL")
    func null() throws {
        let film = Film(title: "", year: 0)
        let row = try RowEncoder.row(film, layout: layout)
        #expect(["studioID", "genre", "premiere", "poster"].allSatisfy { row[$0] == .null })
        #expect(try RowDecoder.model(Film.self, from: row) == film)
    }

    @Test("Columns outside the model keep the values of the base")
    func otherColumns() throws {
        let layout = RowLayout(["note"] + layout.names)
        let base = try #require(StoredRow(layout, [7] + Array(repeating: .null, count: 8)))
        let row = try RowEncoder.row(film(), layout: layout, base: base)
        #expect(row["note"] == 7)
        #expect(row["title"] == "Metropolis")
        #expect(try RowDecoder.model(Film.self, from: row).year == 1926)
    }

    @Test("A property without a column is an invalid model")
    func missingColumn() throws {
        let failure = #expect(throws: PersistenceFailure.self) {
            try RowEncoder.row(film(), layout: RowLayout(["id", "title"]))
        }
        #expect(failure?.reason == .invalidModel)
        #expect(failure?.model == "film")
    }

    @Test("A value that cannot be stored is an invalid model")
    func invalidValue() {
        let failure = #expect(throws: PersistenceFailure.self) {
            try RowEncoder.row(Film(title: "a\u{0}", year: 1), layout: layout)
        }
        #expect(failure?.reason == .invalidModel)
    }

    @Test("An error of a model's own code is an encoding failure")
    func ownError() {
        struct Refusal: Error {}
        struct Broken: PersistentModel {
            var id: Int64 = 1
            static let table = "broken"
            static let columns = Columns()
            struct Columns: ModelColumns {
                let id = Column<Broken, Int64>("id")
                var all: [ModelColumn<Broken>] { [id.erased] }
            }
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let failure = #expect(throws: PersistenceFailure.self) {
            try RowEncoder.row(Broken(), layout: RowLayout(["id"]))
        }
        #expect(failure?.reason == .encoding)
        #expect(failure?.underlying is Refusal)
    }

    @Test("A model that is not a keyed container is an invalid model")
    func unkeyed() {
        struct Listed: PersistentModel {
            var id: Int64 = 1
            static let table = "listed"
            static let columns = Columns()
            struct Columns: ModelColumns {
                let id = Column<Listed, Int64>("id")
                var all: [ModelColumn<Listed>] { [id.erased] }
            }
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(id)
            }
        }
        let failure = #expect(throws: PersistenceFailure.self) {
            try RowEncoder.row(Listed(), layout: RowLayout(["id"]))
        }
        #expect(failure?.reason == .invalidModel)
    }

    @Test(
        "A row that does not fit the model is a decoding failure with its id",
        arguments: [("year", "soon" as StoredValue), ("title", .null), ("tags", "no JSON"), ("genre", "western")])
    func decoding(column: String, value: StoredValue) throws {
        let film = film()
        var row = try RowEncoder.row(film, layout: layout)
        row.values[try #require(layout.index(of: column))] = value
        let failure = #expect(throws: PersistenceFailure.self) { try RowDecoder.model(Film.self, from: row) }
        #expect(failure?.reason == .decoding)
        #expect(failure?.ids == [.blob(film.id.bytes)])
    }

    @Test("Unsigned 64-bit integers are stored if they fit SQLite's range")
    func unsigned() throws {
        struct Counter: PersistentModel, Equatable {
            var id: Int64
            var large: UInt64
            var word: UInt?
            static let table = "counter"
            static let columns = Columns()
            struct Columns: ModelColumns {
                let id = Column<Counter, Int64>("id")
                var all: [ModelColumn<Counter>] { [id.erased] }
            }
        }
        struct Named: PersistentModel, Equatable {
            enum Level: UInt64, Codable { case low = 1, high = 9_223_372_036_854_775_808 }
            var id: Int64 = 1
            var large: UInt64
            var word: UInt?
            var level = Level.low
            static let table = "counter"
            static let columns: MappedColumns<Named> = [
                "id": \.id, "large": \.large, "word": \.word, "level": \.level,
            ]
        }
        #expect(Named.columns.all.map(\.storage) == [.integer, .integer, .integer, .integer])
        let coder = try ModelCoder<Named>(RowLayout(Named.columns.all.map(\.name)))
        let named = Named(large: UInt64(Int64.max))
        #expect(try coder.model(coder.row(named)) == named)
        for refused in [Named(large: .max), Named(large: 1, word: .max), Named(large: 1, level: .high)] {
            let failure = #expect(throws: PersistenceFailure.self) { try coder.row(refused) }
            #expect(failure?.reason == .invalidModel && failure?.message.contains("out of range") == true)
        }
        let layout = RowLayout(["id", "large", "word"])
        let counter = Counter(id: 1, large: UInt64(Int64.max), word: 7)
        let row = try RowEncoder.row(counter, layout: layout)
        #expect(try RowDecoder.model(Counter.self, from: row) == counter)
        #expect(throws: PersistenceFailure.self) {
            try RowEncoder.row(Counter(id: 1, large: .max), layout: layout)
        }
        let negative = try #require(StoredRow(layout, [1, -1, nil]))
        #expect(throws: PersistenceFailure.self) { try RowDecoder.model(Counter.self, from: negative) }
    }

    @Test("The columns in which two rows differ are found, and can be replaced")
    func changes() throws {
        var film = film()
        let one = try RowEncoder.row(film, layout: layout)
        film.year = 1927
        film.tags = []
        let other = try RowEncoder.row(film, layout: layout)
        #expect(other.changes(from: one) == [2, 5])
        #expect(one.replacing([2, 5], from: other) == other)
        #expect(one.replacing([2], from: other).changes(from: other) == [5])
    }
}
