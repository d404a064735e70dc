import EssentialsTestKit
import ServiceEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: verbose output")
    struct VerboseTests {
        /// The lines of standard error that begin with a mark.
        private func lines(_ mark: String, _ result: ToolResult) -> [String] {
            result.errorLines.filter { $0.hasPrefix(mark) }.map(String.init)
        }

        @Test("Verbose output shows the request, the connection, the chain, the pin, the response and the timings")
        func exchange() async throws {
            let server = try TrustedServer { _ in
                .response(status: 201, headers: [("X-One", "1"), ("Set-Cookie", "sid=hidden")], body: "secret")
            }
            let result = try await tool(
                "post", server.server.url + "/a?q=1&access_token=hidden", "-v", "--anchor", server.anchor, "--pin",
                server.certificate.publicKeyPin, "--pin", TrustedServer.strangePin, "--bearer", "hidden", "-d", "four")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.text == "secret")
            let sent = lines(">", result)
            #expect(sent.first == "> POST /a?q=1&access_token=…")
            #expect(sent.contains("> Host: localhost:\(server.server.port)"))
            #expect(sent.contains("> Authorization: …"))
            #expect(sent.contains("> Content-Length: 4"))
            #expect(sent.contains { $0.hasPrefix("> User-Agent: essentials/") })
            #expect(sent.contains { $0.hasPrefix("> Accept-Encoding: ") })
            let fields = try #require(server.server.requests.first).headers
            for field in fields {
                #expect(sent.contains { $0.lowercased().hasPrefix("> \(field.name.lowercased()):") })
            }
            #expect(sent.count == fields.count + 2)
            let facts = lines("*", result)
            #expect(facts.contains("* HTTP/1.1 to 127.0.0.1 port \(server.server.port), new connection"), "\(facts)")
            #expect(facts.contains { $0.hasPrefix("* TLSv1.3, TLS_") })
            #expect(facts.contains("* certificate 1: CN=localhost"))
            #expect(facts.contains("*   issued by CN=Tool Authority"))
            #expect(facts.contains("* certificate 2: CN=Tool Authority"))
            #expect(facts.contains { $0.hasPrefix("*   expires 20") })
            #expect(facts.contains("*   public key  " + server.certificate.publicKeyPin))
            #expect(
                facts.contains(
                    "* pin matches: public key \(server.certificate.publicKeyPin), certificate 1, by the rule for "
                        + "unlisted hosts"))
            #expect(lines("<", result).prefix(2) == ["< HTTP/1.1 201 Created", "< X-One: 1"])
            #expect(lines("<", result).contains("< Set-Cookie: …"))
            #expect(result.errorLines.contains { $0.hasPrefix("first byte") })
            #expect(!result.errors.contains("hidden"))
        }

        @Test("With `--show-secrets` nothing is hidden")
        func secrets() async throws {
            let server = try LoopbackServer { _ in .response(headers: [("Set-Cookie", "sid=one")]) }
            let result = try await tool(
                "get", server.url + "/?token=two", "-v", "--show-secrets", "--bearer", "three")
            for secret in ["sid=one", "token=two", "Bearer three"] { #expect(result.errors.contains(secret)) }
        }

        @Test("Redirects are shown one by one, and the certificates of a reused connection only once")
        func redirects() async throws {
            let server = try TrustedServer { request in
                request.path == "/start"
                    ? .response(status: 302, headers: [("Location", "/end?token=hidden")]) : .response(body: "end")
            }
            let result = try await tool("get", server.server.url + "/start", "-v", "--anchor", server.anchor)
            #expect(result.text == "end")
            #expect(
                lines("> GET", result) + lines("< HTTP", result) == [
                    "> GET /start", "> GET /end?token=…", "< HTTP/1.1 302 Found", "< HTTP/1.1 200 OK",
                ])
            #expect(lines("< Location", result) == ["< Location: /end?token=…"])
            #expect(lines("* certificate 1", result).count == 1)
            #expect(lines("* HTTP/1.1", result).map { $0.hasSuffix("reused connection") } == [false, true])
            #expect(lines("* no pins", result).count == 2)
        }

        @Test(
            "URLs are shown without credentials and without the values of parameters that look secret",
            arguments: [
                ("/a?b=1", "/a?b=1"), ("/a?b=1&token=x&c=2", "/a?b=1&token=…&c=2"),
                ("Location: http://u:p@h:1/?a=b", "Location: http://…@h:1/?a=b"),
                ("Location: //u:p;w@h/", "Location: //…@h/"),
                ("/cb#access_token=x&state=1", "/cb#access_token=…&state=1"),
                ("/a;jsessionid=x?a=1&b=2", "/a;jsessionid=…&b=2"), ("/?token=a;b,c", "/?token=…"),
                (
                    "Link: </a?x=1>; rel=next, </b?token=y>; rel=prev",
                    "Link: </a?x=1>; rel=next, </b?token=…>; rel=prev"
                ),
                ("/cb?code=x&state=1&zip_code=2", "/cb?code=…&state=1&zip_code=2"),
                ("/?client_assertion=x&SAMLResponse=y", "/?client_assertion=…&SAMLResponse=…"),
                ("/?PHPSESSID=x&ticket=y&passkey=z", "/?PHPSESSID=…&ticket=…&passkey=…"),
                ("/?code_verifier=x&device_code=y&assertion=z", "/?code_verifier=…&device_code=…&assertion=…"),
                ("/?a%74oken=x", "/?a%74oken=…"), ("/?%ff=x", "/?%ff=…"), ("/?%zz=x", "/?%zz=…"), ("", ""), ("?", "?"),
                ("/@/a//b", "/@/a//b"),
            ])
        func hiddenSecrets(text: String, shown: String) {
            #expect(Redaction.named.shown(text: text) == shown)
        }

        @Test("A refused redirect with credentials does not show them")
        func credentialsInRedirect() async throws {
            let server = try LoopbackServer { _ in
                .response(status: 302, headers: [("Location", "http://u:hidden@127.0.0.1/#token=hidden")])
            }
            let result = try await tool("get", server.url, "-v")
            #expect(result.code == 1)
            #expect(lines("< Location", result) == ["< Location: http://…@127.0.0.1/#token=…"])
            #expect(!result.errors.contains("hidden"), "\(result.errors)")
        }

        @Test("A refused connection is shown with its chain and the pins of the rule")
        func refused() async throws {
            let server = try TrustedServer()
            let policy = try server.directory.file(
                "policy.json",
                """
                {"anchors": ["ca.pem"],
                 "hosts": [{"host": "**.localhost", "pins": ["\(TrustedServer.strangePin)"], "singlePin": true}]}
                """)
            let result = try await tool("get", server.server.url, "-v", "--policy", policy)
            #expect(result.code == 1)
            #expect(lines("*", result).contains("* the request was not sent"), "\(result.errors)")
            #expect(lines("*", result).contains("* certificate 1: CN=localhost"))
            #expect(lines("*", result).contains("* the rule for **.localhost requires one of these pins:"))
            #expect(lines("*", result).contains("*   public key \(TrustedServer.strangePin)"))
            #expect(result.errorLines.last?.hasPrefix("error: pinMismatch: ") == true)
            #expect(server.server.applicationBytesReceived == 0)
        }

        @Test("A rule that only reports is shown as such")
        func reportOnly() async throws {
            let server = try TrustedServer()
            let result = try await tool(
                "get", server.server.url, "-v", "--anchor", server.anchor, "--pin", TrustedServer.strangePin,
                "--report-only")
            #expect(result.code == 0, "\(result.errors)")
            #expect(lines("* no pin matches", result).count == 1)
            #expect(lines("warning:", result).count == 1)
        }

        @Test("A request that reaches no server is shown as not sent")
        func unreachable() async throws {
            let result = try await tool("http://127.0.0.1:1/", "-v")
            #expect(result.code == 1)
            #expect(lines(">", result).first == "> GET /")
            #expect(lines("*", result) == ["* the request was not sent"])
        }
    }
}
