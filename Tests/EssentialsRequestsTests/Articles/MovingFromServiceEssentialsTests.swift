import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@testable import EssentialsRequests

@Suite("The article MovingFromServiceEssentials")
struct MovingFromServiceEssentialsTests {
    private struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    private let transport = ScriptedTransport()

    private func service() throws -> HTTPDataRequestService {
        HTTPDataRequestService(environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
    }

    // Article begins
    final class Session: RequestPreparationDelegate {
        func additionalHeaderFields(
            for method: HTTPRequest.Method, path: String
        ) -> HTTPFields {
            [.acceptLanguage: "en"]
        }

        func additionalParameters(
            for method: HTTPRequest.Method, path: String
        ) -> FormParameters {
            ["client": "linux"]
        }
    }
    // Article ends

    @Test("The article on moving shows the same call")
    func call() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users/1").answer(json: User(id: 1, name: "Ada"))
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        @Sendable func show(_ shown: String) { text.yield(shown) }
        let queue = DispatchQueue(label: "app")

        // Article begins
        let token = requests.get(
            "users/1", parameters: ["full": true], deserializeTo: User.self,
            completionQueue: queue
        ) { result in
            switch result {
            case .success(let user): show(user.name)
            case .failure(let failure): show(failure.message)
            }
        }
        // Article ends

        var shown = texts.makeAsyncIterator()
        #expect(await shown.next() == "Ada")
        #expect(token.isFinished)
        #expect(transport.requests.map(\.url.target) == ["/v1/users/1?full=1"])
    }

    @Test("The article on moving shows the delegate")
    func delegate() async throws {
        transport.on(.get, "/v1/users").answer(json: [User]())
        let (environment, transport) = (try ConstantEnvironment("https://api.test/v1/"), transport)

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [DelegateInterceptor(Session())]
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        // Article ends

        try await requests.get("users", parameters: ["client": "other"])
        let sent = try await transport.request(number: 1)
        #expect(sent.url.target == "/v1/users?client=linux")
        #expect(sent.headerFields[.acceptLanguage] == "en")
    }

    @Test("The article on moving shows the original's error codes")
    func numbers() async throws {
        let requests = try service()
        transport.on(.get, "/v1/users/*").answer(.notFound).thenAnswer(text: "Ada")
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        for number in 1...2 {
            // Article begins
            do throws(RequestFailure) {
                let user: User = try await requests.get("users/\(number)")
                show(user.name)
            } catch {
                switch error.legacyCode {
                case 404: show("Unknown")  // the status, where one was not expected
                case 1000: show("Damaged")  // encoding, decoding, emptyBody
                case 1002: break  // cancelled
                default: show(error.message)  // nil where the original had no number
                }
            }
            // Article ends
        }
        #expect(shown == ["Unknown", "Damaged"])
    }

    @Test("The article on moving lists the error codes of all failures")
    func table() throws {
        let rows = try ArticleText("MovingFromServiceEssentials").table(under: "| code | reasons |")
        var listed: [Int: Set<String>] = [:]
        for row in rows {
            guard let code = Int(row[0]) else { continue }
            listed[code] = Set(row[1].split(separator: ",").map { $0.filter { $0.isLetter } })
        }
        var real: [Int: Set<String>] = [:]
        for reason in RequestFailure.Reason.all {
            if let code = RequestFailure(reason, "").legacyCode { real[code, default: []].insert(reason.name) }
        }
        #expect(listed[1004] == ["invalidRequest", "file"])
        listed[1004]?.remove("invalidRequest")
        #expect(listed == real)
        let conflict = RequestFailure(.invalidRequest, "", underlying: SettingConflict("a", "b"))
        #expect(conflict.legacyCode == 1004)
    }
}
