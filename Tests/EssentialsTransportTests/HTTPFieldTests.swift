import EssentialsTransport
import Testing

@Suite struct HTTPFieldTests {
    @Test(
        "A checked field keeps its name and value unchanged",
        arguments: [
            ("X-Tenant", "acme"), ("Accept", "*/*"), ("x!#$%&'*+-.^_`|~1", "v"), ("A", ""), ("A", "a b\tc"), ("A", "é"),
            ("A", "\"quoted\", list; q=0.5"),
        ])
    func accepted(name: String, value: String) throws {
        let field = try HTTPField.checked(name: name, value: value)
        #expect(field.name.rawName == name)
        #expect(field.value == value)
    }

    @Test(
        "A field name that is not a token is refused",
        arguments: ["", " ", "a b", "a:", ":path", "a\r\nb", "a\u{0}", "é", "a/b", "a\u{7f}", "(a)", "\u{301}"])
    func badName(name: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HTTPField.checked(name: name, value: "v") }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
    }

    @Test(
        "A value with a line break or another control character is refused and not shown",
        arguments: [
            "a\r\nX-Evil: secret", "a\nsecret", "a\rsecret", "secret\u{0}", "secret\u{1}b", "secret\u{7f}", "secret\n",
        ])
    func controlCharacter(value: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HTTPField.checked(name: "X-A", value: value) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.message.contains("X-A"))
        #expect(failure.message.contains("line break"))
        #expect(!failure.description.contains("secret"))
    }

    @Test("A value with surrounding white space is refused", arguments: [" a", "a ", "\ta", "a\t", " ", "\t"])
    func outerWhiteSpace(value: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HTTPField.checked(name: "X-A", value: value) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy == "Trim it.")
    }
}
