import EssentialsHTTP
import EssentialsRequests
import Testing

@Suite("RequestHeaders")
struct RequestHeadersTests {
    /// The fields of a child below a parent.
    private func fields(_ parent: RequestHeaders, _ child: RequestHeaders) throws -> [String] {
        var both = parent
        both.append(child)
        return try both.fields.map { "\($0.name.rawName): \($0.value)" }
    }

    @Test("A child replaces a parent's field, whatever the case of its name")
    func override() throws {
        let parent: RequestHeaders = ["Authorization": "Bearer a", "X-A": "1"]
        #expect(
            try fields(parent, ["authorization": "Bearer b"]).map { $0.lowercased() }
                == ["authorization: bearer b", "x-a: 1"])
        let child = try parent.adding("AUTHORIZATION", "Bearer c").fields
        #expect(child[values: .authorization] == ["Bearer a", "Bearer c"])
    }

    @Test("A child adds to a parent's field, or removes it")
    func addAndRemove() throws {
        let parent: RequestHeaders = ["Via": "a", "X-Debug": "1"]
        #expect(
            try fields(parent, RequestHeaders { RequestHeader.adding("via", "b") }).map { $0.lowercased() }
                == ["via: a", "x-debug: 1", "via: b"])
        #expect(try fields(parent, RequestHeaders { RequestHeader.removing("x-debug") }) == ["Via: a"])
        #expect(try fields(parent, ["x-DEBUG": nil]) == ["Via: a"])
        #expect(try fields(parent, RequestHeaders { RequestHeader.removing("Absent") }).count == 2)
    }

    @Test("A field that replaces several removes all of them")
    func replacesAll() throws {
        let parent = RequestHeaders {
            RequestHeader.adding("Via", "a"); RequestHeader.adding("Via", "b")
        }
        #expect(try fields(parent, ["via": "c"]).map { $0.lowercased() } == ["via: c"])
        var several = HTTPFields()
        several.append(HTTPField(name: .via, value: "x"))
        several.append(HTTPField(name: .via, value: "y"))
        #expect(try fields(parent, RequestHeaders(several)) == ["Via: x", "Via: y"])
    }

    @Test("A builder takes pairs, dictionaries, fields and optionals, with control flow")
    func builder() throws {
        let tenant: String? = nil
        let headers = RequestHeaders {
            Optional<RequestHeader>.none
            ("X-A", "1")
            ("X-A", tenant)
            ["X-C": "3", "X-B": "2"]
            HTTPField(name: .accept, value: "text/plain")
            if tenant == nil { ("X-If", "1") } else { ("X-Else", "1") }
            switch tenant {
            case nil: ("X-Switch", "nil")
            case .some(let text): ("X-Switch", text)
            }
            for index in 0..<2 { RequestHeader.adding("X-I", "\(index)") }
            if #available(macOS 15, *) { ("X-New", "1") }
        }
        #expect(
            try headers.fields.map { "\($0.name.rawName)=\($0.value)" } == [
                "X-B=2", "X-C=3", "Accept=text/plain", "X-If=1", "X-Switch=nil", "X-I=0", "X-I=1", "X-New=1",
            ])
        #expect(try RequestHeaders {}.fields.isEmpty)
    }

    @Test("The helpers write the fields as their RFCs define them")
    func helpers() throws {
        let headers = RequestHeaders {
            RequestHeader.accept(.json, .text)
            RequestHeader.acceptLanguage("de", "en;q=0.5")
            RequestHeader.authorization(.basic(user: "Aladdin", password: "open sesame"))
            RequestHeader.cacheControl("no-cache", "no-store")
            RequestHeader.contentType(.json)
        }
        let fields = try headers.fields
        #expect(fields[.accept] == "application/json, text/plain")
        #expect(fields[.acceptLanguage] == "de, en;q=0.5")
        #expect(fields[.authorization] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(fields[.cacheControl] == "no-cache, no-store")
        #expect(fields[.contentType] == "application/json")
        #expect(try RequestHeaders(.authorization(.bearer("t"))).fields[.authorization] == "Bearer t")
        #expect(
            try RequestHeaders(.authorization(.scheme("Digest", "a=\"b\""))).fields[.authorization] == "Digest a=\"b\"")
        #expect(
            try self.fields(headers, RequestHeaders(.authorization(nil))).contains { $0.hasPrefix("Auth") } == false)
    }

    @Test(
        "An invalid name or value fails when the request is built",
        arguments: [
            RequestHeader("a b", "x"), RequestHeader("", "x"), RequestHeader("a:", "x"),
            RequestHeader("X", "a\r\nB: c"),
            RequestHeader("X", "\u{0}"), RequestHeader("X", " a"), .adding("é", "x"), .removing("a\n"),
            .authorization(.bearer("a\nb")), .authorization(.basic(user: "a:b", password: "c")),
        ])
    func invalid(_ header: RequestHeader) async throws {
        let request = definition { header }
        #expect(throws: RequestFailure.self) { try request.headerFields }
        let failure = #expect(throws: RequestFailure.self) { try request.build() }
        #expect(failure?.reason == .invalidRequest)
        let fixture = try ServiceFixture()
        await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("Descriptions show no values")
    func secrets() {
        let secret = RequestHeader.authorization(.bearer("s3cret"))
        var text = "\(secret) \(RequestAuthorization.bearer("s3cret"))"
        dump(
            RequestHeaders {
                secret; ("X-Key", "s3cret")
            }, to: &text)
        dump(
            definition {
                secret; RequestQuery("key", "s3cret")
            }, to: &text)
        text += "\(definition { secret; RequestQuery("key", "s3cret") })"
        #expect(!text.contains("s3cret"))
        #expect(text.contains("Authorization"))
    }
}

extension RequestHeaders {
    fileprivate func adding(_ name: String, _ value: String) -> RequestHeaders {
        var copy = self
        copy.append(.adding(name, value))
        return copy
    }
}
