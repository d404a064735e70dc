import EssentialsHTTP
import EssentialsRequests
import Testing

@Suite("APIRequest modifiers")
struct APIRequestModifierTests {
    private let request = definition("n") {
        RequestHeaders(["X-A": "1"])
        RequestQuery {
            ("q", 1); ("r", 2)
        }
    }

    private func fields(_ request: APIRequest<Note>) throws -> [String] {
        try request.headerFields.map { "\($0.name.rawName.lowercased())=\($0.value)" }
    }

    @Test("Modifiers return copies, and the original is unchanged")
    func copies() {
        _ = request.settingQuery("q", 5).settingHeader("X-A", nil).setting("other" as RequestPath).deadline(.seconds(1))
        #expect(request.target == "/v1/n?q=1&r=2")
    }

    @Test("Query items are set, added and removed by name, or all replaced")
    func query() {
        #expect(request.settingQuery("q", 5).target == "/v1/n?r=2&q=5")
        #expect(request.settingQuery("q", Int?.none).target == "/v1/n?r=2")
        #expect(request.settingQuery("q", ["a", "b"]).target == "/v1/n?r=2&q=a&q=b")
        #expect(request.addingQuery("q", "x").target == "/v1/n?q=1&r=2&q=x")
        #expect(request.removingQuery("r").removingQuery("q").target == "/v1/n")
        #expect(request.setting(RequestQuery("z", 1)).target == "/v1/n?z=1")
        #expect(request.adding(RequestQuery("z", 1)).target == "/v1/n?q=1&r=2&z=1")
    }

    @Test("Header fields are set, added and removed by name, or all replaced")
    func headers() throws {
        #expect(try fields(request.settingHeader("x-a", "2")) == ["x-a=2"])
        #expect(try fields(request.settingHeader("x-a", nil)).isEmpty)
        #expect(try fields(request.addingHeader("x-a", "2")) == ["x-a=1", "x-a=2"])
        #expect(try fields(request.removingHeader("X-a")).isEmpty)
        #expect(try fields(request.setting(RequestHeaders(["B": "1"]))) == ["b=1"])
        #expect(try fields(request.adding(RequestHeaders(["B": "1"]))) == ["x-a=1", "b=1"])
        #expect(throws: RequestFailure.self) { try request.settingHeader("a b", "x").headerFields }
    }

    @Test("Header fields are set, added and removed by field name as by text")
    func fieldNames() throws {
        #expect(try fields(request.settingHeader(.ifMatch, "*")) == ["x-a=1", "if-match=*"])
        #expect(try fields(request.settingHeader("X-A", nil).settingHeader(.ifMatch, nil)).isEmpty)
        #expect(try fields(request.addingHeader(.via, "1").addingHeader(.via, "2")) == ["x-a=1", "via=1", "via=2"])
        #expect(try fields(request.addingHeader(.via, "1").removingHeader(.via)) == ["x-a=1"])
        let pairs = RequestHeaders {
            (.ifMatch, "*"); RequestHeader.adding(.via, "1"); (.accept, nil)
        }
        #expect(try fields(request.adding(pairs)) == ["x-a=1", "if-match=*", "via=1"])
        #expect(throws: RequestFailure.self) { try request.settingHeader(.accept, "a\u{1}").headerFields }
        #expect(throws: RequestFailure.self) { try request.addingHeader(.accept, "a\nb").headerFields }
    }

    @Test("Path, body, base URL, configuration and everything else are replaced")
    func others() throws {
        #expect(request.setting("m" as RequestPath).target == "/v1/m?q=1&r=2")
        #expect(request.adding("m" as RequestPath).target == "/v1/n/m?q=1&r=2")
        #expect(try request.based(on: "http://o.example/").url().description == "http://o.example/n?q=1&r=2")
        #expect(try request.setting(RequestContent("text")).snapshot().body == "text")
        #expect(try request.deadline(.seconds(2)).build().options.totalTimeout == .seconds(2))
        #expect(try request.expecting(404).build().expectedStatus.contains(404))
        #expect(try request.errorModel(Note.self).build().errorModel is Note.Type)
        #expect(try request.codecs(CodecRegistry()).build().codecs?.patterns.isEmpty == true)
        var configuration = APIConfiguration()
        configuration.redirects = .refused
        configuration.finishesOnShutdown = true
        configuration.joins = false
        let built = try request.setting(configuration).build()
        #expect(built.redirects != nil)
        #expect(built.finishesOnShutdown == true)
        #expect(built.joins == false)
        #expect(try request.build().joins == nil)
    }

    @Test("Reading another type keeps everything else")
    func reading() throws {
        let original = request.errorModel(Note.self).deadline(.seconds(3)).setting(RequestContent("b"))
        let other = original.reading([Note].self)
        #expect(try other.snapshot() == original.snapshot())
        #expect(other.errorModel is Note.Type)
        #expect(other.configuration.options == original.configuration.options)
        #expect(other.reading(Note.self) == original)
    }
}
