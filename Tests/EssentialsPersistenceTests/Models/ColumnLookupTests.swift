import TestTools
import Testing

@testable import EssentialsPersistence

/// Columns that models request, row after row.
@Suite struct ColumnLookupTests {
    private let layout = RowLayout(["id", "title", "year", "note"])

    /// Looks up columns in two rows. In the second row they are expected.
    private func twice(_ names: [String], _ lookup: ColumnLookup) -> [[Int?]] {
        (0..<2).map { _ in
            lookup.begin(layout)
            return names.map { lookup.index(of: $0) }
        }
    }

    @Test(
        "Columns are found in any order, any number of times and beside unknown names",
        arguments: [
            ["id", "title", "year", "note"], ["note", "year", "title", "id"], ["year", "id"],
            ["id", "id", "id", "note"],
            ["id", "missing", "title"], ["missing"], [], ["title", "missing", "year", "year", "missing", "id"],
            Array(repeating: "note", count: 40) + ["id", "year"],
        ])
    func orders(names: [String]) {
        let expected = names.map { layout.names.firstIndex(of: $0) }
        #expect(twice(names, ColumnLookup(layout)) == [expected, expected])
    }

    @Test("Rows whose columns are requested in another order than before return the right ones")
    func changingOrders() {
        let seed = UInt64.random(in: .min ... .max)
        var numbers = SeededNumbers(state: seed)
        let lookup = ColumnLookup(layout)
        let names = layout.names + ["missing"]
        for _ in 0..<500 {
            lookup.begin(layout)
            for _ in 0..<Int.random(in: 0...24, using: &numbers) {
                let name = names.randomElement(using: &numbers) ?? ""
                #expect(lookup.index(of: name) == layout.names.firstIndex(of: name), "seed \(seed)")
            }
        }
    }

    @Test("A row whose layout differs from the previous row is read by its own layout")
    func layouts() {
        let other = RowLayout(["year", "id"])
        let lookup = ColumnLookup(layout)
        #expect(twice(["note", "year"], lookup) == [[3, 2], [3, 2]])
        lookup.begin(other)
        #expect(lookup.index(of: "note") == nil)
        #expect(lookup.index(of: "year") == 0)
        #expect(lookup.index(of: "id") == 1)
    }

    /// A model with custom code that decodes optional properties in every possible way.
    struct Wide: PersistentModel, Equatable {
        var id: Int64
        var flag: Bool?
        var small: Int8?
        var ratio: Float?
        var text: String?
        var large: UInt64?
        var parent: ModelID<Film>?
        var tags: [String]?
        var extra: String

        static let table = "wide"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Wide, Int64>("id")
            let flag = Column<Wide, Bool?>("flag")
            let small = Column<Wide, Int8?>("small")
            let ratio = Column<Wide, Float?>("ratio")
            let text = Column<Wide, String?>("text")
            let parent = Column<Wide, ModelID<Film>?>("parent")
            let tags = Column<Wide, [String]?>(json: "tags")
            let extra = Column<Wide, String>("extra")
            var all: [ModelColumn<Wide>] {
                [
                    id.erased, flag.erased, small.erased, ratio.erased, text.erased, parent.erased, tags.erased,
                    extra.erased,
                ]
            }
        }

        enum CodingKeys: String, CodingKey { case id, flag, small, ratio, text, large, parent, tags, extra }

        init(
            id: Int64, flag: Bool? = nil, small: Int8? = nil, ratio: Float? = nil, text: String? = nil,
            large: UInt64? = nil, parent: ModelID<Film>? = nil, tags: [String]? = nil, extra: String = "default"
        ) {
            (self.id, self.flag, self.small, self.ratio) = (id, flag, small, ratio)
            (self.text, self.large, self.parent, self.tags) = (text, large, parent, tags)
            self.extra = extra
        }

        /// Decodes the columns in a custom order, and one of them only if it exists.
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            tags = try values.decodeIfPresent([String].self, forKey: .tags)
            parent = try values.decodeIfPresent(ModelID<Film>.self, forKey: .parent)
            large = try values.decodeIfPresent(UInt64.self, forKey: .large)
            text = try values.decodeIfPresent(String.self, forKey: .text)
            ratio = try values.decodeIfPresent(Float.self, forKey: .ratio)
            small = try values.decodeIfPresent(Int8.self, forKey: .small)
            flag = try values.decodeNil(forKey: .flag) ? nil : values.decode(Bool.self, forKey: .flag)
            id = try values.decode(Int64.self, forKey: .id)
            extra = values.contains(.extra) ? try values.decode(String.self, forKey: .extra) : "default"
        }
    }

    @Test("Optional values are decoded from values, from NULL and from missing columns")
    func optionals() throws {
        let names = ["id", "flag", "small", "ratio", "text", "large", "parent", "tags", "extra"]
        let models = [
            Wide(id: 1),
            Wide(
                id: 2, flag: true, small: -3, ratio: 0.5, text: "a text that is longer than fifteen bytes", large: 7,
                parent: ModelID(), tags: ["a"], extra: "x"),
            Wide(id: 3, text: ""),
        ]
        let wide = RowLayout(names)
        let rows = try models.map { try RowEncoder.row($0, layout: wide) }
        #expect(try ModelCoder<Wide>(wide).models(rows + rows) == models + models)
        let narrow = RowLayout(["flag", "id"])
        let row = try #require(StoredRow(narrow, [.integer(0), .integer(9)]))
        #expect(try RowDecoder.model(from: row) == Wide(id: 9, flag: false))
    }

    @Test(
        "Decoding an optional value fails if its column has another kind of value",
        arguments: [
            ("flag", "x" as StoredValue), ("small", 1000), ("text", 1), ("parent", "x"), ("tags", 1), ("large", -1),
        ])
    func mismatches(column: String, value: StoredValue) throws {
        let wide = RowLayout(["id", "flag", "small", "ratio", "text", "large", "parent", "tags", "extra"])
        var row = try RowEncoder.row(Wide(id: 1), layout: wide)
        row.values[try #require(wide.index(of: column))] = value
        let failure = #expect(throws: PersistenceFailure.self) { try RowDecoder.model(Wide.self, from: row) }
        #expect(failure?.reason == .decoding)
    }
}
