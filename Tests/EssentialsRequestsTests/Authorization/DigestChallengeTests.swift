import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("A Digest challenge")
struct DigestChallengeTests {
    private func read(_ parameters: String) -> DigestChallenge? {
        DigestChallenge.all(in: [.wwwAuthenticate: "Digest " + parameters]).first
    }

    @Test("A Digest challenge without a realm or a nonce is ignored")
    func required() throws {
        let challenge = try #require(read(#"realm="r\"1", nonce="n, 2", opaque="""#))
        #expect(challenge.realm == Array(#"r"1"#.utf8))
        #expect(challenge.nonce == Array("n, 2".utf8))
        #expect(challenge.opaque == [])
        #expect(!challenge.isStale)
        #expect(read(#"realm="r", qop="auth""#) == nil)
        #expect(read(#"nonce="n""#) == nil)
        #expect(DigestChallenge.all(in: [.wwwAuthenticate: #"Basic realm="r", nonce="n""#]).isEmpty)
        #expect(DigestChallenge.all(in: [:]).isEmpty)
    }

    @Test(
        "The algorithm of a challenge is read in any case, is MD5 by default, and can be unknown",
        arguments: [
            ("", HashFunctions.Function.md5, false), ("algorithm=MD5", .md5, false), (#"algorithm="md5""#, .md5, false),
            ("algorithm=MD5-sess", .md5, true), ("algorithm=SHA-256", .sha256, false),
            ("algorithm=sha-256-SESS", .sha256, true), ("algorithm=SHA-512-256", .sha512Over256, false),
            ("algorithm=SHA-512-256-sess", .sha512Over256, true), ("algorithm=SHA-512", nil, false),
            ("algorithm=SHA-1", nil, false), ("algorithm=-sess", nil, false), (#"algorithm="""#, nil, false),
        ] as [(String, HashFunctions.Function?, Bool)])
    func algorithms(text: String, function: HashFunctions.Function?, isSession: Bool) throws {
        let challenge = try #require(read("realm=r, nonce=n" + (text.isEmpty ? "" : ", " + text)))
        #expect(challenge.algorithm?.function == function)
        #expect(challenge.algorithm.map(\.isSession) == function.map { _ in isSession })
    }

    @Test(
        "The protections of a challenge are read in any case, and a missing qop means the oldest kind",
        arguments: [
            ("", [.plain]), (#"qop="auth""#, [.authentication]), ("qop=auth", [.authentication]),
            (#"qop="AUTH-INT , Auth""#, [.authentication, .integrity]), (#"qop="auth-int""#, [.integrity]),
            (#"qop="other""#, []), (#"qop="authority,x""#, []), (#"qop="""#, [.plain]), (#"qop=",""#, [.plain]),
        ] as [(String, [DigestChallenge.Protection])])
    func protections(text: String, protections: [DigestChallenge.Protection]) throws {
        let challenge = try #require(read("realm=r, nonce=n" + (text.isEmpty ? "" : ", " + text)))
        #expect(challenge.protections == protections)
    }

    @Test(
        "The stale parameter of a challenge is read in any case",
        arguments: [("true", true), ("TRUE", true), ("\"true\"", true), ("false", false), ("1", false)])
    func stale(text: String, isStale: Bool) throws {
        #expect(try #require(read("realm=r, nonce=n, stale=\(text)")).isStale == isStale)
    }

    private func offered(_ parameters: String, _ body: RequestBody) throws -> DigestChallenge.Protection? {
        let challenge = try #require(read("realm=r, nonce=n, " + parameters))
        return DigestRequest(.post, target: "/", body: body).protection(for: challenge)
    }

    @Test("A body is hashed for a response only if the challenge requires it, and a stream is never hashed")
    func protection() throws {
        struct Empty: AsyncSequence, AsyncIteratorProtocol, Sendable {
            func next() async -> Data? { nil }
            func makeAsyncIterator() -> Empty { self }
        }
        let stream = RequestBody.stream(Empty(), length: nil)
        for body in [RequestBody.none, .bytes(Data([1])), stream] {
            #expect(try offered(#"qop="auth-int,auth""#, body) == .authentication)
            #expect(try offered("algorithm=MD5", body) == .plain)
            #expect(try offered("qop=other", body) == nil)
            #expect(try offered("algorithm=MD5-sess", body) == nil)
            #expect(try offered("algorithm=MD5-sess, qop=auth", body) == .authentication)
        }
        #expect(try offered("qop=auth-int", .none) == .integrity)
        #expect(try offered("qop=auth-int", .bytes(Data([1]))) == .integrity)
        #expect(try offered("qop=auth-int", stream) == nil)
    }
}
