import EssentialsTestKit
import FoundationEssentials
import Testing

extension ToolTests {
    @Suite("Tool: policies")
    struct PolicyTests {
        @Test("Printed policies of servers and files can be used as policy files")
        func printed() async throws {
            let server = try TrustedServer()
            let printed = try await tool(
                "pins", "localhost:\(server.server.port)", "--anchor", server.anchor, "--format", "json")
            #expect(printed.code == 0)
            #expect(printed.errors.isEmpty)
            let policy = try server.directory.file("policy.json", printed.text)
            #expect(try await tool("get", server.server.url, "--policy", policy).text == "secret")
            let ofFile = try await tool("pins", server.anchor, "--format", "json")
            let anchored = ofFile.text.replacing("{\n ", with: "{\n    \"anchors\": [\"ca.pem\"],\n ")
            let other = try server.directory.file("other.json", anchored)
            #expect(try await tool("get", server.server.url, "--policy", other).text == "secret")
        }

        @Test("A policy file refuses another server, and an invalid one is reported with its line")
        func refused() async throws {
            let server = try TrustedServer()
            let pins = "[\"\(TrustedServer.strangePin)\"], \"singlePin\": true"
            let text =
                "{\n  \"anchors\": [\"ca.pem\"],\n  \"hosts\": [{\"host\": \"**.localhost\", \"pins\": \(pins)}]\n}\n"
            let policy = try server.directory.file("policy.json", text)
            let refused = try await tool("post", server.server.url, "--policy", policy, "--data", "x")
            #expect(refused.code == 1)
            #expect(refused.reason == "pinMismatch")
            #expect(server.server.applicationBytesReceived == 0)
            let damaged = try server.directory.file(
                "damaged.json", text.replacing("\"pins\"", with: "\"pin\""))
            let wrong = try await tool("get", server.server.url, "--policy", damaged)
            #expect(wrong.reason == "invalidPolicy")
            #expect(wrong.errors.contains("line 3: “pin” is not a valid name here"))
            #expect(try await tool("get", server.server.url, "--policy", policy, "--min-tls", "1.3").code == 64)
        }

        @Test("A policy that only reports accepts the server with a warning")
        func reportOnly() async throws {
            let server = try TrustedServer()
            let result = try await tool(
                "get", server.server.url, "--anchor", server.anchor, "--pin", TrustedServer.strangePin, "--report-only")
            #expect(result.code == 0)
            #expect(result.text == "secret")
            #expect(result.errorLines.count == 1)
            #expect(result.errors.hasPrefix("warning: None of the pins for localhost matches its chain"))
            let without = try await tool("get", server.server.url, "--report-only")
            #expect(without.code == 64)
        }

        @Test("A policy that requires a staple refuses a server without one")
        func staple() async throws {
            let server = try TrustedServer()
            let refused = try await tool("get", server.server.url, "--anchor", server.anchor, "--require-staple")
            #expect(refused.code == 1)
            #expect(refused.reason == "trustChain")
            #expect(refused.errors.contains("stapled no OCSP response"))
            #expect(server.server.applicationBytesReceived == 0)
        }

        @Test("A policy with revocation lists requires one for every authority")
        func revocationLists() async throws {
            let server = try TrustedServer()
            let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            let list = "/\(path)/Fixtures/certificates/root.crl.pem"
            let refused = try await tool("get", server.server.url, "--anchor", server.anchor, "--crl", list)
            #expect(refused.reason == "trustChain")
            #expect(refused.errors.contains("unable to get certificate CRL"))
            #expect(server.server.applicationBytesReceived == 0)
            let wrong = try await tool("get", server.server.url, "--anchor", server.anchor, "--crl", server.anchor)
            #expect(wrong.reason == "invalidPolicy")
        }

        @Test("An encrypted client key is read with the passphrase from the environment")
        func encryptedKey() async throws {
            let path =
                "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Fixtures/certificates/"
            let anchor = try TestCertificate(
                certificatePEM: String(contentsOfFile: path + "client-root.pem", encoding: .utf8), privateKeyPEM: "")
            let server = try TrustedServer(clientAuthentication: .require(anchor: anchor))
            let arguments = [
                "get", server.server.url, "--anchor", server.anchor, "--client-cert", path + "client-a.pem",
                "--client-key", path + "client-a-encrypted.key",
            ]
            let right = try await ToolProcess(
                arguments, environment: ["ESSENTIALS_KEY_PASSPHRASE": "test passphrase"]
            ).end()
            #expect(right.text == "secret")
            let wrong = try await ToolProcess(arguments, environment: ["ESSENTIALS_KEY_PASSPHRASE": "another"]).end()
            #expect(wrong.reason == "invalidPolicy")
            #expect(wrong.errors.contains("passphrase"))
            #expect(try await ToolProcess(arguments).end().reason == "invalidPolicy")
        }

        @Test("Certificates that expire soon produce a warning")
        func expiry() async throws {
            let directory = try TemporaryDirectory()
            let authority = try TestAuthority(name: "Tool Authority").certificate
            let soon = try authority.issue(TestCertificate.Template(commonName: "soon", notAfter: 20 * 86_400))
            let result = try await tool("pins", try directory.file("soon.pem", soon.certificatePEM))
            #expect(result.code == 0)
            #expect(result.errors.hasPrefix("warning: CN=soon expires "))
        }
    }
}
