import EssentialsTestKit
import Testing

extension ToolTests {
    @Suite("Tool: trust")
    struct TrustTests {
        @Test("Named anchors are trusted, and the system's anchors do not trust a private authority")
        func anchors() async throws {
            let server = try TrustedServer()
            #expect(try await tool("get", server.server.url, "--anchor", server.anchor).text == "secret")
            #expect(try await tool("get", server.server.url, "--add-anchor", server.anchor).text == "secret")
            let refused = try await tool("get", server.server.url)
            #expect(refused.code == 1)
            #expect(refused.reason == "trustChain")
        }

        @Test("A server with one of the pins is accepted", arguments: [true, false])
        func rightPins(ofPublicKey: Bool) async throws {
            let server = try TrustedServer()
            let pin =
                ofPublicKey
                ? ["--pin", server.certificate.publicKeyPin] : ["--pin-certificate", server.certificate.certificatePin]
            let two = ["get", server.server.url, "--anchor", server.anchor, "--pin", TrustedServer.strangePin] + pin
            #expect(try await ToolProcess(two).end().text == "secret")
            let one = ["get", server.server.url, "--anchor", server.anchor, "--single-pin"] + pin
            #expect(try await ToolProcess(one).end().text == "secret")
        }

        @Test("A server without the pins is refused before the first byte of the request")
        func wrongPins() async throws {
            let server = try TrustedServer()
            let result = try await tool(
                "post", server.server.url, "--anchor", server.anchor, "--single-pin", "--pin", TrustedServer.strangePin,
                "--data", "secret")
            #expect(result.code == 1)
            #expect(result.reason == "pinMismatch")
            #expect(server.server.applicationBytesReceived == 0)
        }

        @Test("Plain http is refused with pins")
        func plaintext() async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool("get", server.url, "--single-pin", "--pin", TrustedServer.strangePin)
            #expect(result.code == 1)
            #expect(result.reason == "plaintextRefused")
            #expect(server.connectionCount == 0)
        }

        @Test("The client certificate is presented to a server that requires one")
        func mutualTLS() async throws {
            let (server, options) = try TrustedServer.requiringCertificate()
            let accepted = try await ToolProcess(
                ["get", server.server.url, "--anchor", server.anchor] + options
            ).end()
            #expect(accepted.text == "secret")
            let refused = try await tool("get", server.server.url, "--anchor", server.anchor)
            #expect(refused.code == 1)
            #expect(refused.reason == "tls")
        }

        @Test("The minimum TLS version is enforced")
        func floor() async throws {
            let server = try TrustedServer(maximumVersion: .tls12)
            #expect(try await tool("get", server.server.url, "--anchor", server.anchor, "--min-tls", "1.2").code == 0)
            let result = try await tool("get", server.server.url, "--anchor", server.anchor, "--min-tls", "1.3")
            #expect(result.code == 1)
            #expect(result.reason == "tlsTooOld")
        }
    }
}
