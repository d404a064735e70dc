import EssentialsPersistence
import FoundationEssentials

/// A row with a value of each kind.
struct Specimen: PersistentModel, Hashable {
    enum Kind: String, Codable, ColumnValue { case plain, odd }

    var id: Int64
    var text: String
    var note: String?
    var number: Int?
    var real: Double?
    var bytes: [UInt8]?
    var flag = false
    var date: Date?
    var uuid: UUID?
    var kind: Kind?
    var list: [String] = []

    static let table = "specimen"
    static let columns = Columns()

    struct Columns: ModelColumns {
        let id = Column<Specimen, Int64>("id")
        let text = Column<Specimen, String>("text")
        let note = Column<Specimen, String?>("note")
        let number = Column<Specimen, Int?>("number")
        let real = Column<Specimen, Double?>("real")
        let bytes = Column<Specimen, [UInt8]?>("bytes")
        let flag = Column<Specimen, Bool>("flag")
        let date = Column<Specimen, Date?>("date")
        let uuid = Column<Specimen, UUID?>("uuid")
        let kind = Column<Specimen, Kind?>("kind")
        let list = Column<Specimen, [String]>(json: "list")

        var all: [ModelColumn<Specimen>] {
            [
                id.erased, text.erased, note.erased, number.erased, real.erased, bytes.erased, flag.erased, date.erased,
                uuid.erased, kind.erased, list.erased,
            ]
        }
    }

    /// Rows with values that are easy to get wrong, in the order of their ids.
    static let samples: [Specimen] = {
        let time = Date(timeIntervalSince1970: 1_700_000_000.25)
        let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))
        return [
            Specimen(id: .min, text: "", number: .min, real: -.infinity, bytes: [], list: [""]),
            Specimen(id: -1, text: "a", note: "a", number: -1, real: -0.5, bytes: [0], flag: true, date: time),
            Specimen(id: 0, text: "A", note: "%", number: 0, real: 0, bytes: [0, 0], uuid: uuid, kind: .plain),
            Specimen(id: 1, text: "a%b", note: "_", number: 1, real: 0.1, bytes: [255], kind: .odd, list: ["a", "b"]),
            Specimen(id: 2, text: "axb", note: "it's", number: 1, real: 1, bytes: [97], flag: true),
            Specimen(id: 3, text: "a_b", note: "\"", number: 2, real: 1.5, bytes: [97, 0, 98]),
            Specimen(
                id: 4, text: "é", note: "e\u{301}", number: 3, real: 1e300,
                date: Date(timeIntervalSince1970: -86_400.001), uuid: uuid),
            Specimen(id: 5, text: "e\u{301}", note: "é", number: .max, real: .infinity),
            Specimen(id: 6, text: "日本\u{1F600}", note: "\\", list: ["日本", "\"", "\\"]),
            Specimen(id: 7, text: " a\n", note: "", flag: true, date: Date(timeIntervalSince1970: 0)),
            Specimen(id: .max, text: "\u{10FFFF}", note: "NULL", number: 1),
        ]
    }()
}
