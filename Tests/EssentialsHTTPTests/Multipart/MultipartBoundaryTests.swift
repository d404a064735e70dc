import EssentialsHTTP
import Testing

@Suite struct MultipartBoundaryTests {
    @Test("A generated boundary is 32 random letters and digits")
    func random() throws {
        let boundaries = try (0..<200).map { _ in try MultipartBody().boundary }
        #expect(Set(boundaries).count == 200)
        #expect(boundaries.allSatisfy { $0.utf8.count == 32 })
        let characters = Set(boundaries.joined())
        #expect(characters.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        // The probability that 6400 characters omit one of the 62 is 10^-43.
        #expect(characters.count == 62)
    }

    @Test(
        "A boundary has 1 to 70 of the characters that RFC 2046 allows, without a space at the end",
        arguments: [
            "B", "0", " B", "a b", "'()+_,-./:=?", "----WebKitFormBoundary7MA4YWxkTrZu0gW",
            String(repeating: "b", count: 70),
        ])
    func allowed(boundary: String) async throws {
        var form = try MultipartBody(boundary: boundary)
        #expect(form.boundary == boundary)
        try form.append(.field("a", "b"))
        #expect(try MultipartBytes(await form.bytes(), boundary: boundary).parts.count == 1)
    }

    @Test(
        "An invalid boundary is refused",
        arguments: [
            "", " ", "B ", "B\r\n", "B\n", "ä", "a\"b", "a\\b", "a;b", "a<b", "a@b", "a[b", "a*b", "a&b", "a\u{0}b",
            "a\tb", "\u{7f}", String(repeating: "b", count: 71),
        ])
    func refused(boundary: String) {
        let failure = #expect(throws: RequestFailure.self) { try MultipartBody(boundary: boundary) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy?.contains("1 to 70") == true)
        #expect(failure?.message.contains("\n") == false)
    }
}
