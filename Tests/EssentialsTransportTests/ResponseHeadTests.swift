import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct ResponseHeadTests {
    private func response(_ status: Int, _ block: String) -> TransportResponse {
        TransportResponse(
            status: status, block: Array(block.utf8), body: ResponseBody(Data()), metrics: TransportMetrics(),
            connection: UnreadConnection(
                version: 11, isReused: true, port: 8080, address: address("192.0.2.1"), security: nil),
            trailerFields: nil, informational: [])
    }

    private func address(_ text: String) -> UnreadConnection.Address {
        var address: UnreadConnection.Address = (0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &address) { $0.copyBytes(from: text.utf8) }
        return address
    }

    @Test("Connection facts are read on demand")
    func connection() {
        let plain = response(200, "HTTP/1.1 200 OK\r\n\r\n")
        var expected = ConnectionFacts()
        expected.protocolName = "HTTP/1.1"
        (expected.peerAddress, expected.peerPort, expected.isReused) = ("192.0.2.1", 8080, true)
        #expect(plain.connection == expected)
        #expect(plain.trailerFields == [:])
    }

    @Test(
        "Connection facts are correct for every version, with and without TLS, and for the longest address",
        arguments: [(Int32(10), "HTTP/1.0"), (11, "HTTP/1.1"), (20, "HTTP/2")])
    func connectionDetails(version: Int32, name: String) {
        let longest = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"
        let secured = UnreadConnection(
            version: version, isReused: false, port: 443, address: address(longest),
            security: (version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", trust: nil))
        let response = TransportResponse(
            status: 200, block: [], body: ResponseBody(Data()), metrics: TransportMetrics(), connection: secured,
            trailerFields: [.date: "now"], informational: [])
        #expect(response.connection.protocolName == name)
        #expect(response.connection.peerAddress == longest)
        #expect(response.connection.tlsVersion == "TLSv1.3")
        #expect(response.connection.tlsCipher == "TLS_AES_128_GCM_SHA256")
        #expect(!response.connection.isReused)
        #expect(response.trailerFields == [.date: "now"])
    }

    @Test("Header fields are parsed from bytes once and do not change")
    func block() {
        let head = response(404, "HTTP/1.1 404 Gone\r\nA: 1\r\nB: 2\r\n\r\n")
        #expect(head.status == .notFound)
        #expect(head.headerFields.map(\.value) == ["1", "2"])
        #expect(head.headerFields == head.headerFields)
    }

    @Test("A head that was created from a value has that value's fields")
    func value() {
        let fields: HTTPFields = [.contentType: "text/plain", .eTag: "\"x\""]
        let head = TransportResponse(HTTPResponse(status: .created, headerFields: fields), body: ResponseBody(Data()))
        #expect(head.status == .created)
        #expect(head.headerFields == fields)
    }

    @Test("Many tasks can read the fields concurrently")
    func concurrent() async {
        let head = response(200, "A: 1\r\nA: 2\r\n")
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<32 { group.addTask { head.headerFields.count } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 2, count: 32))
    }
}
