import EssentialsHTTP
import TestTools
import Testing

@Suite struct MediaTypeTests {
    @Test(
        "A media type is parsed without regard to case, with spaces and quotation marks (RFC 9110, 8.3.1)",
        arguments: [
            ("application/json", "application/json"), ("Application/JSON", "application/json"),
            (" text/html ", "text/html"), ("text/html;charset=utf-8", "text/html; charset=utf-8"),
            ("Text/HTML;Charset=\"utf-8\"", "text/html; charset=utf-8"),
            ("text/html \t; \t charset=\"UTF-8\" ", "text/html; charset=UTF-8"),
            ("text/html;;charset=a; ;b=c;", "text/html; charset=a; b=c"),
            ("a/b;c=\"d;e=f\"", "a/b; c=\"d;e=f\""), ("a/b;c=\"d\\\"e\\\\f\"", "a/b; c=\"d\\\"e\\\\f\""),
            ("a/b;c=\"\"", "a/b; c=\"\""), ("a/b;c=\"é\"", "a/b; c=\"é\""), ("a/b;X=Y;z=W", "a/b; x=Y; z=W"),
            ("multipart/form-data; boundary=\"a b:c\"", "multipart/form-data; boundary=\"a b:c\""),
        ])
    func reading(text: String, description: String) throws {
        let type = try MediaType(text)
        #expect(type.description == description)
        #expect(MediaType(parsing: text)?.description == description)
        #expect(try MediaType(type.description).description == description)
    }

    @Test("A media type provides its components")
    func parts() throws {
        let type = try MediaType("application/Problem+JSON; a=1; Charset=\"UTF-8\"")
        #expect(type.type == "application")
        #expect(type.subtype == "problem+json")
        #expect(type.suffix == "json")
        #expect(type.essence == "application/problem+json")
        #expect(type.charset == "UTF-8")
        #expect(type.parameter("A") == "1")
        #expect(type.parameter("b") == nil)
        #expect(type.parameters.map(\.name) == ["a", "charset"])
        #expect(type.parameters.map(\.value) == ["1", "UTF-8"])
    }

    @Test(
        "The suffix follows the last plus sign",
        arguments: [("a/b", nil), ("a/b+c+d", "d"), ("a/b+", nil), ("a/+b", "b")])
    func suffix(text: String, suffix: String?) throws {
        #expect(try MediaType(text).suffix == suffix)
    }

    @Test(
        "An invalid media type throws invalidRequest in a program and is nil from a peer",
        arguments: [
            "", "json", "/json", "application/", "application/json, text/html", "a b/c", "a/b c", "*/*", "text/*",
            "a/b/c", "é/b", "a/\u{1}", "application/json charset=utf-8", ";charset=utf-8",
        ])
    func malformed(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try MediaType(text) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.message.contains("not a media type"))
        #expect(MediaType(parsing: text) == nil)
    }

    @Test(
        "Invalid parameters throw in a program and are ignored from a peer",
        arguments: [
            ("a/b;c", "a/b"), ("a/b;c;d=1", "a/b; d=1"), ("a/b;=1;d=1", "a/b; d=1"), ("a/b;c=;d=1", "a/b; d=1"),
            ("a/b;c= 1;d=1", "a/b; d=1"), ("a/b;c=\"1", "a/b"), ("a/b;c=\"1\\", "a/b"), ("a/b;c=1 2;d=1", "a/b; d=1"),
            ("a/b;c=1;C=2", "a/b; c=1"), ("a/b;c=\"\r\n\";d=1", "a/b; d=1"), ("a/b;c=(x);d=1", "a/b; d=1"),
        ])
    func malformedParameters(text: String, description: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try MediaType(text) }
        #expect(failure.reason == .invalidRequest)
        #expect(MediaType(parsing: text)?.description == description)
    }

    @Test("A media type has at most 32 parameters")
    func maximum() throws {
        let many = "a/b" + (1...33).map { ";p\($0)=1" }.joined()
        #expect(throws: RequestFailure.self) { try MediaType(many) }
        let type = try #require(MediaType(parsing: many))
        #expect(type.parameters.count == MediaType.maximumParameters)
        #expect(throws: RequestFailure.self) { try type.settingParameter("more", to: "1") }
        #expect(try type.settingParameter("p1", to: "2").parameter("p1") == "2")
    }

    @Test("Types are equal regardless of the order of parameters and the case of a charset")
    func equality() throws {
        let one = try MediaType("text/plain; charset=UTF-8; format=flowed")
        let other = try MediaType("TEXT/plain; format=flowed; charset=\"utf-8\"")
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(try one != MediaType("text/plain; charset=utf-8; format=FLOWED"))
        #expect(try one != MediaType("text/plain; charset=utf-8"))
        #expect(try MediaType("application/json") == .json)
    }

    @Test("Setting a parameter replaces it, appends it or removes it")
    func setting() throws {
        let type = try MediaType("text/plain; charset=latin1; format=flowed")
        #expect(
            try type.settingParameter("Charset", to: "utf-8").description == "text/plain; charset=utf-8; format=flowed")
        #expect(
            try type.settingParameter("a", to: "b c").description
                == "text/plain; charset=latin1; format=flowed; a=\"b c\"")
        #expect(try type.settingParameter("charset", to: nil).description == "text/plain; format=flowed")
        #expect(try type.settingParameter("x", to: nil) == type)
    }

    @Test(
        "A parameter that would break the header field is refused",
        arguments: [("a b", "x"), ("", "x"), ("a", "x\r\ny: z"), ("a", "\u{0}"), ("a;b", "x"), ("a", "\u{7f}")])
    func injection(name: String, value: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try MediaType.text.settingParameter(name, to: value) }
        #expect(failure.reason == .invalidRequest)
    }

    @Test("The static types have their names")
    func named() {
        let types: [MediaType] = [.json, .form, .text, .html, .octetStream, .multipartFormData]
        #expect(
            types.map(\.description) == [
                "application/json", "application/x-www-form-urlencoded", "text/plain", "text/html",
                "application/octet-stream", "multipart/form-data",
            ])
    }

    @Test(
        "A written value is parsed byte by byte to the same value, also if a combining mark follows the quotation mark")
    func quotedBytes() throws {
        var numbers = SeededNumbers(state: 6838)
        for _ in 0..<2_000 {
            let value = numbers.text(of: GraphemePieces.text, upTo: 8)
            let type = try MediaType.text.settingParameter("a", to: value).settingParameter("charset", to: "utf-8")
            let read = try MediaType(type.description)
            #expect(read.parameter("a")?.utf8.elementsEqual(value.utf8) == true, "\(value.debugDescription)")
            #expect(read.charset == "utf-8")
            #expect(read.parameters.count == 2)
        }
    }

    @Test("A media type parsed from any text is written as a text that parses to the same type")
    func random() {
        var numbers = SeededNumbers(state: 9110)
        let pieces = ["a", "/", ";", "=", "\"", "\\", " ", "\t", "*", "+", "charset", "é", "\u{0}", ",", "json"]
        for _ in 0..<5000 {
            guard let type = MediaType(parsing: numbers.text(of: pieces, upTo: 14)) else { continue }
            #expect(MediaType(parsing: type.description) == type)
            #expect(MediaType(parsing: type.description)?.description == type.description)
        }
    }
}
