import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("The memory of nonces")
struct DigestMachineTests {
    private let request = DigestRequest(.get, target: "/", body: .none)

    private func challenge(_ nonce: String, _ more: String = "qop=auth") throws -> DigestChallenge {
        try #require(
            DigestChallenge.all(in: [.wwwAuthenticate: "Digest realm=r, nonce=\"\(nonce)\", \(more)"]).first)
    }

    private func next(_ machine: inout DigestMachine, _ cnonce: String) throws -> DigestTicket {
        let ticket = machine.anticipate(request, cnonce: cnonce)
        return try #require(ticket)
    }

    @Test("No nonce is used in advance before one was accepted, and the count of an accepted nonce grows")
    func inAdvance() throws {
        var machine = DigestMachine()
        #expect(machine.anticipate(request, cnonce: "c0") == nil)
        let first = machine.take(try challenge("a"), cnonce: "c1")
        #expect(first.count == 1)
        #expect(first.cnonce == "c1")
        #expect(machine.anticipate(request, cnonce: "c2") == nil)
        machine.accepted(first, nextNonce: nil)
        for count in 2...5 {
            let ticket = try next(&machine, "c\(count)")
            #expect(ticket.nonce == Array("a".utf8))
            #expect(ticket.count == count)
            #expect(ticket.cnonce == "c\(count)")
        }
        machine.refused(first)
        #expect(machine.anticipate(request, cnonce: "c") == nil)
    }

    @Test("A nonce that the server sends again continues its count, also if another came in between")
    func counts() throws {
        var machine = DigestMachine()
        let names = ["a", "b", "a", "a", "b", "c", "a"]
        #expect(try names.map { machine.take(try challenge($0), cnonce: "c").count } == [1, 1, 2, 3, 2, 1, 4])
    }

    @Test("At most 32 nonces are kept: the one in use and the latest others")
    func limit() throws {
        var machine = DigestMachine()
        let used = machine.take(try challenge("used"), cnonce: "c")
        machine.accepted(used, nextNonce: nil)
        for number in 1...100 { _ = machine.take(try challenge("\(number)"), cnonce: "c") }
        #expect(machine.anticipate(request, cnonce: "c")?.count == 2)
        #expect(machine.take(try challenge("100"), cnonce: "c").count == 2)
        #expect(machine.take(try challenge("70"), cnonce: "c").count == 2)
        #expect(machine.take(try challenge("1"), cnonce: "c").count == 1)
    }

    @Test("The next nonce that the server announces replaces the current one, and its count starts at 1")
    func nextNonce() throws {
        var machine = DigestMachine()
        machine.accepted(machine.take(try challenge("a"), cnonce: "c"), nextNonce: Array("b".utf8))
        let next = try next(&machine, "c")
        #expect(next.nonce == Array("b".utf8))
        #expect(next.count == 1)
        #expect(next.challenge.nonce == Array("a".utf8))
        // A nonce that is announced again is not a new one.
        machine.accepted(next, nextNonce: Array("b".utf8))
        #expect(machine.anticipate(request, cnonce: "c")?.count == 2)
    }

    @Test("A session keeps its client nonce for all requests, and a new session gets a new one")
    func sessions() throws {
        var machine = DigestMachine()
        let first = machine.take(try challenge("a", "qop=auth, algorithm=MD5-sess"), cnonce: "c1")
        machine.accepted(first, nextNonce: Array("b".utf8))
        #expect(machine.anticipate(request, cnonce: "c2")?.cnonce == "c1")
        #expect(machine.take(try challenge("a", "qop=auth, algorithm=MD5-sess"), cnonce: "c3").cnonce == "c1")
        #expect(machine.take(try challenge("d", "qop=auth, algorithm=MD5-sess"), cnonce: "c4").cnonce == "c4")
    }

    @Test("A request that cannot satisfy the stored challenge uses no nonce in advance")
    func unfit() throws {
        struct Empty: AsyncSequence, AsyncIteratorProtocol, Sendable {
            func next() async -> Data? { nil }
            func makeAsyncIterator() -> Empty { self }
        }
        var machine = DigestMachine()
        machine.accepted(machine.take(try challenge("a", "qop=auth-int"), cnonce: "c"), nextNonce: nil)
        let streamed = DigestRequest(.put, target: "/", body: .stream(Empty(), length: nil))
        #expect(machine.anticipate(streamed, cnonce: "c") == nil)
        #expect(machine.anticipate(request, cnonce: "c")?.count == 2)
    }

    @Test("A challenge that its request could not answer is kept for the next request")
    func kept() throws {
        var machine = DigestMachine()
        machine.expect(try challenge("a"), cnonce: "c1")
        #expect(machine.anticipate(request, cnonce: "c2")?.count == 1)
        machine.expect(try challenge("a"), cnonce: "c3")
        let ticket = try next(&machine, "c4")
        #expect(ticket.count == 2)
        machine.refused(ticket)
        #expect(machine.anticipate(request, cnonce: "c5") == nil)
    }
}
