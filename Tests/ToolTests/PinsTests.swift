import EssentialsTestKit
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: pins")
    struct PinsTests {
        /// The pins of all lines `try Pin.KIND("sha256/…"),  // comment`.
        private func pins(_ kind: String, in text: String) -> [String] {
            text.split(separator: "\n").compactMap { line in
                guard line.hasPrefix("try Pin.\(kind)(\""), let end = line.firstRange(of: "\"),  // ") else {
                    return nil
                }
                return String(line[..<end.lowerBound].dropFirst("try Pin.\(kind)(\"".count))
            }
        }

        @Test("The pins of a server are those of its leaf and its root, and can be used")
        func server() async throws {
            let server = try TrustedServer()
            let result = try await tool("pins", "localhost:\(server.server.port)", "--anchor", server.anchor)
            let root = server.authority.certificate
            #expect(result.code == 0)
            #expect(result.errors.isEmpty)
            #expect(pins("publicKey", in: result.text) == [server.certificate.publicKeyPin, root.publicKeyPin])
            #expect(pins("certificate", in: result.text) == [server.certificate.certificatePin, root.certificatePin])
            #expect(result.text.split(separator: "\n").count == 4)
            #expect(result.text.contains(/CN=localhost, leaf, expires \d{4}-\d\d-\d\d, 36(49|50) days left\n/))
            #expect(result.text.contains(/CN=Tool Authority, root, expires/))

            let publicKeys = pins("publicKey", in: result.text).flatMap { ["--pin", $0] }
            let request = ["get", server.server.url, "--anchor", server.anchor] + publicKeys
            #expect(try await ToolProcess(request).end().text == "secret")
            #expect(server.server.requestCount == 1)
        }

        @Test("The pins of an untrusted server are printed with a warning")
        func untrusted() async throws {
            let server = try TrustedServer()
            let result = try await tool("pins", server.server.url)
            #expect(result.code == 0)
            #expect(pins("publicKey", in: result.text) == [server.certificate.publicKeyPin])
            #expect(result.errorLines.count == 1)
            #expect(result.errors.hasPrefix("warning: trustChain: "))
        }

        @Test("The pins of a file are those of all its certificates")
        func file() async throws {
            let directory = try TemporaryDirectory()
            let authority = try TestAuthority(name: "Tool Authority").certificate
            let expired = try authority.issue(TestCertificate.Template(commonName: "old", notAfter: -60))
            let path = try directory.file("chain.pem", expired.certificatePEM + authority.certificatePEM)
            let result = try await tool("pins", path)
            #expect(result.code == 0)
            #expect(pins("publicKey", in: result.text) == [expired.publicKeyPin, authority.publicKeyPin])
            #expect(result.text.contains(/CN=old, certificate 1 of 2, expired \d{4}-\d\d-\d\d, 0 days ago\n/))
        }

        @Test("Printed pins show invisible characters in a certificate's name as numbers")
        func invisible() async throws {
            let directory = try TemporaryDirectory()
            let name = "evil\u{202E}moc\n\u{9B}x"
            let certificate = try TestCertificate.selfSigned(.init(commonName: name, notAfter: 3600))
            let path = try directory.file("evil.pem", certificate.certificatePEM)
            let result = try await tool("pins", path)
            #expect(result.code == 0)
            #expect(result.text.contains("CN=evil\\u{202E}moc\\0A\\u{9B}x, certificate 1 of 1"))
            for text in [result.text, result.errors] {
                #expect(!text.isEmpty)
                #expect(!text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{9B}" })
            }
        }

        @Test("Pins of a host come from the server, even if a file has that name")
        func hostWithFile() async throws {
            let server = try TrustedServer()
            let directory = try TemporaryDirectory()
            let name = "localhost:\(server.server.port)"
            _ = try directory.file(name, server.authority.certificate.certificatePEM)
            let process = try ToolProcess(["pins", name, "--anchor", server.anchor], directory: directory.path)
            let result = await process.end()
            #expect(pins("publicKey", in: result.text).first == server.certificate.publicKeyPin)
        }

        @Test("Pins of a file need --file or a path that begins with ./", arguments: ["chain.pem", "certs/chain.pem"])
        func namedFile(path: String) async throws {
            let directory = try TemporaryDirectory()
            var template = TestCertificate.Template.authority(name: "Tool Authority")
            // The printed number of days does not change between the two runs.
            template.notAfter += 43_200
            let authority = try TestCertificate.selfSigned(template)
            _ = try directory.file("chain.pem", authority.certificatePEM)
            #expect(symlink(".", directory.path + "/certs") == 0)
            let named = try await ToolProcess(["pins", "--file", path], directory: directory.path).end()
            #expect(pins("publicKey", in: named.text) == [authority.publicKeyPin])
            let dotted = try await ToolProcess(["pins", "./" + path], directory: directory.path).end()
            #expect(dotted.text == named.text)
        }

        @Test("A relative path without ./ or --file is the error `invalidRequest`")
        func ambiguous() async throws {
            #expect(try await tool("pins", "certs/chain.pem").reason == "invalidRequest")
        }

        @Test("Printing the pins of a missing or silent server is an error")
        func absent() async throws {
            #expect(try await tool("pins", "127.0.0.1:1").reason == "connection")
            #expect(try await tool("pins", "nope.invalid").reason == "nameResolution")
            let server = try LoopbackServer(options: ServerOptions(onAccept: { _ in [.hang] })) { _ in .hang }
            #expect(try await tool("pins", "127.0.0.1:\(server.port)", "--timeout", "200ms").reason == "timeout")
        }
    }
}
