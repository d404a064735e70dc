import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

@Suite struct RedirectRulesTests {
    private struct Below: Error {}

    private func outcome(
        _ method: HTTPRequest.Method = .get, _ from: String = "https://a.example/x", _ status: Int = 302,
        to location: String?, fields: HTTPFields = [:], body: RequestBody = .none, policy: RedirectPolicy = .standard,
        history: [RedirectHop] = []
    ) throws -> RedirectRules.Outcome {
        let request = TransportRequest(method, try RequestURL(from), headerFields: fields, body: body)
        var answer = HTTPFields()
        if let location { answer.append(HTTPField(name: .location, value: location)) }
        return RedirectRules.outcome(
            of: request, status: .init(code: status), headerFields: answer, policy: policy, history: history)
    }

    private func next(_ outcome: RedirectRules.Outcome) throws -> TransportRequest {
        guard case .follow(let request, _) = outcome else { throw Unexpected(outcome: outcome) }
        return request
    }

    private func failure(_ outcome: RedirectRules.Outcome) throws -> RequestFailure {
        guard case .fail(let failure) = outcome else { throw Unexpected(outcome: outcome) }
        return failure
    }

    private func isDelivered(_ outcome: RedirectRules.Outcome) -> Bool {
        if case .deliver = outcome { true } else { false }
    }

    private struct Unexpected: Error {
        let outcome: RedirectRules.Outcome
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    private func hop(_ from: String, _ to: String) throws -> RedirectHop {
        RedirectHop(from: try RequestURL(from), status: .found, to: try RequestURL(to), method: .get)
    }

    @Test(
        "A redirect URL with a control character is refused, and nothing is sent to it",
        arguments: ["/a\u{1}b", "\u{7f}"])
    func controlCharacters(location: String) throws {
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let fields = HTTPFields([HTTPField(name: .location, lenientValue: Array(location.utf8))])
        let outcome = RedirectRules.outcome(
            of: request, status: .found, headerFields: fields, policy: .standard, history: [])
        #expect(try failure(outcome).reason == .protocolViolation)
    }

    // MARK: Status and method

    @Test(
        "Each status changes each method as RFC 9110 says",
        arguments: [301, 302, 303, 307, 308], ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "post", "X"])
    func methods(status: Int, raw: String) throws {
        let method = try #require(HTTPRequest.Method(raw))
        let request = try next(
            outcome(
                method, "https://a.example/x", status, to: "/y", fields: [.contentType: "text/plain", .accept: "a/b"],
                body: .bytes(Data("hello".utf8))))
        let expected: String =
            switch (status, raw) {
            case (303, "HEAD"): "HEAD"
            case (303, _), (301, "POST"), (302, "POST"): "GET"
            default: raw
            }
        let dropsBody = status == 303 || raw == "POST" && status < 303
        #expect(request.method.rawValue == expected)
        #expect(request.url.description == "https://a.example/y")
        #expect(request.headerFields[.contentType] == (dropsBody ? nil : "text/plain"))
        #expect(request.headerFields[.accept] == "a/b")
        if case .none = request.body.content { #expect(dropsBody) } else { #expect(!dropsBody) }
    }

    @Test(
        "A response with another status is returned, regardless of its Location",
        arguments: [
            100, 200, 201, 202, 204, 206, 299, 300, 304, 305, 306, 309, 310, 399, 400, 401, 404, 416, 500, 503, 0, 999,
        ])
    func delivered(status: Int) throws {
        #expect(isDelivered(try outcome(.get, "https://a.example/x", status, to: "https://b.example/")))
    }

    @Test("The fields of a response that is not a redirect are not read")
    func fieldsUnread() throws {
        let reads = Mutex(0)
        func fields() -> HTTPFields {
            reads.withLock { $0 += 1 }
            return [:]
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example"))
        _ = RedirectRules.outcome(
            of: request, status: .ok, headerFields: fields(), policy: .standard, history: [])
        _ = RedirectRules.outcome(
            of: request, status: .found, headerFields: fields(), policy: .refused, history: [])
        #expect(reads.withLock { $0 } == 0)
    }

    @Test("The fields of a dropped body are dropped too, and the others stay")
    func contentFields() throws {
        let gone = [
            "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length",
            "Content-Range", "Content-Disposition", "Content-MD5", "content-digest", "Repr-Digest", "Digest",
            "Last-Modified", "Transfer-Encoding", "Trailer", "EXPECT",
        ]
        let kept = ["Accept", "User-Agent", "Authorization", "Cookie", "Range", "X-Content", "Content-Policy"]
        var fields = HTTPFields()
        for text in gone + kept { fields.append(HTTPField(name: try name(text), value: "v")) }
        fields.append(HTTPField(name: .contentType, value: "again"))
        let request = try next(outcome(.post, "https://a.example/x", 303, to: "/y", fields: fields))
        #expect(request.headerFields.map(\.name.rawName) == kept)
        let same = try next(outcome(.post, "https://a.example/x", 307, to: "/y", fields: fields))
        #expect(same.headerFields == fields)
    }

    @Test(
        "A redirect that changes neither the method nor the body keeps all fields",
        arguments: [301, 302, 303, 307, 308], [HTTPRequest.Method.get, .head])
    func unchangedMethod(status: Int, method: HTTPRequest.Method) throws {
        let fields: HTTPFields = [.contentType: "application/json", .contentLanguage: "de", .accept: "a/b"]
        let request = try next(outcome(method, "https://a.example/x", status, to: "/y", fields: fields))
        #expect(request.method == method)
        #expect(request.headerFields == fields)
    }

    @Test("Options apply to the next request")
    func options() throws {
        var request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        request.options.delivery = .streamed
        request.options.protocolVersion = .http1
        let result = RedirectRules.outcome(
            of: request, status: .found, headerFields: [.location: "/y"], policy: .standard, history: [])
        #expect(try next(result).options == request.options)
    }

    // MARK: Location

    @Test("A redirect without a Location is returned", arguments: [301, 302, 303, 307, 308])
    func noLocation(status: Int) throws {
        #expect(isDelivered(try outcome(.post, "https://a.example/x", status, to: nil)))
    }

    @Test("An empty Location is the same URL")
    func emptyLocation() throws {
        #expect(try next(outcome(to: "")).url.description == "https://a.example/x")
    }

    @Test("Different Location fields violate the protocol, and repeated equal ones do not")
    func severalLocations() throws {
        let request = TransportRequest(.get, try RequestURL("https://a.example/x?secret"))
        func outcome(_ values: [String]) -> RedirectRules.Outcome {
            let fields = HTTPFields(values.map { HTTPField(name: .location, value: $0) })
            return RedirectRules.outcome(
                of: request, status: .found, headerFields: fields, policy: .standard, history: [])
        }
        #expect(try next(outcome(["/y", "/y"])).url.target == "/y")
        for values in [["/y", "/z"], ["/y", "/y", "/Y"], ["/y", ""], ["", "/y"], ["/y?secret", "/y"]] {
            let failure = try failure(outcome(values))
            #expect(failure.reason == .protocolViolation)
            #expect(failure.host == "a.example")
            #expect(!failure.description.contains("secret"))
        }
    }

    @Test("A Location is parsed from its raw bytes")
    func rawLocation() throws {
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let fields = HTTPFields([HTTPField(name: .location, value: [0x2f, 0xe9, 0x20, 0x78] as [UInt8])])
        let result = RedirectRules.outcome(
            of: request, status: .found, headerFields: fields, policy: .standard, history: [])
        #expect(try next(result).url.target == "/%E9%20x")
    }

    @Test(
        "A Location that cannot be followed fails with the redirecting host",
        arguments: [
            ("http:x", RequestFailure.Reason.protocolViolation), ("//", .protocolViolation), ("/%", .protocolViolation),
            ("ftp://b.example/", .redirectRefused), ("https://u:secret@b.example/", .redirectRefused),
        ])
    func badLocation(location: String, reason: RequestFailure.Reason) throws {
        let failure = try failure(outcome(to: location))
        #expect(failure.reason == reason)
        #expect(failure.host == "a.example")
        #expect(failure.phase == .receiving)
    }

    // MARK: Origins

    private let secrets = [
        "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "WWW-Authenticate", "Proxy-Authenticate",
        "Authentication-Info", "Proxy-Authentication-Info", "Host", "authorization", "COOKIE", "X-Tenant", "Referer",
        "X-Api-Key", "X-Access-Code", "X-Passkey", "X-Ticket", "X-Sessid", "X-Invite-Code", "X-Verification-Code",
        "x-auth-token", "X-Otp", "X-CSRF-Token", "X_SIGNATURE", "X-Session-Id", "X-Vault-Token",
    ]

    private func secretFields() throws -> HTTPFields {
        var fields: HTTPFields = [.accept: "a/b"]
        for text in secrets { fields.append(HTTPField(name: try name(text), value: "secret")) }
        fields[.userAgent] = "me"
        return fields
    }

    private func policy() throws -> RedirectPolicy {
        var policy = RedirectPolicy.standard
        policy.sensitiveFields = [try name("x-tenant")]
        policy.allowsDowngrade = true
        return policy
    }

    @Test(
        "A redirect to another origin drops credentials",
        arguments: [
            "https://b.example/", "https://www.a.example/", "https://a.example:8443/", "http://a.example/",
            "http://a.example:443/", "//b.example",
        ], [301, 303, 307, 308])
    func otherOrigin(location: String, status: Int) throws {
        let request = try next(
            outcome(.get, "https://a.example/x", status, to: location, fields: secretFields(), policy: policy()))
        #expect(request.headerFields == [.accept: "a/b", .userAgent: "me"])
    }

    @Test(
        "A redirect within the origin keeps the fields",
        arguments: ["/y", "https://A.example:443/y", "//a.example./y", "?y", "HTTPS://a.example"])
    func sameOrigin(location: String) throws {
        let request = try next(outcome(to: location, fields: secretFields(), policy: policy()))
        #expect(request.headerFields == (try secretFields()))
    }

    @Test(
        "A shared field goes to another origin, but a sensitive or standard credential field never does"
    )
    func sharedFields() throws {
        var policy = try policy()
        policy.sharedFields = [try name("x-api-key"), try name("X-Tenant"), .cookie, .authorization]
        let request = try next(outcome(to: "https://b.example/", fields: secretFields(), policy: policy))
        #expect(request.headerFields.map(\.name.rawName) == ["Accept", "X-Api-Key", "User-Agent"])
    }

    @Test("Fields that only resemble secrets go to another origin")
    func harmlessFields() throws {
        let names = ["Idempotency-Key", "Surrogate-Key", "Author", "X-Request-Id", "Accept-Language"]
        let fields = HTTPFields(try names.map { HTTPField(name: try name($0), value: "v") })
        #expect(try next(outcome(to: "https://b.example/", fields: fields)).headerFields == fields)
    }

    @Test("A removed field is not restored when a redirect returns to the first origin")
    func backToFirstOrigin() throws {
        let away = try next(outcome(to: "https://b.example/", fields: secretFields(), policy: policy()))
        let back = RedirectRules.outcome(
            of: away, status: .found, headerFields: [.location: "https://a.example/x"], policy: try policy(),
            history: [try hop("https://a.example/x", "https://b.example/")])
        #expect(try next(back).headerFields == [.accept: "a/b", .userAgent: "me"])
    }

    @Test("A redirect from https to http is refused unless it is allowed")
    func downgrade() throws {
        let failure = try failure(outcome(to: "http://a.example/y?secret"))
        #expect(failure.reason == .redirectRefused)
        #expect(failure.message == "https://a.example redirects to http://a.example, which does not use TLS.")
        #expect(failure.remedy?.contains("allowsDowngrade") == true)
        var policy = RedirectPolicy.standard
        policy.allowsDowngrade = true
        #expect(try next(outcome(to: "http://a.example/y", policy: policy)).url.origin.scheme == .http)
        #expect(try next(outcome(.get, "http://a.example/", 301, to: "https://a.example")).url.origin.scheme == .https)
        #expect(try next(outcome(.get, "http://a.example/", 301, to: "http://b.example")).url.origin.scheme == .http)
    }

    // MARK: Limits

    @Test("As many redirects as the limit are followed, and one more is not", arguments: [0, 1, 2, 10])
    func limit(count: Int) throws {
        let step = try hop("https://a.example/x", "https://a.example/y")
        for length in 0...count {
            let result = try outcome(
                to: "/y", policy: .limit(count), history: Array(repeating: step, count: length))
            if length < count {
                #expect(try next(result).url.target == "/y")
            } else {
                #expect(try failure(result).reason == .redirectLimit)
            }
        }
    }

    @Test("A negative limit is zero, and the standard limit is 10")
    func oddLimits() throws {
        #expect(try failure(outcome(to: "/y", policy: .limit(.min))).reason == .redirectLimit)
        let step = try hop("https://a.example/x", "https://a.example/y")
        #expect(try next(outcome(to: "/y", history: Array(repeating: step, count: 9))).url.target == "/y")
        let over = try failure(outcome(to: "/y", history: Array(repeating: step, count: 10)))
        #expect(over.reason == .redirectLimit)
    }

    @Test("The policy “none” returns every redirect, also an invalid one", arguments: ["/y", "ftp://x", "/%"])
    func noPolicy(location: String) throws {
        #expect(isDelivered(try outcome(to: location, policy: .refused)))
    }

    @Test("A redirect above the limit fails with a message that lists the origins")
    func chain() throws {
        let history = [
            try hop("https://a.example/x?secret", "https://b.example/secret"),
            try hop("https://b.example/secret", "https://c.example:81/?secret"),
        ]
        let failure = try failure(
            outcome(
                .get, "https://c.example:81/?secret", 302, to: "//d.example?secret", policy: .limit(2),
                history: history))
        #expect(
            failure.message == "More redirects than the 2 allowed: "
                + "https://a.example → https://b.example → https://c.example:81 → https://d.example.")
        #expect(failure.host == "c.example")
    }

    @Test("Redirects within an origin name it once")
    func withinOrigin() throws {
        let steps = [("https://a.example/1", "https://a.example/2"), ("https://a.example/2", "https://b.example/3")]
        let history = try steps.map { try hop($0.0, $0.1) }
        let mixed = try failure(
            outcome(.get, "https://b.example/3", 302, to: "/4", policy: .limit(2), history: history))
        #expect(mixed.message == "More redirects than the 2 allowed: https://a.example → https://b.example.")
        let loop = try failure(
            outcome(.get, "https://a.example/2", 302, to: "/1", policy: .limit(1), history: Array(history.prefix(1))))
        #expect(loop.message == "More redirects than the 1 allowed, all within https://a.example.")
    }

    @Test("The message for a long chain is shortened")
    func longChain() throws {
        let history = try (0..<500).map { try hop("https://h\($0).example/", "https://h\($0 + 1).example/") }
        let failure = try failure(
            outcome(.get, "https://h500.example/", 302, to: "//last.example", policy: .limit(500), history: history))
        #expect(failure.message.contains("https://h0.example"))
        #expect(failure.message.contains(" → … → "))
        #expect(failure.message.contains("https://last.example"))
        #expect(failure.message.utf8.count < 600)
    }

    // MARK: Bodies

    private var stream: RequestBody { .stream(AsyncStream<Data> { $0.finish() }, length: nil) }

    @Test("A redirect that would send a stream again fails", arguments: [(301, "PUT"), (307, "POST"), (308, "PATCH")])
    func notReplayable(status: Int, method: String) throws {
        let failure = try failure(
            outcome(
                try #require(HTTPRequest.Method(method)), "https://a.example/x?secret", status,
                to: "https://b.example/?secret", body: stream))
        #expect(failure.reason == .notReplayable)
        #expect(failure.message.contains("https://b.example"))
        #expect(failure.host == "a.example")
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "A redirect that changes the method to GET drops a stream",
        arguments: [(301, "POST"), (302, "POST"), (303, "PUT")])
    func streamDropped(status: Int, method: String) throws {
        let request = try next(
            outcome(
                try #require(HTTPRequest.Method(method)), "https://a.example/x", status, to: "/y", body: stream))
        #expect(request.method == .get)
        #expect(request.body.isReplayable)
    }

    @Test(
        "A body that must stay in its origin is refused at another origin and sent within the origin",
        arguments: [(301, "PUT"), (307, "POST"), (308, "PATCH")])
    func bodyInOrigin(status: Int, method: String) throws {
        var policy = RedirectPolicy.standard
        policy.keepsBodyInOrigin = true
        func result(to location: String, body: RequestBody) throws -> RedirectRules.Outcome {
            try outcome(
                try #require(HTTPRequest.Method(method)), "https://a.example/x?secret", status, to: location,
                body: body,
                policy: policy)
        }
        let body = RequestBody.bytes(Data("secret".utf8))
        let failure = try failure(result(to: "https://b.example/?secret", body: body))
        #expect(failure.reason == .redirectRefused)
        #expect(failure.message.contains("https://b.example") && failure.remedy?.contains("header field") == true)
        #expect(!failure.description.contains("secret"))
        #expect(try next(result(to: "/y", body: body)).body.isReplayable)
        #expect(try next(result(to: "https://b.example/", body: .none)).url.origin.host.text == "b.example")
    }

    // MARK: Decisions

    @Test("The closure receives the next request and the history")
    func proposal() throws {
        let seen = Mutex<[RedirectProposal]>([])
        let policy = RedirectPolicy.deciding { proposal in
            seen.withLock { $0.append(proposal) }
            return .follow
        }
        let before = [try hop("https://z.example/", "https://a.example/x")]
        _ = try next(
            outcome(
                .post, "https://a.example/x", 302, to: "https://b.example/y",
                fields: [.authorization: "secret", .accept: "a/b"], policy: policy, history: before))
        let proposal = try #require(seen.withLock { $0 }.first)
        #expect(proposal.history == before)
        #expect(proposal.request.method == .get)
        #expect(proposal.request.headerFields == [.accept: "a/b"])
        #expect(proposal.hop.from.description == "https://a.example/x")
        #expect(proposal.hop.to == proposal.request.url)
        #expect(proposal.hop.method == .get)
        #expect(proposal.hop.status == .found)
        #expect(proposal.hop.leavesOrigin)
    }

    @Test("The closure can stop, refuse and throw")
    func decisions() throws {
        #expect(isDelivered(try outcome(to: "/y", policy: .deciding { _ in .stop })))
        let refused = try failure(outcome(to: "/y?secret", policy: .deciding { _ in .refuse("Not there.") }))
        #expect(refused.reason == .redirectRefused)
        #expect(refused.message.hasSuffix("was refused: Not there."))
        #expect(!refused.description.contains("secret"))
        let thrown = try failure(outcome(to: "/y", policy: .deciding { _ in throw Below() }))
        #expect(thrown.reason == .redirectRefused)
        #expect(thrown.underlying is Below)
        let own = RequestFailure(.hostRefused, "Mine.")
        #expect(try failure(outcome(to: "/y", policy: .deciding { _ in throw own })).reason == .hostRefused)
    }

    @Test("The closure can stop a redirect whose body cannot be sent again, but cannot follow it")
    func decisionAboutStream() throws {
        func result(_ decision: RedirectDecision) throws -> RedirectRules.Outcome {
            try outcome(.put, "https://a.example/x", 307, to: "/y", body: stream, policy: .deciding { _ in decision })
        }
        #expect(isDelivered(try result(.stop)))
        #expect(try failure(result(.follow)).reason == .notReplayable)
        #expect(try failure(result(.refuse("No."))).reason == .redirectRefused)
    }

    @Test("The closure is not called for a redirect that the policy refuses")
    func closureAfterRules() throws {
        let asked = Mutex(0)
        let policy = RedirectPolicy.deciding(limit: 1) { _ in
            asked.withLock { $0 += 1 }
            return .follow
        }
        #expect(try failure(outcome(to: "http://a.example/", policy: policy)).reason == .redirectRefused)
        let step = try hop("https://z.example/", "https://a.example/x")
        #expect(try failure(outcome(to: "/y", policy: policy, history: [step])).reason == .redirectLimit)
        #expect(asked.withLock { $0 } == 0)
        #expect(try next(outcome(to: "/y", policy: policy)).url.target == "/y")
        #expect(asked.withLock { $0 } == 1)
    }

    @Test("The description of a hop has no queries")
    func hopText() throws {
        let hop = try hop("https://a.example/x?secret", "https://b.example/y?secret")
        #expect("\(hop)" == "302 https://a.example/x?… → GET https://b.example/y?…")
        #expect(!(try self.hop("https://a.example/x", "https://a.example/y").leavesOrigin))
    }
}
