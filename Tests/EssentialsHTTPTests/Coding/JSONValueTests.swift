import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct JSONValueTests {
    private let codecs = CodecRegistry.standard

    @Test(
        "Documents become values and come back",
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

    @Test("Booleans are no numbers and numbers no booleans")
    func booleans() throws {
        #expect(try codecs.decode(JSONValue.self, "[true,1,false,0]") == [true, 1, false, 0])
        #expect(JSONValue.boolean(true) != .integer(1))
    }

    @Test("A whole number is an integer also where the text has a fraction of zero")
    func wholeNumbers() throws {
        #expect(try codecs.decode(JSONValue.self, "[1.0,1e2]") == [1, 100])
        #expect(JSONValue.whole(7) == .integer(7))
        #expect(JSONValue.whole(.max) == .unsigned(.max))
    }

    @Test("A value gives what it is, and nil for what it is not")
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

    @Test("More than 512 levels are a failure in both directions, not a crash")
    func depth() throws {
        var value: JSONValue = 1
        for _ in 0..<511 { value = [value] }
        #expect(try codecs.decode(JSONValue.self, codecs.text(value)) == value)
        for _ in 0..<2000 { value = ["a": value] }
        let failure = try #require(throws: RequestFailure.self) { try codecs.text(value) }
        #expect(failure.reason == .encoding)
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let other = try #require(throws: RequestFailure.self) { try codecs.decode(JSONValue.self, deep) }
        #expect(other.message.contains("nested more than 512 deep"))
    }

    @Test("A number that is not finite is the failure encoding")
    func notFinite() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.text(JSONValue.array([.number(.nan)])) }
        #expect(failure.reason == .encoding)
    }
}
