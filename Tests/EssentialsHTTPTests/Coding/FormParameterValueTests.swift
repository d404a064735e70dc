import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct FormParameterValueTests {
    private enum Role: String, FormParameterValue { case admin }

    private let day = Date(timeIntervalSince1970: 0)

    @Test("One literal accepts variables and literals of different types")
    func mixedLiteral() throws {
        let (role, page, ids, since, ratio, isOpen) = ("admin", 2, [1, 2], day as Date?, 0.5, true)
        let (missing, pages, names) = (nil as Date?, [3] as [Int]?, ["a", nil] as [String?])
        let (bytes, tags, inner) = (Data([1, 2]), ["x"] as Set<String>, ["in": page])
        let parameters: FormParameters = [
            "role": role, "page": page, "ids": ids, "since": since, "ratio": ratio, "isOpen": isOpen,
            "missing": missing, "pages": pages, "names": names, "bytes": bytes, "tags": tags, "inner": inner,
            "sum": page + 1, "enum": Role.admin, "single": 0.1 as Float, "big": UInt64.max, "small": Int8(-1),
            "part": role.prefix(2), "text": "\(role) 1", "integer": 1, "number": 1.5, "boolean": false, "null": nil,
            "dates": [day], "nested": [[1], [2, 3]], "mixed": [role, page, nil, ["k": isOpen]] as FormValue,
            "cast": missing as Date?,
        ]
        #expect(
            parameters.values == [
                "role": .text("admin"), "page": .integer(2), "ids": .array([.integer(1), .integer(2)]),
                "since": .date(day), "ratio": .number(0.5), "isOpen": .boolean(true), "missing": .null,
                "pages": .array([.integer(3)]), "names": .array([.text("a"), .null]), "bytes": .data(Data([1, 2])),
                "tags": .set([.text("x")]), "inner": .dictionary(["in": .integer(2)]), "sum": .integer(3),
                "enum": .text("admin"), "single": .number(0.1), "big": .unsigned(.max), "small": .integer(-1),
                "part": .text("ad"), "text": .text("admin 1"), "integer": .integer(1), "number": .number(1.5),
                "boolean": .boolean(false), "null": .null, "dates": .array([.date(day)]),
                "nested": .array([.array([.integer(1)]), .array([.integer(2), .integer(3)])]),
                "mixed": .array([.text("admin"), .integer(2), .null, .dictionary(["k": .boolean(true)])]),
                "cast": .null,
            ])
    }

    @Test("Models with equal dictionaries are equal parameters, also if the keys are no names")
    func unnamedKeys() throws {
        enum Genre: String, Codable, CaseIterable { case drama, comedy, noir }
        struct Search: Codable { var counts: [Genre: Int] }
        var found: Set<FormParameters> = []
        for capacity in 1...20 {
            var counts = [Genre: Int](minimumCapacity: 8 * capacity)
            for genre in Genre.allCases.shuffled() { counts[genre] = genre.rawValue.count }
            found.insert(try FormParameters(encoding: Search(counts: counts)))
        }
        let pairs: [FormValue] = ["comedy", .integer(6), "drama", .integer(5), "noir", .integer(4)]
        #expect(found.map(\.values) == [["counts": .array(pairs)]])
    }

    @Test("A nil optional is encoded as the name alone or omitted, as the encoding says")
    func nilInQuery() throws {
        let parameters: FormParameters = ["page": 2, "since": nil as Date?]
        #expect(try FormEncoding.standard.query(parameters) == "page=2&since")
        #expect(try FormEncoding(null: .drop).query(parameters) == "page=2")
    }

    @Test("A dictionary of parameter values becomes parameters, also nested ones")
    func dictionaries() {
        let (texts, numbers, dates) = (["a": "x"], ["a": 1], ["a": day, "b": nil] as [String: Date?])
        #expect(FormParameters(texts) == ["a": "x"])
        #expect(FormParameters(numbers) == ["a": 1])
        #expect(FormParameters(dates) == ["a": day, "b": nil])
        let mixed: [String: any FormParameterValue] = ["a": 1, "b": texts]
        #expect(FormParameters(mixed) == ["a": 1, "b": ["a": "x"]])
        #expect(FormParameters(["k": FormParameters(texts)]).values == ["k": .dictionary(["a": .text("x")])])
    }

    @Test("A name can be set to a variable and removed with nil")
    func names() {
        var parameters: FormParameters = ["a": 1, "b": 2, "c": 3]
        let (text, nothing) = ("x", nil as Int?)
        parameters["a"] = text
        parameters["b"] = nothing
        parameters["c"] = nil
        #expect(parameters == ["a": "x"])
        #expect(parameters["a"]?.formValue == "x")
        #expect(parameters["b"] == nil)
    }
}
