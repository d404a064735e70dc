import EssentialsCurl
import EssentialsHTTP
import Testing

@Suite("A hash by OpenSSL")
struct OpenSSLHashesTests {
    /// RFC 1321, A.5; FIPS 180-4, with the digests of its examples.
    @Test(
        "The hashes of the published vectors are computed",
        arguments: [
            (HashFunctions.Function.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha512Over256, "", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
            (.sha512Over256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ])
    func vectors(function: HashFunctions.Function, text: String, expected: String) throws {
        let hash = try #require(HashFunctions.openSSL.compute(function, Array(text.utf8)))
        #expect(hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }

    @Test("A hash is the same from many threads at once")
    func threads() async {
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let expected = HashFunctions.openSSL.compute(.sha256, bytes)
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { HashFunctions.openSSL.compute(.sha256, bytes) } }
            for await hash in group { #expect(hash == expected) }
        }
        #expect(expected?.count == 32)
    }
}
