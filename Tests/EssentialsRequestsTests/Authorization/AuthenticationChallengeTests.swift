import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("A challenge")
struct AuthenticationChallengeTests {
    /// Each challenge as its scheme, its token68, and its parameters in brackets.
    private func read(_ values: [String]) -> [String] {
        read(HTTPFields(values.map { HTTPField(name: .wwwAuthenticate, value: $0) }))
    }

    private func read(_ fields: HTTPFields) -> [String] {
        AuthenticationChallenge.all(in: fields).map { challenge in
            let token = challenge.token68.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
            let parameters = challenge.parameters.map { "[\($0.name)=\(String(decoding: $0.value, as: UTF8.self))]" }
            return challenge.scheme + token + parameters.joined()
        }
    }

    @Test(
        "A challenge is a scheme with parameters or a token, and a field can hold several (RFC 9110, 11.6.1)",
        arguments: [
            ("", []), (" , ,, ", []),
            ("Basic", ["basic"]), ("  Basic  ", ["basic"]), ("Negotiate, NTLM", ["negotiate", "ntlm"]),
            (#"Basic realm="simple""#, ["basic[realm=simple]"]),
            (#"BASIC REALM=simple"#, ["basic[realm=simple]"]),
            (
                #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                ["basic[realm=simple]", #"newauth[realm=apps][type=1][title=Login to "apps"]"#]
            ),
            ("Negotiate YII=, Digest a=b", ["negotiate YII=", "digest[a=b]"]),
            ("Negotiate a, b c==, d", ["negotiate a", "b c==", "d"]),
            ("A b=", ["a b="]), ("A b==", ["a b=="]), ("A -._~+/09azAZ=", ["a -._~+/09azAZ="]),
            ("A b = c ,\td\t=\t\"e\" , , f=g", ["a[b=c][d=e][f=g]"]),
            (#"A b="",c="\\\"\x, =" "#, [#"a[b=][c=\"x, =]"#]),
            (#"A b="Basic realm=x, Digest""#, ["a[b=Basic realm=x, Digest]"]),
            ("A, b=c", ["a[b=c]"]),
            ("A b=é", []), (#"A b="é ñ""#, ["a[b=é ñ]"]),
            // As some devices write it.
            (#"Digest realm="x" nonce="y" qop=auth"#, ["digest[realm=x][nonce=y][qop=auth]"]),
        ] as [(String, [String])])
    func forms(value: String, challenges: [String]) {
        #expect(read([value]) == challenges)
        // Challenges can be spread over several fields.
        #expect(read([value, "Other x=1", value]) == challenges + ["other[x=1]"] + challenges)
    }

    @Test("A challenge with a control character is ignored", arguments: ["\u{1}", "\u{1f}", "\u{7f}"])
    func controlCharacters(character: String) {
        for text in ["A b=\"c\(character)d\", E f=g", "A b=\"\\\(character)\", E f=g", "A b\(character)=c, E f=g"] {
            #expect(read(HTTPFields([HTTPField(name: .wwwAuthenticate, lenientValue: Array(text.utf8))])) == ["e[f=g]"])
        }
    }

    @Test(
        "A malformed challenge is ignored, and the other challenges of its field are kept",
        arguments: [
            (#"A b="c, D e="f""#, []), (#"A b="c"#, []), (#"A b="c\"#, []), (#"A b="c\""#, []),
            (#"A b="c"d, E f=g"#, ["e[f=g]"]), ("A b=c;d, E f=g", ["e[f=g]"]), ("A b=, c=d, E f=g", ["e[f=g]"]),
            ("A b=c, b=d, E f=g", ["e[f=g]"]), ("A b=c, B=d", []), ("b=c", []), ("b=c, E f=g", ["e[f=g]"]),
            (#""quoted, string", E f=g"#, ["e[f=g]"]), ("=, E f=g", ["e[f=g]"]), ("A@b c=d, E f=g", ["e[f=g]"]),
            ("A b==c, E f=g", ["e[f=g]"]), ("A tok en, E f=g", ["a", "tok en", "e[f=g]"]),
            ("A b68==, c=d, E f=g", ["e[f=g]"]), (#"A b="c" "d", E f=g"#, ["e[f=g]"]),
        ] as [(String, [String])])
    func malformed(value: String, challenges: [String]) {
        #expect(read([value]) == challenges)
        #expect(read([value, "Other x=1"]) == challenges + ["other[x=1]"])
    }

    @Test("Bytes of a challenge that are not UTF-8 are kept unchanged")
    func bytes() throws {
        func challenges(_ bytes: [UInt8]) -> [AuthenticationChallenge] {
            AuthenticationChallenge.all(in: HTTPFields([HTTPField(name: .wwwAuthenticate, value: bytes)]))
        }
        let latin = Array(#"A b=""#.utf8) + [0xe9, 0xff, 0x09] + Array("\"".utf8)
        #expect(try #require(challenges(latin).first)["b"] == [0xe9, 0xff, 0x09])
    }

    @Test("At most 32 challenges of 64 parameters of 8 KiB each are read, from the first 64 KiB")
    func limits() {
        let many = (1...40).map { "S\($0)" }.joined(separator: ", ")
        #expect(read([many]) == (1...32).map { "s\($0)" })
        #expect(read([many, "Other x=1"]).count == 32)
        func parameters(_ count: Int) -> String { (1...count).map { "p\($0)=v" }.joined(separator: ", ") }
        #expect(
            AuthenticationChallenge.all(in: [.wwwAuthenticate: "A " + parameters(64)]).first?.parameters.count == 64)
        #expect(read(["A " + parameters(65) + ", B x=1"]) == ["b[x=1]"])
        #expect(read(["A " + parameters(5000) + ", B x=1"]) == ["b[x=1]"])
        let long = String(repeating: "v", count: 8 << 10)
        for value in [long, "\"\(long)\""] {
            #expect(AuthenticationChallenge.all(in: [.wwwAuthenticate: "A p=\(value)"]).first?["p"]?.count == 8 << 10)
        }
        for value in [long + "v", "\"\(long)v\""] { #expect(read(["A p=\(value), B x=1"]) == ["b[x=1]"]) }
        let whole = "A x=1" + String(repeating: " ", count: (64 << 10) - 6) + ","
        #expect(whole.utf8.count == 64 << 10)
        #expect(read([whole]) == ["a[x=1]"])
        #expect(read([whole, "B x=1"]) == ["a[x=1]"])
        #expect(read(["B x=1", whole]) == ["b[x=1]"])
    }

    @Test("Random bytes do not crash the parser, and challenges contain nothing that was not sent")
    func hostile() {
        var numbers = SeededNumbers(state: 7616)
        let alphabet = Array("aB1=\"\\, \t;-/\u{e9}".utf8) + [0x01, 0x80]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...60, using: &numbers)
            let bytes = (0..<count).map { _ in alphabet[Int.random(in: alphabet.indices, using: &numbers)] }
            let field = HTTPField(name: .wwwAuthenticate, value: bytes)
            for challenge in AuthenticationChallenge.all(in: HTTPFields([field])) {
                #expect(!challenge.scheme.isEmpty)
                #expect(challenge.token68 == nil || challenge.parameters.isEmpty)
                #expect(Set(challenge.parameters.map(\.name)).count == challenge.parameters.count)
                #expect(challenge.parameters.reduce(0) { $0 + $1.value.count } <= count)
            }
        }
        for unit in ["\"", "\\", "a=\"", "a=", "a ", ",", "=", "a=\"\\", "\"a"] {
            let value = "Digest " + String(repeating: unit, count: 100_000 / unit.utf8.count)
            #expect(read([value]).isEmpty)
            let short = "Digest " + String(repeating: unit, count: 60_000 / unit.utf8.count)
            #expect(read([short]).count <= 32)
        }
    }

    @Test("A field that is a list of parameters without a scheme is parsed, and ignored if malformed")
    func information() throws {
        let name = try #require(HTTPField.Name("Authentication-Info"))
        func parameters(_ value: String) -> [String] {
            AuthenticationChallenge.parameters(of: HTTPFields([HTTPField(name: name, value: value)]), named: name)
                .map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
        }
        #expect(
            parameters(#"NextNonce="a\"b", qop=auth, nc=00000001"#) == [#"nextnonce=a"b"#, "qop=auth", "nc=00000001"])
        #expect(parameters("").isEmpty)
        #expect(parameters("nextnonce=a, nextnonce=b").isEmpty)
        #expect(parameters(#"nextnonce="a"#).isEmpty)
        #expect(parameters("Digest nextnonce=a").isEmpty)
        #expect(AuthenticationChallenge.parameters(of: [:], named: name).isEmpty)
    }

    @Test("A quoted parameter is parsed byte by byte, so that combining marks do not hide its end")
    func quotedBytes() {
        var numbers = SeededNumbers(state: 7616)
        for _ in 0..<2_000 {
            let nonce = numbers.text(of: GraphemePieces.text, upTo: 6)
            var field = Array("Digest realm=\"r\", nonce=\"".utf8)
            for byte in nonce.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { field.append(UInt8(ascii: "\\")) }
                field.append(byte)
            }
            let challenges = ChallengeReader.challenges(in: field + Array("\", qop=\"auth\"".utf8))
            #expect(challenges.count == 1)
            #expect(challenges.first?["nonce"].map { $0.elementsEqual(nonce.utf8) } == true)
            #expect(challenges.first?["qop"].map { $0.elementsEqual("auth".utf8) } == true)
        }
    }

    @Test(
        "Hostile challenges are read in linear time",
        arguments: [
            ",\\\"", "a=\"", "\"", "\\", "\\\"", ",", ", ", "a ", "a,", "a=", "=", " ", "a b=c, ", "a b=, ", "a \"",
            "a b=\"c\"d,",
            "Digest a=\"", "Basic ==", "a=b c", "\t", "a  ",
        ])
    func linear(unit: String) {
        let isLinear = GrowthOfTime.isLinear { size in
            let bytes = Array(("Digest a=\"" + String(repeating: unit, count: size / unit.utf8.count)).utf8)
            let name = HTTPField.Name("Authentication-Info") ?? .wwwAuthenticate
            return {
                _ = ChallengeReader.challenges(in: bytes)
                _ = ChallengeReader.challenges(in: Array(bytes.dropFirst(10)))
                let fields = HTTPFields([HTTPField(name: name, value: bytes)])
                _ = AuthenticationChallenge.parameters(of: fields, named: name)
            }
        }
        #expect(isLinear)
    }
}
