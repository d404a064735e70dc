import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct ResponseHeadTests {
    private func response(_ status: Int, _ block: String) -> TransportResponse {
        TransportResponse(
            status: status, block: Array(block.utf8), body: ResponseBody(Data()), metrics: TransportMetrics(),
            connection: ConnectionFacts(), trailerFields: [:], informational: [])
    }

    @Test("Fields are read from their bytes and stay the same on later accesses")
    func block() {
        let head = response(404, "HTTP/1.1 404 Gone\r\nA: 1\r\nB: 2\r\n\r\n")
        #expect(head.status == .notFound)
        #expect(head.headerFields.map(\.value) == ["1", "2"])
        #expect(head.headerFields == head.headerFields)
    }

    @Test("A head made from a value gives that value's fields")
    func value() {
        let fields: HTTPFields = [.contentType: "text/plain", .eTag: "\"x\""]
        let head = TransportResponse(HTTPResponse(status: .created, headerFields: fields), body: ResponseBody(Data()))
        #expect(head.status == .created)
        #expect(head.headerFields == fields)
    }

    @Test("Many tasks may ask for the fields at once")
    func concurrent() async {
        let head = response(200, "A: 1\r\nA: 2\r\n")
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<32 { group.addTask { head.headerFields.count } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 2, count: 32))
    }
}
