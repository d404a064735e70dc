import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The user service of the second generation's guide, with its requests as builders and as values.
private enum Directory: APIService {
    struct User: Codable, Sendable, Hashable { let name: String }

    static let baseURL: RequestBase = "https://example.com/"
    static var sharedProperties: RequestProperties {
        // Relax sends the raw text after “Basic”; here user and password are encoded.
        RequestHeaders { RequestHeader.authorization(.basic(user: "secret", password: "password")) }
    }

    static let stats: APIRequest<Data> = APIRequest(.get, parent: Directory.self)

    enum Users: Endpoint {
        typealias Parent = Directory
        static let path: RequestPath = "users"

        @APIRequestBuilder<Users>
        static var getUsers: APIRequest<[User]> { HTTPRequest.Method.get }

        @APIRequestBuilder<Users>
        static func getUser(name: String) -> APIRequest<User> {
            HTTPRequest.Method.get
            RequestQuery { ("name", name) }
        }

        @APIRequestBuilder<Users>
        static func add(_ new: User) -> APIRequest<User> {
            HTTPRequest.Method.post
            RequestContent { new }
        }
    }
}

/// The service of the first generation's guide, whose base URL comes from its initializer.
private struct ProductService: APIService {
    let baseURL: RequestBase

    struct Get: ServiceRequest {
        typealias Response = DataResponse
        let method: HTTPRequest.Method = .get
    }

    struct GetProducts: ServiceRequest {
        typealias Response = [String]
        let method: HTTPRequest.Method = .get
        let pathComponents: RequestPath = "products"
    }

    struct GetProduct: ServiceRequest {
        typealias Response = Data
        let method: HTTPRequest.Method = .get
        let productID: String
        var pathComponents: RequestPath { "products"; productID }
    }

    struct FindProduct: ServiceRequest {
        typealias Response = Data
        let method: HTTPRequest.Method = .get
        let pathComponents: RequestPath = "products"
        let productID: String
        var queryItems: RequestQuery { ("productID", productID) }
    }

    struct Customers {
        static let basePath = "customers"

        struct Add: ServiceRequest {
            typealias Response = Void
            let method: HTTPRequest.Method = .post
            let pathComponents = RequestPath(Customers.basePath)
            let customerID: String
            let name: String
            var contentType: MediaType? { .json }
            var body: RequestContent { ["id": customerID, "name": name] }
        }
    }
}

@Suite("The guides of Relax")
struct RelaxGuideTests {
    @Test("A request for a URL needs no service, and can be changed before it is sent")
    func standalone() throws {
        let plain = APIRequest<[Directory.User]>(.get, url: "https://example.com/users")
        #expect(try plain.url().description == "https://example.com/users")
        let named = APIRequest<Data>(.get, url: "https://example.com/users?all") {
            RequestHeaders { RequestHeader.contentType(.json) }
            RequestQuery { ("name", "firstname") }
        }
        #expect(try named.url().description == "https://example.com/users?all&name=firstname")
        #expect(try named.headerFields[.contentType] == "application/json")

        var slow = APIConfiguration()
        slow.options.totalTimeout = .seconds(90)
        let post = APIRequest<Void>(.post, url: "https://example.com/users") {
            RequestContent { Directory.User(name: "firstname") }
        }.setting(slow)
        #expect(try post.build().options.totalTimeout == .seconds(90))
        #expect(try post.snapshot().body == #"{"name":"firstname"}"#)

        let filtered = APIRequest<Data>(.get, url: "https://example.com/users") { RequestQuery { ("filter", true) } }
        let changed = filtered.adding(RequestQuery { ("name", "firstname") }).settingHeader("name", "value")
        #expect(try changed.url().query == "filter=true&name=firstname")
        #expect(try changed.headerFields["Name"] == "value")
        #expect(try filtered.url().query == "filter=true")
    }

    @Test("The requests of a service share its credentials, and an endpoint adds its path")
    func structure() throws {
        #expect(try Directory.stats.url().description == "https://example.com/")
        #expect(try Directory.stats.headerFields[.authorization] == "Basic c2VjcmV0OnBhc3N3b3Jk")
        #expect(try Directory.Users.getUsers.url().description == "https://example.com/users")
        #expect(try Directory.Users.getUser(name: "a b").url().description == "https://example.com/users?name=a%20b")
        let add = Directory.Users.add(Directory.User(name: "Ada"))
        #expect(add.method == .post)
        #expect(try add.snapshot().body == #"{"name":"Ada"}"#)
        #expect(try add.headerFields[.authorization] == "Basic c2VjcmV0OnBhc3N3b3Jk")
    }

    @Test("The requests of the first generation are types that a value of their service sends")
    func types() async throws {
        let reply: @Sendable (ServerRequest) -> ServerReply = { request in
            request.target == "/api/products" ? .json(#"["a"]"#) : .json("{}")
        }
        try await withServer(reply) { service, server in
            let products = ProductService(baseURL: RequestBase(server.url + "/api/"))
            let response = try await service.send(products.request(ProductService.Get()))
            #expect(response.status == .ok)
            #expect(try await service.send(products.request(ProductService.GetProducts())) == ["a"])
            _ = try await service.send(products.request(ProductService.GetProduct(productID: "123")))
            _ = try await service.send(products.request(ProductService.FindProduct(productID: "123")))
            let add = ProductService.Customers.Add(customerID: "123", name: "First Last")
            try await service.send(products.request(add))
            #expect(
                server.requests.map(\.target) == [
                    "/api/", "/api/products", "/api/products/123", "/api/products?productID=123", "/api/customers",
                ])
            // The first generation sent a content type with every request.
            #expect(
                server.requests.map { $0.header("Content-Type") } == [
                    nil, nil, nil, nil, "application/json; charset=utf-8",
                ])
            #expect(server.requests.last?.bodyText == #"{"id":"123","name":"First Last"}"#)

            let result = await withCheckedContinuation { done in
                let token = service.send(products.request(ProductService.GetProducts()), autoResume: false) { result in
                    done.resume(returning: result)
                }
                token.resume()
                token.resume()
            }
            #expect(try result.get() == ["a"])
            #expect(server.requests.count == 6)
        }
    }
}
