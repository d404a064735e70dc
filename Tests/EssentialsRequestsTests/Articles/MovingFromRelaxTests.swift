import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article MovingFromRelax")
struct MovingFromRelaxTests {
    struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    struct Shop: APIService {
        static let baseURL: RequestBase = "https://shop.example.com/v1?key=1"
        static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "parent") } }
        var baseURL: RequestBase = Shop.baseURL
    }

    // Article begins
    enum Users: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "users"
        static let getAll: APIRequest<[User]> = request(.get)
        static func find(_ name: String) -> APIRequest<[User]> {
            request(.get) { RequestQuery { ("name", name) } }
        }
    }

    struct GetUser: ServiceRequest {
        typealias Parent = Shop
        typealias Response = User
        let id: Int
        var method: HTTPRequest.Method { .get }
        var pathComponents: RequestPath { ["users", "\(id)"] }
    }
    // Article ends

    @Test("The article on Relax shows definitions of both generations")
    func definitions() async throws {
        let transport = ScriptedTransport()
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/"), transport: transport)
        let staging = Shop(baseURL: "https://staging.example.com/")
        let ada = User(id: 7, name: "Ada")
        transport.stub(Users.getAll, with: [ada])
        transport.stub(GetUser(id: 7), with: ada)
        transport.stub(staging.request(GetUser(id: 7)), with: User(id: 7, name: "Grace"))

        // Article begins
        let users = try await requests.send(Users.getAll)
        let user = try await requests.send(GetUser(id: 7))
        // with another base URL
        let other = try await requests.send(staging.request(GetUser(id: 7)))
        // Article ends
        #expect(users == [ada])
        #expect(user == ada)
        #expect(other.name == "Grace")
        #expect(
            transport.requests.map(\.url.description) == [
                "https://shop.example.com/v1/users?key=1", "https://shop.example.com/v1/users/7?key=1",
                "https://staging.example.com/users/7",
            ])
        #expect(transport.requests.allSatisfy { $0.headerFields[.contentType] == nil })
    }

    @Test("The differences that the article on Relax names are those of the library")
    func differences() async throws {
        let transport = ScriptedTransport()
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/"), transport: transport)
        #expect(try Users.find("a+b/c").url().target == "/v1/users?key=1&name=a%2Bb%2Fc")
        #expect(try Users.getAll.adding(RequestPath("a/b" as String)).url().target == "/v1/users/a%2Fb?key=1")

        let child = Users.getAll.adding(RequestHeaders(RequestHeader("X-Client", "child")))
        #expect(try child.headerFields["X-Client"] == "child")
        #expect(try child.addingHeader("X-Client", "more").headerFields[values: HTTPField.Name("X-Client")!].count == 2)

        transport.stub(Users.getAll, status: .notModified)
        let failure = await #expect(throws: RequestFailure.self) { try await requests.send(Users.getAll) }
        #expect(failure?.status == .notModified)
        let any = try await requests.data(of: Users.getAll.expecting(.any))
        #expect(any.isEmpty)

        let relative = #expect(throws: RequestFailure.self) { try Users.getAll.based(on: "users").url() }
        #expect(relative?.reason == .invalidRequest)
        let removed = Users.find("x").addingQuery("flag", "").settingQuery("name", nil as String?)
        #expect(try removed.url().target == "/v1/users?key=1&flag")
        let form = RequestContent(form: ["b": "2", "a": "1"])
        #expect(try APIRequest<Void>(.post, "form") { form }.snapshot().body == "a=1&b=2")
    }
}
