import Testing

@testable import EssentialsRequests

@Suite struct TextHashTests {
    private func hash(_ pieces: [String]) -> Int {
        var hash = TextHash()
        for var piece in pieces { piece.withUTF8 { hash.combine($0) } }
        return hash.value
    }

    @Test("Equal pieces have equal hashes")
    func equal() { #expect(hash(["users/7", "?a"]) == hash(["users/7", "?a"])) }

    @Test("Similar texts have different hashes")
    func different() {
        var hashes = Set<Int>()
        var texts = (0..<5_000).map { "users/\($0)/orders" }
        texts += (0..<40).map { String(repeating: "a", count: $0) }
        texts += (1..<40).map { String(repeating: "\0", count: $0) }
        for text in texts { hashes.insert(hash([text])) }
        #expect(hashes.count == texts.count)
    }

    @Test("Hashes are spread over all of their lowest bits")
    func spread() {
        var counts = [Int](repeating: 0, count: 64)
        for index in 0..<6_400 { counts[hash(["users/\(index)"]) & 63] += 1 }
        #expect(counts.allSatisfy { (40...180).contains($0) })
    }
}
