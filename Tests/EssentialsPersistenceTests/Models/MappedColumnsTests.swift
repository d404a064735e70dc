import FoundationEssentials
import Testing

@testable import EssentialsPersistence

/// Columns that are named beside their properties, and coding keys without columns.
@Suite struct MappedColumnsTests {
    private struct Trip: PersistentModel, Hashable {
        enum Kind: String, Codable, ColumnValue { case train, ship }
        enum Class: Int, Codable { case first = 1, second }
        /// It encodes itself as JSON, although its raw value could fill a column.
        struct Code: RawRepresentable, Codable, Hashable { var rawValue: UUID }

        var id = ModelID<Trip>()
        var name: String
        var days: Int
        var price: Double?
        var start: Date?
        var kind: Kind?
        var level: Class
        var other: Class?
        var stops: [String] = []
        var note: [String: String]?
        var code: Code?
        /// A property without a column.
        var label: String { "\(name) \(days)" }

        static let table = "trip"
        static let columns: MappedColumns<Trip> = [
            "id": \.id, "name": \.name, "days": \.days, "price": \.price, "start": \.start, "kind": \.kind,
            "level": \.level, "other": \.other, "stops": \.stops, "note": \.note, "code": \.code,
        ]
    }

    private struct Secretive: PersistentModel {
        var id: Int64
        var secret: String?

        static let table = "secretive"
        static let columns: MappedColumns<Secretive> = ["id": \.id]
    }

    @Test("The types of the properties decide how the values of their columns are stored")
    func storages() {
        let columns = Trip.columns.all
        #expect(
            columns.map(\.name) == [
                "id", "name", "days", "price", "start", "kind", "level", "other", "stops", "note", "code",
            ])
        #expect(
            columns.map(\.storage) == [
                .blob, .text, .integer, .real, .text, .text, .integer, .integer, .text, .text, .text,
            ])
        #expect(columns.filter(\.isOptional).map(\.name) == ["price", "start", "kind", "other", "note", "code"])
    }

    @Test("A property of a mapped column can be used in queries, with the operators of its type")
    func queries() {
        let query = Trip.where { $0.days > 3 && $0.name.hasPrefix("A") && $0.price == nil && $0.kind == .ship }
            .sorted { [$0.days.descending, $0.id.ascending] }
        #expect(query.order.map(\.column) == ["days", "id"])
        let filter = Filter<Trip>(
            .all([
                .comparison("days", .greater, RowFilter.Argument(3)),
                .text("name", .hasPrefix, RowFilter.Argument("A")),
                .comparison("price", .equal, RowFilter.Argument(Double?.none)),
                .comparison("kind", .equal, RowFilter.Argument(Trip.Kind.ship)),
            ]))
        #expect(query.filter == filter)
        #expect(Trip.columns.id == Column<Trip, ModelID<Trip>>("id"))
        #expect(Trip.all.values { $0.price }.column.name == "price")
        #expect(!Trip.columns.all.map(\.name).contains(Trip.columns.label.name))
    }

    @Test(
        "A model with mapped columns is read as it was stored, and a stored property without a column is refused")
    func rows() throws {
        let coder = try ModelCoder<Trip>(RowLayout(Trip.columns.all.map(\.name)))
        let trip = Trip(name: "Andes", days: 4, price: 1.5, kind: .train, level: .second, other: .first, stops: ["a"])
        let row = try coder.row(trip)
        #expect(row["level"] == 2 && row["other"] == 1 && row["kind"] == "train" && row["stops"] == #"["a"]"#)
        #expect(try coder.model(row) == trip)
        let other = try ModelCoder<Secretive>(RowLayout(["id", "secret"]))
        let failure = #expect(throws: PersistenceFailure.self) { try other.row(Secretive(id: 7, secret: "x")) }
        #expect(failure?.reason == .invalidModel)
        #expect(failure?.message.contains("secret") == true)
        #expect(failure?.ids == [7])
    }

    @Test("A name is a coding key if the model's key type has it, whatever values the model has")
    func keys() {
        let probe = CodingKeyProbe(Trip.self)
        for name in Trip.columns.all.map(\.name) { #expect(probe.has(name) == true) }
        #expect(probe.has("Name") == false)
        #expect(probe.has("director") == false)
    }

    /// A model with custom key names, which decodes in two steps.
    private struct Renamed: Decodable {
        enum CodingKeys: String, CodingKey { case id, title = "name" }
        enum OldKeys: String, CodingKey { case year }

        init(from decoder: any Decoder) throws {
            _ = try? decoder.container(keyedBy: OldKeys.self).decode(Int.self, forKey: .year)
            _ = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .title)
        }
    }

    /// A model whose keys can have any name.
    private struct Open: Decodable {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            _ = try container.decodeIfPresent(Int.self, forKey: Key(stringValue: "note"))
            _ = try container.decode(Int.self, forKey: Key(stringValue: "id"))
            _ = try container.decode(Int.self, forKey: Key(stringValue: "year"))
        }
    }

    @Test("Custom key names in several containers are found, and any key that is requested from an open container")
    func customKeys() {
        let renamed = CodingKeyProbe(Renamed.self)
        #expect(["id", "name", "year"].allSatisfy { renamed.has($0) == true })
        #expect(renamed.has("title") == false)
        let open = CodingKeyProbe(Open.self)
        #expect(open.has("note") == true && open.has("id") == true)
        #expect(open.has("year") == nil && open.has("other") == nil)
        #expect(CodingKeyProbe(Int.self).has("id") == nil)
    }
}
