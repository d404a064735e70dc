import FoundationEssentials
import ServiceEssentials
import Testing

@testable import EssentialsRequests

@Suite("Equal requests")
struct JoinKeyTests {
    private struct Draft {
        var request: TransportRequest
        var rules = ExchangeRules(expectedStatus: .success, redirects: .standard)
        var environment: EnvironmentSnapshot?
        var submission = Submission.open
        var isJudged = false

        init() throws {
            request = TransportRequest(.get, try RequestURL("https://h/a"), headerFields: [.accept: "a/b"])
        }

        var key: JoinKey? {
            let record = ExchangeRecord(
                request, rules, id: RequestID(service: 0, number: 1), environment: environment,
                submission: submission, cancellation: Cancellation())
            return JoinKey(request, record, isJudged: isJudged)
        }
    }

    private static func submission(_ credentials: Credentials?) throws -> Submission {
        Submission(begun: .now, scope: CredentialScope(credentials, for: try RequestURL("https://h").origin))
    }

    private typealias Change = @Sendable (inout Draft) throws -> Void

    private static let differences: [(String, Change)] = [
        ("the method", { $0.request.method = .head }),
        ("a field", { $0.request.headerFields[.accept] = "c/d" }),
        ("another field", { $0.request.headerFields[.ifNoneMatch] = "\"1\"" }),
        ("the credentials", { $0.request.headerFields[.authorization] = "Bearer x" }),
        ("the time without credentials", { $0.submission = try JoinKeyTests.submission(nil) }),
        (
            "the credentials for Digest",
            {
                $0.submission = try JoinKeyTests.submission(.digest(user: "a", password: "b"))
            }
        ),
        ("the environment", { $0.environment = EnvironmentSnapshot(baseURL: try RequestURL("https://h/")) }),
        ("the trust", { $0.request.options.trust = TrustPolicy(minimumTLS: .tls13) }),
        ("the delivery limit", { $0.request.options.delivery = .collected(upTo: 1) }),
        ("the decompression", { $0.request.options.decompresses = false }),
        ("the idle timeout", { $0.request.options.idleTimeout = .seconds(1) }),
        ("the protocol", { $0.request.options.protocolVersion = .http1 }),
        ("the limit of redirects", { $0.rules.redirects = .limit(3) }),
        ("refused redirects", { $0.rules.redirects = .refused }),
        ("redirects to http", { $0.rules.redirects.allowsDowngrade = true }),
        ("fields for the first origin only", { $0.rules.redirects.sensitiveFields = [.acceptLanguage] }),
        ("fields for other origins", { $0.rules.redirects.sharedFields = [.acceptLanguage] }),
        (
            "the expectation that interceptors see",
            {
                $0.isJudged = true; $0.rules.expectedStatus = 404
            }
        ),
        (
            "the error model that interceptors see",
            {
                $0.isJudged = true; $0.rules.errorModel = Note.self
            }
        ),
    ]

    @Test("Requests that differ in anything that matters are not equal", arguments: 0..<differences.count)
    func different(index: Int) throws {
        let (name, change) = Self.differences[index]
        var draft = try Draft()
        try change(&draft)
        var plain = try Draft()
        plain.isJudged = draft.isJudged
        let (key, other) = (try #require(draft.key), try #require(plain.key))
        #expect(key != other, "\(name)")
        #expect(try #require(draft.key) == key, "\(name)")
    }

    private static let similarities: [(String, Change)] = [
        ("the deadline", { $0.request.options.totalTimeout = .seconds(1) }),
        ("the priority", { $0.request.options.priority = .high }),
        ("a trace", { $0.request.headerFields[HTTPField.Name("traceparent")!] = "00-1-2-01" }),
        ("a request number", { $0.request.headerFields[HTTPField.Name("x-request-id")!] = "17" }),
        ("the expectation", { $0.rules.expectedStatus = 404 }),
        ("an expectation that is a closure", { $0.rules.expectedStatus = .matching { $0 < 500 } }),
        ("the error model", { $0.rules.errorModel = Note.self }),
    ]

    @Test("Deadline, priority, trace and expectation make no difference", arguments: 0..<similarities.count)
    func same(index: Int) throws {
        let (name, change) = Self.similarities[index]
        var draft = try Draft()
        try change(&draft)
        #expect(try #require(draft.key) == #require(try Draft().key), "\(name)")
        #expect(try #require(draft.key).hashValue == #require(try Draft().key).hashValue, "\(name)")
    }

    private static let singles: [(String, Change)] = [
        ("a method with an effect", { $0.request.method = .post }),
        ("another safe method", { $0.request.method = .options }),
        ("a body", { $0.request.body = .bytes(Data("x".utf8)) }),
        ("a streamed response", { $0.request.options.delivery = .streamed }),
        ("a range", { $0.request.headerFields[.range] = "bytes=0-1" }),
        ("a redirect policy with a closure", { $0.rules.redirects = .deciding { _ in .follow } }),
        (
            "an expectation that interceptors see and that is a closure",
            {
                $0.isJudged = true; $0.rules.expectedStatus = .matching { $0 < 500 }
            }
        ),
    ]

    @Test("Requests that can share nothing go by themselves", arguments: 0..<singles.count)
    func alone(index: Int) throws {
        let (name, change) = Self.singles[index]
        var draft = try Draft()
        try change(&draft)
        #expect(draft.key == nil, "\(name)")
    }
}
