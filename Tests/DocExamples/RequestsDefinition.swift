// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import Testing

@testable import EssentialsRequests

private struct User: Codable, Sendable, Equatable {
    var name = ""
    var pictureURL = ""
    var filmURL = ""
}
private struct NewUser: Codable, Sendable { var name = "" }
private struct Film: Codable, Sendable {}
private struct Feed: Codable, Sendable {}
private struct Status: Codable, Sendable {}
private struct Draft: Codable, Sendable { static let empty = Draft() }

private enum Shop: APIService {
    static let baseURL: RequestBase = "https://shop.example.com/v1/"
}
private enum Users: Endpoint {
    typealias Parent = Shop
    static let path: RequestPath = "users"
    static let getAll: APIRequest<[User]> = request(.get)
    static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
    static func find(role: String) -> APIRequest<[User]> { request(.get) { RequestQuery { ("role", role) } } }
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
}
private struct Order: Codable, Sendable { var id = "" }
private enum Orders: APIService {
    static func create(_ order: Order) -> APIRequest<Void> { request(.post, "orders") { RequestContent { order } } }
}
private struct StagingShop: APIService { let baseURL: RequestBase }
private let staging = StagingShop(baseURL: "https://staging.example.com/v1/")

private let (isDebug, isForm, order) = (true, false, Order())
private let (id, page, revision, tag, tenant) = (7, Int?.some(1), Int?.none, String?.none, String?.none)
private let (tags, user, draft, password) = (["new"], User(), Draft?.none, "")
private let (token, text) = ("", "")
private var requests: HTTPDataRequestService { given() }
private var request: DataRequest { get { given() } set {} }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var url: RequestURL { given() }

// Definition/APIConfiguration.swift
private enum APIConfigurationExample: APIService {
    static var configuration: APIConfiguration {
        var configuration = APIConfiguration()
        configuration.options.totalTimeout = .seconds(5)
        configuration.appendsTrailingSlash = true
        return configuration
    }
}

// Definition/APIConfiguration.swift
private enum APIConfigurationExample2: Endpoint {
    typealias Parent = Shop
    static let path: RequestPath = "orders"

    static var configuration: APIConfiguration {
        var configuration = Parent.configuration
        configuration.idempotencyKey = .automatic
        return configuration
    }
}

// Definition/APIContext.swift
@Listed private func aPIContextExample() async throws -> [Any] {
    Users.context.path            // "users"
}

// Definition/APIRequest+Modifiers.swift
private func aPIRequestModifiersExample() async throws {
    let second = Users.getAll.settingQuery("page", 2).removingHeader("X-Debug")
    use(second)
}

// Definition/APIRequest+Modifiers.swift
private func aPIRequestModifiersExample2() async throws {
    try await requests.send(Orders.create(order).idempotencyKey(.text(order.id)))
}

// Definition/APIRequest+Void.swift
private struct APIRequestVoidExample: APIService {
    static let ping = request(.post, "ping")                                // APIRequest<Void>
    let remove = APIRequest(.delete, "users/7")
    let bytes = APIRequest(.get, "log").reading(DataResponse.self)          // the response with its body
}

// Definition/APIRequest+Void.swift
private enum APIRequestVoidExample2: APIService {
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
    static let ping = request(.post, "ping")
}

// Definition/APIRequest.swift
private func aPIRequestExample() async throws {
    enum Users: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "users"

        static let getAll: APIRequest<[User]> = request(.get)
        static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
        static func find(role: String, page: Int?) -> APIRequest<[User]> {
            request(.get) {
                RequestQuery { ("role", role); ("page", page) }
                RequestHeaders { RequestHeader.accept(.json) }
            }
        }
    }
    let users = try await requests.send(Users.find(role: "admin", page: 2))
    use(users)
}

// Definition/APIRequest.swift
private func aPIRequestExample2() async throws {
    let feed = APIRequest<Feed>(.get, url: "https://news.example.com/feed.json")
    use(feed)
}

// Definition/APIRequestBuilder.swift
private enum APIRequestBuilderExample: APIService {
    @APIRequestBuilder<Users>
    static func find(role: String?) -> APIRequest<[User]> {
        HTTPRequest.Method.get
        RequestPath { "search" }
        if let role { RequestQuery { ("role", role) } }
    }
}

// Definition/APIService.swift
private func aPIServiceExample() async throws {
    enum Users: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "users"
        static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "cli") } }

        static let getAll: APIRequest<[User]> = request(.get)
    }
}

// Definition/APIService.swift
private func aPIServiceExample3() async throws {
    enum Shop: APIService {
        static let baseURL: RequestBase = "https://shop.example.com/v1/"
        static let status: APIRequest<Status> = request(.get, "status")
    }
}

// Definition/APIService.swift
private func aPIServiceExample4() async throws {
    struct Shop: APIService {
        let baseURL: RequestBase
        var status: APIRequest<Status> { request(.get, "status") }
    }
    let staging = Shop(baseURL: "https://staging.example.com/v1/")
    let status = try await requests.send(staging.status)
    use(status)
}

// Definition/APIService.swift
private func aPIServiceExample5() async throws {
    let user = try await requests.send(staging.request(Users.get(id: 7)))
    use(user)
}

// Definition/DefinitionChoice.swift
private struct DefinitionChoiceExample: APIService, ServiceRequest {
    typealias Response = User
    var method: HTTPRequest.Method { .get }

    static let baseURL = "https://shop.example.com/v1/"     // String
    static let codecs = CodecRegistry.standard              // CodecRegistry
    var contentType: MediaType? { isForm ? .form : nil }    // MediaType?
}

// Definition/Endpoint.swift
private func endpointExample() async throws {
    enum Users: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "users"

        enum Orders: Endpoint {
            typealias Parent = Users
            static let path: RequestPath = "orders"
        }
    }
}

// Definition/Endpoint.swift
private func endpointExample2() async throws {
    struct Shop: APIService {
        let baseURL: RequestBase
        var users: Users { Users(parent: self) }

        struct Users: BoundEndpoint {
            static let path: RequestPath = "users"
            let parent: Shop
            func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
        }
    }
    let user = try await requests.send(Shop(baseURL: "https://shop.example.com/").users.get(id: 7))
    use(user)
}

// Definition/Properties/RequestContent.swift
private enum requestContentExample: APIService {
    static var sharedProperties: RequestProperties {
        RequestContent { NewUser(name: "Ada") }             // a model, as JSON
        RequestContent(form: ["name": "Ada"])
        RequestContent(json: ["name": "Ada", "tags": ["a", nil]])
        RequestContent(try .file("/srv/films/1.mp4"))       // an error is thrown when the request is built
    }
}

// Definition/Properties/RequestContent.swift
private enum requestContentExample2: APIService {
    static var sharedProperties: RequestProperties {
        RequestContent {
            if let draft { draft } else { Draft.empty }
        }
    }
}

// Definition/Properties/RequestHeader.swift
@Listed private func requestHeaderExample() async throws -> [Any] {
    RequestHeader("X-Tenant", "acme")                    // replaces the value that a parent has set
    RequestHeader.adding("Via", "1.1 proxy")             // one more value
    RequestHeader.removing("Authorization")
    RequestHeader.authorization(.bearer(token))
}

// Definition/Properties/RequestHeader.swift
@Listed private func requestHeaderExample2() async throws -> [Any] {
    RequestHeader.authorization(.basic(user: "ada", password: password))     // encoded as RFC 7617 requires
}

// Definition/Properties/RequestHeaders.swift
@Listed private func requestHeadersExample() async throws -> [Any] {
    RequestHeaders {
        RequestHeader.accept(.json)
        ("X-Tenant", "acme")
        RequestHeader.removing("X-Debug")        // that a parent has set
    }
}

// Definition/Properties/RequestHeaders.swift
private enum requestHeadersExample2: APIService {
    static var sharedProperties: RequestProperties {
        RequestHeaders {
            RequestHeader.accept(.json)
            ("X-Tenant", tenant)                     // nil removes the field
            if isDebug { ("X-Debug", "1") }
        }
    }
}

// Definition/Properties/RequestPath+Template.swift
private enum requestPathTemplateExample: APIService {
    static func user() -> APIRequest<User> {
        request(.get) {
            RequestPath {
                "users"
                id
                if let revision { "revisions"; revision }
            }
        }
    }
}

// Definition/Properties/RequestPath.swift
private func requestPathExample() async throws {
    let fixed: RequestPath = "users/archive"               // two segments
    let posts: RequestPath = "users/\(id)/posts"           // the value is one segment, whatever it contains
    let named = RequestPath(template: "users/{id}/posts", ["id": id])
    let parts = RequestPath { "users"; id; "posts" }
    use(fixed, posts, named, parts)
}

// Definition/Properties/RequestProperties.swift
private enum RequestPropertiesExample: APIService {
    static var sharedProperties: RequestProperties {
        RequestHeaders { ("X-Tenant", "acme") }
        RequestQuery { ("v", 2) }
    }
}

// Definition/Properties/RequestProperties.swift
private enum requestPropertiesExample2: APIService {
    static func create(_ user: User, tag: String?) -> APIRequest<User> {
        request(.post) {
            RequestPath { "users" }
            if let tag { RequestQuery { ("tag", tag) } }
            RequestContent { user }
        }
    }
}

// Definition/Properties/RequestQuery.swift
@Listed private func requestQueryExample() async throws -> [Any] {
    RequestQuery {
        ("role", "admin")
        ("tag", ["new", "open"])            // tag=new&tag=open
        ("flag", "")                        // the name alone
        ("page", page)                      // nil removes items of this name that were inherited
    }
}

// Definition/Properties/RequestQuery.swift
private enum requestQueryExample2: APIService {
    static var sharedProperties: RequestProperties {
        RequestQuery {
            for tag in tags { ("tag", tag) }
            ("role", "admin")
        }
    }
}

// Definition/RequestSnapshot.swift
private func requestSnapshotExample() async throws {
    let snapshot = try Users.find(role: "admin").snapshot()
    #expect(snapshot == RequestSnapshot(method: "GET", url: "users?role=admin"))
    let data = try JSONEncoder().encode(snapshot)
    use(data)
}

// Definition/RequestSnapshot.swift
private func requestSnapshotExample2() async throws {
    print(try Users.get(id: 7).curlCommand())
    // curl -X 'GET' --globoff 'https://shop.example.com/v1/users/7'
}

// Definition/TypedRequest.swift
private func typedRequestExample() async throws {
    let user = try await requests.send(Users.get(id: 7))             // User
    use(user)
}

// Definition/TypedRequest.swift
private func typedRequestExample2() async throws {
    struct SearchFilms: ServiceRequest {
        typealias Parent = Shop
        typealias Response = [Film]
        let text: String

        var method: HTTPRequest.Method { .get }
        var pathComponents: RequestPath { "films"; "search" }
        var queryItems: RequestQuery { ("q", text) }
    }
    let films = try await requests.send(SearchFilms(text: "metropolis"))
    use(films)
}
