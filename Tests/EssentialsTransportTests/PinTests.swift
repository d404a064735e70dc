import EssentialsTransport
import Testing

@Suite struct PinTests {
    private let zeros = "sha256/" + String(repeating: "A", count: 43) + "="

    @Test(
        "A pin's text is parsed and formatted unchanged",
        arguments: [
            "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ])
    func roundTrip(text: String) throws {
        let key = try Pin.publicKey(text)
        #expect(key.text == text)
        #expect(key.kind == .publicKey)
        #expect(key.digest.count == 32)
        #expect(key.description == "public key \(text)")
        let certificate = try Pin.certificate(text)
        #expect(certificate.text == text)
        #expect(certificate.kind == .certificate)
        #expect(certificate.description == "certificate \(text)")
        #expect(certificate != key)
        #expect(try Pin(kind: .publicKey, digest: key.digest) == key)
    }

    @Test("Base64 of 32 bytes is decoded to those bytes")
    func bytes() throws {
        #expect(try Pin.publicKey(zeros).digest == Array(repeating: 0, count: 32))
        let digest = (0..<32).map { UInt8($0 * 8 + 7) }
        #expect(try Pin.publicKey(Pin(kind: .publicKey, digest: digest).text).digest == digest)
    }

    @Test("A digest that is not 32 bytes is refused", arguments: [0, 1, 20, 31, 33, 48, 64])
    func length(count: Int) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try Pin(kind: .publicKey, digest: Array(repeating: 0, count: count))
        }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message.contains("\(count) bytes"))
    }

    @Test(
        "A pin without the prefix sha256/ is refused",
        arguments: [
            "", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "SHA256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            " sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ])
    func prefix(text: String) throws {
        let key = try #require(throws: RequestFailure.self) { try Pin.publicKey(text) }
        #expect(key.reason == .invalidPolicy)
        let certificate = try #require(throws: RequestFailure.self) { try Pin.certificate(text) }
        #expect(certificate.reason == .invalidPolicy)
    }

    @Test(
        "A pin without Base64 of 32 bytes after the prefix is refused",
        arguments: [
            "sha256/", "sha256/=", "sha256/AAAA", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            "sha256/-_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256/AAAAAAAAAAAAAAAAAAAAA AAAAAAAAAAAAAAAAAAAAA=",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
            "sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca4",
        ])
    func base64(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try Pin.publicKey(text) }
        #expect(failure.reason == .invalidPolicy)
    }
}
