import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// A server that requires Digest authentication and verifies each response by computing its own.
///
/// The user is `ada`, the password `pass:wörd`. A nonce with a count that was already used is answered with 400.
final class DigestServer: Sendable {
    /// Settings that a test changes while the server runs.
    struct State: Sendable {
        /// The nonce that responses must use. It stays the same until it is changed.
        var nonce = "nonce-0"
        /// Creates a new nonce for every challenge.
        var renewsNonce = false
        /// Reports a stale nonce as such.
        var saysStale = true
        /// Treats every nonce as stale.
        var isNeverContent = false
        /// The next nonce, which is sent with each accepted response.
        var nextNonce: String?
        fileprivate var counts: [String: [Int]] = [:]
        fileprivate var challenges = 0
    }

    static let user = "ada"
    static let password = "pass:wörd"

    private let algorithm: String
    private let qop: String?
    private let function: HashFunctions.Function
    private let answer: @Sendable (ServerRequest) -> ServerReply
    private let refusal: String
    private let state = Mutex(State())

    /// - Parameters:
    /// - qop: `nil` for a server of RFC 2069.
    ///   - refusal: The body of a 401.
    init(
        algorithm: String = "MD5", _ function: HashFunctions.Function = .md5, qop: String? = "auth",
        refusal: String = "refused",
        answer: @escaping @Sendable (ServerRequest) -> ServerReply = { .response(body: "secret \($0.bodyText)") }
    ) {
        self.algorithm = algorithm
        self.qop = qop
        self.function = function
        self.refusal = refusal
        self.answer = answer
    }

    /// The counts of the accepted responses for each nonce, in order.
    var counts: [String: [Int]] { state.withLock { $0.counts } }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func reply(to request: ServerRequest) -> ServerReply {
        guard let field = request.header("Authorization") else { return challenge(isStale: false) }
        let given = Self.parameters(field)
        let nonce = given["nonce"] ?? ""
        guard given["uri"] == request.target, given["realm"] == "the \"realm\"", given["opaque"] == "o\\" else {
            return .response(status: 400, body: "\(field)")
        }
        guard given["username"] == Self.user, given["response"] == expected(given, request) else {
            return challenge(isStale: false)
        }
        let count = Int(given["nc"] ?? "0", radix: 16) ?? 0
        enum Verdict { case right(String?), stale(Bool), reused }
        let verdict = state.withLock { state -> Verdict in
            if state.isNeverContent || nonce != state.nonce && !state.renewsNonce { return .stale(state.saysStale) }
            if qop != nil, state.counts[nonce]?.contains(count) == true { return .reused }
            state.counts[nonce, default: []].append(count)
            return .right(state.nextNonce)
        }
        switch verdict {
        case .right(nil): return answer(request)
        case .right(let next?):
            change { $0.nonce = next }
            return .response(headers: [("Authentication-Info", "nextnonce=\"\(next)\"")], body: "secret")
        case .stale(let says): return challenge(isStale: says)
        case .reused: return .response(status: 400, body: "The count was there already.")
        }
    }

    private func challenge(isStale: Bool) -> ServerReply {
        let nonce = state.withLock { state in
            state.challenges += 1
            return state.renewsNonce || state.isNeverContent ? "nonce-\(state.challenges)" : state.nonce
        }
        var value = #"Digest realm="the \"realm\"", nonce="\#(nonce)", opaque="o\\", algorithm=\#(algorithm)"#
        if let qop { value += ", qop=\"\(qop)\"" }
        if isStale { value += ", stale=TRUE" }
        return .response(status: 401, headers: [("WWW-Authenticate", value)], body: refusal)
    }

    private func expected(_ given: [String: String], _ request: ServerRequest) -> String {
        func hash(_ text: String) -> String { hash(Array(text.utf8)) }
        func hash(_ bytes: [UInt8]) -> String {
            (HashFunctions.openSSL.compute(function, bytes) ?? []).map {
                ($0 < 16 ? "0" : "") + String($0, radix: 16)
            }.joined()
        }
        let (nonce, cnonce) = (given["nonce"] ?? "", given["cnonce"] ?? "")
        var key = hash("\(Self.user):the \"realm\":\(Self.password)")
        if algorithm.hasSuffix("-sess") { key = hash("\(key):\(nonce):\(cnonce)") }
        var asked = "\(request.method):\(request.target)"
        if qop == "auth-int" { asked += ":" + hash(request.body) }
        guard let qop else { return hash("\(key):\(nonce):\(hash(asked))") }
        return hash("\(key):\(nonce):\(given["nc"] ?? ""):\(cnonce):\(qop):\(hash(asked))")
    }

    /// A minimal parser that is sufficient for this client's responses.
    private static func parameters(_ field: String) -> [String: String] {
        guard field.hasPrefix("Digest ") else { return [:] }
        var found: [String: String] = [:]
        for part in field.dropFirst(7).split(separator: ", ") {
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { return [:] }
            var value = sides[1]
            if value.hasPrefix("\"") {
                value = String(value.dropFirst().dropLast())
                value = value.split(separator: "\\\"", omittingEmptySubsequences: false).joined(separator: "\"")
                value = value.split(separator: "\\\\", omittingEmptySubsequences: false).joined(separator: "\\")
            }
            found[sides[0]] = value
        }
        return found
    }
}

/// Runs a closure with a service that has credentials and whose server requires Digest.
func withDigestService(
    _ digest: DigestServer = DigestServer(), password: String = DigestServer.password, minimum: DigestMinimum? = nil,
    configuration: HTTPDataRequestService.Configuration = HTTPDataRequestService.Configuration(),
    _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Void
) async throws {
    try await withLoopbackService(configuration, path: "/v1", serving: { digest.reply(to: $0) }) { service, server in
        service.setAuthorization(try .digest(user: DigestServer.user, password: password, minimum: minimum))
        try await body(service, server)
    }
}

extension LoopbackServer {
    /// Whether each request had Digest credentials.
    var answers: [Bool] { requests.map { $0.header("Authorization")?.hasPrefix("Digest ") == true } }
}
