import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

extension ToolTests {
    @Suite("Tool: authorization")
    struct AuthorizationTests {
        private let secret = "s3cret"

        private static func basic(_ text: String) -> String { "Basic \(Data(text.utf8).base64EncodedString())" }

        /// The given options and variables, and the resulting `Authorization` field.
        struct Case: Sendable {
            var arguments: [String] = []
            var variables: [String: String] = [:]
            let fields: [String]
        }

        @Test(
            "Options, otherwise variables, set Basic or Bearer credentials, unless a header field replaces them",
            arguments: [
                Case(arguments: ["--user", "ada:pass:wörd"], fields: [basic("ada:pass:wörd")]),
                Case(arguments: ["--user", "-x:"], fields: [basic("-x:")]),
                Case(arguments: ["--bearer", "-a.b_c~+/=="], fields: ["Bearer -a.b_c~+/=="]),
                Case(variables: ["ESSENTIALS_USER": "ada:word"], fields: [basic("ada:word")]),
                Case(variables: ["ESSENTIALS_BEARER": "token"], fields: ["Bearer token"]),
                Case(
                    arguments: ["--bearer", "token"],
                    variables: ["ESSENTIALS_USER": "ada:word", "ESSENTIALS_BEARER": "other"], fields: ["Bearer token"]),
                Case(
                    arguments: ["--header", "authorization: Custom x"], variables: ["ESSENTIALS_BEARER": "token"],
                    fields: ["Custom x"]),
                Case(variables: ["ESSENTIALS_USER": "", "ESSENTIALS_BEARER": ""], fields: []),
            ])
        func sent(given: Case) async throws {
            let server = try LoopbackServer { _ in .response(body: "body") }
            let result = try await ToolProcess(["get", server.url] + given.arguments, environment: given.variables)
                .end()
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.text == "body")
            #expect(server.requests.map { $0.allHeaders("Authorization") } == [given.fields])
        }

        @Test(
            "Credentials follow a redirect within their origin and are dropped for another origin",
            arguments: [
                (["--user", "ada:s3cret"], basic("ada:s3cret")), (["--bearer", "s3cret"], "Bearer s3cret"),
                (["--bearer", "s3cret", "--output", "/dev/null"], "Bearer s3cret"),
            ], ["get", "delete"])
        func redirected(given: (arguments: [String], field: String), command: String) async throws {
            let other = try LoopbackServer { _ in .response(body: "end") }
            let server = try LoopbackServer { request in
                let location = request.path == "/" ? "/inside" : other.url + "/outside"
                return .response(status: 307, headers: [("Location", location)])
            }
            let result = try await ToolProcess([command, server.url + "/"] + given.arguments).end()
            #expect(result.code == 0)
            #expect(other.requests.map { $0.header("Authorization") } == [nil])
            #expect(server.requests.map { $0.header("Authorization") } == [given.field, given.field])
            #expect(!result.text.contains(secret) && !result.errors.contains(secret))
        }

        @Test("Credentials do not return after a redirect through another origin")
        func returned() async throws {
            let home = Mutex("")
            let other = try LoopbackServer { _ in
                .response(status: 302, headers: [("Location", home.withLock { $0 } + "/end")])
            }
            let server = try LoopbackServer { request in
                request.path == "/end"
                    ? .response(body: "end") : .response(status: 302, headers: [("Location", other.url + "/")])
            }
            home.withLock { $0 = server.url }
            let result = try await tool("get", server.url + "/", "--bearer", secret)
            #expect(result.text == "end")
            #expect(server.requests.map { $0.header("Authorization") } == ["Bearer s3cret", nil])
            #expect(other.requests.map { $0.header("Authorization") } == [nil])
        }

        @Test("A resumed download sends credentials to no other origin")
        func download() async throws {
            let directory = try TemporaryDirectory()
            let other = try LoopbackServer { _ in .response(body: "whole") }
            let server = try LoopbackServer { _ in
                .response(status: 302, headers: [("Location", other.url + "/file")])
            }
            let result = try await tool(
                "get", server.url, "--user", "ada:" + secret, "--output", directory.path + "/out", "--resume")
            #expect(result.code == 0, "\(result.errors)")
            #expect(try directory.contents("out") == Array("whole".utf8))
            #expect(server.requests.map { $0.header("Authorization") } == [Self.basic("ada:s3cret")])
            #expect(other.requests.map { $0.header("Authorization") } == [nil])
        }

        @Test(
            "Digest credentials are sent only in response to a challenge",
            arguments: [["--digest", "Mufasa:Circle Of Life"], []])
        func digest(arguments: [String]) async throws {
            let server = try LoopbackServer { request in
                guard request.header("Authorization") == nil else { return .response(body: "body") }
                let challenge = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
                return .response(status: 401, headers: [("WWW-Authenticate", challenge)], body: "challenge")
            }
            let variables = arguments.isEmpty ? ["ESSENTIALS_DIGEST": "Mufasa:Circle Of Life"] : [:]
            let result = try await ToolProcess(
                ["get", server.url + "/dir/index.html", "--weak-digest"] + arguments, environment: variables
            ).end()
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.text == "body")
            #expect(
                server.requests.map { $0.header("Authorization") } == [
                    nil,
                    #"Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", "#
                        + #"nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", response="670fd8c2df070c60b045671b8b24ff02""#,
                ])
        }

        @Test("A Digest challenge without qop over http is refused unless it is allowed")
        func weakDigest() async throws {
            let server = try LoopbackServer { _ in
                .response(status: 401, headers: [("WWW-Authenticate", "Digest realm=r, nonce=n")])
            }
            let result = try await ToolProcess(["get", server.url, "--digest", "ada:s3cret"]).end()
            #expect(result.code == 1)
            #expect(result.errors.contains("authorization: "))
            #expect(!result.errors.contains("s3cret"))
            #expect(server.requestCount == 1)
        }

        /// Arguments and variables that contain the secret, the expected exit code, and the expected message.
        struct Failing: Sendable {
            let arguments: [String]
            var variables: [String: String] = [:]
            let code: Int32
            let says: [String]
        }

        @Test(
            "Failures show no credentials",
            arguments: [
                Failing(arguments: ["--user", "ada:s3cret"], code: 1, says: ["status: GET", "401"]),
                Failing(
                    arguments: ["--bearer", "s3cret", "--include", "--timings"], code: 1, says: ["401", "first byte"]),
                Failing(
                    arguments: ["--bearer", "s3cret", "--error-format", "json"], code: 1,
                    says: ["\"reason\":\"status\""]),
                Failing(
                    arguments: ["--user", "ada:s3cret", "--proxy", "http://127.0.0.1:1"], code: 1, says: ["error: "]),
                Failing(arguments: ["--user", "s3cret"], code: 64, says: ["Write --user as name:password."]),
                Failing(arguments: ["--digest", "ada:s3cret"], code: 1, says: ["status: GET", "401"]),
                Failing(arguments: ["--digest", "s3cret"], code: 64, says: ["Write --digest as name:password."]),
                Failing(arguments: ["--digest", "a\u{1}a:s3cret"], code: 64, says: ["invalidRequest: "]),
                Failing(
                    arguments: ["--user", "ada:s3cret", "--digest", "ada:s3cret"], code: 64,
                    says: ["Give --user or --digest, not both."]),
                Failing(
                    arguments: ["--digest", "ada:s3cret", "--bearer", "s3cret"], code: 64,
                    says: ["Give --digest or --bearer, not both."]),
                Failing(
                    arguments: ["--digest", "ada:s3cret", "--header", "Authorization: s3cret"], code: 64,
                    says: ["Give --digest or --header Authorization, not both."]),
                Failing(
                    arguments: [], variables: ["ESSENTIALS_DIGEST": "s3cret"], code: 64,
                    says: ["invalidRequest: The value of ESSENTIALS_DIGEST has no colon."]),
                Failing(
                    arguments: [], variables: ["ESSENTIALS_USER": "a:s3cret", "ESSENTIALS_DIGEST": "a:s3cret"],
                    code: 64,
                    says: ["invalidRequest: Both ESSENTIALS_USER and ESSENTIALS_DIGEST are set."]),
                Failing(arguments: ["--bearer", "s3cret token"], code: 64, says: ["invalidRequest: "]),
                Failing(arguments: ["--user", "a\u{1}a:s3cret"], code: 64, says: ["invalidRequest: "]),
                Failing(
                    arguments: ["--user", "ada:s3cret", "--bearer", "s3cret"], code: 64,
                    says: ["Give --user or --bearer, not both."]),
                Failing(
                    arguments: ["--bearer", "s3cret", "--header", "Authorization: s3cret"], code: 64,
                    says: ["Give --bearer or --header Authorization, not both."]),
                Failing(
                    arguments: [], variables: ["ESSENTIALS_USER": "s3cret"], code: 64,
                    says: ["invalidRequest: The value of ESSENTIALS_USER has no colon."]),
                Failing(
                    arguments: [], variables: ["ESSENTIALS_USER": "a:s3cret", "ESSENTIALS_BEARER": "s3cret"], code: 64,
                    says: ["invalidRequest: Both ESSENTIALS_USER and ESSENTIALS_BEARER are set."]),
            ])
        func hidden(failing: Failing) async throws {
            let server = try LoopbackServer { _ in
                .response(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")])
            }
            let result = try await ToolProcess(
                ["get", server.url] + failing.arguments, environment: failing.variables
            ).end()
            #expect(result.code == failing.code)
            for text in failing.says { #expect(result.errors.contains(text), "\(result.errors)") }
            let shown = result.text + result.errors
            #expect(!shown.contains(secret))
            #expect(!shown.contains(Data("ada:s3cret".utf8).base64EncodedString()))
            if failing.code == 64 { #expect(server.connectionCount == 0) }
        }
    }
}
