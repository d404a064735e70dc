import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("RequestSnapshot")
struct RequestSnapshotTests {
    private let request = definition("n", base: "https://h.example/v1?v=1") {
        RequestHeaders(["Authorization": "Bearer s3cret", "X-A": "1"])
        RequestQuery {
            ("q", "a b"); ("access_token", "s3cret")
        }
        RequestContent(["a": 1])
    }

    @Test("A snapshot has the parts of the definition, without secrets unless they are asked for")
    func parts() throws {
        let snapshot = try request.snapshot()
        #expect(snapshot.method == "GET")
        #expect(snapshot.body == #"{"a":1}"#)
        #expect(snapshot.headerFields.first { $0.name == "Authorization" }?.value == "…")
        #expect(snapshot.headerFields.first { $0.name == "Content-Type" }?.value == "application/json; charset=utf-8")
        #expect(!snapshot.url.contains("s3cret"))
        #expect(snapshot.url.hasPrefix("https://h.example/v1/n?v=1&q=a%20b&access_token="))
        let shown = try request.snapshot(showsSecrets: true)
        #expect(shown.url == "https://h.example/v1/n?v=1&q=a%20b&access_token=s3cret")
        #expect(shown.headerFields.first { $0.name == "Authorization" }?.value == "Bearer s3cret")
        #expect(try request.curlCommand().contains("s3cret") == false)
        #expect("\(request)" == "GET n?q&access_token")
    }

    @Test("The codecs of the service encode the body of a snapshot, unless the definition has its own")
    func codecs() throws {
        struct User: Encodable { let firstName = "Ada" }
        let snakeCase = CodecRegistry.standard.registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        let create = definition { RequestContent(User()) }
        #expect(try create.snapshot().body == #"{"firstName":"Ada"}"#)
        #expect(try create.snapshot(codecs: snakeCase).body == #"{"first_name":"Ada"}"#)
        #expect(try create.curlCommand(codecs: snakeCase).contains(#"{"first_name":"Ada"}"#))
        #expect(try create.codecs(.standard).snapshot(codecs: snakeCase).body == #"{"firstName":"Ada"}"#)
    }

    @Test("A snapshot is decoded from its JSON unchanged")
    func codable() throws {
        let snapshot = try request.snapshot()
        #expect(try JSONDecoder().decode(RequestSnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
        #expect(
            RequestSnapshot(method: "GET", url: "n", headerFields: ["A": "1"]).headerFields == [
                .init(name: "A", value: "1")
            ])
    }

    @Test("Bytes that are not text, and text that looks like encoded bytes, are shown in Base64")
    func bytes() throws {
        #expect(try definition { RequestContent(Data([0xff, 0])) }.snapshot().body == "base64:/wA=")
        #expect(try definition { RequestContent("base64:AAAA") }.snapshot().body == "base64:YmFzZTY0OkFBQUE=")
        #expect(try definition { RequestContent("") }.snapshot().body == "")
        #expect(try definition().snapshot().body == nil)
        #expect(
            try definition { RequestContent(.stream(AsyncStream<Data> { $0.finish() }, length: 3)) }.snapshot().body
                == nil)
    }

    @Test("Without a base URL, the URL is the path and the query")
    func relative() throws {
        let relative = definition("a/b", base: .environment) { RequestQuery("q", 1) }
        #expect(try relative.snapshot().url == "a/b?q=1")
        #expect(try relative.snapshot(under: RequestURL("https://h/v1")).url == "https://h/v1/a/b?q=1")
        #expect(throws: RequestFailure.self) { try relative.curlCommand() }
    }

    @Test("A length in the header fields is left out, because the service sets it")
    func length() throws {
        #expect(try definition { RequestHeader("Content-Length", "99") }.snapshot().headerFields.isEmpty)
    }
}
