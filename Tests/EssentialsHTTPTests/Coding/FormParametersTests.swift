import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct FormParametersTests {
    private enum Role: String, Codable { case admin }

    private struct Search: Encodable {
        var text = "a b"
        var page = 2
        var big = UInt64.max
        var ratio = 0.5
        var single: Float = 0.1
        var isOpen = true
        var since = Date(timeIntervalSince1970: 0)
        var token = Data([1, 2])
        var tags = ["b", "a"]
        var ids: Set<Int> = [3, 1, 2]
        var nothing: Int?
        var role = Role.admin
        var owner = ["name": "x"]
        var link = URL(string: "https://h/a?b")
        var price = Decimal(string: "19.99")
        var byNumber = [7: "x"]
        var id = UUID(uuidString: "00000000-0000-0000-0000-000000000001")
    }

    private class Base: Encodable {
        var base = 1
    }

    private final class Derived: Base {
        enum CodingKeys: CodingKey { case derived }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(2, forKey: .derived)
            try container.encodeNil(forKey: .derived)
            var list = container.nestedUnkeyedContainer(forKey: .derived)
            try list.encode(3)
            try list.encodeNil()
            var inner = list.nestedContainer(keyedBy: CodingKeys.self)
            try inner.encode("x", forKey: .derived)
        }
    }

    private final class Endless: Encodable {
        enum CodingKeys: CodingKey { case next }

        let isSingle: Bool

        init(isSingle: Bool) { self.isSingle = isSingle }

        func encode(to encoder: any Encoder) throws {
            if isSingle {
                var container = encoder.singleValueContainer()
                try container.encode(self)
            } else {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(self, forKey: .next)
            }
        }
    }

    @Test("The properties of a model become values with their types")
    func encodingModels() throws {
        let parameters = try FormParameters(encoding: Search())
        #expect(
            parameters == [
                "text": "a b", "page": 2, "big": UInt64.max, "ratio": 0.5, "single": 0.1, "isOpen": true,
                "since": Date(timeIntervalSince1970: 0), "token": Data([1, 2]), "tags": ["b", "a"],
                "ids": Set([1, 2, 3]), "role": "admin", "owner": ["name": "x"], "link": "https://h/a?b",
                "price": 19.99,
                "byNumber": ["7": "x"], "id": "00000000-0000-0000-0000-000000000001",
            ])
        #expect(
            try FormEncoding.standard.query(parameters).hasPrefix("big=18446744073709551615&byNumber[7]=x&id=0000"))
    }

    @Test("An explicitly encoded nil, nested containers and a superclass become values")
    func containers() throws {
        #expect(
            try FormParameters(encoding: Derived()) == ["base": 1, "derived": [3, nil, ["derived": "x"]] as FormValue])
        #expect(try FormParameters(encoding: ["a": Int?.none, "b": 1]) == ["a": nil, "b": 1])
        #expect(try FormParameters(encoding: [String: Int]()) == [:])
        #expect(try FormParameters(encoding: ["a": [Int]()]) == ["a": [] as FormValue])
        #expect(try FormParameters(encoding: ["a": ["b": EmptyResponse()]]) == ["a": ["b": [:] as FormValue]])
        #expect(try FormParameters(encoding: ["a": FormParameters(["b": 1])]) == ["a": ["b": 1]])
        #expect(
            try FormParameters(encoding: ["a": JSONValue.array([1, nil, "x"])]) == ["a": [1, nil, "x"] as FormValue])
    }

    @Test("A decimal keeps its digits")
    func decimals() throws {
        let values = ["0.1", "7", "123456789012345678.123456789"].map { Decimal(string: $0) }
        #expect(
            try FormParameters(encoding: ["d": values]) == ["d": [0.1, 7, "123456789012345678.123456789"] as FormValue])
    }

    @Test("A model without names fails with encoding")
    func noNames() throws {
        for failure in [
            #expect(throws: RequestFailure.self) { try FormParameters(encoding: 5) },
            #expect(throws: RequestFailure.self) { try FormParameters(encoding: ["a"]) },
            #expect(throws: RequestFailure.self) { try FormParameters(encoding: Int?.none) },
        ] {
            #expect(failure?.reason == .encoding)
            #expect(failure?.message.contains("no names") == true)
        }
    }

    @Test("A model that contains itself fails with encoding without a crash", arguments: [true, false])
    func endless(isSingle: Bool) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try FormParameters(encoding: Endless(isSingle: isSingle))
        }
        #expect(failure.reason == .encoding)
    }

    @Test("A merge prefers the argument's top-level values")
    func merging() {
        let one: FormParameters = ["a": 1, "k": ["x": 1, "y": 2]]
        let other: FormParameters = ["b": 2, "k": ["x": 3]]
        #expect(one.merging(other) == ["a": 1, "b": 2, "k": ["x": 3]])
        #expect(other.merging(one) == ["a": 1, "b": 2, "k": ["x": 1, "y": 2]])
        #expect(one.merging([:]) == one)
    }

    @Test("JSON keeps the types of values and sorts sets")
    func json() throws {
        let parameters: FormParameters = [
            "text": "1", "integer": 1, "unsigned": UInt64.max, "number": 1.5, "boolean": true,
            "date": Date(timeIntervalSince1970: 0), "data": Data([1]), "null": nil, "array": [1, ["x"]] as FormValue,
            "set": Set(["b", "a", "c"]), "dictionary": ["b": 1, "a": 2],
        ]
        let text = """
            {"array":[1,["x"]],"boolean":true,"data":"AQ==","date":"1970-01-01T00:00:00Z","dictionary":{"a":2,"b":1},\
            "integer":1,"null":null,"number":1.5,"set":["a","b","c"],"text":"1","unsigned":18446744073709551615}
            """
        #expect(try CodecRegistry.standard.text(parameters) == text)
        let codecs = CodecRegistry().registering(JSONCodec(dates: .millisecondsSince1970), for: .any)
        #expect(try codecs.text(FormParameters(["d": Date(timeIntervalSince1970: 1)])) == #"{"d":1000}"#)
        #expect(try CodecRegistry.standard.text(FormParameters()) == "{}")
        let alike = FormParameters(["s": FormValue.set(["1", 1, true, .number(1), .unsigned(1)])])
        #expect(try CodecRegistry.standard.text(alike) == #"{"s":[true,1,1,1,"1"]}"#)
    }

    @Test("Parameters are decoded from JSON")
    func decoding() throws {
        let body = #"{"a":[1,null,"x",true,1.5,18446744073709551615],"k":{"b":{}}}"#
        #expect(
            try CodecRegistry.standard.decode(FormParameters.self, body)
                == ["a": [1, nil, "x", true, 1.5, UInt64.max] as FormValue, "k": ["b": [:] as FormValue]])
    }

    @Test("Too many levels fail with encoding in JSON too")
    func depth() throws {
        var value: FormValue = 1
        for _ in 0..<63 { value = [value] }
        #expect(try CodecRegistry.standard.text(FormParameters(["a": value])).hasPrefix(#"{"a":[["#))
        value = .set([[value]])
        let failure = try #require(throws: RequestFailure.self) {
            try CodecRegistry.standard.text(FormParameters(["a": value]))
        }
        #expect(failure.reason == .encoding)
    }

    @Test("The last of equal names in a literal is used")
    func duplicates() {
        let parameters: FormParameters = ["a": 1, "a": 2]
        #expect(parameters == ["a": 2])
        #expect(FormParameters(["a": "\(2)"]) == ["a": "2"])
        var changed = parameters
        changed["a"] = nil
        changed["b"] = ["x": nil] as FormValue
        #expect(changed.values == ["b": .dictionary(["x": .null])])
        #expect(!changed.isEmpty)
    }
}
