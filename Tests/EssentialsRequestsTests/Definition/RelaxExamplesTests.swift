import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// The second generation of Relax: a service as a namespace, with nested endpoints.
private enum UserService: APIService {
    struct User: Codable, Sendable, Hashable {
        let id: Int
        let name: String
    }

    static let baseURL: RequestBase = "https://users.example/api/"
    static var sharedProperties: RequestProperties {
        RequestHeaders {
            RequestHeader.accept(.json)
            RequestHeader.acceptLanguage("en")
        }
    }

    enum Users: Endpoint {
        typealias Parent = UserService
        static let path: RequestPath = "users"

        // Relax's example named the service as the parent, so that the request went to the base URL.
        static let getAll = APIRequest<[User]>(.get, parent: Users.self)

        // Relax's example decoded one user as an array.
        static func get(with id: Int) -> APIRequest<User> {
            APIRequest(.get, parent: Users.self) { RequestPath { id } }
        }

        @APIRequestBuilder<Users>
        static func add(_ user: User, notify: Bool) -> APIRequest<User> {
            HTTPRequest.Method.post
            RequestContent { user }
            if notify { RequestQuery { ("notify", true) } }
        }

        static func filter(_ terms: [String: String]) -> APIRequest<[User]> {
            request(.get) {
                RequestQuery {
                    for term in terms.sorted(by: { $0.key < $1.key }) { (term.key, term.value) }
                }
            }
        }
    }
}

/// The first generation of Relax: a service as a value with a base URL for each environment, and requests as types.
private struct CustomerService: APIService {
    enum Environment { case prod, dev, local(String) }
    let environment: Environment

    // Relax's example returned the URL of development for production.
    var baseURL: RequestBase {
        switch environment {
        case .prod: "https://api.customers.example/"
        case .dev: "https://dev.customers.example/"
        case .local(let url): RequestBase(url)
        }
    }

    enum Customers: Endpoint {
        typealias Parent = CustomerService
        static let path: RequestPath = "customers"

        struct Get: ServiceRequest {
            typealias Parent = Customers
            typealias Response = Customer
            let customerID: Int

            let method: HTTPRequest.Method = .get
            var pathComponents: RequestPath { customerID }
        }

        struct Add: ServiceRequest {
            typealias Parent = Customers
            typealias Response = Void
            let customer: Customer

            let method: HTTPRequest.Method = .post
            var body: RequestContent { customer }
        }
    }

    struct Customer: Codable, Sendable, Hashable {
        let id: Int
        let name: String
    }
}

@Suite("The examples of Relax")
struct RelaxExamplesTests {
    private static let reply: @Sendable (ServerRequest) -> ServerReply = { request in
        switch (request.method, request.path) {
        case ("GET", "/api/users"): .json(#"[{"id":1,"name":"Ada"}]"#)
        case ("GET", "/api/users/1"), ("GET", "/customers/1"): .json(#"{"id":1,"name":"Ada"}"#)
        case ("POST", "/api/users"): .json(request.bodyText, status: 201)
        case ("POST", "/customers"): .response(status: 204)
        default: .response(status: 404)
        }
    }

    @Test("The namespace of the second generation sends its requests below its endpoint")
    func second() async throws {
        #expect(try UserService.Users.getAll.url().description == "https://users.example/api/users")
        try await withServer(Self.reply) { service, server in
            let base = RequestBase(server.url + "/api/")
            let ada = UserService.User(id: 1, name: "Ada")
            let all = try await service.send(UserService.Users.getAll.based(on: base))
            #expect(all == [ada])
            #expect(try await service.send(UserService.Users.get(with: 1).based(on: base)) == ada)
            #expect(try await service.send(UserService.Users.add(ada, notify: true).based(on: base)) == ada)
            #expect(try await service.send(UserService.Users.filter(["b": "2", "a": "x+y"]).based(on: base)) == [ada])
            #expect(
                server.requests.map(\.target) == [
                    "/api/users", "/api/users/1", "/api/users?notify=true", "/api/users?a=x%2By&b=2",
                ])
            #expect(server.requests.allSatisfy { $0.allHeaders("Accept-Language") == ["en"] })
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(UserService.Users.get(with: 2).based(on: base))
            }
            #expect(failure?.status == .notFound)
        }
    }

    @Test("The value of the first generation has a base URL for each environment")
    func first() async throws {
        let get = CustomerService.Customers.Get(customerID: 1)
        #expect(
            try CustomerService(environment: .prod).request(get).url().description
                == "https://api.customers.example/customers/1")
        #expect(
            try CustomerService(environment: .dev).request(get).url().description
                == "https://dev.customers.example/customers/1")
        try await withServer(Self.reply) { service, server in
            let customers = CustomerService(environment: .local(server.url))
            let customer = try await service.send(customers.request(get))
            #expect(customer == CustomerService.Customer(id: 1, name: "Ada"))
            try await service.send(customers.request(CustomerService.Customers.Add(customer: customer)))
            #expect(server.requests.map(\.method) == ["GET", "POST"])
            // The first generation sent the type of a body with GET too.
            #expect(server.requests.map { $0.header("Content-Type") } == [nil, "application/json; charset=utf-8"])
            let result = await withCheckedContinuation { continuation in
                service.send(customers.request(get)) { (result: Result<CustomerService.Customer, RequestFailure>) in
                    continuation.resume(returning: result)
                }
            }
            #expect((try? result.get()) == customer)
        }
    }

    @Test("The mocks of the second generation are stubs of a scripted transport")
    func mocks() async throws {
        let transport = ScriptedTransport()
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: transport)
        let ada = UserService.User(id: 1, name: "Ada")
        transport.stub(UserService.Users.getAll, with: [ada])
        transport.stub(UserService.Users.get(with: 2), failing: .timeout)
        #expect(try await service.send(UserService.Users.getAll) == [ada])
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.send(UserService.Users.get(with: 2))
        }
        #expect(failure?.reason == .timeout)
        try transport.expect(sent: [UserService.Users.getAll, UserService.Users.get(with: 2)])
    }
}
