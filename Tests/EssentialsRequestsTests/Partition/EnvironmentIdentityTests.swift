import EssentialsHTTP
import EssentialsStorage
import Testing

@testable import EssentialsRequests

@Suite("What stores know of an environment") struct EnvironmentIdentityTests {
    private func identity(
        _ name: String = "", _ fields: [(String, String)] = []
    ) throws -> EnvironmentIdentity {
        let fields = try HTTPFields(
            fields.map { HTTPField(name: try #require(HTTPField.Name($0.0)), value: $0.1) })
        return EnvironmentIdentity(of: try ConstantEnvironment("https://h/", name: name, headerFields: fields))
    }

    /// The vectors of the hash function's reference implementation: the key and the message count up from 0.
    @Test(
        "The hash of a message is that of SipHash-2-4 with 128 bits",
        arguments: [
            (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
            (7, "a1f1ebbed8dbc153c0b84aa61ff08239"), (8, "3b62a9ba6258f5610f83e264f31497b4"),
            (15, "5493e99933b0a8117e08ec0f97cfc3d9"), (63, "5150d1772f50834a503e069a973fbd7c"),
        ])
    func hash(count: Int, hash: String) throws {
        let key = try #require(FingerprintKey(Array(0..<16 as Range<UInt8>)))
        let bytes = withUnsafeBytes(of: key.hash(of: Array((0..<64 as Range<UInt8>).prefix(count))).littleEndian) {
            Array($0)
        }
        #expect(bytes.map { StableHash.hexadecimal($0) }.joined() == hash)
    }

    @Test("A key is its sixteen bytes, and shows none of them")
    func keys() throws {
        let key = FingerprintKey.random()
        #expect(FingerprintKey(key.bytes) == key)
        #expect(FingerprintKey(key.bytes + [0]) == nil)
        #expect(FingerprintKey([]) == nil)
        #expect("\(key)" == "FingerprintKey")
        #expect(FingerprintKey.random() != key)
    }

    @Test("Without header fields an environment is known by the given name alone")
    func plain() throws {
        #expect(try identity("staging").text("staging", key: .common) == "staging")
        #expect(try identity().text("", key: .common) == "")
    }

    @Test("A difference in one field, or in its value, is a difference of the text, and no value is part of it")
    func fields() throws {
        let lists: [[(String, String)]] = [
            [], [("X-Tenant", "acme")], [("X-Tenant", "apex")], [("X-Other", "acme")],
            [("X-Tenant", "acme"), ("X-Other", "a")], [("X-Tenant", "acmeX-Other")], [("X-Tenant", "")],
        ]
        let texts = try lists.map { try identity("n", $0).text("n", key: .common) }
        #expect(Set(texts).count == texts.count)
        #expect(!texts.contains { $0.contains("acme") })
    }

    @Test("The order of different names makes no difference, and the order of one name's values does")
    func order() throws {
        func text(_ fields: [(String, String)]) throws -> String {
            try identity("", fields).text("", key: .common)
        }
        #expect(try text([("A", "1"), ("B", "2")]) == text([("b", "2"), ("a", "1")]))
        #expect(try text([("A", "1"), ("A", "2")]) != text([("A", "2"), ("A", "1")]))
    }

    @Test("Two stores know the same fields by different texts")
    func stores() throws {
        let identity = try identity("", [("X-Api-Key", "secret")])
        #expect(identity.fingerprint(.random()) != identity.fingerprint(.random()))
        #expect(identity.fingerprint(.process) == identity.fingerprint(.process))
    }

    @Test("No name without fields looks like a name with fields")
    func injective() throws {
        let text = try identity("a", [("X", "1")]).text("a", key: .common)
        #expect(try identity(text).text(text, key: .common) != text)
        #expect(try identity("\u{1}").text("\u{1}", key: .common) != "\u{1}")
    }
}
