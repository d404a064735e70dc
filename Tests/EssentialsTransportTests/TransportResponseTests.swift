import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct TransportResponseTests {
    @Test("A response returns the values it was created with")
    func roundTrip() {
        let head = HTTPResponse(status: .accepted, headerFields: [.server: "x"])
        var metrics = TransportMetrics()
        metrics.sendings = 2
        var connection = ConnectionFacts()
        connection.isReused = true
        let response = TransportResponse(
            head, body: ResponseBody(.init("ab".utf8)), metrics: metrics, connection: connection,
            trailerFields: [.eTag: "t"])
        #expect(response.head == head)
        #expect(response.status == .accepted)
        #expect(response.headerFields[.server] == "x")
        #expect(response.body.data == .init("ab".utf8))
        #expect(response.metrics == metrics)
        #expect(response.connection == connection)
        #expect(response.trailerFields[.eTag] == "t")
    }
}
