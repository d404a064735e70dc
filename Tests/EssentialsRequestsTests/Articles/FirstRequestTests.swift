import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article FirstRequest")
struct FirstRequestTests {
    // Article begins
    struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }
    // Article ends

    private struct NewUser: Codable, Sendable {
        var name: String
    }

    private func server() throws -> LoopbackServer {
        @Sendable func json(_ text: String, status: Int = 200) -> ServerReply {
            .response(status: status, headers: [("Content-Type", "application/json")], body: text)
        }
        return try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("GET", "/v1/users/1"): json(#"{"id":1,"name":"Grace"}"#)
            case ("GET", "/v1/users"): json(#"[{"id":1,"name":"Grace"}]"#)
            case ("POST", "/v1/users"): json(#"{"id":2,"name":"Ada"}"#, status: 201)
            case ("GET", "/v1/users/1/picture"): .response(headers: [("Content-Type", "image/png")], body: "png")
            case ("GET", "/v1/users/1/deputy"), ("DELETE", "/v1/users/7"): .response(status: 204)
            case ("GET", "/v1/reports/slow"): .hang
            default: json(#"{"title":"There is no such user."}"#, status: 404)
            }
        }
    }

    /// Runs a closure with a service for the server, and shuts both down.
    private func withRequests(
        _ body: (any DataRequestService, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try server()
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url + "/v1/"))
        do {
            try await body(service, server)
        } catch {
            await service.shutdown()
            throw error
        }
        await service.shutdown()
    }

    @Test("The article on the first request shows a service from creation to shutdown, with credentials")
    func service() async throws {
        let server = try server()
        let (baseURL, token) = (server.url + "/v1/", "t0k3n")

        // Article begins
        let service = try HTTPDataRequestService(
            environment: ConstantEnvironment(baseURL))
        let locator = ServiceLocator(name: "app")
        try locator.register(
            service, as: (any DataRequestService).self,
            (any AuthorizationService).self)
        // Article ends

        // Article begins
        let requests = try locator.resolve((any DataRequestService).self)
        let user: User = try await requests.get("users/1")
        // Article ends
        #expect(user == User(id: 1, name: "Grace"))

        // Article begins
        let login = try locator.resolve((any AuthorizationService).self)
        login.setAuthorization(try .bearer(token))
        // Article ends
        try await requests.get("users")

        await login.clearAuthorization()
        try await requests.get("users")
        #expect(server.requests.map { $0.header("Authorization") } == [nil, "Bearer t0k3n", nil])

        // Article begins
        await locator.close()
        // Article ends
        let failure = await #expect(throws: RequestFailure.self) { try await requests.get("users") }
        #expect(failure?.reason == .closed)
    }

    @Test("The article on the first request shows calls with and without a body and their results")
    func calls() async throws {
        try await withRequests { requests, server in
            // Article begins
            let admins: [User] = try await requests.get(
                "users", parameters: ["role": "admin"])
            let created: User = try await requests.post(
                "users", body: NewUser(name: "Ada"))
            let picture: Data = try await requests.get("users/1/picture")
            // nil where the answer is empty
            let deputy: User? = try await requests.get("users/1/deputy")
            try await requests.delete("users/7")
            // Article ends

            #expect(admins == [User(id: 1, name: "Grace")])
            #expect(created == User(id: 2, name: "Ada"))
            #expect(picture == Data("png".utf8))
            #expect(deputy == nil)
            #expect(
                server.requests.map { "\($0.method) \($0.target) \($0.bodyText)" } == [
                    "GET /v1/users?role=admin ", #"POST /v1/users {"name":"Ada"}"#, "GET /v1/users/1/picture ",
                    "GET /v1/users/1/deputy ", "DELETE /v1/users/7 ",
                ])
        }
    }

    @Test("The article on the first request shows a failure, in a function and in a closure")
    func failures() async throws {
        try await withRequests { requests, _ in
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }

            // Article begins
            do throws(RequestFailure) {
                let user: User = try await requests.get("users/99")
                show(user.name)
            } catch {
                switch error.reason {
                case .status where error.response?.head.status == .notFound:
                    show("Nobody has this number.")
                case .connection, .timeout, .interrupted:
                    show("Later, please. \(error.remedy ?? "")")
                default: show("\(error)")
                }
            }
            // Article ends
            #expect(shown == ["Nobody has this number."])

            // Article begins
            let reading = Task {
                do throws(RequestFailure) {
                    return try await requests.get("users/1", as: User.self).name
                } catch {
                    return error.remedy ?? error.message
                }
            }
            // Article ends
            #expect(await reading.value == "Grace")
        }
    }

    @Test("The article on the first request shows a completion handler and a token that cancels")
    func callbacks() async throws {
        try await withRequests { requests, _ in
            let queue = DispatchQueue(label: "app")
            let (texts, text) = AsyncStream.makeStream(of: String.self)
            @Sendable func show(_ shown: String) { text.yield(shown) }
            var shown = texts.makeAsyncIterator()

            // Article begins
            let token = requests.get(
                "users/1", deserializeTo: User.self, completionQueue: queue
            ) { result in
                switch result {
                case .success(let user): show(user.name)
                case .failure(let failure): show("\(failure.reason)")
                }
            }
            // Article ends
            #expect(await shown.next() == "Grace")
            #expect(token.isFinished)

            let slow = requests.get("reports/slow", completionQueue: queue) { result in
                if case .failure(let failure) = result { show("\(failure.reason)") }
            }
            slow.cancel()
            #expect(await shown.next() == "cancelled")
            #expect(slow.isCancelled)
        }
    }
}
