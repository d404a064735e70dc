import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Equality of definitions")
struct APIRequestEqualityTests {
    private func create(_ id: Int, _ method: HTTPRequest.Method = .post) -> APIRequest<Note> {
        APIRequest(
            method, "n/\(id)", in: APIContext(base: "https://h.example/"),
            RequestProperties {
                RequestQuery("q", id)
                RequestHeader("X-A", "1")
                RequestContent(["a": 1, "b": 2, "c": id])
            })
    }

    @Test("Definitions that send the same request are equal, and have the same hash")
    func equal() {
        #expect(create(1) == create(1))
        #expect(Set([create(1), create(1), create(2)]).count == 2)
        #expect(
            definition("a/b")
                == definition {
                    RequestPath {
                        "a"; "b"
                    }
                })
        #expect(
            definition { RequestHeader("A", "1") }
                == definition {
                    RequestHeaders(["A": "0"]); RequestHeader("a", "1")
                })
        #expect(create(1).settingQuery("q", 1) == create(1))
        #expect(definition { RequestContent("t") } == definition { RequestContent(.text("t")) })
        #expect(definition { RequestContent(.raw(.none)) } == definition())
    }

    @Test("A different method, URL, field, body or option makes a difference")
    func different() {
        let others = [
            create(2), create(1, .put), create(1).based(on: "https://o.example/"), create(1).based(on: .environment),
            create(1).settingHeader("X-A", "2"), create(1).addingQuery("q", 2), create(1).deadline(.seconds(1)),
            create(1).setting(RequestContent()), create(1).setting(RequestContent("t")),
            create(1).adding("x" as RequestPath),
        ]
        for other in others { #expect(other != create(1)) }
        #expect(Set(others + [create(1)]).count == others.count + 1)
    }

    @Test("A stream is equal only to its copies")
    func streams() {
        let stream = RequestContent(.stream(AsyncStream<Data> { $0.finish() }, length: nil))
        let other = RequestContent(.stream(AsyncStream<Data> { $0.finish() }, length: nil))
        #expect(definition { stream } == definition { stream })
        #expect(definition { stream } != definition { other })
    }

    @Test("Definitions can be compared even if they are invalid")
    func invalid() {
        #expect(definition { RequestPath { ".." } } == definition { RequestPath { ".." } })
        #expect(definition { RequestPath { ".." } } != definition())
        #expect(definition { RequestHeader("a b", "") } != definition())
    }
}
