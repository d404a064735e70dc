import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import TestTools
import Testing

@Suite("Secrets in bodies")
struct RedactedBodyTests {
    private func shown(_ text: String, _ type: String?, _ redaction: Redaction = Redaction()) -> String {
        String(decoding: redaction.shown(body: Data(text.utf8), type: type), as: UTF8.self)
    }

    @Test(
        "Members of JSON with names of secrets are hidden, whatever their values are",
        arguments: [
            (#"{"a":1,"token":"s3cret","b":2}"#, #"{"a":1,"token":"…","b":2}"#),
            (#"{ "Password" : "s3\"cret" }"#, #"{ "Password" : "…" }"#),
            (#"{"pin":1234}"#, #"{"pin":"…"}"#), (#"{"pin":1234,"n":null}"#, #"{"pin":"…","n":null}"#),
            (#"{"keys":["s3cret",{"x":"]s3cret"}],"n":1}"#, #"{"keys":"…","n":1}"#),
            (#"{"session":{"id":"s3cret","t":"}"}}"#, #"{"session":"…"}"#),
            (#"[{"tok\u0065n":"s3cret"},{"n":"token"}]"#, #"[{"tok\u0065n":"…"},{"n":"token"}]"#),
            (#"{"n":"token","m":"\"token\": x"}"#, #"{"n":"token","m":"…"}"#),
            (#"{"userPin":1,"accessJwt":"x","cacheKey":"k"}"#, #"{"userPin":"…","accessJwt":"…","cacheKey":"k"}"#),
            (#"{"tok\q":"s3cret","n":1}"#, #"{"tok\q":"…","n":1}"#),
            ("{\"a\":\"x\ny\",\"password\":\"s3\ncret\"}", "{\"a\":\"x\ny\",\"password\":\"…\"}"),
            (#"{"data":"{\"pin\": 1234}","n":"\"a\""}"#, #"{"data":"…","n":"\"a\""}"#),
            (#"{"next":"https://u:p@h/?token=s3cret&n=1"}"#, #"{"next":"https://…@h/?token=…&n=1"}"#),
            (#"{"token":"s3cre"#, #"{"token":"…""#), (#"{"token":"#, #"{"token":"…""#), (#"{"token"#, #"{"token"#),
            (#"{"access_token":true}"#, #"{"access_token":"…"}"#), ("\"", "\""), ("{\"a\\", "{\"a\\"),
        ])
    func members(text: String, expected: String) {
        #expect(shown(text, "application/json") == expected)
        #expect(shown(text, nil) == expected)
    }

    @Test("JSON is found in event streams, in lines and after a lonely quotation mark")
    func lines() {
        #expect(shown("say \" {\"password\":\"s3cret\"}", "text/plain") == "say \" {\"password\":\"…\"}")
        let text = "data: {\"token\": \"s3cret\"}\n\nsay \"\n{\"secret\":1}\n{\"n\":1}\n"
        #expect(
            shown(text, "text/event-stream") == "data: {\"token\": \"…\"}\n\nsay \"\n{\"secret\":\"…\"}\n{\"n\":1}\n")
    }

    @Test("Items of a form are hidden as those of a query, and a multipart body is hidden whole")
    func forms() {
        let form = "application/x-www-form-urlencoded; charset=utf-8"
        #expect(shown("a=1&pass%77ord=s3cret&n", form) == "a=1&pass%77ord=…&n")
        #expect(shown("--b\r\ns3cret", "multipart/form-data; boundary=b") == "…")
        #expect(shown("--b\r\ns3cret", "multipart/form-data; boundary") == "…")
        for type in ["application/x-www-form-urlencoded; charset", "text/plain", nil] {
            #expect(shown("a=1&token=s3cret&next=https%3A%2F%2Fh%2F%3Fkey%3Ds3cret", type) == "a=1&token=…&next=…")
        }
    }

    @Test("A text that cannot be read is hidden whole, and a picture is not changed")
    func unreadable() {
        let redaction = Redaction()
        let utf16 = Data(#"{"token":"s3cret"}"#.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
        let hidden = Data("…".utf8)
        #expect(redaction.shown(body: utf16, type: "application/json") == hidden)
        #expect(redaction.shown(body: Data([0xff, 0xfe, 0x41]), type: "text/plain; charset=utf-16") == hidden)
        #expect(redaction.shown(body: Data([0x1f, 0x8b, 8, 0]), type: "application/octet-stream") == hidden)
        #expect(redaction.shown(body: Data([0xb3, 0xff]), type: "image/png", coding: "br") == hidden)
        let picture = Data([0x89, 0x50, 0x4e, 0x47, 0, 0xff])
        #expect(redaction.shown(body: picture, type: "image/png") == picture)
    }

    @Test(
        "In texts of all kinds, values with secret names are hidden and others are not",
        arguments: [
            ("<login password=\"s3cret\" n=\"1\"/>", "<login password=… n=\"1\"/>"),
            ("password='two s3cret' n=1", "password=… n=1"), ("password = s3cret n", "password = … n"),
            ("a=1,token=s3cret", "a=1,token=…"), ("filter=token=s3cret&n=1", "filter=token=…&n=1"),
            ("payload=%7B%22token%22%3A%22s3cret%22%7D&n=1", "payload=…&n=1"),
            ("x=%2522token%2522%253A%2522s3cret%2522", "x=…"), ("let a = b and c == d", "let a = b and c == d"),
            ("password=\"s3cret\nn=1", "password=…\nn=1"), ("n=100%&m=%41", "n=100%&m=%41"), ("=", "="),
        ])
    func texts(text: String, expected: String) {
        #expect(shown(text, "text/plain") == expected)
    }

    @Test("Hostile texts take linear time", .timeLimit(.minutes(1)))
    func hostile() {
        let word = String(repeating: "a", count: 200_000)
        #expect(shown(word + String(repeating: " =", count: 100_000), "text/plain").hasPrefix("aaa"))
        for text in ["\"\\\"", "\"", "\"a\\", "//", "%3D=", "{\"a\":", "\\\""] {
            let long = String(repeating: text, count: 400_000 / text.utf8.count)
            for type in ["text/html", "application/json"] { #expect(!shown(long, type).isEmpty) }
        }
    }

    @Test("The names that a redaction lists are hidden too")
    func listed() throws {
        var redaction = Redaction()
        redaction.query = .hidden(["Email"])
        redaction.hiddenFields = [try #require(HTTPField.Name("birthday"))]
        let text = #"{"email":"a@b","birthday":"1.1.","n":1}"#
        #expect(shown(text, "application/json", redaction) == #"{"email":"…","birthday":"…","n":1}"#)
        #expect(shown("email=a%40b&n=1", "application/x-www-form-urlencoded", redaction) == "email=…&n=1")
    }

    @Test("In random JSON the members with secret names are hidden, and the rest is the same value")
    func model() throws {
        var numbers = SeededNumbers(state: 77)
        for _ in 0..<2_000 {
            let value = numbers.json(depth: 0)
            let text = try JSONEncoder().encode(value)
            let shown = Redaction().shown(body: text, type: "application/json")
            #expect(try JSONDecoder().decode(JSONValue.self, from: shown) == Self.hidden(value))
        }
    }

    private static func hidden(_ value: JSONValue) -> JSONValue {
        if let members = value.object {
            return .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        (name, ["token", "key", "pin"].contains(name) ? "…" : hidden(value))
                    }))
        }
        if let elements = value.array { return .array(elements.map(hidden)) }
        // A string that has such a member in it.
        if value.string == "\"token\":1" { return "…" }
        return value
    }
}

extension SeededNumbers {
    fileprivate mutating func json(depth: Int) -> JSONValue {
        let texts = ["", "token", "\"token\":1", "a\\", "}", "]", ",", "\n", "é\u{301}", "\\\"", ": {"]
        switch Int.random(in: 0..<(depth > 4 ? 4 : 6), using: &self) {
        case 0: return .string(texts.randomElement(using: &self) ?? "")
        case 1: return .integer(Int64.random(in: -9...9, using: &self))
        case 2: return .boolean(Bool.random(using: &self))
        case 3: return .null
        case 4: return .array((0..<Int.random(in: 0...3, using: &self)).map { _ in json(depth: depth + 1) })
        default:
            let names = ["token", "key", "pin", "n", "m", "tok", "a\"b", "\\"]
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0...4, using: &self) {
                members[names.randomElement(using: &self) ?? ""] = json(depth: depth + 1)
            }
            return .object(members)
        }
    }
}
