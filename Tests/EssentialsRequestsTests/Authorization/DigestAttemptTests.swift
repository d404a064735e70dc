import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite("Digest attempts")
struct DigestAttemptTests {
    private func challenge(_ nonce: String, realm: String = "r", stale: Bool = false) throws -> DigestChallenge {
        let field = "Digest realm=\(realm), nonce=\(nonce), qop=auth" + (stale ? ", stale=true" : "")
        return try #require(DigestChallenge.all(in: [.wwwAuthenticate: field]).first)
    }

    @Test("A challenge is answered once, and a second time only if the nonce was stale and a new one is sent")
    func answers() throws {
        var machine = DigestMachine()
        let bare = DigestAttempt.bare
        #expect(bare.allowsAnswer(to: try challenge("a")))
        #expect(bare.allowsAnswer(to: try challenge("a", stale: true)))
        #expect(bare.ticket == nil)
        let ticket = machine.take(try challenge("a"), cnonce: "c")
        let answered = bare.answering(with: ticket)
        #expect(answered == .answered(ticket))
        #expect(!answered.allowsAnswer(to: try challenge("a")))
        #expect(!answered.allowsAnswer(to: try challenge("b")))
        #expect(!answered.allowsAnswer(to: try challenge("b", realm: "s")))
        #expect(!answered.allowsAnswer(to: try challenge("a", stale: true)))
        #expect(answered.allowsAnswer(to: try challenge("b", stale: true)))
        let renewed = answered.answering(with: ticket)
        #expect(renewed == .renewed(ticket))
        #expect(!renewed.allowsAnswer(to: try challenge("c", stale: true)))
    }

    @Test("After credentials in advance, a challenge is answered if it is another one or reports a stale nonce")
    func inAdvance() throws {
        var machine = DigestMachine()
        let anticipated = DigestAttempt.anticipated(machine.take(try challenge("a"), cnonce: "c"))
        #expect(!anticipated.allowsAnswer(to: try challenge("a")))
        #expect(anticipated.allowsAnswer(to: try challenge("b")))
        #expect(anticipated.allowsAnswer(to: try challenge("a", realm: "s")))
        #expect(anticipated.allowsAnswer(to: try challenge("a", stale: true)))
        let ticket = machine.take(try challenge("b"), cnonce: "c")
        #expect(anticipated.answering(with: ticket) == .answered(ticket))
    }
}
