import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite("Details of equal requests")
struct JoinKeyDetailsTests {
    private func key(
        fields: HTTPFields = [:], scope: CredentialScope? = nil, _ change: (inout ExchangeRules) -> Void = { _ in }
    ) throws -> JoinKey {
        let request = TransportRequest(.get, try RequestURL("https://h/a"), headerFields: fields)
        var rules = ExchangeRules(expectedStatus: .success, redirects: .standard)
        change(&rules)
        let record = ExchangeRecord(
            request, rules, id: RequestID(service: 0, number: 1), environment: nil,
            submission: Submission(begun: .now, scope: scope), cancellation: Cancellation())
        return try #require(JoinKey(request, record, isJudged: false))
    }

    @Test("Requests with different retry policies do not join, and those with equal policies do")
    func retryPolicy() throws {
        let policies: [RetryPolicy] = [.standard, .attempts(4), .forever, .standard.whenReachable]
        let plain = try key()
        for (index, policy) in policies.enumerated() {
            let one = try key { $0.everywhere = HopRules(HopRetries(policy), nil, nil) }
            #expect(one != plain)
            for (otherIndex, otherPolicy) in policies.enumerated() {
                let other = try key { $0.everywhere = HopRules(HopRetries(otherPolicy), nil, nil) }
                #expect((one == other) == (index == otherIndex))
            }
        }
    }

    @Test("Requests with retry policies that differ only in their closures do not join")
    func retryClosures() throws {
        func deciding() throws -> JoinKey {
            try key { $0.everywhere = HopRules(HopRetries(.standard.deciding { _ in .stop }), nil, nil) }
        }
        let (one, other) = (try deciding(), try deciding())
        #expect(one != other)
    }

    @Test("A request that declares a status which its policy retries does not join one that wants it retried")
    func declaredStatuses() throws {
        func key(_ expectation: StatusExpectation, _ policy: RetryPolicy?) throws -> JoinKey {
            try self.key {
                $0.expectedStatus = expectation
                $0.everywhere = HopRules(policy.map { HopRetries($0) }, nil, nil)
            }
        }
        let deciding = RetryPolicy.standard.deciding { _ in .standard }
        for expectation: StatusExpectation in [[200...299, 503...503], .matching { $0 != 404 }] {
            #expect(try key(.success, .standard) != key(expectation, .standard))
            #expect(try key(expectation, .standard) == key(expectation, .standard))
            // Without a policy the expectation changes nothing before the status is checked.
            #expect(try key(.success, nil) == key(expectation, nil))
        }
        // A closure may retry any failure. Nothing else retries a 404, and `any` declares no status.
        #expect(try key(.success, .standard) == key([200...299, 404...404], .standard))
        #expect(try key(.success, deciding) != key([200...299, 404...404], deciding))
        #expect(try key(.success, .standard) == key(.any, .standard))
    }

    @Test("A request without cookies does not join one with cookies")
    func cookies() throws {
        let one = try key { $0.usesCookies = false }
        let same = try key { $0.usesCookies = false }
        let other = try key()
        #expect(one == same)
        #expect(one != other)
    }

    @Test("Requests that differ in whether they are marked as idempotent do not join")
    func idempotency() throws {
        let marks: [Bool?] = [nil, true, false]
        for mark in marks {
            let one = try key { $0.isIdempotent = mark }
            for otherMark in marks {
                let other = try key { $0.isIdempotent = otherMark }
                #expect((one == other) == (mark == otherMark))
            }
        }
    }

    @Test("Requests of different scopes do not join, even if the scopes have the same credentials")
    func scopes() throws {
        let credentials = Credentials.tokens(CountingProvider())
        let origin = try RequestURL("https://h/").origin
        let scope = CredentialScope(credentials, for: origin)
        let one = try key(scope: scope)
        let same = try key(scope: scope)
        let other = try key(scope: CredentialScope(credentials, for: origin))
        let plain = try key()
        #expect(one == same)
        #expect(one != other)
        #expect(one != plain)
    }

    @Test(
        "Requests that differ only in a field for tracing join, whatever the case of its name",
        arguments: [
            "traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId",
            "X-B3-Sampled", "X-B3-Flags", "X-Request-ID", "X-Correlation-ID", "X-Amzn-Trace-Id",
            "X-Cloud-Trace-Context", "uber-trace-id",
        ])
    func traces(name: String) throws {
        let plain = try key(fields: [.accept: "a/b"])
        for text in [name, name.lowercased(), name.uppercased()] {
            let field = try #require(HTTPField.Name(text))
            let one = try key(fields: [.accept: "a/b", field: "1"])
            let other = try key(fields: [.accept: "a/b", field: "2"])
            #expect(one == other)
            #expect(one == plain)
            #expect(one.hashValue == plain.hashValue)
            // The other fields still count.
            let different = try key(fields: [.accept: "c/d", field: "1"])
            #expect(one != different)
        }
    }

    @Test(
        "Requests that differ in a field with a similar name do not join",
        arguments: ["traceparent2", "trace", "b4", "X-Requested-With", "X-Request-ID-2", "uber-trace", "X-B3"])
    func similarNames(name: String) throws {
        let field = try #require(HTTPField.Name(name))
        let (one, other, plain) = (try key(fields: [field: "1"]), try key(fields: [field: "2"]), try key())
        #expect(one != other)
        #expect(one != plain)
    }
}
