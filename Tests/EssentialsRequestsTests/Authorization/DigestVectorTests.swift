import EssentialsCurl
import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

/// The responses printed in the RFCs as whole field values. The order of the parameters is this implementation's.
@Suite("Digest vectors")
struct DigestVectorTests {
    /// The value of the `Authorization` field for the first use of the chosen challenge.
    private func answer(
        to challenges: [String], user: String, password: String, _ method: HTTPRequest.Method = .get, target: String,
        body: RequestBody = .none, cnonce: String, hash: DigestHash = .openSSL
    ) throws -> String {
        let fields = HTTPFields(challenges.map { HTTPField(name: .wwwAuthenticate, value: $0) })
        let account = DigestAccount(user: user, password: password, hash: hash)
        let request = DigestRequest(method, target: target, body: body)
        let offered = DigestChallenge.all(in: fields)
        let challenge = try #require(DigestRules.choice(of: offered, for: request, by: account, minimum: .any))
        var machine = DigestMachine()
        let ticket = machine.take(challenge, cnonce: cnonce)
        let value = try #require(DigestRules.fieldValue(for: request, ticket, of: account))
        return String(decoding: value, as: UTF8.self)
    }

    private let exampleNonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private let exampleOpaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
    private let exampleCnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func example(_ algorithm: String) -> String {
        #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), "#
            + #"nonce="\#(exampleNonce)", opaque="\#(exampleOpaque)""#
    }

    @Test(
        "The example of RFC 7616, 3.9.1, gives the printed response for both algorithms",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func example(algorithm: String, response: String) throws {
        let value = try answer(
            to: [example(algorithm)], user: "Mufasa", password: "Circle of Life", target: "/dir/index.html",
            cnonce: exampleCnonce)
        #expect(
            value == #"Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", "#
                + #"algorithm=\#(algorithm), nonce="\#(exampleNonce)", nc=00000001, cnonce="\#(exampleCnonce)", "#
                + #"qop=auth, response="\#(response)", opaque="\#(exampleOpaque)""#)
    }

    @Test("The stronger challenge of RFC 7616, 3.9.1, is chosen in any order and number of fields")
    func strongest() throws {
        let (weak, strong) = (example("MD5"), example("SHA-256"))
        for challenges in [
            [weak, strong], [strong, weak], [weak + ", " + strong], [strong + ", Basic realm=x, " + weak],
        ] {
            let value = try answer(
                to: challenges, user: "Mufasa", password: "Circle of Life", target: "/dir/index.html",
                cnonce: exampleCnonce)
            #expect(value.contains("753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"))
        }
    }

    private let nameChallenge =
        #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, "#
        + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", "#
        + #"opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8"#

    private func nameAnswer(_ user: String, _ response: String, _ end: String) -> String {
        #"Digest \#(user), realm="api@example.org", uri="/doe.json", algorithm=SHA-512-256, "#
            + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", nc=00000001, "#
            + #"cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", qop=auth, response="\#(response)", "#
            + #"opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"\#(end)"#
    }

    /// The RFC prints hashes that are prefixes of SHA-512. Its erratum 4897 contains those of SHA-512/256.
    @Test("The example of RFC 7616, 3.9.2, gives the responses of erratum 4897 with a hashed and a UTF-8 user name")
    func hashedName() throws {
        let response = "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"
        let cnonce = "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        let hashed = try answer(
            to: [nameChallenge + ", userhash=true"], user: "Jäsøn Doe", password: "Secret, or not?",
            target: "/doe.json", cnonce: cnonce)
        let name = "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"
        #expect(hashed == nameAnswer("username=\"\(name)\"", response, ", userhash=true"))
        let plain = try answer(
            to: [nameChallenge], user: "Jäsøn Doe", password: "Secret, or not?", target: "/doe.json", cnonce: cnonce)
        #expect(plain == nameAnswer("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe", response, ""))
    }

    @Test("The example of RFC 2617, 3.5, gives the printed response")
    func older() throws {
        let value = try answer(
            to: [
                #"Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", "#
                    + #"opaque="5ccc069c403ebaf9f0171e9517f40e41""#
            ], user: "Mufasa", password: "Circle Of Life", target: "/dir/index.html", cnonce: "0a4f113b")
        #expect(
            value == #"Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", "#
                + #"nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", nc=00000001, cnonce="0a4f113b", qop=auth, "#
                + #"response="6629fae49393a05397450978507c4ef1", opaque="5ccc069c403ebaf9f0171e9517f40e41""#)
    }

    /// These values were computed with another implementation of the hash functions.
    @Test("Session keys, body hashes and missing qop follow the challenge")
    func kinds() throws {
        func response(_ more: String, _ body: RequestBody = .none) throws -> String? {
            let value = try answer(
                to: ["Digest realm=r, nonce=n, " + more], user: "u", password: "p", .post, target: "/a?b=c", body: body,
                cnonce: "c")
            let end = try #require(value.firstRange(of: "response=\"")).upperBound
            return String(value[end...].prefix { $0 != "\"" })
        }
        let hello = RequestBody.bytes(Data("hello".utf8))
        #expect(try response("opaque=o") == "47d5693065082eb302a1fb1d5164e9a5")
        #expect(try response("qop=auth, algorithm=MD5-sess") == "7b995c9a202193d99b89f5217fa9a82d")
        #expect(
            try response("qop=auth, algorithm=SHA-256-sess")
                == "19600d7603d59f74cb03a1b18b3b89b0ace40140e91a11f907727001a0949109")
        #expect(try response("qop=auth-int", hello) == "33f6b4c4679b7e848c9a4c6c01806bd4")
        #expect(
            try response("qop=auth-int, algorithm=SHA-256")
                == "5d12c28c262afde026097f7dd9da2b8f46a0e2bc82d19b99b021b3cd33ad1c95")
        #expect(
            try response("qop=auth-int, algorithm=SHA-512-256-sess", hello)
                == "cdb12b2706c535a186dceaede3a805669d609fae6a3c4e2a16bb8aaf22634fe6")
    }

    @Test("A Digest response quotes returned values, and formats algorithm and user name correctly")
    func quoting() throws {
        let value = try answer(
            to: [#"Digest realm="a \"b\" \\ é", nonce="n\"", opaque="\\", algorithm="md5", userhash=false"#],
            user: #"DOMAIN\a"d"a ö"#, password: "p", target: "/", cnonce: "c")
        let parts = value.split(separator: ", ")
        #expect(
            parts.filter { !$0.hasPrefix("response=") } == [
                #"Digest username="DOMAIN\\a\"d\"a ö""#, #"realm="a \"b\" \\ é""#, #"uri="/""#, "algorithm=md5",
                #"nonce="n\"""#, #"opaque="\\""#,
            ])
    }

    @Test("The strongest supported algorithm is chosen, and the first of equal ones")
    func algorithms() throws {
        let withoutMD5 = DigestHash { function, bytes in
            function == .md5 ? nil : DigestHash.openSSL.compute(function, bytes)
        }
        func chosen(_ names: [String], _ hash: DigestHash = .openSSL) -> String? {
            let fields = HTTPFields(
                names.map {
                    HTTPField(
                        name: .wwwAuthenticate, value: "Digest realm=\"\($0)\", nonce=n, qop=auth, algorithm=\($0)")
                })
            let account = DigestAccount(user: "u", password: "p", hash: hash)
            let request = DigestRequest(.get, target: "/", body: .none)
            return DigestRules.choice(of: DigestChallenge.all(in: fields), for: request, by: account, minimum: .any).map
            {
                String(decoding: $0.realm, as: UTF8.self)
            }
        }
        let all = ["MD5", "SHA-512", "MD5-sess", "SHA-256-sess", "SHA-512-256", "SHA-256", "SHA-512-256-sess"]
        #expect(chosen(all) == "SHA-512-256")
        #expect(chosen(all.reversed()) == "SHA-512-256-sess")
        #expect(chosen(["MD5", "SHA-256-sess", "SHA-256"]) == "SHA-256-sess")
        #expect(chosen(["SHA-512", "SHA-1"]) == nil)
        #expect(chosen(["MD5"], withoutMD5) == nil)
        #expect(chosen(["MD5", "SHA-256"], withoutMD5) == "SHA-256")
    }

    @Test("The next nonce of a response is parsed")
    func nextNonce() throws {
        let name = try #require(HTTPField.Name("Authentication-Info"))
        func next(_ value: String) -> [UInt8]? {
            DigestRules.nextNonce(in: HTTPFields([HTTPField(name: name, value: value)]))
        }
        #expect(next(#"rspauth="6629", nextnonce="a b", nc=00000001"#) == Array("a b".utf8))
        #expect(next("nc=00000001") == nil)
        #expect(next(#"nextnonce="a"#) == nil)
        #expect(DigestRules.nextNonce(in: [:]) == nil)
    }
}
