import EssentialsTestKit
import Foundation
import ServiceEssentials
import Synchronization
import Testing

@Suite("Tutorials")
struct TutorialTests {
    private static let users = #"[{"id":1,"name":"Grace"},{"id":2,"name":"Ada"}]"#

    private static func answer(_ request: ServerRequest) -> ServerReply {
        request.target == "/v1/users?role=admin"
            ? .response(headers: [("Content-Type", "application/json")], body: users) : .response(status: 404)
    }

    /// The text of a code file of the tutorials.
    private static func resource(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let catalog = root.appending(path: "Sources/ServiceEssentials/ServiceEssentials.docc")
        return try String(contentsOf: catalog.appending(path: "Resources/\(name)"), encoding: .utf8)
    }

    /// The tutorial's file of environments, with another server for the selected environment.
    private static func environments(_ name: String, host: String, baseURL: String) throws -> String {
        let text = try resource(name)
        try #require(text.contains("https://\(host)/v1/"))
        return text.replacingOccurrences(of: "https://\(host)/v1/", with: baseURL)
    }

    @Test("The tutorial's first program prints the users of a server")
    func firstProgram() async throws {
        let server = try LoopbackServer(handler: Self.answer)
        let run = try await ProgramRun("FirstProgram", [server.url + "/v1/"])
        #expect(run.code == 0)
        #expect(run.output == "Grace, Ada\n")
    }

    @Test("The README's programs print why they have failed, and end with the status 1")
    func failingPrograms() async throws {
        let server = try LoopbackServer { _ in .response(status: 404) }
        let directory = try ProgramDirectory()
        for name in ["FirstProgram", "CachingProgram"] {
            let run = try await ProgramRun(name, [server.url + "/v1/"], directory: directory.url)
            #expect(run.code == 1)
            #expect(run.output.hasPrefix("status: "), "\(run.output)")
            let unusable = try await ProgramRun(name, ["no URL"], directory: directory.url)
            #expect(unusable.code == 1)
            #expect(unusable.output.contains("invalidRequest: "), "\(unusable.output)")
        }
    }

    @Test("The README's caching service shows what it has stored while the server fails, and loses no write")
    func cachingProgram() async throws {
        let state = Mutex((isFailing: false, keys: [String]()))
        let server = try LoopbackServer { request in
            state.withLock { state in
                guard !state.isFailing else { return .response(status: 500) }
                if request.method == "POST" {
                    state.keys.append(request.header("Idempotency-Key") ?? "")
                    return .response(status: request.bodyText == #"{"id":7}"# ? 201 : 400)
                }
                let fields = [("Content-Type", "application/json")]
                return .response(status: request.target == "/v1/users" ? 200 : 404, headers: fields, body: Self.users)
            }
        }
        let directory = try ProgramDirectory()
        for (isFailing, source, writes) in [(false, "backend", 1), (true, "cache", 1), (false, "backend", 3)] {
            state.withLock { $0.isFailing = isFailing }
            let run = try await ProgramRun("CachingProgram", [server.url + "/v1/"], directory: directory.url)
            #expect(run.code == 0)
            #expect(run.output == "\(source) [\"Grace\", \"Ada\"]\n")
            #expect(state.withLock { $0.keys.count } == writes)
        }
        #expect(state.withLock { Set($0.keys).count } == 3)
    }

    @Test("The tutorial's program prints a report when the report's scope is closed")
    func report() async throws {
        let server = try LoopbackServer(handler: Self.answer)
        let directory = try ProgramDirectory()
        let file = try Self.environments(
            "environments-1.json", host: "staging.example.com", baseURL: server.url + "/v1/")
        try directory.write(file, to: "environments.json")

        let run = try await ProgramRun("Roster", directory: directory.url)
        #expect(run.code == 0)
        #expect(run.output == "Ada\nGrace\n")
    }

    @Test("The tutorial's program says that it is not set up if the file of environments is missing")
    func noEnvironments() async throws {
        let directory = try ProgramDirectory()
        let run = try await ProgramRun("Roster", directory: directory.url)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("The program is not set up: constructionFailed: "))
        #expect(run.output.contains("environments.json"))
    }

    @Test("The tutorial's program says why the server did not deliver the users")
    func wrongStatus() async throws {
        let server = try LoopbackServer { _ in .response(status: 503) }
        let directory = try ProgramDirectory()
        let file = try Self.environments(
            "environments-1.json", host: "staging.example.com", baseURL: server.url + "/v1/")
        try directory.write(file, to: "environments.json")

        let run = try await ProgramRun("Roster", directory: directory.url)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("The server did not deliver the users: status: "))
    }

    @Test("The tutorial's policy file is valid and pins its host")
    func policy() throws {
        let policy = try TrustPolicy(json: Self.resource("pins.json"), directory: "/")
        let rule = try #require(policy.rule(for: HostName("api.example.com")))
        #expect(rule.pins?.pins.count == 2)
    }

    @Test("Pins that the tool prints are accepted as a policy file, and a server with another key is refused")
    func pins() async throws {
        let authority = try TestAuthority(name: "Tutorial authority")
        let server = try LoopbackServer(
            tls: ServerTLS(certificate: authority.issue(.init(commonName: "localhost"))), handler: Self.answer)
        let directory = try ProgramDirectory()
        let other = try TestAuthority(name: "Another authority")
        try directory.write(authority.certificate.certificatePEM, to: "ca.pem")
        try directory.write(other.certificate.certificatePEM, to: "other.pem")

        let pins = try await ProgramRun(
            "essentials", ["pins", "localhost:\(server.port)", "--anchor", "ca.pem", "--format", "json"],
            directory: directory.url)
        #expect(pins.code == 0)
        #expect(pins.output.contains(#""host": "localhost""#))
        // The tests' authorities are not the system's.
        var policy = try #require(JSONSerialization.jsonObject(with: Data(pins.output.utf8)) as? [String: Any])
        policy["anchors"] = ["ca.pem", "other.pem"]
        try JSONSerialization.data(withJSONObject: policy).write(to: directory.url.appending(path: "pins.json"))
        let file = try Self.environments(
            "environments.json", host: "api.example.com", baseURL: "https://localhost:\(server.port)/v1/")
        try directory.write(file, to: "environments.json")
        #expect(try await ProgramRun("Roster", directory: directory.url).output == "Ada\nGrace\n")

        let stranger = try LoopbackServer(
            tls: ServerTLS(certificate: other.issue(.init(commonName: "localhost"))), handler: Self.answer)
        try directory.write(
            file.replacingOccurrences(of: ":\(server.port)/", with: ":\(stranger.port)/"), to: "environments.json")
        let refused = try await ProgramRun("Roster", directory: directory.url)
        #expect(refused.output.hasPrefix("The server did not deliver the users: pinMismatch: "))
        #expect(stranger.requests.isEmpty)
    }
}
