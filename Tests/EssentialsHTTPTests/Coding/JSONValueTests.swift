import CDispatch
import Dispatch
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsHTTP

@Suite struct JSONValueTests {
    private let codecs = CodecRegistry.standard

    @Test(
        "Documents are decoded as values and encoded again",
        arguments: [
            ("null", nil), ("true", true), ("false", false), ("0", 0), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .unsigned(9_223_372_036_854_775_808)),
            ("18446744073709551615", .unsigned(.max)), ("1.5", 1.5), ("-0.25", -0.25), ("\"a\"", "a"), ("[]", []),
            ("{}", [:]), (#"{"a":[1,"x",null,{"b":false}],"c":1.5}"#, ["a": [1, "x", nil, ["b": false]], "c": 1.5]),
        ] as [(String, JSONValue)])
    func roundTrip(text: String, value: JSONValue) throws {
        #expect(try codecs.decode(JSONValue.self, text) == value)
        #expect(try codecs.text(value) == text)
    }

    @Test("Booleans are not numbers, and numbers are not Booleans")
    func booleans() throws {
        #expect(try codecs.decode(JSONValue.self, "[true,1,false,0]") == [true, 1, false, 0])
        #expect(JSONValue.boolean(true) != .integer(1))
    }

    @Test("A whole number is an integer even if its text has a fraction of zero")
    func wholeNumbers() throws {
        #expect(try codecs.decode(JSONValue.self, "[1.0,1e2]") == [1, 100])
        #expect(JSONValue.whole(7) == .integer(7))
        #expect(JSONValue.whole(.max) == .unsigned(.max))
    }

    @Test("An accessor returns the value of its case and nil for other cases")
    func access() {
        let value: JSONValue = ["id": 7, "tags": ["a", 2.5], "none": nil, "big": .unsigned(.max), "yes": true]
        #expect(value["id"]?.integer == 7)
        #expect(value["id"]?.unsigned == 7)
        #expect(value["id"]?.number == 7)
        #expect(value["id"]?.string == nil)
        #expect(value["tags"]?[0]?.string == "a")
        #expect(value["tags"]?[1]?.number == 2.5)
        #expect(value["tags"]?[1]?.integer == nil)
        #expect(value["tags"]?[2] == nil)
        #expect(value["tags"]?[-1] == nil)
        #expect(value["tags"]?.array?.count == 2)
        #expect(value["none"]?.isNull == true)
        #expect(value["big"]?.integer == nil)
        #expect(value["big"]?.unsigned == .max)
        #expect(value["yes"]?.boolean == true)
        #expect(value["missing"] == nil)
        #expect(value.object?.count == 5)
        #expect(value[0] == nil)
        #expect(JSONValue.number(1e300).integer == nil)
    }

    @Test("Variables are converted to values, and nil to null")
    func conversions() throws {
        let (text, flag, number, integer, byte) = ("a", true, 2.5, -7, UInt8(9))
        #expect([JSONValue(text), JSONValue(flag), JSONValue(number)] == [.string("a"), .boolean(true), .number(2.5)])
        #expect([JSONValue(integer), JSONValue(byte)] == [.integer(-7), .integer(9)])
        #expect(JSONValue(UInt64.max) == .unsigned(.max) && JSONValue(UInt64(1)) == .integer(1))
        #expect(JSONValue(Int128.max) == .number(0x1p127) && JSONValue(Int64.min) == .integer(.min))
        #expect(JSONValue(nil as String?).isNull && JSONValue(nil as Bool?).isNull && JSONValue(nil as Int?).isNull)
        #expect(JSONValue(nil as Double?).isNull && JSONValue(.some("a")) == "a" && JSONValue(.some(1)) == 1)
        #expect(JSONValue("a") == "a" && JSONValue(5) == 5 && JSONValue(0.5) == 0.5 && JSONValue(false) == false)
    }

    @Test("A model becomes a value as the codec encodes it, and fails as encoding otherwise")
    func encoding() throws {
        struct Film: Encodable {
            var title = "M"
            var date = Date(timeIntervalSince1970: 0)
            var rating: Double? = 1
        }
        let film = try JSONValue(encoding: Film())
        #expect(film == ["title": "M", "date": "1970-01-01T00:00:00Z", "rating": 1])
        #expect(["film": film, "isNew": true] as JSONValue == ["isNew": true, "film": film])
        #expect(try JSONValue(encoding: ["a": 1]) == ["a": 1])
        #expect(try JSONValue(encoding: "text") == "text" && JSONValue(encoding: film) == film)
        let failure = #expect(throws: RequestFailure.self) { try JSONValue(encoding: Film(rating: .nan)) }
        #expect(failure?.reason == .encoding)
    }

    @Test("The members of an object are encoded in the order of their names")
    func order() throws {
        let names = ["b", "a", "B", "10", "9", "é", "aa", ""]
        let value = JSONValue.object(Dictionary(uniqueKeysWithValues: names.map { ($0, .null) }))
        let dictionary = Dictionary(uniqueKeysWithValues: names.map { ($0, Int?.none) })
        let text = try JSONCodec().encode(value, as: .json)
        #expect(String(decoding: text, as: UTF8.self).hasPrefix(#"{"":null,"10":null,"9":null,"B":null,"a":null"#))
        #expect(try JSONCodec().encode(dictionary, as: .json) == text)
    }

    @Test("More than 512 levels fail in both directions without a crash")
    func depth() throws {
        var value: JSONValue = 1
        for _ in 0..<511 { value = [value] }
        #expect(try codecs.decode(JSONValue.self, codecs.text(value)) == value)
        for _ in 0..<2000 { value = ["a": value] }
        let failure = try #require(throws: RequestFailure.self) { try codecs.text(value) }
        #expect(failure.reason == .encoding)
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let other = try #require(throws: RequestFailure.self) { try codecs.decode(JSONValue.self, deep) }
        #expect(other.message.contains("nested more than 512 levels deep"))
    }

    @Test("A number that is not finite fails with encoding")
    func notFinite() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.text(JSONValue.array([.number(.nan)])) }
        #expect(failure.reason == .encoding)
    }

    /// Alternating arrays and objects, 500 deep, with hostile values at each level and many at the last one.
    private static let hostile: String = {
        var (begin, end) = ("", "")
        for level in 0..<500 {
            begin += level.isMultiple(of: 2) ? "[null,true,1,\"\"," : "{\"b\":false,\"n\":null,\"a\":"
            end = (level.isMultiple(of: 2) ? "]" : "}") + end
        }
        return begin + "[" + Array(repeating: "null,true,1,0.5,\"\"", count: 1_000).joined(separator: ",") + "]" + end
    }()

    private struct Envelope: Decodable {
        let payload: JSONValue
    }

    @Test("500 levels of a hostile document are decoded in linear time")
    func hostileDepth() throws {
        var value: JSONValue?
        let time = try ContinuousClock().measure { value = try codecs.decode(JSONValue.self, Self.hostile) }
        #expect(value?[4]?["a"]?[1]?.boolean == true)
        #expect(time < .seconds(2))
    }

    @Test("A hostile value inside a model is decoded in linear time")
    func hostileModel() throws {
        let whole = try codecs.decode(JSONValue.self, Self.hostile)
        var models: [Envelope] = []
        let time = try ContinuousClock().measure {
            models = try codecs.decode([Envelope].self, "[{\"payload\":1.5},{\"payload\":\(Self.hostile)}]")
        }
        #expect(models.map(\.payload) == [1.5, whole])
        #expect(time < .seconds(4))
    }

    @Test("A codec with a key strategy decodes a deep value inside a model too")
    func hostileNames() throws {
        let codec = CodecRegistry().registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        let text = "{\"payload\":\(Self.hostile)}"
        #expect(try codec.decode(Envelope.self, text).payload == codecs.decode(JSONValue.self, Self.hostile))
    }

    @Test("Another decoder accepts 32 levels and refuses more, in linear time")
    func otherDecoders() throws {
        func nested(_ levels: Int) -> Data {
            Data((String(repeating: "[", count: levels) + "1,true" + String(repeating: "]", count: levels)).utf8)
        }
        let value = try JSONDecoder().decode(JSONValue.self, from: nested(JSONValue.maximumDepthOfOtherDecoders))
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
        let time = ContinuousClock().measure {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONValue.self, from: nested(33)) }
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(Envelope.self, from: Data(Self.hostile.utf8))
            }
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(JSONValue.self, from: Data(Self.hostile.utf8))
            }
        }
        #expect(time < .seconds(2))
    }

    @Test("512 levels are decoded and released on a small stack")
    func smallStack() throws {
        let document = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        let thread = SmallStack {
            let codecs = CodecRegistry.standard
            let value = try? codecs.decode(JSONValue.self, document)
            let model = try? codecs.decode([JSONValue].self, document)
            return value != nil && model?.count == 1
        }
        #expect(thread.run())
    }
}

/// Runs a closure on a thread with a stack of 512 KiB.
private final class SmallStack {
    private let body: () -> Bool
    private var isRight = false

    init(_ body: @escaping () -> Bool) { self.body = body }

    func run() -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 512 << 10)
        var thread = pthread_t()
        let created = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                let run = Unmanaged<SmallStack>.fromOpaque(pointer).takeUnretainedValue()
                run.isRight = run.body()
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        guard created == 0 else { return false }
        pthread_join(thread, nil)
        return isRight
    }
}
