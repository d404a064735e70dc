import EssentialsHTTP
import EssentialsRequests
import Testing

@Suite("Request priority")
struct RequestPriorityTests {
    private static let name = HTTPField.Name("Priority")

    @Test("A request's priority is normal by default and is passed to the transport")
    func option() async throws {
        let fixture = try ServiceFixture()
        #expect(try await fixture.sent(DataRequest(.get, "a")).options.priority == .normal)
        for priority in RequestPriority.allCases {
            let request = try RequestBuilder(.get, "a").priority(priority).build()
            #expect(try await fixture.sent(request).options.priority == priority)
        }
        #expect(RequestPriority.allCases.sorted() == [.background, .low, .normal, .high, .interactive])
    }

    @Test(
        "A request's priority is sent as an urgency if the service is configured to (RFC 9218, 5)",
        arguments: [
            (RequestPriority.background, "u=7"), (.low, "u=5"), (.normal, nil), (.high, "u=2"), (.interactive, "u=1"),
        ] as [(RequestPriority, String?)])
    func field(priority: RequestPriority, value: String?) async throws {
        let name = try #require(Self.name)
        let telling = try ServiceFixture { $0.sendsPriority = true }
        let silent = try ServiceFixture()
        var request = DataRequest(.get, "a")
        request.options.priority = priority
        #expect(try await telling.sent(request).headerFields[values: name] == (value.map { [$0] } ?? []))
        #expect(try await silent.sent(request).headerFields[values: name] == [])
        request.headerFields[name] = "u=0, i"
        #expect(try await telling.sent(request).headerFields[values: name] == ["u=0, i"])
    }
}
